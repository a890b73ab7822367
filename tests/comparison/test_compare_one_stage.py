"""One-stage methods of the comparison: rules and models on explicit matrices; invariances."""

import re
from functools import lru_cache, partial

import numpy as np
import pytest
from refusals import not_refused
from scipy import sparse
from written_out import GAUSSIANS, check_trials, errors_at, is_real, problem, trial_of
from written_out import centered_kernels as kernels_of

from alignlearn.comparison import METHODS as ALL_METHODS
from alignlearn.comparison import Protocol, compare, one_stage
from alignlearn.comparison.ensemble import Ensemble
from alignlearn.comparison.figure import plot_comparison
from alignlearn.kernels import Columns, Linear, RankOneKernels
from alignlearn.weights.one_stage import L1SVM, LKRR, AlignedKRR

ALPHAS = (10.0, 0.5, 1e-2)
COSTS = (0.5, 4.0, 32.0)
METHODS = {
    "regression": ("uniform", "lkrr", "aligned-krr", "ensemble"),
    "two": ("uniform", "l1-svm", "ensemble"),
    "three": ("uniform", "l1-svm", "ensemble"),
}


@lru_cache
def found_on(kind):
    X, y = problem(kind)
    protocol = Protocol(grid=ALPHAS if kind == "regression" else COSTS, random_state=3)
    return compare(X, y, GAUSSIANS, methods=METHODS[kind], protocol=protocol)


# Against the protocol written out


def ridge_rules(method, y, kernels):
    """The rules of a method, their terms equalized on explicit matrices."""
    if method == "lkrr":
        return [LKRR(1.0, 0.0, alpha) for alpha in ALPHAS]
    uniform, out = kernels.mean(axis=0), []
    for alpha in ALPHAS:
        for strength in one_stage.STRENGTHS:
            gamma = strength * (y @ y) / alpha / (y @ uniform @ y)
            gamma2 = strength * (y @ y) / alpha / np.sum(uniform**2)
            for damping in one_stage.DAMPING:
                # The two quadratic terms at the uniform weights, whose squares sum to 1/3.
                gamma1 = damping * gamma2 * np.sum(uniform**2) / (1 / 3)
                out.append(AlignedKRR(gamma, gamma1, gamma2, alpha))
    return out


def of_ridge(method, trial, kernels):
    y = trial[0][1] - trial[0][1].mean()
    for rule in ridge_rules(method, y, kernels[0]):
        mu = rule.solve_grams(kernels[0], y).weights
        yield *errors_at(mu, rule.alpha, trial, kernels), mu, rule.alpha / mu.sum()


def of_l1_svm(trial, kernels):
    for C in COSTS:
        mu = L1SVM(C).solve_grams(kernels[0], trial[0][1]).weights
        yield *errors_at(mu, C, trial, kernels), mu, C


def of_ensemble(trial, kernels):
    (_, y), *others = trial
    for value in ALPHAS if is_real(y) else COSTS:
        model = Ensemble("krr", value) if is_real(y) else Ensemble("svc", value, 3)
        predicted = [model.fit(kernels[0], y).predict(K) for K in kernels[1:]]
        wrong = [(f - b) ** 2 if is_real(y) else f != b for f, (_, b) in zip(predicted, others)]
        errors = np.sqrt(np.mean(wrong, axis=1)) if is_real(y) else np.mean(wrong, axis=1)
        weights = model.weights_
        weights = weights[:, 0] if weights.shape[1] == 1 else np.abs(weights).mean(axis=1)
        yield *errors, weights, value


@pytest.mark.parametrize(
    ("method", "kind", "candidates"),
    [
        *((name, "regression", partial(of_ridge, name)) for name in ("lkrr", "aligned-krr")),
        *(("l1-svm", kind, of_l1_svm) for kind in ("two", "three")),
        *(("ensemble", kind, of_ensemble) for kind in METHODS),
    ],
)
def test_methods_agree_with_the_protocol_written_out(method, kind, candidates):
    found = found_on(kind)
    # The solvers of classes stop at a tolerance, so rounding decides how far they get.
    atol = {"regression": 1e-6}.get(kind, 1e-4 if method == "ensemble" else 1e-5)
    check_trials(found, method, problem(kind), candidates, atol)
    if method == "ensemble":
        assert np.isnan(found.alignment[found.index(method)]).all()
        assert np.isnan(found.test_alignment[found.index(method)]).all()


