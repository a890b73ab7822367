"""The comparison: against the protocol written out with NumPy and scikit-learn; invariances."""

import json
import re
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from oracle import center
from refusals import not_refused
from scipy import sparse, stats
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from written_out import GAMMAS, GAUSSIANS, centered_kernels, errors_at, problem, trial_of

from alignlearn.cli import main
from alignlearn.comparison import DEFAULT_METHODS, Comparison, Protocol, compare, split
from alignlearn.comparison.columns import COLUMNS, Column
from alignlearn.comparison.figure import plot_comparison
from alignlearn.folds import prequential_blocks
from alignlearn.kernels import Columns, FromFunction, Gaussian, Laplacian, Linear, RankOneKernels
from alignlearn.machines.paths import ridge_path
from alignlearn.significance import prequential_test

# The protocol, written out


def alignment(K, y):
    """Centered alignment from full matrices."""
    labels = np.unique(y)
    Y = y[:, None] if y.dtype.kind == "f" else (y[:, None] == labels[None]).astype(float)
    K, T = center(K), center(Y @ Y.T)
    return np.sum(K * T) / np.sqrt(np.sum(K * K) * np.sum(T * T))


@pytest.mark.parametrize("kind", ["three", "regression"])
def test_protocol_agrees_with_numpy_and_sklearn(kind):
    X, y = problem(kind, noise=0.2 if kind == "regression" else 0.0)
    grid = (0.5, 4.0, 32.0) if kind == "three" else (10.0, 0.5, 1e-2)
    found = compare(X, y, GAUSSIANS, protocol=Protocol(grid=grid, random_state=3))
    assert found.methods == DEFAULT_METHODS
    for t in range(5):
        trial = trial_of(X, y, t)
        kernels = centered_kernels(trial)
        singles = [errors_at(w, value, trial, kernels)[0] for w in np.eye(3) for value in grid]
        assert found.validation_error[0, t] == pytest.approx(min(singles))
        for i in range(4):
            tried = [errors_at(found.weights[i, t], value, trial, kernels) for value in grid]
            best = int(np.argmin([validation for validation, _ in tried]))
            outcome = found.validation_error[i, t], found.error[i, t]
            assert outcome == pytest.approx(tuple(tried[best]), rel=1e-8)
            assert found.parameter[i, t] == grid[best]


def test_alignments_are_those_of_the_combined_gram_matrix():
    X, y = problem("three", noise=0.0)
    found = compare(X, y, GAUSSIANS, protocol=Protocol(grid=(1.0,)))
    train, _, test = trial_of(X, y, 0, seed=0)
    grams = [rbf_kernel(train[0], gamma=gamma) for gamma in GAMMAS]
    scales = [len(K) / np.trace(center(K)) for K in grams]
    for i in range(4):
        for (A, b), value in ((train, found.alignment), (test, found.test_alignment)):
            parts = zip(found.weights[i, 0], scales, GAMMAS)
            K = sum(weight * scale * rbf_kernel(A, gamma=gamma) for weight, scale, gamma in parts)
            assert value[i, 0] == pytest.approx(alignment(K, b), rel=1e-10)
    assert found.alignment[3].min() >= found.alignment[:3].max(axis=0).min()


# No leakage


def test_the_test_fold_decides_nothing():
    X, y = problem("regression")
    first = compare(X, y, GAUSSIANS)
    test = split(y, 5, "regression")[0]
    X2, y2 = X.copy(), y.copy()
    X2[test], y2[test] = X2[test] * 7.0, y2[test] + 100.0
    second = compare(X2, y2, GAUSSIANS)
    for name in ("weights", "alignment", "parameter", "validation_error"):
        np.testing.assert_array_equal(getattr(first, name)[:, 0], getattr(second, name)[:, 0])
    assert np.all(second.error[:, 0] > 10.0 * first.error[:, 0])
    assert np.any(first.weights[:, 1:] != second.weights[:, 1:])
    # Labels to validate with choose the parameter, not the weights.
    y2 = y.copy()
    y2[split(y, 5, "regression")[1]] *= -3.0
    second = compare(X, y2, GAUSSIANS)
    np.testing.assert_array_equal(first.weights[2:, 0], second.weights[2:, 0])
    assert np.any(first.parameter[:, 0] != second.parameter[:, 0])


def test_minmax_is_fitted_on_the_training_folds():
    X, y = problem("regression")
    train = np.sort(np.concatenate(split(y, 5, "regression")[2:]))
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    Z = 2.0 * (X - low) / (high - low) - 1.0
    scaled = compare(X, y, GAUSSIANS, protocol=Protocol(scale="minmax"))
    raw = compare(Z, y, GAUSSIANS, protocol=Protocol(scale="none"))
    np.testing.assert_allclose(scaled.error[:, 0], raw.error[:, 0], rtol=1e-8)
    assert np.any(np.abs(scaled.error[:, 1:] - raw.error[:, 1:]) > 1e-6)


