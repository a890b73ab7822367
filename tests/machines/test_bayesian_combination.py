"""Variational inference of Bayesian MKL: against the model written out, and its evidence."""

from copy import copy

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import digamma

from alignlearn.machines.bayesian import BayesianCombination, Priors
from alignlearn.validation import ConvergenceWarning

PRIORS = Priors((1.5, 0.7), (2.0, 0.5), (0.8, 1.3), sigma_g=0.6, margin=0.4)


def problem(m=12, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 2))
    distances = np.square(X[:, None] - X).sum(axis=2)
    grams = np.array([np.exp(-(4.0 ** (k - 1)) * distances) for k in range(p)])
    sign = np.where(X[:, 0] + 0.5 * rng.normal(size=m) > 0, 1.0, -1.0)
    sign[:2] = 1.0, -1.0
    return grams, sign


class Naive:
    """The factors and the bound written out from the model, in loops and scipy's distributions."""

    def __init__(self, grams, sign, priors):
        self.K, self.y, self.h = grams, sign, priors
        p, m = len(grams), len(sign)
        self.a = np.zeros(m), np.eye(m)
        self.be = np.append(0.0, np.ones(p)), np.eye(1 + p)
        self.f = (1.0 + priors.margin) * sign
        self.G = np.tile(self.f / p, (p, 1)), np.zeros((p, p))

    @staticmethod
    def second(q):
        return np.outer(q[0], q[0]) + q[1]

    def gamma(self, prior, squares):
        return prior[0] + 0.5, 1.0 / (1.0 / prior[1] + 0.5 * np.asarray(squares))

    def update(self):
        s = self.h.sigma_g**2
        self.lam = self.gamma(self.h.sample, np.diagonal(self.second(self.a)))
        cov = np.linalg.inv(np.diag(self.lam[0] * self.lam[1]) + sum(K @ K for K in self.K) / s)
        self.a = cov @ sum(K @ g for K, g in zip(self.K, self.G[0])) / s, cov
        moments = self.second(self.be)
        cov = np.linalg.inv(np.eye(len(self.K)) / s + moments[1:, 1:])
        pull = np.outer(self.be[0][1:], self.f) - moments[0, 1:, None]
        self.G = cov @ (self.K @ self.a[0] / s + pull), cov
        self.gam = self.gamma(self.h.bias, [moments[0, 0]])
        self.om = self.gamma(self.h.kernel, np.diagonal(moments)[1:])
        rows = np.vstack([np.ones(len(self.y)), self.G[0]])
        precision = np.diag(np.append(self.gam[0] * self.gam[1], self.om[0] * self.om[1]))
        cov = np.linalg.inv(precision + sum(map(self.row_moment, range(len(self.y)))))
        self.be = cov @ rows @ self.f, cov
        self.f_mean = self.be[0] @ rows
        self.f = self.y * [self.truncated(i).mean() for i in range(len(self.y))]

    def truncated(self, i):
        """Of y_i f_i; cut 30 deviations above, as scipy has no entropy without an end."""
        center = self.y[i] * self.f_mean[i]
        return stats.truncnorm(self.h.margin - center, 30.0, loc=center)

    def row_moment(self, i):
        row = np.append(1.0, self.G[0][:, i])
        out = np.outer(row, row)
        out[1:, 1:] += self.G[1]
        return out

    def bound(self):
        m, s, total = len(self.y), self.h.sigma_g**2, 0.0
        squares = {"sample": np.diagonal(self.second(self.a))}
        squares["bias"] = np.diagonal(self.second(self.be))[:1]
        squares["kernel"] = np.diagonal(self.second(self.be))[1:]
        for name, q in (("sample", self.lam), ("bias", self.gam), ("kernel", self.om)):
            shape, scale = getattr(self.h, name)
            for square, b in zip(squares[name], q[1]):
                mean, log_mean = q[0] * b, digamma(q[0]) + np.log(b)
                # E log Gamma(x; shape, scale) is linear in x and log x.
                at_one = stats.gamma.logpdf(1.0, shape, scale=scale)
                total += at_one + (1.0 - mean) / scale + (shape - 1.0) * log_mean
                total += stats.gamma.entropy(q[0], scale=b)
                total += 0.5 * log_mean - 0.5 * np.log(2 * np.pi) - 0.5 * mean * square
        total += stats.multivariate_normal(cov=self.a[1]).entropy()
        total += stats.multivariate_normal(cov=self.be[1]).entropy()
        total += m * stats.multivariate_normal(cov=self.G[1]).entropy()
        for i in range(m):
            for k, column in enumerate(self.K[:, :, i]):
                gap = (self.G[0][k, i] - self.a[0] @ column) ** 2
                gap += self.G[1][k, k] + column @ self.a[1] @ column
                total += -0.5 * np.log(2 * np.pi * s) - 0.5 * gap / s
            q = self.truncated(i)
            mean = self.y[i] * q.mean()
            row = np.append(1.0, self.G[0][:, i])
            gap = q.var() + mean**2 - 2.0 * mean * (self.be[0] @ row)
            gap += np.sum(self.second(self.be) * self.row_moment(i))
            total += -0.5 * np.log(2 * np.pi) - 0.5 * gap + q.entropy()
        return total

    def scaled(self, c):
        other = copy(self)
        other.a = self.a[0] * c, self.a[1] * c**2
        other.G = self.G[0] * c, self.G[1] * c**2
        d = np.append(1.0, np.full(len(self.K), 1.0 / c))
        other.be = self.be[0] * d, self.be[1] * np.outer(d, d)
        return other

    def best_scaled(self):
        def loss(t):
            return -self.scaled(np.exp(t)).bound()

        found = minimize_scalar(loss, bounds=(-2.0, 2.0), method="bounded", options={"xatol": 1e-6})
        return self.scaled(np.exp(found.x))


