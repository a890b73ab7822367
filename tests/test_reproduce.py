"""The reproduction scripts: each runs with --quick and finds the expected results."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

DATA = Path(os.environ.get("ALIGNLEARN_DATA") or "no such folder")
NEEDED = ("ionosphere", "sonar", "heart_statlog", "sentiment_bigrams_kitchen")

with_data = pytest.mark.skipif(
    not all((DATA / f"{name}.npz").is_file() for name in NEEDED),
    reason=f"ALIGNLEARN_DATA does not hold all of {', '.join(NEEDED)}",
)


@pytest.fixture
def quick(script, tmp_path):
    """Run a script with --quick: (what main returns, the text it wrote)."""

    def run(name):
        returned = script(name).main(["--quick", "--out", str(tmp_path)])
        assert all(figure.stat().st_size > 5000 for figure in tmp_path.glob("*.png"))
        (text,) = tmp_path.glob("*.txt")
        return returned, text.read_text()

    return run


@with_data
def test_table_2_agrees_on_ionosphere(quick, capsys):
    count, text = quick("reproduce/p1_alignment/table2")
    assert count == 0
    assert text == capsys.readouterr().out
    assert len(re.findall("agrees$", text, flags=re.MULTILINE)) == 8
    errors = {m: float(e) for m, e in re.findall(r"error of (\S+) +([\d.]+) ", text)}
    assert list(errors) == ["uniform", "lkrr", "align", "alignf", "aligned-krr"]
    assert errors["uniform"] > errors["lkrr"] > errors["align"] > errors["alignf"]


@with_data
def test_table_3_runs_on_300_bigrams(quick):
    outside, text = quick("reproduce/p1_alignment/table3")
    assert set(outside) == {("kitchen", "regression"), ("kitchen", "classification")}
    errors = [float(e) for e in re.findall(r"error of \S+ +\S+ \+- \S+ +([\d.]+) ", text)]
    assert len(errors) == 6
    # Better than predicting the mean (1.72 stars) or one class, worse than with 4000 bigrams.
    assert all(1.3 < e < 1.65 for e in errors[:3])
    assert all(0.15 < e < 0.4 for e in errors[3:])


@with_data
def test_lkrr_on_two_sets_and_500_bigrams(quick):
    (uci, reviews), _ = quick("reproduce/p2_l2/lkrr")
    for errors, paper in zip(uci, (0.16, 0.17)):
        assert np.all(np.abs(errors.mean(axis=1) - paper) < 0.1)
    kitchen = reviews["kitchen"].mean(axis=2)
    assert kitchen.shape == (2, 3)
    assert np.all(kitchen[1] < kitchen[0])  # more bigrams, less error


@pytest.mark.skipif(
    not (DATA / "ijcnn1_train.npz").is_file(), reason="ALIGNLEARN_DATA does not hold ijcnn1_train"
)
@with_data
def test_hyper_kernels_on_sonar_and_a_part_of_ijcnn1(quick):
    (known, ideal, clusters), text = quick("reproduce/p4_hyperkernels/hyper")
    errors = {
        kernel: {m: row["rmse"][0] for m, row in found["sonar"].items() if "rmse" in row}
        for kernel, found in known.items()
    }
    # A kernel of negative values: no coefficient of the non-negative method is above 0.
    assert known["log"]["sonar"]["hyper-nnls"]["pairs_used"] == [0]
    assert errors["log"]["hyper-nnls"] > 1.0
    # Neither kernel tends to 0 with the distance; only support vector regression has a constant.
    assert all(errors[k]["hyper-svr"] < 0.6 * errors[k]["hyper-krr"] for k in ("tl1", "log"))
    # The control is in the space of the hyper-kernel.
    assert float(re.search(r"on test pairs:\n +sonar ([\d.]+)", text)[1]) < 0.05
    assert all(values[0] > 60.0 for m, values in ideal["sonar"].items() if m != "counts")
    assert clusters["5"]["hyper-krr"]["accuracy"] > clusters["majority"] > 90.0
    assert clusters["5"]["hyper-krr"]["auc"] > 85.0


def test_l1_svm_of_rank_one_kernels_is_a_linear_program(script):
    """L1SVM at C = |w|_1 / strength has the decisions and weights of the linear program."""
    from scipy import sparse

    from alignlearn.sources import FeatureFamily
    from alignlearn.weights.one_stage import L1SVM

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + 0.5 * rng.standard_normal(60) > 0.0, 1.0, -1.0)
    w, b = script("reproduce/p1_alignment/table3").sparse_svm(sparse.csr_matrix(X), y, 6.0)
    norm = np.abs(w).sum()
    assert 0 < np.count_nonzero(np.abs(w) > 1e-9) < 8
    found = L1SVM(norm / 6.0, tol=1e-7).solve_grams(FeatureFamily(X), y.astype(int))
    np.testing.assert_allclose(found.weights, np.abs(w) / norm, atol=1e-3)
    decisions = X @ (found.weights * (X.T @ found.dual_coef)) + found.intercept
    np.testing.assert_allclose(decisions, X @ w + b, atol=1e-2)


def test_trials_are_centered_and_judged_on_their_own_folds(script):
    """Ridge on a feature trial against plain linear algebra on the columns."""
    from scipy import sparse

    from alignlearn.weights.one_stage import LKRR

    shared = script("reproduce/shared")
    rng = np.random.default_rng(1)
    X = sparse.csr_matrix(rng.poisson(0.5, (50, 6)).astype(float))
    y = rng.standard_normal(50)
    parts = next(iter(shared.rotations(y, "regression", 3)))
    assert sorted(np.concatenate(parts)) == list(range(50))
    trial = shared.FeatureTrial(X, y, parts, "regression")
    error, _, result = trial.choose([LKRR(0.0, 1.0, 2.0)])
    A, _, T = (X[part].toarray() for part in parts)
    mean, scale = A.mean(axis=0), A.std(axis=0)
    A, T = (A - mean) / scale, (T - mean) / scale
    target = y[parts[0]] - y[parts[0]].mean()
    w = np.linalg.solve(A.T @ A + 2.0 * np.eye(6), A.T @ target)
    expected = np.sqrt(np.mean((T @ w + y[parts[0]].mean() - y[parts[2]]) ** 2))
    assert error == pytest.approx(expected, rel=1e-9)
    assert result.weights == pytest.approx(1.0)
