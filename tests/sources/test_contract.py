"""Every kind of source, combination and predictor fulfills the contract."""

import pickle

import contracts
import numpy as np
import oracle
import pytest
import toy
from cases import each
from scipy import sparse

import alignlearn as al
from alignlearn.cca import KernelCCA
from alignlearn.engine.cpu import CPU
from alignlearn.engine.engines import AUTO
from alignlearn.kernels import FromFunction
from alignlearn.sources import Combination, Opener, Predictor, Source, open_source
from alignlearn.statistics import target_columns

M, NEW = 24, 7
RNG = np.random.default_rng(0)
SAMPLES = RNG.standard_normal((M + NEW, 3)) + 1.0
THIN = np.where(SAMPLES > 1.0, SAMPLES, 0.0)
SYMBOLS = RNG.integers(0, 9, M + NEW)
Y = np.sin(3.0 * SAMPLES[:M, 0]) + SAMPLES[:M, 1]
LABELS = np.digitize(Y, [0.6, 1.6])
WEIGHTS = np.array([0.7, 0.0, 0.4])
ROOTS = RNG.standard_normal((3, 9, 4))
TABLES = toy.Tables(ROOTS @ ROOTS.transpose(0, 2, 1))
GAUSSIANS = [al.Gaussian(0.3), al.Laplacian(0.5), al.Polynomial(1.0 / 3.0, degree=2)]
LINEAR = [al.Linear(), 2.0 * al.Columns(al.Linear(), [0]), al.Columns(al.Linear(), [1, 2])]


def linear(X):
    columns = slice(None), [0], [1, 2]
    return [s * X[:, c] @ X[:, c].T for c, s in zip(columns, (1.0, 2.0, 1.0))]


def product(X, Z):
    return (1.0 + X @ Z.T) ** 3


# The opened source, and the exact Gram matrices of all samples, training samples first.
KINDS = {
    "pairs": (SAMPLES, GAUSSIANS, None),
    "sparse pairs": (sparse.csr_array(THIN), GAUSSIANS, None),
    "functions": (SAMPLES, [FromFunction(product), *GAUSSIANS[:2]], None),
    "features": (SAMPLES, LINEAR, linear(SAMPLES)),
    "sparse features": (sparse.csr_array(THIN), LINEAR, linear(THIN)),
    "rank one": (SAMPLES, al.RankOneKernels(), [np.outer(c, c) for c in SAMPLES.T]),
    "given": (None, "precomputed", linear(SAMPLES)),
    "tables": (SYMBOLS, TABLES, list(TABLES.tables[:, SYMBOLS[:, None], SYMBOLS])),
}


@pytest.fixture(params=KINDS)
def kind(request):
    """(Source of the first M samples, the others as new ones, all exact Gram matrices)."""
    X, kernels, grams = KINDS[request.param]
    if X is None:
        return open_source([K[:M, :M] for K in grams], kernels), [K[M:, :M] for K in grams], grams
    if grams is None:
        dense = X.toarray() if sparse.issparse(X) else X
        grams = [np.asarray(k(dense)) for k in kernels]
    return open_source(X[:M], kernels), X[M:], grams


def up_to_sides(K):
    """A Gram matrix without f(x) + f(x'), which inexact values may omit."""
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