def test_updates_and_bound_are_those_of_the_model_written_out():
    grams, sign = problem(m=8)
    with pytest.warns(ConvergenceWarning):
        found = BayesianCombination(grams, PRIORS).fit(sign, max_iter=3)
    naive, bounds = Naive(grams, sign, PRIORS), []
    for round_ in range(3):
        naive = naive.best_scaled() if round_ else naive
        naive.update()
        bounds.append(naive.bound())
    np.testing.assert_allclose(found.lower_bounds, bounds, rtol=1e-6)
    np.testing.assert_allclose(found.a, naive.a[0], atol=1e-5)
    np.testing.assert_allclose(found.be, naive.be[0], atol=1e-5)
    np.testing.assert_allclose(found.be_covariance, naive.be[1], atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("priors", [Priors(), PRIORS, Priors(kernel=(1e-10, 1e10), margin=0.0)])
def test_bound_never_falls(seed, priors):
    grams, sign = problem(m=30, p=4, seed=seed)
    bounds = BayesianCombination(grams, priors).fit(sign, tol=1e-7, max_iter=20_000).lower_bounds
    # Rounding only, of sums of hundreds of terms.
    assert np.diff(bounds).min() > -1e-9 * np.abs(bounds).max() - 1e-9
    assert bounds[-1] - bounds[0] > 1.0


def test_labels_turned_round_turn_the_answer():
    grams, sign = problem()
    here, there = (BayesianCombination(grams, PRIORS).fit(s * sign) for s in (1.0, -1.0))
    np.testing.assert_allclose(here.lower_bounds, there.lower_bounds, rtol=1e-9)
    g = grams @ here.a
    np.testing.assert_allclose(here.log_odds(g), -there.log_odds(grams @ there.a), atol=1e-6)
    assert here.be[1:].sum() >= 0.0
    assert there.be[1:].sum() >= 0.0


def test_far_tails_stay_finite():
    grams, sign = problem()
    found = BayesianCombination(grams * 1e4, Priors(sigma_g=1e-2)).fit(sign, max_iter=20_000)
    odds = found.log_odds(grams * 1e6 @ found.a)
    assert np.isfinite([*odds, *found.lower_bounds]).all()
