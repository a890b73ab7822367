"""One-stage rules inside the estimators: the same problem as on explicit centered matrices."""

import numpy as np
import pytest
from refusals import raises
from scipy import sparse
from sklearn.datasets import load_diabetes, load_wine

import alignlearn as al

KERNELS = al.gaussian_kernels([0.01, 0.1, 1.0])
RULES = ("lkrr", "l1-svm", "aligned-krr")


def centered_grams(X, gammas=(0.01, 0.1, 1.0)):
    """Centered matrices of trace m."""
    squares = np.square(X[:, None] - X[None]).sum(axis=2)
    H = np.eye(len(X)) - 1.0 / len(X)
    grams = [H @ np.exp(-g * squares) @ H for g in gammas]
    return np.array([K * (len(X) / np.trace(K)) for K in grams])


@pytest.fixture(scope="module")
def regression():
    X, y = load_diabetes(return_X_y=True)
    return (X[:150] - X.mean(axis=0)) / X.std(axis=0), (y[:150] - y.mean()) / y.std()


@pytest.fixture(scope="module")
def classes():
    X, y = load_wine(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(
    ("rule", "direct"),
    [
        ("lkrr", al.LKRR(alpha=3.0)),
        ("aligned-krr", al.AlignedKRR(alpha=3.0)),
        ("l1-svm", al.L1SVM(C=2.0, epsilon=0.2, loss="epsilon-insensitive")),
        (al.LKRR(2.0, 0.0, 3.0, norm=1), al.LKRR(2.0, 0.0, 3.0, norm=1)),
    ],
    ids=str,
)
def test_regression_equals_the_rule_on_centered_matrices(regression, rule, direct):
    X, y = regression
    model = al.MKLRegressor(KERNELS, weighting=rule, alpha=3.0, C=2.0, epsilon=0.2).fit(X, y)
    target = y - y.mean()
    # The parameters of aligned-krr have units, so y is scaled to mean square 1.
    target = target / np.sqrt(np.mean(target**2)) if direct.unit_target else target
    expected = direct.solve_grams(centered_grams(X), target)
    np.testing.assert_allclose(model.weights_, expected.weights, rtol=1e-6, atol=1e-6)
    assert model.result_.duality_gap <= 1e-3
    assert model.alignment_ == pytest.approx(model.statistics_.alignment(model.weights_))
    assert "gaussian" in model.summary().lower()


def test_hinge_uses_the_labels_and_the_estimators_cost(classes):
    X, y = classes
    model = al.MKLClassifier(KERNELS, weighting="l1-svm", C=5.0, multiclass="ovr").fit(X, y)
    expected = al.L1SVM(5.0, multiclass="ovr").solve_grams(centered_grams(X), y)
    # The properties of L1SVM's weights.
    np.testing.assert_allclose(model.weights_, expected.weights, atol=1e-5)
    for rule in RULES:
        model = al.MKLClassifier(KERNELS, weighting=rule, C=5.0).fit(X[::2], y[::2])
        assert model.score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize("rule", RULES)
def test_rank_one_kernels_dense_sparse_and_by_columns(regression, rule):
    X, y = regression
    labels = np.where(y > 0, "high", "low")
    dense = al.MKLClassifier(al.RankOneKernels(), weighting=rule).fit(X, labels)
    csr = al.MKLClassifier(al.RankOneKernels(), weighting=rule).fit(sparse.csr_matrix(X), labels)
    one_by_one = [al.Columns(al.Linear(), [j]) for j in range(X.shape[1])]
    columns = al.MKLClassifier(one_by_one, weighting=rule).fit(X, labels)
    pairs = al.MKLClassifier([*one_by_one, al.Gaussian(1e-9)], weighting=rule).fit(X, labels)
    near = {"atol": 1e-5 * dense.weights_.max()} if rule == "l1-svm" else {"rtol": 1e-6}
    np.testing.assert_allclose(csr.weights_, dense.weights_, **near)
    np.testing.assert_allclose(columns.weights_, dense.weights_, **near)
    assert pairs.weights_.shape == (X.shape[1] + 1,)


def test_overlapping_groups_of_features(regression):
    X, y = regression
    groups = [[0, 1, 2], [2, 3], [4]]
    kernels = [2.0 * al.Columns(al.Linear(), g) for g in groups]
    model = al.MKLRegressor(kernels, weighting="lkrr", alpha=0.5).fit(X, y)
    Xc = X - X.mean(axis=0)
    grams = np.array([Xc[:, g] @ Xc[:, g].T for g in groups])
    grams *= (len(X) / np.trace(grams, axis1=1, axis2=2))[:, None, None]
    expected = al.LKRR(alpha=0.5).solve_grams(grams, y - y.mean())
    np.testing.assert_allclose(model.weights_, expected.weights, rtol=1e-7)
    # The machine repeats the one-stage function.
    found = al.MKLRegressor(KERNELS, weighting="lkrr", alpha=0.5).fit(X, y)
    coef = found.result_.dual_coef
    np.testing.assert_allclose(found.machine_.dual_coef_, coef, atol=1e-6 * np.abs(coef).max())


def test_errors_name_both_parties(regression):
    X, y = regression
    classes = al.MKLRegressor(KERNELS, weighting=al.L1SVM())
    raises(ValueError, r"L1SVM.*learns from class labels", classes.fit, X, y)
    raises(ValueError, "alpha", al.MKLRegressor(KERNELS, weighting="lkrr", alpha=0.0).fit, X, y)
    hard = al.MKLClassifier(KERNELS, weighting="l1-svm", C=np.inf)
    raises(ValueError, "C=", hard.fit, X, y > 0)
