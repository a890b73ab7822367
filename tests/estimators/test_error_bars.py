"""Standard deviations and intervals of regressors: oracles, refits, rejected input, coverage."""

import io
import pickle
import warnings

import numpy as np
import pytest
from refusals import raises
from scipy.sparse import csr_matrix
from sklearn.base import clone

import alignlearn as al
from alignlearn.folds import equal_folds
from alignlearn.machines import KernelRidge
from alignlearn.validation import DoubtfulResultWarning

KERNELS = al.gaussian_kernels([0.05, 0.5])
ALPHA = 0.2
M = 30


def _data(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.column_stack([np.sin(2.0 * X[:, 0]), X[:, 1]]) + 0.3 * rng.normal(size=(n, 2))


X, Y = _data(0, M)
NEW, Y_NEW = _data(1, 12)
y = Y[:, 0]
WIDE = np.hstack([X, np.square(X), X[:, :1] * X[:, 1:]])


@pytest.fixture(scope="module")
def averaged():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResultWarning)
        found = al.MKLRegressorCV(cv=2).fit(X, y)
    assert len(found.members_) == 2
    assert any(member.factors is not None for member in found.members_)
    return found


def kriging(model, alpha, weight=None):
    """Standard deviations by the equations of universal kriging with the fitted kernel."""
    weight = np.ones(M) if weight is None else weight
    used = weight > 0.0
    samples, targets, weight = X[used], Y[used], weight[used]
    A, one = np.linalg.inv(model.kernel_(samples) + np.diag(alpha / weight)), np.ones(len(weight))
    k = model.kernel_(NEW, samples)
    own = np.diagonal(model.kernel_(NEW)) - np.einsum("ij,jk,ik->i", k, A, k)
    Q = A - np.outer(A @ one, A @ one) / (one @ A @ one)
    scale = np.einsum("ij,ik,kj->j", targets, Q, targets) / (len(weight) - 1.0)
    shape = own + np.square(1.0 - k @ A @ one) / (one @ A @ one)
    return np.sqrt(np.outer(shape, scale)), np.sqrt(np.outer(shape + alpha, scale))


# Standard deviations


@pytest.mark.parametrize("kernels", [KERNELS, ["linear"]], ids=["pairs", "linear"])
def test_deviations_do_not_depend_on_the_unit_of_the_weights(kernels):
    """Multiplying weights and alpha by a constant changes nothing; a mean of 1 / m is common."""
    weight = np.random.default_rng(2).uniform(0.1, 3.0, size=M)
    weight[[4, 9]] = 0.0
    for factor in (1.0, 0.1, 1.0 / M, 0.5 / M, 1e4):
        given = factor * weight
        model = al.MKLRegressor(kernels, alpha=factor * ALPHA).fit(X, Y, given)
        found = model.predict(NEW, True, fit=(X, Y, given))[1]
        want, total = kriging(model, factor * ALPHA, given)
        np.testing.assert_allclose(found, want, rtol=1e-6)
        np.testing.assert_allclose(model.predict(NEW, True, noise=True)[1], total, rtol=1e-6)
        if factor == 1.0:
            first = found
        np.testing.assert_allclose(found, first, rtol=1e-6)


def test_deviations_of_an_average_are_those_of_the_mixture(averaged):
    mean, std = averaged.predict(NEW, True)
    parts = [m.model.predict(m.of(NEW), True) for m in averaged.members_]
    second = np.mean([s**2 + f**2 for f, s in parts], axis=0)
    np.testing.assert_allclose(std, np.sqrt(second - mean**2), rtol=1e-9)


# Intervals


