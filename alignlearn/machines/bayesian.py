"""Bayesian multiple kernel learning on Gram matrices, two classes, by variational inference.

The model (m samples, p kernels, labels +-1)::

    lambda_i ~ Gamma(alpha_lambda, beta_lambda)     a_i  | lambda_i ~ N(0, 1 / lambda_i)
    gamma    ~ Gamma(alpha_gamma, beta_gamma)       b    | gamma    ~ N(0, 1 / gamma)
    omega_k  ~ Gamma(alpha_omega, beta_omega)       e_k  | omega_k  ~ N(0, 1 / omega_k)
    g_ki     ~ N(a' K_k[:, i], sigma_g^2)           f_i             ~ N(e' g_i + b, 1)
    y_i is seen where y_i f_i > margin

with shapes alpha and scales beta. The posterior is approximated by the product q(lambda) q(a) q(G)
q(gamma) q(omega) q(b, e) q(f), each factor of the family that its update gives: log q of a factor
is the expectation of the joint log density over the others, up to a constant. With s = sigma_g^2,
S the inverse of a precision and <> a mean under q::

    lambda_i : Gamma(alpha + 1/2, 1 / (1 / beta + <a_i^2> / 2)), gamma and omega likewise
    a        : precision diag<lambda> + sum_k K_k^2 / s,  mean = S_a sum_k K_k <g_k> / s
    g_i      : precision I / s + <ee'>,  mean = S_g (h_i / s + <f_i> <e> - <b e>), h_ki = (K_k a)_i
    (b, e)   : precision diag(<gamma>, <omega>) + sum_i <(1, g_i) (1, g_i)'>,
               mean = S_be sum_i <f_i> (1, <g_i>)
    f_i      : normal of mean <e>'<g_i> + <b> and variance 1, truncated to y_i f_i > margin

Each update maximizes the evidence lower bound in its factor, so the bound never decreases. Between
the rounds a and G are multiplied by the best common factor c, and e is divided by it. This leaves
e'g_i unchanged, and the maximum over c has a closed form. The updates alone converge slowly in that
direction: they take more rounds for the same ``tol``, and stop at a lower bound.

Source: Goenen (2012), Bayesian efficient multiple kernel learning, sections 2 and 3 (there with
sigma_g = 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.special import digamma, gammaln, log_ndtr

from alignlearn._lapack import cholesky, cholesky_solve, inverse_diagonal, product
from alignlearn._text import Result
from alignlearn.validation import warn_unconverged

_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class Priors(Result):
    """Hyper-parameters: (shape, scale) of the gamma priors, noise of g, margin of the labels."""

    sample: tuple[float, float] = (1.0, 1.0)
    bias: tuple[float, float] = (1.0, 1.0)
    kernel: tuple[float, float] = (1.0, 1.0)
    sigma_g: float = 1.0
    margin: float = 0.0


@dataclass(frozen=True, eq=False)
class Posterior(Result):
    """The part of the approximate posterior that prediction needs, and its convergence.

    Attributes
    ----------
    a : ndarray of shape (m,)
        Mean of the sample coefficients, shared by the kernels.
    be : ndarray of shape (1 + p,)
        Mean of (b, e): bias and kernel weights. The sum of the weights is not negative, because the
        signs of a and e can be changed together.
    be_covariance : ndarray of shape (1 + p, 1 + p)
    lower_bounds : ndarray of shape (n_iter,)
        Evidence lower bound after every round of updates, nondecreasing.
    margin : float
    """

    a: np.ndarray
    be: np.ndarray
    be_covariance: np.ndarray
    lower_bounds: np.ndarray
    margin: float

    def log_odds(self, g):
        """Logarithm of P(+1) / P(-1) of new samples with responses ``g = K_k(x, .) a``, (p, n)."""
        rows = np.vstack([np.ones(g.shape[1]), g])
        mean = self.be @ rows
        deviation = np.sqrt(1.0 + np.einsum("ij,ij->j", rows, self.be_covariance @ rows))
        return log_ndtr((mean - self.margin) / deviation) - log_ndtr(
            (-mean - self.margin) / deviation
        )


class BayesianCombination:
    """Gram matrices, with the quantities that all two-class problems share.

    Parameters
    ----------
    grams : ndarray of shape (p, m, m)
        Symmetric; kept, not modified.
    priors : Priors
    """

    def __init__(self, grams, priors):
        self.grams, self.priors = grams, priors
        self._squares = sum(product(K, K) for K in grams)

    @property
    def squares(self):
        """``sum_k K_k^2 / sigma_g^2``, a new array (m, m)."""
        return self._squares / self.priors.sigma_g**2

    def fit(self, sign, *, tol=1e-4, max_iter=1000) -> Posterior:
        """Run the updates until a round adds at most ``tol`` nats per sample to the lower bound.

        Parameters
        ----------
        sign : ndarray of shape (m,)
            -1 and +1.
        tol : float
        max_iter : int

        Warns
        -----
        ConvergenceWarning
            The bound still increased faster after ``max_iter`` rounds.
        """
        state, enough = _State(self, sign), tol * len(sign)
        bounds, growth = [state.update()], np.inf
        while growth > enough and len(bounds) < max_iter:
            state.rescale()
            bounds.append(state.update())
            growth = bounds[-1] - bounds[-2]
        if growth > enough:
            reached = "a last gain of the lower bound, in nats per sample, of", growth / len(sign)
            count, remedy = f"{len(bounds)} rounds", "raise max_iter or tol"
            warn_unconverged("The updates", count, *reached, tol, remedy)
        return state.posterior(np.array(bounds))


@dataclass
class _Gamma:
    """Independent gamma variables: prior (shape, scale), posterior from second moments."""

    prior: tuple[float, float]
    squares: np.ndarray = field(repr=False)  # <x^2> of the normal variables of these precisions

    def __post_init__(self):
        self.shape = self.prior[0] + 0.5
        self.scale = 1.0 / (1.0 / self.prior[1] + 0.5 * self.squares)
        self.mean = self.shape * self.scale

    def bound(self):
        """Terms of the lower bound: prior and entropy, and <log precision> / 2 of the normals."""
        alpha, beta = self.prior
        log_mean = digamma(self.shape) + np.log(self.scale)
        prior = (alpha - 1.0) * log_mean - self.mean / beta - gammaln(alpha) - alpha * np.log(beta)
        entropy = gammaln(self.shape) + (1.0 - self.shape) * digamma(self.shape)
        entropy = entropy + self.shape + np.log(self.scale)
        return float(np.sum(prior + entropy + 0.5 * log_mean))


class _State:
    """The factors, represented by the moments that the other factors need."""

    def __init__(self, shared, sign):
        self.shared, self.priors, self.sign = shared, shared.priors, sign
        p, m = shared.grams.shape[:2]
        self.noise = self.priors.sigma_g**2
        # Labels spread evenly over the kernels; no random numbers, so results repeat.
        self.f = sign * (1.0 + self.priors.margin)
        self.g = np.tile(self.f / p, (p, 1))
        self.be = np.append(0.0, np.ones(p))
        self.be_square = np.outer(self.be, self.be) + np.eye(1 + p)
        self.a_squares = np.ones(m)

    def update(self):
        """One round; the lower bound after it."""
        bound = self._samples() + self._responses() + self._weights()
        return bound + self._labels()

    def _samples(self):
        """q(lambda), q(a). Terms of the bound are collected when their moments are final."""
        m = len(self.sign)
        self.precision = _Gamma(self.priors.sample, self.a_squares)
        system = self.shared.squares
        system.flat[:: m + 1] += self.precision.mean
        if not cholesky(system):
            raise ValueError(
                f"sigma_g={self.priors.sigma_g:g}: the prior of the sample coefficients "
                "is below the rounding error of the kernels' squares over sigma_g^2; "
                "accepted: a larger sigma_g, or smaller alpha_lambda and beta_lambda."
            )
        log_det = -2.0 * np.log(np.diagonal(system)).sum()
        right = (self.shared.grams @ self.g[:, :, None]).sum(axis=0)[:, 0] / self.noise
        self.a = cholesky_solve(system, right)
        self.a_variance = inverse_diagonal(system)
        self.a_squares = np.square(self.a) + self.a_variance
        # tr(S_a sum K^2 / s) = m - tr(S_a diag<lambda>)
        self.a_trace = m - self.precision.mean @ self.a_variance
        normal = -0.5 * self.precision.mean @ self.a_squares + 0.5 * log_det + 0.5 * m
        return self.precision.bound() + normal

    def _responses(self):
        """q(G)."""
        p, m = self.g.shape
        system = self.be_square[1:, 1:] + np.eye(p) / self.noise
        covariance = np.linalg.inv(system)
        predicted = self.shared.grams @ self.a
        pull = np.outer(self.be[1:], self.f) - self.be_square[1:, :1]
        self.g = covariance @ (predicted / self.noise + pull)
        self.g_square = self.g @ self.g.T + m * covariance
        misfit = np.square(self.g - predicted).sum() + m * np.trace(covariance)
        self.misfit = misfit + self.noise * self.a_trace  # <|g_k - K_k a|^2>, summed
        log_det = -np.linalg.slogdet(system)[1]
        size = p * m * (1.0 - np.log(self.noise))
        return 0.5 * (size + m * log_det - self.misfit / self.noise)

    def _weights(self):
        """q(gamma), q(omega), q(b, e)."""
        p, m = self.g.shape
        squares = np.diagonal(self.be_square)
        bias = _Gamma(self.priors.bias, squares[:1])
        kernels = _Gamma(self.priors.kernel, squares[1:])
        self.kernel_precision = kernels.mean
        mean = np.append(bias.mean, kernels.mean)
        rows = np.vstack([np.ones(m), self.g])
        moments = rows @ rows.T
        moments[1:, 1:] = self.g_square
        self.be_covariance = np.linalg.inv(np.diag(mean) + moments)
        self.be_covariance = 0.5 * (self.be_covariance + self.be_covariance.T)
        self.be = self.be_covariance @ (rows @ self.f)
        self.be_square = np.outer(self.be, self.be) + self.be_covariance
        self.f_mean = self.be @ rows
        # Variance of e'g_i + b, summed over the samples.
        spread = np.sum(self.be_square * moments) - self.f_mean @ self.f_mean
        log_det = np.linalg.slogdet(self.be_covariance)[1]
        normal = 0.5 * (log_det + 1 + p - mean @ np.diagonal(self.be_square))
        return bias.bound() + kernels.bound() + normal - 0.5 * spread

    def _labels(self):
        """q(f); with its mean just set, its terms are the normalizers of the truncated normals."""
        inside = self.sign * self.f_mean - self.priors.margin
        log_share = log_ndtr(inside)
        hazard = np.exp(-0.5 * inside**2 - 0.5 * _LOG_2PI - log_share)
        self.f = self.f_mean + self.sign * hazard
        return float(log_share.sum())

    def rescale(self):
        """Multiply a and G by c and divide e by it, for the c of the largest lower bound.

        The bound depends on c through ``-A c^2 / 2 - B / (2 c^2) + N log c``.
        """
        p, m = self.g.shape
        rising = self.precision.mean @ self.a_squares + self.misfit / self.noise
        falling = self.kernel_precision @ np.diagonal(self.be_square)[1:]
        count = m + p * m - p
        square = (count + np.sqrt(count**2 + 4.0 * rising * falling)) / (2.0 * rising)
        self.a_squares, self.g = self.a_squares * square, self.g * np.sqrt(square)
        divisor = np.append(1.0, np.full(p, np.sqrt(square)))
        self.be, self.be_square = self.be / divisor, self.be_square / np.outer(divisor, divisor)

    def posterior(self, bounds):
        flip = np.where(np.arange(len(self.be)) > 0, -1.0, 1.0)
        flip = flip if self.be[1:].sum() < 0.0 else np.ones(len(self.be))
        return Posterior(
            a=self.a * flip[-1],
            be=self.be * flip,
            be_covariance=self.be_covariance * np.outer(flip, flip),
            lower_bounds=bounds,
            margin=self.priors.margin,
        )
