"""The ridge whose strength is chosen by left-out pairs, against fits without them."""

import numpy as np
import pytest

from alignlearn import Gaussian
from alignlearn.hyper import HyperKRR, HyperKRRCV, hyper_kernels

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2))
NOISE = RNG.normal(size=(12, 12))
K = Gaussian(0.7)(X) + 0.2 * (NOISE + NOISE.T)
ALPHAS = [1e-3, 0.1, 1.0]


def relative(errors, weight, target):
    mean = np.average(target, weights=weight)
    return np.sqrt(errors / np.sum(weight * np.square(target - mean)))


def test_each_pair_left_out_is_a_fit_without_it():
    """All landmarks: the closed form is that of refits without a pair, one by one."""
    few, similar, (i, j) = X[:6], K[:6, :6], np.triu_indices(6)
    errors = np.zeros(3)
    hyper = hyper_kernels([1.0, 4.0], 8.0).resolve(few)
    for a, b in zip(i, j):
        some = similar.copy()
        some[a, b] = some[b, a] = np.nan
        for k, alpha in enumerate(ALPHAS):
            fitted = HyperKRR(hyper, alpha).fit(few, some)
            error = fitted.predict(few[a : a + 1], few[b : b + 1])[0, 0] - K[a, b]
            errors[k] += (1.0 if a == b else 2.0) * error**2
    expected = relative(errors, np.where(i == j, 1.0, 2.0), K[i, j])
    model = HyperKRRCV(hyper, ALPHAS, left_out="pairs", rank_tol=0.0).fit(few, similar)
    assert model.alpha_ == ALPHAS[int(np.argmin(expected))]
    assert model.left_out_error_ == pytest.approx(expected.min(), rel=1e-6)
    plain = HyperKRR(hyper, model.alpha_, solver="pivoted", rank_tol=0.0).fit(few, similar)
    np.testing.assert_allclose(model.predict(few), plain.predict(few), atol=1e-9)


def test_points_left_out_are_in_no_training_pair():
    hyper = hyper_kernels([1.0, 4.0], 8.0).resolve(X)
    model = HyperKRRCV(hyper, ALPHAS, rank_tol=0.0, random_state=3).fit(X, K)
    fold = np.random.default_rng(3).permutation(12) % 5
    errors, judged = np.zeros(3), np.zeros((12, 12), dtype=bool)
    for t in range(5):
        inside, out = np.flatnonzero(fold != t), np.flatnonzero(fold == t)
        judged[np.ix_(out, out)] = True
        for k, alpha in enumerate(ALPHAS):
            fitted = HyperKRR(hyper, alpha).fit(X[inside], K[np.ix_(inside, inside)])
            errors[k] += np.square(fitted.predict(X[out]) - K[np.ix_(out, out)]).sum()
    i, j = np.nonzero(np.triu(judged))
    expected = relative(errors, np.where(i == j, 1.0, 2.0), K[i, j])
    assert model.alpha_ == ALPHAS[int(np.argmin(expected))]
    assert model.left_out_error_ == pytest.approx(expected.min(), rel=1e-6)


def test_no_fold_with_a_known_pair_leaves_out_pairs():
    fold = np.random.default_rng(8).permutation(12) % 5
    few = np.where(fold[:, None] == fold, np.nan, K)
    by_points = HyperKRRCV(hyper_kernels(), alphas=ALPHAS, random_state=8).fit(X, few)
    by_pairs = HyperKRRCV(hyper_kernels(), alphas=ALPHAS, left_out="pairs").fit(X, few)
    assert by_points.alpha_ == by_pairs.alpha_
    assert by_points.left_out_error_ == by_pairs.left_out_error_


def test_targets_without_variance_have_a_finite_error():
    constant = HyperKRRCV(alphas=[1e-2]).fit(X, np.ones((12, 12)))
    assert np.isfinite(constant.left_out_error_)


def test_the_search_is_reported_as_others_are():
    """Scores against fits with one candidate and one alpha; clusters by their largest error."""
    candidates = [hyper_kernels([1.0, 4.0], r) for r in (64.0, 1.0)]
    for parts in (None, 2):
        options = {"decomposition": parts, "random_state": 3}
        model = HyperKRRCV(candidates, ALPHAS, **options).fit(X, K)
        results = model.cv_results_
        for params, score in zip(results["params"], results["mean_test_score"]):
            alone = HyperKRRCV(params["hyper_kernel"], [params["alpha"]], **options).fit(X, K)
            assert score == pytest.approx(-alone.left_out_error_)
        chosen = {"alpha": model.alpha_, "hyper_kernel": model.hyper_kernel_}
        assert model.best_params_ == chosen == results["params"][model.best_index_]
        assert model.best_score_ == -model.left_out_error_ == results["mean_test_score"].max()
        alone = HyperKRRCV(model.hyper_kernel_, ALPHAS, **options).fit(X, K)
        assert (model.kernel_, model.rank_) == (alone.kernel_, alone.rank_)
        assert parts is None or len(model.kernel_.kernels) == parts
    assert list(results["param_alpha"]) == [a for a in ALPHAS for _ in candidates]
