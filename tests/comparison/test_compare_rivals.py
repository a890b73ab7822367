"""Methods of a comparison with kernels of their own, against scikit-learn and the estimators."""

from functools import lru_cache

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

import alignlearn as al
from alignlearn.comparison import C_GRID, Method, Protocol, compare, rivals, split
from alignlearn.comparison import METHODS as ALL_METHODS
from alignlearn.comparison.figure import plot_comparison
from alignlearn.kernels import RankOneKernels, gaussian_kernels

KERNELS = gaussian_kernels((0.03, 0.3, 3.0))
METHODS = ("uniform", "alignf", "svm-cv", "aligned-rf", "bayesian-mkl")
COSTS = (0.5, 8.0)


def problem(kind="two", m=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -1.0]
    signal = np.sin(2 * X[:, 0]) + 0.1 * X[:, 1] + 0.2 * rng.normal(size=m)
    if kind == "real":
        return X, signal
    cuts = [0.4] if kind == "two" else [-0.2, 1.0]
    return X, np.array(["low", "mid", "top"])[np.digitize(signal, cuts)]


@pytest.fixture(autouse=True)
def _few_settings(monkeypatch):
    monkeypatch.setattr(rivals, "GAMMA_MULTIPLES", (0.25, 1.0, 4.0))
    monkeypatch.setattr(rivals, "N_FEATURES", 50)
    monkeypatch.setattr(rivals, "WIDTHS", (1.0,))
    monkeypatch.setattr(rivals, "NOISES", (1.0, 0.3))


@lru_cache
def found_on(kind):
    X, y = problem(kind)
    return compare(X, y, KERNELS, methods=METHODS, protocol=Protocol(grid=COSTS, random_state=3))


def parts(X, y, t):
    """Columns standardized on the training folds, and y, of (train, validate, test) of trial t."""
    folds = split(y, 5, "classification", 3)
    train = np.sort(np.concatenate([folds[(t + k) % 5] for k in (2, 3, 4)]))
    Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    return [(Z[rows], y[rows]) for rows in (train, folds[(t + 1) % 5], folds[t])]


def near(outcome, candidates, n):
    """Whether (validation error, error) belong to a best candidate, up to one borderline sample."""
    validation, error = outcome
    slack = 1.0 / n + 1e-9
    best = min(v for v, _ in candidates)
    equal = [e for v, e in candidates if v <= validation + slack]
    return abs(validation - best) <= slack and min(abs(error - e) for e in equal) <= slack


def svm_errors(kernel, trial):
    """Errors of scikit-learn's SVC for each C on a kernel centered and of trace m."""
    (Z, y), *others = trial
    K, m = kernel(Z, Z), len(Z)
    H = np.eye(m) - 1.0 / m
    scale = m / np.trace(H @ K @ H)
    for C in COSTS:
        svc = SVC(C=C, kernel="precomputed", tol=1e-6, break_ties=True).fit(scale * K, y)
        yield tuple(np.mean(svc.predict(scale * kernel(A, Z)) != b) for A, b in others)


@pytest.mark.parametrize("kind", ["two", "three"])
def test_svm_cv_chooses_width_and_cost_by_validation(kind):
    X, y = problem(kind)
    found = found_on(kind)
    i = found.index("svm-cv")
    for t in range(5):
        trial = parts(X, y, t)
        scale = 1.0 / (3 * trial[0][0].var())
        candidates = []
        for multiple in (0.25, 1.0, 4.0):
            gamma = scale * multiple
            candidates += svm_errors(lambda A, B, g=gamma: rbf_kernel(A, B, gamma=g), trial)
        outcome = found.validation_error[i, t], found.error[i, t]
        assert near(outcome, candidates, min(len(b) for _, b in trial[1:]))
    assert np.isin(found.parameter[i], COSTS).all()
    assert np.isnan(found.weights[i]).all()
    assert ((found.alignment[i] > 0) & (found.alignment[i] < 1)).all()


@pytest.mark.parametrize("kind", ["two", "three"])
def test_aligned_rf_is_the_estimator_on_the_training_folds(kind):
    X, y = problem(kind)
    found = found_on(kind)
    i = found.index("aligned-rf")
    for t in range(5):
        trial = parts(X, y, t)
        candidates, alignments = [], []
        for rho in rivals.RADII:
            learner = al.AlignedRandomFeatures(n_features=50, rho=rho, random_state=3)
            learner.fit(*trial[0])
            candidates += svm_errors(learner.kernel_, trial)
            alignments.append(learner.alignment_)
        outcome = found.validation_error[i, t], found.error[i, t]
        assert near(outcome, candidates, min(len(b) for _, b in trial[1:]))
        assert np.abs(np.array(alignments) - found.alignment[i, t]).min() < 1e-9
    assert np.isnan(found.weights[i]).all()