def closed_form(model, *args, **options):
    """Intervals with the kernel learned on all samples, with and without a warning about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResultWarning)
        return model.predict_interval(*args, refit=False, **options)


def refitted(models, parts, coverage):
    """Intervals by fits without every part; ``models`` are (share, Gram, new, alpha)."""
    low, high = [], []
    for index in parts:
        mean, residuals, rest = 0.0, 0.0, np.setdiff1d(np.arange(M), index)
        for share, K, new, alpha in models:
            machine = KernelRidge(alpha).fit(K[np.ix_(rest, rest)], Y[rest])
            mean = mean + share * machine.predict(new[:, rest])
            residuals += share * (Y[index] - machine.predict(K[np.ix_(index, rest)]))
        low += [mean - r for r in np.abs(residuals)]
        high += [mean + r for r in np.abs(residuals)]
    return ends(low, high, coverage)


def ends(low, high, coverage):
    """The ceil(coverage (n + 1))-th of n ends, counted from outside."""
    k = int(np.ceil(coverage * (len(low) + 1)))
    return np.sort(low, axis=0)[-k], np.sort(high, axis=0)[k - 1]


def left_out(folds):
    if folds is None:
        return np.arange(M)[:, None]
    number = equal_folds(M, folds)
    return [np.flatnonzero(number == t) for t in range(folds)]


@pytest.mark.parametrize(
    ("folds", "coverage", "tuned"),
    [(None, 0.5, True), (None, 0.9, False), (4, 0.9, True), (4, 0.5, False)],
)
def test_intervals_are_those_of_refits_with_the_learned_kernel(folds, coverage, tuned):
    model = al.MKLRegressor(KERNELS, alpha=ALPHA)
    model = al.MKLRegressorCV(KERNELS, weighting="alignf", alphas=[ALPHA], cv=3) if tuned else model
    model.fit(X, Y)
    found = closed_form(model, NEW, coverage, folds=folds)
    given = [(1.0, model.kernel_(X), model.kernel_(NEW, X), ALPHA)]
    np.testing.assert_allclose(found, refitted(given, left_out(folds), coverage), rtol=1e-8)


@pytest.mark.parametrize("folds", [None, 4])
def test_intervals_of_an_average_are_those_of_refits_of_its_machines(averaged, folds):
    members = [(m.share, m.kernel, m.model.machine_.alpha) for m in averaged.members_]
    given = [(share, kernel(X), kernel(NEW, X), alpha) for share, kernel, alpha in members]
    low, high = refitted(given, left_out(folds), 0.9)
    with pytest.warns(DoubtfulResultWarning, match="scales of the features were learned"):
        found = averaged.predict_interval(NEW, folds=folds, refit=False)
    np.testing.assert_allclose(found.low, low[:, 0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.high, high[:, 0], rtol=1e-7, atol=1e-9)


def by_refits(model, y, parts, coverage):
    """Intervals by clones that are fitted without every part."""
    low, high = [], []
    for index in parts:
        rest = np.setdiff1d(np.arange(M), index)
        again = clone(model).fit(X[rest], y[rest])
        mean, radii = again.predict(NEW), np.abs(y[index] - again.predict(X[index]))
        low += [mean - r for r in radii]
        high += [mean + r for r in radii]
    return ends(low, high, coverage)


@pytest.mark.parametrize("machine", ["krr", "svr"])
@pytest.mark.parametrize("folds", [None, 3])
def test_refits_learn_everything_again(machine, folds):
    model = al.MKLRegressor(KERNELS, machine=machine, alpha=ALPHA).fit(X, y)
    found = model.predict_interval(NEW, 0.8, folds=folds, fit=(X, y), refit=True)
    want = by_refits(model, y, left_out(folds), 0.8)
    np.testing.assert_allclose(found, want, rtol=1e-9)
    if machine == "krr":  # the weights differ
        assert not np.allclose(closed_form(model, NEW, 0.8, folds=folds), want, rtol=1e-6)


def test_refits_of_a_search_choose_alpha_again_and_leave_it_as_it_was():
    model = al.MKLRegressorCV(KERNELS, alphas=[0.01, 0.1, 1.0], cv=3).fit(X, Y)
    before = model.predict(NEW)
    found = model.predict_interval(NEW, 0.6, folds=3, fit=(X, Y), refit=True)
    np.testing.assert_array_equal(model.predict(NEW), before)
    np.testing.assert_allclose(found, by_refits(model, Y, left_out(3), 0.6), rtol=1e-9)


# Other machines and samples: all routes to one problem agree


def agree(found, want, rtol=1e-6):
    for a, b in zip(found, want):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("folds", [None, 3])
def test_linear_kernels_and_given_matrices_take_the_training_samples_once(folds):
    new = np.hstack([NEW, np.square(NEW), NEW[:, :1] * NEW[:, 1:]])
    options = {"weighting": "uniform", "normalize": None, "alpha": ALPHA}
    pairs = al.MKLRegressor([al.Polynomial(1.0, 0.0, 1)], **options).fit(WIDE, Y)
    want, deviations = closed_form(pairs, new, folds=folds), pairs.predict(new, True)
    columns = WIDE.shape[1]  # whose kernels have weights of sum 1
    for X_fit, X_new, kernels, unit in (
        (WIDE, new, ["linear"], 1.0),
        (csr_matrix(WIDE), csr_matrix(new), ["linear"], 1.0),
        (WIDE, new, al.RankOneKernels(), 1.0 / columns),
        ([WIDE @ WIDE.T], [new @ WIDE.T], "precomputed", 1.0),
    ):
        model = al.MKLRegressor(kernels, **{**options, "alpha": unit * ALPHA}).fit(X_fit, Y)
        raises(ValueError, r"fit=\(X, y\) is needed", closed_form, model, X_new, folds=folds)
        agree(closed_form(model, X_new, folds=folds, fit=(X_fit, Y)), want)
        agree(closed_form(model, X_new, folds=folds), want)  # with known widths
        if kernels == "precomputed":
            raises(ValueError, r"k\(x, x\) of the new", model.predict, X_new, return_std=True)
        else:
            agree(model.predict(X_new, True, fit=(X_fit, Y)), deviations)


def test_more_features_than_samples_and_nystrom_on_all_samples():
    options = {"weighting": "uniform", "normalize": None, "alpha": ALPHA}
    kernels = ["linear"], [al.Polynomial(1.0, 0.0, 1)]
    linear, pairs = (al.MKLRegressor(k, **options).fit(WIDE[:9], Y[:9]) for k in kernels)
    new, want = WIDE[9:], closed_form(pairs, WIDE[9:], 0.8)
    agree(closed_form(linear, new, 0.8, fit=(WIDE[:9], Y[:9])), want)
    agree(linear.predict(new, True), pairs.predict(new, True))
    exact = al.MKLRegressor(KERNELS, alpha=ALPHA).fit(X, y)
    nystrom = al.MKLRegressor(KERNELS, machine="nystrom", alpha=ALPHA).fit(X, y)
    raises(ValueError, "machine='nystrom'", closed_form, nystrom, NEW)
    for folds in (None, 3):
        want = closed_form(exact, NEW, folds=folds)
        agree(closed_form(nystrom, NEW, folds=folds, fit=(X, y)), want, 1e-4)
    agree(nystrom.predict(NEW, True), exact.predict(NEW, True), 1e-4)
    # Far from all data, the few centers leave the whole prior variance of the kernel.
    few = al.MKLRegressor(KERNELS, machine="nystrom", n_centers=5, alpha=ALPHA).fit(X, y)
    near, far = (few.predict(A, True, fit=(X, y))[1] for A in (X[:1], X[:1] + 100.0))
    assert far[0] > 1.2 * near[0]


def test_single_precision_sparse_samples_and_tables():
    model = al.MKLRegressor(KERNELS, alpha=ALPHA)
    want = model.fit(X, y).predict_interval(NEW)
    deviations = model.predict(NEW, True)
    single = model.fit(X.astype(np.float32), y)
    agree(closed_form(single, NEW.astype(np.float32)), want, 1e-4)
    agree(single.predict(NEW.astype(np.float32), True), deviations, 1e-3)
    sparse = model.fit(csr_matrix(X), y)
    agree(closed_form(sparse, csr_matrix(NEW)), want, 1e-8)
    agree(sparse.predict(csr_matrix(NEW), True), deviations, 1e-8)
    tables = al.MKLRegressor({"a": "rbf", "b": "linear"}, alpha=ALPHA)
    tables.fit({"a": X[:, :2], "b": X[:, 2:]}, y)
    new = {"b": NEW[:, 2:], "a": NEW[:, :2]}
    found = closed_form(tables, new)
    given = [(1.0, *(tables.kernel_(A, X) for A in (X, NEW)), ALPHA)]
    low, _ = refitted(given, left_out(None), 0.9)
    np.testing.assert_allclose(found.low, low[:, 0], rtol=1e-7)


# Stored attributes, and rejected input


def test_what_error_bars_are_made_of_is_not_stored():
    model = al.MKLRegressor(KERNELS, alpha=ALPHA).fit(X, y)
    size = len(pickle.dumps(model))
    want = closed_form(model, NEW)
    assert len(pickle.dumps(model)) == size
    file = io.BytesIO()
    al.save(model, file)
    file.seek(0)
    for again in (pickle.loads(pickle.dumps(model)), al.load(file)):
        np.testing.assert_array_equal(closed_form(again, NEW), want)
    np.testing.assert_array_equal(model.set_params(alpha=9.0).predict_interval(NEW), want)
    model.fit(X, y)  # with the new alpha, and nothing of the old one
    wide = al.MKLRegressor(KERNELS, alpha=9.0).fit(X, y)
    np.testing.assert_array_equal(closed_form(model, NEW), closed_form(wide, NEW))


def test_refused():
    model = al.MKLRegressor(KERNELS, alpha=ALPHA).fit(X, y)
    for coverage in (0.0, 1.0, np.nan):
        raises(ValueError, "coverage=", closed_form, model, NEW, coverage)
    raises(TypeError, "coverage", closed_form, model, NEW, "0.9")
    for folds in (1, M + 1):
        raises(ValueError, "folds=", closed_form, model, NEW, folds=folds)
    raises(TypeError, "return_std", model.predict, NEW, "yes")
    for more in ({"noise": True}, {"fit": (X, y)}):
        raises(ValueError, "return_std=True", model.predict, NEW, **more)
    again = {"folds": 3, "refit": True}
    for fit in ((X, y[::-1]), (X + 0.1, y), (X[:-1], y[:-1])):
        words = "fit has 29 samples" if len(fit[1]) < M else "which the model was not fitted"
        raises(ValueError, words, closed_form, model, NEW, fit=fit)
        raises(ValueError, words, model.predict_interval, NEW, fit=fit, **again)
    raises(ValueError, "was not given", closed_form, model, NEW, fit=(X, y, np.ones(M)))
    raises(TypeError, "tuple", closed_form, model, NEW, fit=X)
    raises(TypeError, "tuple", model.predict_interval, NEW, fit=(X, y, np.ones(M)), **again)
    found = closed_form(model, NEW, fit=(X, y))
    np.testing.assert_array_equal(found, closed_form(model.fit(X, y), NEW))
    weighted = al.MKLRegressor(KERNELS).fit(X, y, np.linspace(1.0, 2.0, M))
    raises(ValueError, "exchangeable", closed_form, weighted, NEW)
    raises(ValueError, r"\(X, y, sample_weight\) is needed", weighted.predict, NEW, True)
    many = _data(0, 100)
    without_matrix = al.MKLRegressor(KERNELS, memory=80_000).fit(many[0], many[1][:, 0])
    raises(ValueError, "exceed the parameter memory", closed_form, without_matrix, NEW)
    vectors = al.MKLRegressor(KERNELS, machine="svr").fit(X, y)
    targets = al.MKLRegressorCV(KERNELS, per_target=True).fit(X, Y)
    for other, reason in ((vectors, "linear in y"), (targets, "per_target=True")):
        raises(ValueError, reason, closed_form, other, NEW)
        raises(ValueError, reason, other.predict, NEW, return_std=True)
    raises(ValueError, "per_target=True", targets.predict_interval, NEW, refit=True)
    raises(ValueError, "after machine='svr'", vectors.predict_interval, NEW)
    strategy = al.MKLRegressorCV(cv=2).fit(X, y)
    raises(ValueError, "is needed after a strategy", strategy.predict_interval, NEW)


def columns(m, p, seed):
    """Samples, a target that is noise, and a linear kernel of each column."""
    rng = np.random.default_rng(seed)
    kernels = [al.Columns(al.Linear(), [k]) for k in range(p)]
    return rng.normal(size=(m, p)), rng.normal(size=m), kernels


def intervals_of(model, m, p, seed=0, **options):
    X, y, kernels = columns(m, p, seed)
    model.set_params(kernels=kernels).fit(X, y)
    new, target, _ = columns(300, p, seed + 1000)
    low, high = model.predict_interval(new, fit=(X, y), **options)
    return np.mean((low <= target) & (target <= high))


# p kernels with one column each: all are different, so p log p > m / 20 for many kernels.
@pytest.mark.parametrize(
    ("m", "p", "folds"),
    [(50, 2, 0), (300, 7, 0), (50, 3, 10), (20, 4, None), (54, 4, 9), (61, 4, 10), (97, 4, 8)],
)
def test_weights_are_learned_again_where_it_matters_in_about_ten_equal_folds(m, p, folds):
    for weighting in ("uniform", "alignf"):
        X, y, kernels = columns(m, p, 0)
        model = al.MKLRegressor(kernels, weighting=weighting).fit(X, y)
        found = model.predict_interval(X[:5], 0.8, fit=(X, y))
        again = folds != 0 and weighting == "alignf"
        options = {"refit": True, "folds": folds} if again else {"refit": False}
        want = model.predict_interval(X[:5], 0.8, fit=(X, y), **options)
        np.testing.assert_array_equal(found, want)


def test_many_weights_of_few_samples_are_doubted_unless_they_are_learned_again():
    model, uniform = al.MKLRegressor(), al.MKLRegressor(weighting="uniform")
    intervals_of(uniform, 50, 10, refit=False)
    message = "coverage may be lower than requested: the weights of 100 different kernels"
    covered, again = [], []
    for seed in range(6):
        again.append(intervals_of(model, 50, 100, seed))
        for folds in (None, 10):
            with pytest.warns(DoubtfulResultWarning, match=message) as found:
                covered.append(intervals_of(model, 50, 100, seed, folds=folds, refit=False))
            assert len(found) == 1
    assert np.mean(covered) < 0.85
    assert np.mean(again) > 0.87
    search = al.MKLRegressorCV(weighting="alignf")
    with pytest.warns(DoubtfulResultWarning, match="alpha or C was chosen on all samples; the wei"):
        intervals_of(search, 50, 10, refit=False)
    # Thirty widths are few kernels.
    X, y, _ = columns(150, 10, 0)
    model = al.MKLRegressor(al.gaussian_kernels(np.geomspace(0.01, 10.0, 30))).fit(X[:, :3], y)
    model.predict_interval(X[:, :3], refit=False)


def test_samples_that_a_model_holds_need_not_be_given_again():
    """Kernels of tables are few, too; precomputed kernels are split like samples."""
    rng = np.random.default_rng(3)
    X, y, new = rng.normal(size=(40, 4)), rng.normal(size=40), rng.normal(size=(7, 4))
    kernels = [al.Columns(al.Gaussian(0.3), [k]) for k in range(4)]
    model = al.MKLRegressor(kernels).fit(X, y)
    want = model.predict_interval(new)
    tables, given = (dict(zip("abcd", A.T[:, :, None])) for A in (X, new))
    of_tables = al.MKLRegressor({name: al.Gaussian(0.3) for name in "abcd"}).fit(tables, y)
    search = al.MKLRegressorCV(kernels, alphas=[1.0], cv=3, weighting="alignf").fit(X, y)
    grams = [k(X) for k in kernels]
    matrices = al.MKLRegressor("precomputed").fit(grams, y)
    agree(model.predict_interval(new, fit=(X, y)), want, 1e-9)
    agree(of_tables.predict_interval(given), want, 1e-9)
    agree(of_tables.predict_interval(given, fit=(tables, y)), want, 1e-9)
    agree(search.predict_interval(new), want, 1e-9)
    agree(matrices.predict_interval([k(new, X) for k in kernels], fit=(grams, y)), want, 1e-9)
    default = al.MKLRegressor().fit(tables, y)  # nine Gaussians for each table, in each fold, too
    default.predict_interval(given)
    fits = vars(default)["_smoothers"][1]["refit", 10][1].models
    assert [len(fit.kernels_) for fit in fits] == [36] * 10


def test_too_few_samples_are_said_to_be():
    model = al.MKLRegressor(KERNELS, alpha=ALPHA).fit(X, y)
    with pytest.warns(DoubtfulResultWarning, match="at least 99 are needed"):
        low, high = model.predict_interval(NEW, 0.99)
    assert np.isneginf(low).all()
    assert np.isposinf(high).all()


# Coverage


@pytest.mark.parametrize("machine", ["krr", "nystrom"])
def test_training_samples_far_from_zero_are_recognized(machine):
    """Rounding of y at 1e14 exceeds the share of its range by which samples are distinguished."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + np.square(X[:, 1]) + 1e14
    model = al.MKLRegressor([al.Gaussian(0.3)], machine=machine, alpha=0.1).fit(X, y)
    deviation = model.predict(X[:3], return_std=True, fit=(X, y))[1]
    near = model.fit(X, y - 1e14).predict(X[:3], return_std=True, fit=(X, y - 1e14))[1]
    np.testing.assert_allclose(deviation, near, rtol=0.05)
    with pytest.raises(ValueError, match="fit contains samples on which"):
        model.predict(X[:3], return_std=True, fit=(X, (y - 1e14)[::-1]))
