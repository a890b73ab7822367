"""Weights without a target: oracles in NumPy, their objectives, and estimators without y."""

import itertools

import numpy as np
import pytest
from cases import each

import alignlearn as al

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))
KERNELS = [al.Gaussian(0.05), al.Gaussian(0.5), al.Linear(), al.Columns("linear", [0])]
H = np.eye(40) - 1 / 40
CENTERED = [H @ k(X) @ H for k in KERNELS]
UNIT = np.array([K / np.linalg.norm(K) for K in CENTERED])
WITHOUT_TARGET = ["uniform", "consensus", "max-entropy", "structure"]


def learned(weighting, kernels=KERNELS, samples=X, **options):
    """Weights, of sum 1, of centered kernels of norm 1."""
    model = al.KernelCombiner(kernels, weighting=weighting, **options).fit(samples)
    weights = model.weights_ * model.statistics_.norms
    return weights / weights.sum()


def simplex(n):
    return np.random.default_rng(1).dirichlet(np.ones(len(KERNELS)), n)


def test_consensus_agrees_most_with_all_kernels():
    C = np.einsum("kij,lij->kl", UNIT, UNIT)
    values, vectors = np.linalg.eigh(C)
    u = learned("consensus")
    np.testing.assert_allclose(u, vectors[:, -1] / vectors[:, -1].sum(), rtol=1e-9)

    def agreement(weights):
        return np.sum((weights @ C) ** 2, axis=-1) / np.einsum("...i,ij,...j", weights, C, weights)

    assert np.all(agreement(simplex(300)) <= agreement(u))
    statistics = al.alignment_statistics(X, np.zeros(40), KERNELS, task="regression")
    found = al.Consensus().solve(statistics)
    assert found.objective == pytest.approx(values[-1]) == pytest.approx(agreement(u))
    assert found.kkt_residual < 1e-12


def test_consensus_of_groups_that_share_nothing():
    """The largest eigenvalue belongs to the larger group; equal kernels have equal weights."""
    U = np.linalg.qr(H @ RNG.standard_normal((40, 3)))[0]
    blocks = [np.outer(v, v) for v in U.T]
    given = {"weighting": "consensus", "kernels": "precomputed"}
    first = al.KernelCombiner(**given).fit([blocks[0], blocks[0], blocks[1]])
    np.testing.assert_allclose(first.weights_, [0.5, 0.5, 0.0], atol=1e-9)
    pairs = al.KernelCombiner(**given).fit([blocks[0], blocks[1], 5.0 * blocks[0], blocks[1]])
    np.testing.assert_allclose(pairs.weights_, np.full(4, 1 / 4), atol=1e-9)


def test_max_entropy_has_the_most_even_spectrum():
    def entropy(weights):
        R = np.einsum("k,kij->ij", weights, UNIT)
        spectrum = np.linalg.eigvalsh(R / np.trace(R))
        return -np.log(np.sum(spectrum**2))

    # Kernels of which several have weight.
    u = learned("max-entropy")
    best = entropy(u)
    assert all(entropy(w) <= best + 1e-12 for w in simplex(300))
    statistics = al.alignment_statistics(X, np.zeros(40), KERNELS, task="regression")
    assert al.MaxEntropy().solve(statistics).objective == pytest.approx(best)


def naive_distortion(n_neighbors):
    """Sums over the edges of all graphs by the definition, for centered kernels of norm 1."""
    W = np.zeros((40, 40))
    for K in CENTERED:
        D = np.diag(K)[:, None] + np.diag(K) - 2.0 * K
        np.fill_diagonal(D, np.inf)
        for i, row in enumerate(D):
            W[i, np.argsort(row)[:n_neighbors]] += 1.0
    S = np.zeros((len(UNIT), len(UNIT)))
    for i, j in zip(*np.nonzero(W)):
        rows = UNIT[:, i] - UNIT[:, j]
        S += W[i, j] * rows @ rows.T
    return S


def best_on_simplex(S):
    """The minimizer of u'Su, by trying every support."""
    best, found = np.inf, None
    for size in range(1, len(S) + 1):
        for P in map(list, itertools.combinations(range(len(S)), size)):
            v = np.linalg.solve(S[np.ix_(P, P)], np.ones(size))
            if v.min() >= 0.0 and 1.0 / v.sum() < best:
                best, found = 1.0 / v.sum(), np.zeros(len(S))
                found[P] = v / v.sum()
    return best, found