@pytest.mark.parametrize("kind", ["two", "three"])
def test_bayesian_mkl_is_the_estimator_on_the_training_folds(kind):
    X, y = problem(kind)
    found = found_on(kind)
    i = found.index("bayesian-mkl")
    for t in range(5):
        trial = parts(X, y, t)
        models = [al.BayesianMKLClassifier(KERNELS, sigma_g=s).fit(*trial[0]) for s in (1.0, 0.3)]
        candidates = [tuple(1.0 - m.score(A, b) for A, b in trial[1:]) for m in models]
        outcome = found.validation_error[i, t], found.error[i, t]
        assert near(outcome, candidates, min(len(b) for _, b in trial[1:]))
        chosen = models[0 if found.parameter[i, t] == 1.0 else 1]
        weights = chosen.weights_ if kind == "two" else np.abs(chosen.weights_).mean(axis=1)
        np.testing.assert_allclose(found.weights[i, t], weights / np.abs(weights).sum(), atol=1e-6)
        if kind == "two":
            assert found.alignment[i, t] == pytest.approx(chosen.alignment_, abs=1e-6)


def test_what_counts_as_learned():
    found = found_on("two")
    assert found.learned == ("alignf", "aligned-rf", "bayesian-mkl")
    assert "svm-cv" in found.table()
    assert "svm-cv" not in found.verdict()
    assert not np.isnan(found.test_alignment).any()


def test_regression():
    X, y = problem("real")
    found = compare(X, y, KERNELS, methods=("uniform", "aligned-rf"))
    assert np.isfinite(found.error).all()
    assert found.error[1].mean() < y.std()
    for method in ("svm-cv", "bayesian-mkl"):
        with pytest.raises(ValueError, match=f"'{method}' is for classification.*'aligned-rf'"):
            compare(X, y, KERNELS, methods=("uniform", method))


def test_rank_one_kernels_and_sparse_columns():
    X, y = problem()
    X = sparse.csr_matrix(np.where(np.abs(X) < 0.3, 0.0, X))
    found = compare(X, y, RankOneKernels(), methods=("uniform", "svm-cv", "aligned-rf"))
    assert np.isfinite(found.error).all()
    dense = compare(
        X.toarray(),
        y,
        RankOneKernels(),
        methods=("svm-cv",),
        protocol=Protocol(scale="none"),
    )
    thin = compare(X, y, RankOneKernels(), methods=("svm-cv",), protocol=Protocol(scale="none"))
    np.testing.assert_allclose(dense.alignment, thin.alignment, rtol=1e-6)
    with pytest.raises(ValueError, match="'bayesian-mkl' is not available for RankOneKernels"):
        compare(X, y, RankOneKernels(), methods=("bayesian-mkl",))


def test_figure_without_weights_and_with_some():
    X, y = problem()
    protocol = Protocol(grid=COSTS)
    only = compare(X, y, KERNELS, methods=("svm-cv", "aligned-rf"), protocol=protocol)
    left, right = plot_comparison(only).axes
    assert not left.patches
    assert "No method" in left.get_title()
    assert len(right.get_legend_handles_labels()[1]) == 2
    figure = plot_comparison(found_on("two"))
    assert len(figure.axes[0].patches) == 2 * 3  # alignf and bayesian-mkl
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [ALL_METHODS[m].style[0] for m in METHODS[2:]] == names[2:]


def test_a_method_is_added_in_one_place(monkeypatch):
    """A new method is one entry, a function of a trial."""

    def fixed_width(trial):
        yield from rivals.own_kernel_candidates(trial, al.Gaussian(0.5))

    entry = Method(fixed_width, ("fixed width", "#123456", "x"))
    monkeypatch.setitem(ALL_METHODS, "svm-cv", entry)  # replaces a method with a known name
    X, y = problem()
    protocol = Protocol(grid=C_GRID[:2])
    found = compare(X, y, KERNELS, methods=("uniform", "svm-cv"), protocol=protocol)
    expected = compare(X, y, [al.Gaussian(0.5)], methods=("uniform",), protocol=protocol)
    np.testing.assert_allclose(found.alignment[1], expected.alignment[0], rtol=1e-8)
    np.testing.assert_allclose(found.error[1], expected.error[0], atol=1.0 / 12 + 1e-9)