# Kernels of other kinds


def test_rank_one_kernels_agree_with_linear_kernels_on_columns():
    rng = np.random.default_rng(2)
    X = rng.poisson(0.6, size=(50, 6)).astype(float)
    y = X @ rng.normal(size=6) + 0.1 * rng.normal(size=50)
    methods = ("uniform", "align", "alignf")
    dense = compare(X, y, RankOneKernels(), methods=methods)
    thin = compare(sparse.csr_matrix(X), y, RankOneKernels(), methods=methods)
    columns = [Columns(Linear(), k) for k in range(6)]
    pairs = compare(X, y, columns, methods=methods, protocol=Protocol(scale="none"))
    for other in (thin, pairs):
        for name in ("error", "alignment", "test_alignment", "weights", "parameter"):
            np.testing.assert_allclose(getattr(other, name), getattr(dense, name), rtol=1e-7)
    assert dense.kernel_names == tuple(f"column {k}" for k in range(6))


@pytest.mark.parametrize(
    ("scale", "form"),
    [("none", sparse.csr_matrix), ("standard", sparse.coo_array), ("minmax", sparse.csr_matrix)],
)
def test_sparse_samples_compare_like_dense_ones(scale, form):
    # Distances do not depend on the missing shift of sparse columns.
    kernels = [Laplacian(0.2), Gaussian(0.02), Gaussian(0.3)]
    if scale == "none":
        kernels += ["laplacian", "linear", "cosine"]
    rng = np.random.default_rng(2)
    X = rng.poisson(0.4, size=(50, 9)) * rng.normal(size=9) * 2.0
    y = X[:, :3].sum(axis=1) + 0.1 * rng.normal(size=50)
    methods, protocol = ("best-single", "uniform", "align"), Protocol(scale=scale)
    dense = compare(X, y, kernels, methods=methods, protocol=protocol)
    thin = compare(form(X), y, kernels, methods=methods, protocol=protocol)
    for name in ("error", "alignment", "test_alignment", "weights", "parameter"):
        np.testing.assert_allclose(getattr(thin, name), getattr(dense, name), rtol=1e-7)


def test_mixed_kernels_and_names_relative_to_the_data():
    X, y = problem("regression")
    found = compare(X, y, ["rbf", "linear", Gaussian("scale", 2.0)], methods=("uniform",))
    assert found.kernel_names == ("gaussian(gamma=scale)", "linear", "gaussian(gamma=scale * 2)")
    Z, target = trial_of(X, y, 0, seed=0)[0]
    kernels = [rbf_kernel(Z, gamma=g) for g in (1 / 3, 2 / 3)] + [linear_kernel(Z)]
    K = sum(k / np.trace(center(k)) for k in kernels)
    assert found.alignment[0, 0] == pytest.approx(alignment(K, target), rel=1e-10)


def test_weights_of_mixed_sign_leave_out_alphas_that_are_too_small():
    X, y = problem("regression")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compare(X, y, methods=("alignf-linear", "align-lq"))
    assert np.any(found.weights[0] < 0.0)
    assert np.all(np.isfinite(found.error))
    np.testing.assert_allclose(np.abs(found.weights).sum(axis=2), 1.0)


def test_ridge_path_of_an_indefinite_matrix():
    V = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]).T / np.sqrt([2.0, 6.0])
    K, y = V * [5.0, -2.0] @ V.T, np.array([1.0, 2.0, 4.0])
    path = ridge_path(K, y, K, (4.0, 1.0), skip_indefinite=True)
    np.testing.assert_allclose(path[0], y.mean() + V * [5 / 9, -2 / 2] @ V.T @ y)
    assert np.all(np.isinf(path[1]))
    with pytest.raises(ValueError, match=r"not positive definite.*at alpha=1: raise"):
        ridge_path(K, y, K, (1.0, 0.5), skip_indefinite=True)


def test_ties_go_to_the_stronger_regularization_in_any_order_of_the_grid():
    # A tie goes to the stronger regularization: two distant clusters are never confused.
    X = np.repeat([[0.0], [9.0]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 1))
    found = compare(X, np.repeat([0, 1], 30), ["linear"], protocol=Protocol(grid=(16.0, 1.0, 4.0)))
    assert np.all(found.validation_error == 0.0)
    assert np.all(found.parameter == 1.0)
    # The order of a grid does not matter.
    X, y = problem("regression")
    errors = [compare(X, y, GAUSSIANS, protocol=Protocol(grid=g)).error for g in ((1, 9), (9, 1))]
    np.testing.assert_array_equal(*errors)