# Laws


def test_alignment_is_that_of_the_learned_kernel():
    X, y = problem("regression")
    found = found_on("regression")
    for t in range(5):
        trial = trial_of(X, y, t)
        target, kernels = trial[0][1] - trial[0][1].mean(), kernels_of(trial)[0]
        for i in (1, 2):
            K = np.tensordot(found.weights[i, t], kernels, 1)
            value = target @ K @ target / (np.linalg.norm(K) * (target @ target))
            assert found.alignment[i, t] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("kind", ["regression", "two"])
def test_rank_one_kernels_agree_with_linear_kernels_on_columns(kind):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 6))
    X[:, 4] = 2.0
    y = X @ [1.0, -1.0, 0.5, 0.0, 0.0, 0.2] + 0.3 * rng.normal(size=50)
    y = y if kind == "regression" else (y > np.median(y)).astype(int)
    methods = METHODS[kind][:-1]
    protocol = Protocol(scale="none", grid=(0.5,))
    columns = [Columns(Linear(), k) for k in range(6)]
    pairs = compare(X, y, columns, methods=methods, protocol=protocol)
    for A in (X, sparse.csr_matrix(X)):
        found = compare(A, y, RankOneKernels(), methods=methods, protocol=protocol)
        np.testing.assert_allclose(found.weights, pairs.weights, atol=1e-5)
        np.testing.assert_allclose(found.error, pairs.error, rtol=1e-5, atol=0.0)
    assert np.all(pairs.weights[1:, :, 4] == 0.0)  # the constant column


def test_a_class_of_three_samples():
    X, _ = problem("two")
    y = np.r_[np.zeros(30, int), np.ones(27, int), 2, 2, 2]
    found = compare(X, y, GAUSSIANS, methods=METHODS["two"], protocol=Protocol(grid=(1.0,)))
    assert np.all((found.error >= 0.0) & (found.error <= 1.0))
    assert np.all(np.isfinite(found.weights))


# Grids, errors, table, figure and command line


def test_methods_that_do_not_fit_are_named():
    cases = (
        ("two", None, "lkrr", "'lkrr' is for regression, .*classification; accepted.*'l1-svm', 'e"),
        ("three", None, "aligned-krr", "'aligned-krr' is for regression.*task='regression'"),
        ("regression", None, "l1-svm", "'l1-svm' is for classification.* 'lkrr', 'aligned-krr', "),
        ("two", RankOneKernels(), "ensemble", "'ensemble' is not available for RankOneKernels"),
        ("two", RankOneKernels(), "bayesian-mkl", "'bayesian-mkl' is not available for RankOne"),
        ("regression", None, "svm-cv", "'svm-cv' is for classification.*'aligned-rf'"),
        ("regression", None, "bayesian-mkl", "'bayesian-mkl' is for classification"),
    )
    calls = (
        (method, partial(compare, *problem(kind), kernels, methods=("uniform", method)), words)
        for kind, kernels, method, words in cases
    )
    assert not_refused(calls) == []


def test_table_and_verdict_take_the_ensemble_as_a_reference():
    found = found_on("two")
    mean, spread = found.error[2].mean(), found.error[2].std(ddof=1)
    assert re.search(rf"(?m)^ensemble +{mean:.4f} \+- {spread:.4f} +- +-", found.table())
    assert "nan" not in str(found)
    assert re.search("(?s)^(?!.*ensemble).*l1-svm", found.verdict())


def test_figure_shows_every_method_apart():
    found = found_on("two")
    left, right = plot_comparison(found).axes
    assert len(left.patches) == 3 * len(found.learned)
    handles, labels = right.get_legend_handles_labels()
    assert labels[1:] == [*METHODS["two"][1:-1], "ensemble of machines"]
    np.testing.assert_array_equal(handles[-1].get_ydata(), found.error[-1].mean())
    joined = [line for line in right.lines if line.get_color() == "#CCCCCC"]
    assert [len(line.get_xdata()) for line in joined] == [len(found.methods) - 1] * 5
    for column in zip(*(method.style for method in ALL_METHODS.values())):
        assert len(set(column)) == len(ALL_METHODS)
