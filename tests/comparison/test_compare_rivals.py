"""Methods of a comparison with kernels of their own, against scikit-learn and the estimators."""

from functools import lru_cache, partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from written_out import GAUSSIANS as KERNELS
from written_out import problem, trial_of

import alignlearn as al
from alignlearn.comparison import C_GRID, Method, Protocol, compare, rivals
from alignlearn.comparison import METHODS as ALL_METHODS
from alignlearn.comparison.figure import plot_comparison
from alignlearn.kernels import RankOneKernels

METHODS = ("uniform", "alignf", "svm-cv", "aligned-rf", "bayesian-mkl")
COSTS = (0.5, 8.0)


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


def near(outcome, candidates, n):
    """Whether (validation error, error) belong to a best candidate, up to one borderline sample."""
    validation, error = outcome
    slack = 1.0 / n + 1e-9
    best = min(v for v, _ in candidates)
    equal = [e for v, e in candidates if v <= validation + slack]
    return abs(validation - best) <= slack and min(abs(error - e) for e in equal) <= slack


def svm_errors(kernel, trial):
    """(validation error, error, C) of scikit-learn's SVC on a kernel centered and of trace m."""
    (Z, y), *others = trial
    K, m = kernel(Z, Z), len(Z)
    H = np.eye(m) - 1.0 / m
    scale = m / np.trace(H @ K @ H)
    for C in COSTS:
        svc = SVC(C=C, kernel="precomputed", tol=1e-6, break_ties=True).fit(scale * K, y)
        yield *(np.mean(svc.predict(scale * kernel(A, Z)) != b) for A, b in others), C


def of_svm_cv(trial):
    """A choice of width and cost by validation."""
    scale = 1.0 / (3 * trial[0][0].var())
    for multiple in (0.25, 1.0, 4.0):
        for tried in svm_errors(partial(rbf_kernel, gamma=scale * multiple), trial):
            yield *tried, np.nan, np.full(3, np.nan)


def of_aligned_rf(trial):
    for rho in rivals.RADII:
        learner = al.AlignedRandomFeatures(n_features=50, rho=rho, random_state=3).fit(*trial[0])
        for tried in svm_errors(learner.kernel_, trial):
            yield *tried, learner.alignment_, np.full(3, np.nan)


def of_bayesian_mkl(trial):
    for noise in (1.0, 0.3):
        model = al.BayesianMKLClassifier(KERNELS, sigma_g=noise).fit(*trial[0])
        errors = [1.0 - model.score(A, b) for A, b in trial[1:]]
        weights = model.weights_ if model.weights_.ndim == 1 else np.abs(model.weights_).mean(1)
        known = model.weights_.ndim == 1  # the alignment of one kernel
        yield *errors, noise, model.alignment_ if known else np.nan, weights / np.abs(weights).sum()


METHOD = {"svm-cv": of_svm_cv, "aligned-rf": of_aligned_rf, "bayesian-mkl": of_bayesian_mkl}


@pytest.mark.parametrize("kind", ["two", "three"])
@pytest.mark.parametrize("method", METHOD)
def test_methods_are_the_models_on_the_training_folds(method, kind):
    found = found_on(kind)
    i = found.index(method)
    for t in range(5):
        trial = trial_of(*problem(kind), t)
        tried = list(METHOD[method](trial))
        outcome = found.validation_error[i, t], found.error[i, t]
        assert near(outcome, [one[:2] for one in tried], min(len(b) for _, b in trial[1:]))
        *_, alignments, weights = zip(*(c for c in tried if c[2] == found.parameter[i, t]))
        if not np.isnan(alignments[0]):
            assert np.abs(np.array(alignments) - found.alignment[i, t]).min() < 1e-6
        np.testing.assert_allclose(found.weights[i, t], weights[0], atol=1e-6)
    assert ((found.alignment[i] > 0) & (found.alignment[i] < 1)).all()


def test_regression_rank_one_kernels_and_sparse_columns():
    X, y = problem("regression")
    found = compare(X, y, KERNELS, methods=("uniform", "aligned-rf"))
    assert found.error[1].mean() < y.std()
    X, y = problem("two")
    X, options = np.where(np.abs(X) < 0.3, 0.0, X), {"protocol": Protocol(scale="none")}
    dense, thin = (
        compare(A, y, RankOneKernels(), methods=("svm-cv", "aligned-rf"), **options)
        for A in (X, sparse.csr_matrix(X))
    )
    np.testing.assert_allclose(dense.alignment[0], thin.alignment[0], rtol=1e-6)
    assert np.isfinite(thin.error).all()


def test_figure_without_weights_and_with_some():
    X, y = problem("two")
    found = found_on("two")
    assert found.learned == ("alignf", "aligned-rf", "bayesian-mkl")
    assert "svm-cv" in found.table()
    assert "svm-cv" not in found.verdict()
    protocol = Protocol(grid=COSTS)
    only = compare(X, y, KERNELS, methods=("svm-cv", "aligned-rf"), protocol=protocol)
    left, right = plot_comparison(only).axes
    assert not left.patches
    assert "No method" in left.get_title()
    assert len(right.get_legend_handles_labels()[1]) == 2
    figure = plot_comparison(found)
    assert len(figure.axes[0].patches) == 2 * 3  # alignf and bayesian-mkl
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [ALL_METHODS[m].style[0] for m in METHODS[2:]] == names[2:]


def test_a_method_is_added_in_one_place(monkeypatch):
    """A new method is one entry, a function of a trial."""

    def fixed_width(trial):
        yield from rivals.own_kernel_candidates(trial, al.Gaussian(0.5))

    entry = Method(fixed_width, ("fixed width", "#123456", "x"))
    monkeypatch.setitem(ALL_METHODS, "svm-cv", entry)  # replaces a method with a known name
    X, y = problem("two")
    protocol = Protocol(grid=C_GRID[:2])
    found = compare(X, y, KERNELS, methods=("uniform", "svm-cv"), protocol=protocol)
    expected = compare(X, y, [al.Gaussian(0.5)], methods=("uniform",), protocol=protocol)
    np.testing.assert_allclose(found.alignment[1], expected.alignment[0], rtol=1e-8)
    np.testing.assert_allclose(found.error[1], expected.error[0], atol=1.0 / 12 + 1e-9)