# Results


def by_hand(errors, methods=("uniform", "align", "alignf"), task="classification"):
    errors = np.asarray(errors, dtype=float)
    n, f = errors.shape
    weights = np.full((n, f, 2), 0.5)
    return Comparison(
        methods, ("a", "b"), task, dict.fromkeys(COLUMNS, errors), weights, (50, 3),
        Protocol(n_folds=f),
    )  # fmt: skip


def test_p_value_is_small_for_the_better_method():
    found = by_hand([[0.30, 0.32, 0.31, 0.33], [0.20, 0.23, 0.22, 0.22], [0.30, 0.32, 0.31, 0.33]])
    t = stats.ttest_rel(found.error[1], found.error[0]).statistic
    # Nadeau and Bengio: 1/n + n_test/n_train in place of 1/n, with three training folds and one
    # test fold.
    expected = stats.t.cdf(t / np.sqrt(1 + 4 / 3), 3)
    assert found.p_value("align") == pytest.approx(expected)
    assert found.p_value("align") < 0.01 < 0.99 < found.p_value("uniform", against="align")
    with pytest.raises(ValueError, match="test='corrected-t'"):
        found.prequential("align")
    assert found.p_value("alignf") == 1.0
    assert "same errors" in found.table()


def test_prequential_losses_are_of_samples_that_came_later(monkeypatch):
    """Labels of a block change no prediction in it or before, and the p-value is the test's."""
    X, y = problem("three", 80, 0.0)
    options = {"methods": ("uniform", "alignf"), "protocol": Protocol(4, test="prequential")}
    found = compare(X, y, GAUSSIANS, **options)
    (_, pilot), *blocks = prequential_blocks(80, 4, 0)
    assert found.losses.shape == (2, 40)
    assert found.pilot_losses.shape == (2, len(pilot))
    np.testing.assert_allclose(found.error, found.losses.reshape(2, 4, 10).mean(2))
    expected = prequential_test(*found.losses[[1, 0]], pilot=tuple(found.pilot_losses[[1, 0]]))
    assert found.prequential("alignf") == expected
    assert found.p_value("alignf") == expected.p_value
    assert "sign test" in found.legend()
    changed = y.copy()
    changed[blocks[2][1]] = "top"
    again = compare(X, changed, GAUSSIANS, **options)
    np.testing.assert_array_equal(again.losses[:, :20], found.losses[:, :20])
    np.testing.assert_array_equal(again.pilot_losses, found.pilot_losses)
    # The loss is unchanged where the new label equals the old one, and inverted elsewhere: there is
    # one prediction per sample, made before its label is used.
    same = y[blocks[2][1]] == "top"
    np.testing.assert_array_equal(again.losses[:, 20:30][:, same], found.losses[:, 20:30][:, same])
    assert not np.any((again.losses + found.losses)[:, 20:30][:, ~same] == 0)


def test_prequential_losses_of_real_targets_are_capped_squares():
    X, y = problem("regression", 80)
    y = np.append(y[:-1], 1e3)  # far beyond the observed values
    protocol = Protocol(4, test="prequential", grid=(0.1, 1.0), random_state=2)
    options = {"methods": ("uniform", "alignf"), "protocol": protocol}
    found = compare(X, y, GAUSSIANS, **options)
    last = np.concatenate([block for _, block in prequential_blocks(80, 4, 2)[1:]]).tolist()
    assert found.losses[:, last.index(79)].tolist() == [1.0, 1.0]
    free = (found.losses < 1).all(0)
    squares = found.losses.reshape(2, 4, 10) * free.reshape(4, 10)
    whole = free.reshape(4, 10).all(1)
    cap = found.error[:, whole] ** 2 / squares.mean(2)[:, whole]
    np.testing.assert_allclose(cap, cap[0, 0], rtol=1e-10)
    result = found.prequential("alignf")
    assert (result.n_star, result) == (None, prequential_test(*found.losses[[1, 0]]))
    assert "betting" in found.legend()


def test_prequential_comparison_refuses_what_it_cannot_learn_from():
    X, y = problem("three", 80, 0.0)
    with pytest.raises(ValueError, match="test='t' is not known"):
        compare(X, y, protocol=Protocol(test="t"))
    rare = np.where(np.arange(80) < 3, "rare", "common")
    with pytest.raises(ValueError, match="training samples among these have 1 different"):
        compare(X, rare, methods="uniform", protocol=Protocol(test="prequential"))