@pytest.mark.parametrize("n_neighbors", [1, 5, 100])
@pytest.mark.parametrize("normalize", ["trace", None])
def test_structure_minimizes_the_distortion_of_the_graph(n_neighbors, normalize, monkeypatch):
    # Several blocks of rows, the last of them smaller.
    monkeypatch.setattr("alignlearn.sources.source._BLOCK_ENTRIES", 7 * 40 * len(KERNELS))
    value, expected = best_on_simplex(naive_distortion(min(n_neighbors, 39)))
    rule = al.Structure(n_neighbors)
    model = al.KernelCombiner(KERNELS, weighting=rule, normalize=normalize).fit(X)
    weights = model.weights_ * model.statistics_.norms
    np.testing.assert_allclose(weights / weights.sum(), expected, atol=1e-8)
    assert model.result_.objective == pytest.approx(value)
    assert np.count_nonzero(expected) < len(KERNELS)
    assert model.result_.kkt_residual < 1e-10


@each("weighting", WITHOUT_TARGET)
def test_estimators_learn_without_a_target(weighting):
    options = {"weighting": weighting}
    model = al.KernelCombiner(KERNELS, **options).fit(X)
    K = sum(w * s * k(X) for w, s, k in zip(model.weights_, model.scale_, KERNELS))
    np.testing.assert_allclose(model.transform(X), H @ K @ H, atol=1e-10)
    # Alignments are with the combination itself.
    assert model.alignment_ == pytest.approx(1.0)
    own = [al.alignment(k(X), K) for k in KERNELS]
    np.testing.assert_allclose(model.kernel_alignments_, own, rtol=1e-8)
    assert "Without a target, alignments are those with the combination itself." in model.summary()
    # With a target the weights are the same, and the alignments are with it.
    y = np.where(X[:, 0] > 0.0, 1, -1)
    for other in (al.KernelCombiner(KERNELS, **options), al.MKLClassifier(KERNELS, **options)):
        other.fit(X, y)
        np.testing.assert_allclose(other.weights_, model.weights_, rtol=1e-12)
        assert other.alignment_ == pytest.approx(al.alignment(K, y))
        assert "Without a target" not in other.summary()
    # Kernels as precomputed matrices, and with other units.
    grams = [s * k(X) for s, k in zip((1.0, 100.0, 1e-3, 1.0), KERNELS)]
    if weighting != "uniform":
        np.testing.assert_allclose(learned(weighting, "precomputed", grams), learned(weighting))


def test_what_is_refused():
    for rule in ("alignf", al.AlignLq(), "lkrr"):
        with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
            al.KernelCombiner(KERNELS, weighting=rule).fit(X)
    weight = np.arange(40.0)
    with pytest.raises(ValueError, match="not accept sample_weight; accepted: repeated samples"):
        al.MKLRegressor(KERNELS, weighting="structure").fit(X, X[:, 0], weight)
    statistics = al.alignment_statistics(X, X[:, 0], KERNELS)
    with pytest.raises(TypeError, match="Structure needs the samples"):
        al.Structure().solve(statistics)
    with pytest.raises(ValueError, match="every kernel is constant"):
        al.KernelCombiner(KERNELS, weighting="structure").fit(np.ones((9, 5)))


@pytest.mark.parametrize("times", [2, 7, 20])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_structure_does_not_depend_on_repetitions(times, kind):
    """Copies of a sample are not neighbors; otherwise only rounding would be minimized."""
    few = X[:25].astype(kind)
    order = np.random.default_rng(0).permutation(25 * times)
    again = np.repeat(few, times, axis=0)[order]
    expected = learned("structure", samples=few)
    found = learned("structure", samples=again)
    np.testing.assert_allclose(found, expected, atol=1e-7 if kind is np.float64 else 1e-3)
    model = al.OneClassMKL(KERNELS, weighting="structure", nu=0.2).fit(again)
    assert model.result_.converged


def test_structure_of_some_repeated_rows():
    some = np.vstack([X, X[:5], X[:1], X[:1]])
    grams = [k(some) for k in KERNELS]
    given = al.KernelCombiner("precomputed", weighting="structure", normalize=None).fit(grams)
    opened = al.KernelCombiner(KERNELS, weighting="structure", normalize=None).fit(some)
    np.testing.assert_allclose(given.weights_, opened.weights_, rtol=1e-6, atol=1e-9)
