"""``unbiased=True``: weights learned without the pairs of a sample with itself."""

import numpy as np
import oracle
import pytest
from refusals import raises
from scipy import sparse

import alignlearn as al

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
LABELS = (X[:, 0] + 0.3 * RNG.standard_normal(60) > 0).astype(int)
GAMMAS = np.array([0.1, 1.0, 100.0])
KERNELS = [al.Gaussian(g) for g in GAMMAS]
SPLITS = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]


def grams(X):
    """Of trace m when centered, as in stage 1."""
    squares = oracle.pair_primitives(X, X)[0]
    found = [np.exp(-g * squares) for g in GAMMAS]
    return [K * (len(X) / np.trace(oracle.center(K))) for K in found]


def naive_weights(X, labels):
    """The weights of largest alignment if all are positive, with the alignments of all kernels."""
    y = 2.0 * labels - 1.0
    T = np.outer(y - y.mean(), y - y.mean())
    G = grams(X)
    M = np.array([[oracle.unbiased_hsic(K, L) for L in G] for K in G], dtype=float)
    a = np.array([oracle.unbiased_hsic(K, T) for K in G], dtype=float)
    best, weights = -np.inf, None
    for mask in range(1, 8):  # the best over all supports
        used = [k for k in range(3) if mask >> k & 1]
        v = np.linalg.solve(M[np.ix_(used, used)], a[used])
        if (v > 0).all() and a[used] @ v > best:
            best, weights = a[used] @ v, np.zeros(3)
            weights[used] = v / v.sum()
    return weights, a / np.sqrt(np.diagonal(M) * float(oracle.unbiased_hsic(T, T)))


def test_weights_are_those_of_u_statistics():
    weights, alignments = naive_weights(X, LABELS)
    model = al.MKLClassifier(KERNELS, unbiased=True).fit(X, LABELS)
    np.testing.assert_allclose(model.weights_, weights, atol=1e-8)
    np.testing.assert_allclose(model.kernel_alignments_, alignments, rtol=1e-8)
    # The near-identity is aligned only through its diagonal.
    biased = al.MKLClassifier(KERNELS).fit(X, LABELS)
    assert model.kernel_alignments_[2] < 0.5 * biased.kernel_alignments_[2]


@pytest.mark.parametrize("make", [al.MKLClassifier, al.MKLRegressor, al.KernelCombiner])
def test_every_learner_has_it(make):
    y = LABELS if make is not al.MKLRegressor else 2.0 * LABELS - 1.0
    found = make(KERNELS, unbiased=True).fit(X, y)
    np.testing.assert_allclose(found.weights_, naive_weights(X, LABELS)[0], atol=1e-8)


def test_folds_learn_without_the_diagonal_too():
    search = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=[1.0], cv=SPLITS, unbiased=True)
    search.fit(X, LABELS)
    plain = al.MKLClassifier(search.kernels_, unbiased=True)
    scores = [plain.fit(X[a], LABELS[a]).score(X[b], LABELS[b]) for a, b in SPLITS]
    assert search.best_score_ == pytest.approx(np.mean(scores))
    np.testing.assert_allclose(search.weights_, naive_weights(X, LABELS)[0], atol=1e-8)


def test_linear_kernels_keep_their_coefficients_and_sparse_samples_are_taken():
    kernels = [al.Columns("linear", [0]), al.Columns("linear", [1, 2])]
    dense = al.MKLClassifier(kernels, unbiased=True).fit(X, LABELS)
    assert dense.coef_.shape == (3, 1)
    thin = al.MKLClassifier(kernels, unbiased=True).fit(sparse.csr_array(X), LABELS)
    np.testing.assert_allclose(thin.weights_, dense.weights_, atol=1e-9)
    one = al.MKLClassifier(al.RankOneKernels(), unbiased=True).fit(X, LABELS)
    assert np.argmax(one.weights_) == 0


def test_intervals_from_the_statistics_of_the_fit_say_nothing_and_why():
    model = al.MKLClassifier(KERNELS, unbiased=True).fit(X, LABELS)
    for found in (model.alignment_interval_, model.alignment_interval(X, LABELS)):
        assert (found.low, found.high, found.vacuous) == (0.0, 1.0, True)
        assert any("unbiased=True" in text for text in found.not_met)
    other = np.random.default_rng(1).standard_normal((50, 3))
    held_out = model.alignment_interval(other, (other[:, 0] > 0).astype(int), held_out=True)
    assert not any("unbiased" in text for text in held_out.not_met)


def test_where_it_does_not_apply_it_is_refused():
    model, wrong = al.MKLClassifier(KERNELS, unbiased=True), al.MKLClassifier(unbiased="yes")
    raises(ValueError, "unbiased=True takes no sample_weight", model.fit, X, LABELS, np.ones(60))
    raises(ValueError, "at least 4 samples", model.fit, X[:3], [0, 1, 0])
    raises(TypeError, "unbiased", wrong.fit, X, LABELS)
    own = al.MKLRegressorCV(KERNELS, unbiased=True, per_target=True)
    raises(ValueError, "per_target", own.fit, X, X[:, :2])