@pytest.mark.parametrize(
    ("errors", "words"),
    [
        ([[0.30, 0.32, 0.31], [0.20, 0.23, 0.22], [0.3, 0.33, 0.3]], "beat the uniform.*: align ("),
        ([[0.30, 0.32, 0.31], [0.29, 0.35, 0.30], [0.3, 0.4, 0.3]], "No learned.* align, .*higher"),
        ([[0.30, 0.32, 0.31], [0.30, 0.32, 0.31], [0.3, 0.4, 0.3]], "align, has the same mean"),
        ([[0.20, 0.22, 0.21], [0.20, 0.23, 0.20], [0.3, 0.33, 0.31]], "No .* Uniform beat alignf"),
    ],
)
def test_verdict_says_what_the_numbers_say(errors, words):
    assert re.search(words.replace("(", r"\("), by_hand(errors).verdict())


def test_a_column_is_added_in_one_place(monkeypatch, tmp_path):
    """A new method is one entry; table, data frame, JSON output and figure contain it."""
    widest = Column(
        lambda trial, chosen: chosen.weights.max(), title="largest", legend="largest: of weights.",
        axis="largest weight",
    )  # fmt: skip
    monkeypatch.setitem(COLUMNS, "largest_weight", widest)
    X, y = problem("three", noise=0.0)
    found = compare(X, y, GAUSSIANS, methods=("uniform", "alignf"))
    np.testing.assert_array_equal(found.largest_weight, found.weights.max(axis=2))
    head, _, *rows = found.table().splitlines()
    assert re.search(r"on test fold +largest +p against uniform", head)
    assert f"{found.largest_weight[1].mean():.4f} +- " in rows[1]
    assert "largest: of weights." in found.legend()
    frame = found.to_frame()
    assert frame.shape == (2 * found.protocol.n_folds, 8 + len(found.kernel_names))
    row = frame[(frame["method"] == "alignf") & (frame["fold"] == 3)].iloc[0]
    assert (row["error"], row["largest_weight"]) == (found.error[1, 3], found.largest_weight[1, 3])
    assert row[f"weight of {found.kernel_names[2]}"] == found.weights[1, 3, 2]
    right = plot_comparison(found).axes[2]
    assert right.get_xlabel() == "largest weight"
    np.testing.assert_array_equal(right.get_lines()[-1].get_xdata(), found.largest_weight[1].mean())
    out = tmp_path / "found.json"
    words = f"compare iris --methods uniform,alignf --no-figure --quiet --json {out}"
    assert main(words.split()) == 0
    methods = json.loads(out.read_text())["methods"]
    assert methods["uniform"]["largest_weight"] == pytest.approx([1.0 / 9.0] * 5)


def test_table_lists_every_method_with_its_mean_and_deviation():
    found = by_hand([[30.0, 32.0, 31.0], [20.0, 23.0, 22.0], [30.0, 32.0, 31.0]], task="regression")
    lines = found.table().splitlines()
    assert lines[2].split() == [
        "uniform", "31.00", "+-", "1.00", "31.0000", "+-", "1.0000", "31.0000", "+-", "1.0000", "-",
    ]  # fmt: skip
    assert "21.67 +- 1.53" in lines[3]
    assert lines[4].endswith("same errors")
    assert "RMSE" in str(found)
    without = replace(found, methods=("best-single", "align", "alignf"))
    assert "p against" not in without.table()
    assert "No comparison" in without.verdict()


# Bad input

X60, Y60 = problem("regression")
BAD = [
    (
        {"X": sparse.csr_matrix(X60), "kernels": [FromFunction(max)]},
        "X is a sparse matrix, which max does not accept",
    ),
    ({"y": np.ones(60)}, "y is constant"),
    ({"y": np.zeros(60, dtype=int)}, "single class"),
    ({"y": np.r_[0, 0, np.ones(58, dtype=int)]}, "class 0 has 2 samples"),
    ({"y": np.column_stack([Y60, Y60])}, "one target"),
    ({"X": X60[:8], "y": Y60[:8]}, "at least 2 samples per fold"),
    ({"kernels": RankOneKernels()}, "best-single"),
    ({"methods": ()}, "methods is empty"),
    ({"methods": ("align", "best")}, "methods='best'.*accepted.*'align-lq'"),
    ({"methods": ("align", "align")}, "twice"),
    ({"protocol": 5}, "Protocol"),
    ({"protocol": Protocol(grid=())}, "grid is empty"),
    ({"protocol": Protocol(grid=(0.0,))}, "grid"),
]


def test_bad_input_is_named():
    accepted = {"X": X60, "y": Y60}
    cases = [(words, partial(compare, **{**accepted, **given}), words) for given, words in BAD]
    one = np.ones((60, 2))
    for method in ("best-single", "lkrr", "aligned-krr", "ensemble"):
        cases.append((method, partial(compare, one, Y60, GAUSSIANS, methods=(method,)), "constant"))
    assert not_refused(cases) == []