@each("y", [Y, LABELS])
def test_statistics(kind, y):
    source, _, grams = kind
    columns = target_columns(y, M)
    expected = oracle.statistics([K[:M, :M] for K in grams], columns)
    found = source.statistics(y)
    np.testing.assert_allclose(found.a, expected[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.M, expected[1], rtol=1e-9, atol=1e-9)
    assert found.names == source.names
    rows = np.flatnonzero(np.arange(M) % 3 > 0)
    (of_part,) = source.training_statistics(y, "auto", [rows])
    again = source.part(rows).statistics(y[rows])
    np.testing.assert_allclose(of_part.a, again.a, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(of_part.M, again.M, rtol=1e-9, atol=1e-9)
    expected = oracle.statistics(
        [K[np.ix_(rows, rows)] for K in grams], target_columns(y[rows], rows.size)
    )
    np.testing.assert_allclose(again.a, expected[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(again.trace, expected[2], rtol=1e-9)


def test_values(kind):
    source, new, grams = kind
    learned, K = source.combine(WEIGHTS), np.tensordot(WEIGHTS, grams, 1)
    train, cross = K[:M, :M], K[M:, :M]
    tight = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(learned.gram(exact=True), train, **tight)
    np.testing.assert_allclose(up_to_sides(learned.gram()), up_to_sides(train), **tight)
    checked = source.check(new)
    np.testing.assert_allclose(learned.cross_gram(checked, exact=True), cross, **tight)
    V = np.random.default_rng(1).standard_normal((M, 2))
    np.testing.assert_allclose(learned.times(V), train @ V, **tight)
    np.testing.assert_allclose(learned.times(V[:, 0]), train @ V[:, 0], **tight)
    np.testing.assert_allclose(learned.diagonal(), train.diagonal(), **tight)
    index, columns = np.array([3, 0, 11]), np.array([5, 3])
    np.testing.assert_allclose(learned.rows(index, exact=True), train[index], **tight)
    products, transposed = learned.column_products(columns)
    few = train[:, columns]
    np.testing.assert_allclose(products.matrix(index), few[index], **tight)
    np.testing.assert_allclose(products.times(V[columns]), few @ V[columns], **tight)
    np.testing.assert_allclose(transposed.times(V), few.T @ V, **tight)
    how = {"shift": V[0], "weight": np.abs(V[:, 0])}
    both = few.T @ (how["weight"][:, None] * (few @ V[columns] - V[0]))
    np.testing.assert_allclose(products.normal_times(V[columns], **how), both, rtol=1e-7, atol=1e-7)
    some = learned.rows(index, columns, exact=True)
    np.testing.assert_allclose(some, train[np.ix_(index, columns)], **tight)
    starts = range(0, M, 5)
    expected = np.concatenate(
        [learned.rows(np.arange(a, min(a + 5, M)), np.arange(a, M)).ravel() for a in starts]
    )
    for dtype, error in ((np.float64, 1e-12), (np.float32, 3e-6)):
        out = np.full(expected.size, np.nan, dtype)
        learned.fill_upper_rows(5, out)
        np.testing.assert_allclose(out, expected, rtol=error, atol=error * np.abs(expected).max())
    blocks = [block.copy() for block in learned.column_blocks(columns, 5)]
    np.testing.assert_allclose(np.vstack(blocks), few, **tight)
    rows, _ = learned.row_cache_options()
    given = np.asarray(rows(columns)(np.arange(M)))
    centered = given - given.mean(axis=0)
    expected = train[:, columns] - train[:, columns].mean(axis=0)
    np.testing.assert_allclose(centered[:, :1] - centered[:, 1:], expected[:, :1] - expected[:, 1:])
    largest = [k[:M, :M].diagonal().max() for k in grams]
    np.testing.assert_allclose(source.largest_diagonals(), largest, rtol=1e-9)
    np.testing.assert_allclose(source.single(2).gram(exact=True), grams[2][:M, :M], **tight)


def test_parts_and_splits(kind):
    source, _, grams = kind
    learned, K = source.combine(WEIGHTS), np.tensordot(WEIGHTS, grams, 1)
    train, test = np.array([4, 1, 9, 20, 13]), np.array([0, 2, 4])
    part = learned.part(train)
    assert part.n_samples == train.size
    expected = K[np.ix_(train, train)]
    np.testing.assert_allclose(part.gram(exact=True), expected, rtol=1e-10, atol=1e-10)
    own, cross = learned.split((train, test))
    coef = np.array([1.0, -2.0, 0.5, 0.25, 0.25])
    both = np.vstack([own, cross]) @ coef
    expected = np.vstack([expected, K[np.ix_(test, train)]]) @ coef
    np.testing.assert_allclose(both - both[0], expected - expected[0], rtol=1e-9, atol=1e-9)
    shared, split = learned.sharing(), (train, test)
    for again in [split, split, split, (train, test[::-1]), split]:  # the receiver may write
        given = [np.array(K) for K in shared.split(again)]
        np.testing.assert_array_equal(given[0], own)
        np.testing.assert_array_equal(given[1], cross[:: 1 if again is split else -1])
        for matrix in shared.split(again):
            matrix *= np.nan
    # A part of a part, and training samples as new ones.
    inner = part.part(np.array([2, 0]))
    found = inner.cross_gram(source.as_new(test), exact=True)
    np.testing.assert_allclose(found, K[np.ix_(test, train[[2, 0]])], rtol=1e-10, atol=1e-10)


@each("exact", [False, True])
def test_predictors(kind, exact):
    source, new, grams = kind
    K = np.tensordot(WEIGHTS, grams, 1)
    learned, support = source.combine(WEIGHTS), np.array([2, 5, 6])
    coef = np.array([[1.0, 0.0], [-0.25, 1.0], [-0.75, -1.0]]) + (0.3 if exact else 0.0)
    predictor = learned.predictor(support, coef, np.array([0.5, -1.0]), exact)
    checked = predictor.check(new)
    assert predictor.count(checked) == NEW
    found = predictor.decisions(checked)
    expected = K[M:][:, support] @ coef + predictor.intercept
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    some = predictor.take(checked, np.array([4, 1]))
    np.testing.assert_allclose(predictor.decisions(some), expected[[4, 1]], rtol=1e-9, atol=1e-9)
    copy = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(copy.decisions(checked), found)
    # The same for a part: the support is numbered in it, new samples are unchanged.
    part = learned.part(np.array([6, 2, 9, 5]))
    again = part.predictor(np.array([1, 3, 0]), coef, np.array([0.5, -1.0]), exact)
    moved = again.decisions(checked) - found
    np.testing.assert_allclose(moved, np.broadcast_to(moved[0], moved.shape), atol=1e-9)
    for held in (learned, learned.kept()):
        whole = held.predictor(None, np.eye(M)[:, :1], exact=True)
        np.testing.assert_allclose(whole.decisions(checked)[:, 0], K[M:, 0], rtol=1e-9, atol=1e-9)


def test_nothing_is_changed(kind):
    source, new, _ = kind
    before = dict(vars(source))
    learned = source.combine(WEIGHTS)
    state = dict(vars(learned))
    source.combine(np.ones(3)).gram()
    source.statistics(Y)
    learned.gram()
    learned.predictor(np.arange(3), np.ones((3, 1))).decisions(source.check(new))
    learned.kept().cross_gram(source.check(new))
    assert all(vars(source)[k] is v for k, v in before.items())
    assert all(vars(learned)[k] is v for k, v in state.items())


def test_what_is_kept_runs_here_and_says_nothing():
    source = open_source(SAMPLES, GAUSSIANS, engine=AUTO, progress=True)
    kept = source.combine(WEIGHTS).kept().source
    assert kept.engine is CPU
    assert not kept.progress
    assert kept.X is not source.X


def test_predictors_hold_no_other_samples():
    X = np.random.default_rng(2).standard_normal((2000, 50))
    source = open_source(X, GAUSSIANS)
    predictor = source.combine(WEIGHTS).predictor(np.arange(4), np.ones((4, 1)))
    assert len(pickle.dumps(predictor)) < 10_000


# Signatures of overrides, and what some kinds reject


@pytest.mark.parametrize(("contract", "n_classes"), [(Source, 5), (Combination, 4), (Predictor, 6)])
def test_overrides_have_the_signature_of_the_contract(contract, n_classes):
    contracts.check_contract(contract, n_classes)
    for cls in contracts.library_classes(contract):
        assert not cls.__abstractmethods__, cls


def test_another_signature_and_a_missing_method_are_found():
    class Short(toy.TableCombination):
        def diagonal(self):
            return super().diagonal()

    class Longer(toy.TableCombination):
        def gram(self, exact=False, *, out=None):
            return super().gram(exact)

    (line,) = contracts.differences(Combination, Short)
    assert line.endswith("Short.diagonal(self), not (self, X=None)")
    assert contracts.differences(Combination, Longer) == []
    missing = {name: getattr(Combination, name) for name in ("gram", "own_gram")}
    unfinished = type("Unfinished", (toy.TableCombination,), missing)
    with pytest.raises(TypeError, match=r"abstract.*gram.*own_gram"):
        unfinished(open_source(SYMBOLS, TABLES), WEIGHTS)
    for contract in (Source, Combination, Predictor, Opener):
        with pytest.raises(TypeError, match="abstract"):
            contract()


GAPS = {name: np.array(SAMPLES[:, [k]]) for k, name in enumerate("abc")}
GAPS["a"][[1, 8]] = np.nan
GAPS["b"][[1, 5, 9]] = np.nan


def with_gaps():
    """A source of the first M samples of three tables with gaps."""
    some = {name: table[:M] for name, table in GAPS.items()}
    return open_source(some, dict.fromkeys("abc", al.Gaussian(0.3)), gaps=True)


# Requests that some kinds reject, by a ValueError with the reason.
REFUSED = {
    "given": {"own_gram", "diagonal"},
    "features": {"reweighted"},
    "rank one": {"reweighted"},
    "sparse features": {"reweighted", "unbiased"},
    "tables": {"diagonal", "unbiased"},
}


def test_what_a_kind_cannot_do_is_a_value_error(kind, request):
    source, new, grams = kind
    learned, X = source.combine(WEIGHTS), source.check(new)
    coef = np.array([1.0, -0.25, -0.75])
    predictor = learned.predictor(np.arange(3), coef[:, None])
    calls = {
        "own_gram": lambda: learned.own_gram(X),
        "diagonal": lambda: learned.diagonal(X),
        "reweighted": lambda: predictor.reweighted(WEIGHTS[::-1]).decisions(X)[:, 0],
        "unbiased": lambda: source.statistics(Y, unbiased=True).a,
    }
    K = np.tensordot(WEIGHTS, grams, 1)[M:, M:]
    other = np.tensordot(WEIGHTS[::-1], grams, 1)[M:, :3] @ coef
    expected = {"own_gram": up_to_sides(K), "diagonal": K.diagonal(), "reweighted": other}
    refused = set()
    for name, call in calls.items():
        try:
            found = call()
        except ValueError:
            refused.add(name)
            continue
        if name in expected:
            found = up_to_sides(found) if name == "own_gram" else found
            np.testing.assert_allclose(found, expected[name], rtol=1e-9, atol=1e-9)
    assert refused == REFUSED.get(request.node.callspec.params["kind"], set())


def test_own_gram_with_gaps_is_that_of_the_training_samples():
    source = with_gaps()
    learned = source.combine(WEIGHTS)
    every = np.arange(M)
    found = learned.own_gram(source.as_new(every))
    expected = learned.gram(exact=True)
    np.testing.assert_allclose(up_to_sides(found), up_to_sides(expected), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        learned.diagonal(source.as_new(every)), learned.diagonal(), rtol=1e-9
    )
    whole = np.flatnonzero(source.present.all(axis=1))
    few = learned.own_gram(source.as_new(whole))
    expected = expected[np.ix_(whole, whole)]
    np.testing.assert_allclose(up_to_sides(few), up_to_sides(expected), rtol=1e-9, atol=1e-12)


# An unknown kind of source is accepted by the estimators unchanged.


def symbols(n=90, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, n)
    return X, (np.argmax(TABLES.tables[0], axis=0) > 3).astype(int)[X]


def test_tables_in_a_classifier():
    X, y = symbols()
    grams = [K[X[:, None], X] for K in TABLES.tables]
    for weighting in ("alignf", "l1-svm"):
        model = al.MKLClassifier(TABLES, weighting=weighting).fit(X, y)
        given = al.MKLClassifier("precomputed", weighting=weighting).fit(grams, y)
        np.testing.assert_allclose(model.weights_, given.weights_, rtol=1e-6, atol=1e-9)
        found, expected = model.decision_function(X), given.decision_function(grams)
        np.testing.assert_allclose(found, expected, atol=1e-4)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert "table 1" in model.summary()


@pytest.mark.parametrize("solver", ["exact", "low-rank"])
def test_tables_in_kernel_cca(solver):
    X, _ = symbols()
    Z = X[::-1].copy()
    kernels = [toy.Tables(TABLES.tables[:1]), al.Gaussian(0.5)]
    other = np.random.default_rng(4).standard_normal((90, 2)) + X[:, None]
    model = KernelCCA(kernels=kernels, solver=solver).fit(X, other)
    K = TABLES.tables[0][X[:, None], X]
    given = KernelCCA(kernels=["precomputed", al.Gaussian(0.5)], solver=solver).fit(K, other)
    np.testing.assert_allclose(model.correlations_, given.correlations_, rtol=1e-6)
    found = model.transform(Z)
    expected = given.transform(TABLES.tables[0][Z[:, None], X])
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-5)
    assert abs(found[:, 0].mean()) < 1.0
