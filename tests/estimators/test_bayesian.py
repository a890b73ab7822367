"""The Bayesian classifier: kernels centered and scaled as elsewhere, probabilities, properties."""

import numpy as np
import pytest
from refusals import raises
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

import alignlearn as al
from alignlearn.machines.bayesian import BayesianCombination, Priors
from alignlearn.validation import ConvergenceWarning

GAMMAS = (0.1, 1.0)
KERNELS = al.gaussian_kernels(GAMMAS)


def problem(m=60, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 3))
    signal = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.2 * rng.normal(size=m)
    cuts = [0.5] if classes == 2 else [0.0, 1.0]
    return X, np.array(["low", "mid", "top"])[np.digitize(signal, cuts)]


def by_hand(X, y, new, **priors):
    """Log-odds from matrices centered by the projector of the training mean and scaled by hand."""
    m = len(X)
    H = np.eye(m) - 1.0 / m
    train, test = [], []
    for gamma in GAMMAS:
        K = rbf_kernel(X, gamma=gamma)
        scale = m / np.trace(H @ K @ H)
        train.append(scale * H @ K @ H)
        test.append(scale * (rbf_kernel(new, X, gamma=gamma) - K.mean(axis=0)) @ H)
    shared = BayesianCombination(np.array(train), Priors(**priors))
    odds = []
    for label in np.unique(y)[1 if len(np.unique(y)) == 2 else 0 :]:
        q = shared.fit(np.where(y == label, 1.0, -1.0))
        odds.append(q.log_odds(np.array(test) @ q.a))
    return np.array(odds).T, q


def test_equals_the_machine_on_matrices_made_by_hand():
    X, y = problem()
    new = problem(m=30, seed=1)[0]
    odds, q = by_hand(X, y, new, sigma_g=0.5, margin=0.5, kernel=(2.0, 0.7))
    model = al.BayesianMKLClassifier(
        KERNELS, sigma_g=0.5, margin=0.5, alpha_omega=2.0, beta_omega=0.7
    ).fit(X, y)
    np.testing.assert_allclose(model.decision_function(new), odds[:, 0], atol=1e-6)
    np.testing.assert_allclose(model.weights_, q.be[1:], atol=1e-8)
    np.testing.assert_allclose(model.weights_std_, np.sqrt(np.diag(q.be_covariance)[1:]), atol=1e-8)
    np.testing.assert_allclose(model.intercept_, q.be[:1], atol=1e-8)
    np.testing.assert_allclose(model.dual_coef_[:, 0], q.a, atol=1e-8)
    np.testing.assert_allclose(model.lower_bounds_[0], q.lower_bounds, rtol=1e-8)
    assert model.n_iter_ == [len(q.lower_bounds)]
    terms = model.weights_ * model.scale_
    expected = sum(w * rbf_kernel(new, X, gamma=g) for w, g in zip(terms, GAMMAS))
    np.testing.assert_allclose(model.kernel_(new, X), expected, atol=1e-10)
    assert model.alignment_ == pytest.approx(al.alignment(model.kernel_(X), y), rel=1e-8)
    uniform = sum(s * rbf_kernel(X, gamma=g) for s, g in zip(model.scale_, GAMMAS))
    assert model.uniform_alignment_ == pytest.approx(al.alignment(uniform, y), rel=1e-8)


def test_three_classes_are_each_against_the_rest():
    X, y = problem(classes=3)
    new = problem(m=30, seed=1)[0]
    model = al.BayesianMKLClassifier(KERNELS).fit(X, y)
    odds = model.decision_function(new)
    np.testing.assert_allclose(odds, by_hand(X, y, new)[0], atol=1e-6)
    share = 1.0 / (1.0 + np.exp(-odds))
    share /= share.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), share, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(new), model.classes_[odds.argmax(axis=1)])
    assert model.weights_.shape == model.weights_std_.shape == (2, 3)
    for name in ("kernel_", "alignment_", "uniform_alignment_"):
        raises(AttributeError, "two classes only", getattr, model, name)


def test_predicted_probabilities_are_observed():
    """Calibration with nine widths: of samples predicted above 0.9, 90% belong to the class.

    With a margin of 1 the paper's model predicts 0.98, while the observed share is 0.84.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 5))
    p = 1.0 / (1.0 + np.exp(X[:, 1] - 1.5 * X[:, 0]))
    fitted = slice(0, 300)
    model = al.BayesianMKLClassifier().fit(X[fitted], rng.random(300) < p[fitted])
    found, p = model.predict_proba(X[300:])[:, 1], p[300:]
    tenths = np.digitize(found, np.linspace(0.0, 1.0, 11)[1:-1])
    gaps = [abs(found[tenths == k].mean() - p[tenths == k].mean()) for k in range(10)]
    assert np.bincount(tenths, minlength=10) @ gaps / len(p) < 0.06
    sure = found > 0.9
    assert sure.sum() > 200
    assert abs(found[sure].mean() - p[sure].mean()) < 0.07


LINEAR = [al.Columns("linear", [0]), al.Columns("linear", [1, 2])]


@pytest.mark.parametrize("kernels", [KERNELS, LINEAR], ids=["pairs", "features"])
def test_every_way_to_open_kernels_gives_the_same(kernels):
    (X, y), (new, _) = problem(), problem(m=20, seed=1)
    expected = al.BayesianMKLClassifier(kernels).fit(X, y).predict_proba(new)
    wrapped = [al.FromFunction(k, vectorized=True) for k in kernels]
    for given, A, B in (
        ("precomputed", [k(X) for k in kernels], [k(new, X) for k in kernels]),
        (wrapped, X, new),
        (kernels, sparse.csr_matrix(X), sparse.csr_matrix(new)),
    ):
        found = al.BayesianMKLClassifier(given).fit(A, y).predict_proba(B)
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_a_constant_kernel_is_left_out():
    X, y = problem()
    X = np.column_stack([X, np.ones(len(X))])
    with_constant = [al.Columns(KERNELS[0], [0, 1, 2]), al.Columns("rbf", [3])]
    model = al.BayesianMKLClassifier(with_constant).fit(X, y)
    assert model.scale_[1] == 0.0
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.8
    with pytest.raises(ValueError, match="every kernel is constant"):
        al.BayesianMKLClassifier(with_constant[1:]).fit(X, y)


def test_warns_where_it_stops_short():
    X, y = problem()
    for tol in (1e-4, 0.0):  # a tolerance of 0 divides no residual
        message = rf"stopped after 3 rounds .* > tol={tol:g}; raise max_iter or tol"
        with pytest.warns(ConvergenceWarning, match=message):
            model = al.BayesianMKLClassifier(KERNELS, max_iter=3, tol=tol).fit(X, y)
        assert model.n_iter_ == [3]


def test_noise_that_drowns_the_prior_is_refused():
    X, y = problem()
    one_per_feature = al.BayesianMKLClassifier(al.RankOneKernels())
    raises(TypeError, "RankOneKernels", one_per_feature.fit, X, y)
    X, y = np.vstack([X, X]), np.concatenate([y, y])  # singular Gram matrices
    with pytest.raises(ValueError, match=r"sigma_g=1e-08: .* larger sigma_g"):
        al.BayesianMKLClassifier(KERNELS, sigma_g=1e-8).fit(X, y)
