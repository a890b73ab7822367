"""Conditional independence: whether two variables are dependent given a third."""

from __future__ import annotations

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve, product
from alignlearn.kernels import Gaussian
from alignlearn.machines import ridge_loo_path
from alignlearn.solvers.pivoted_cholesky import pivoted_cholesky
from alignlearn.validation import check_choice, check_count, check_samples, check_seed, doubt
from alignlearn.validation.memory import check_gram_memory

from .independence import DependenceTest
from .permutations import permutation_p_value
from .views import as_column, centered_gram, naming, open_views, view_kernels

_NAMES = ("X", "Y", "Z")
_LEAST = 20  # samples
# For the kernels of Z: gamma times the number of columns, each of unit variance. The middle one
# also measures the similarity of samples in Z.
_RATES = (0.05, 0.25, 1.0)
_ALPHAS = np.logspace(-5.0, 0.5, 12)  # share of the trace of the centered kernel
# Relative to the alpha of minimum error. A function of Z that remains in the residuals of X and Y
# would look like dependence, while degrees of freedom are accounted for.
_LESS = 0.1
_KEPT = 1e-4  # share of a kernel's trace that its features may omit
_EXPLAINED = 1e-4  # share of a view's variation given Z, below which it is regression error
_DRAWS = 2**22  # entries of draws in memory at once


def kci_test(
    X, Y, Z, kernels=None, *, method="signs", n_draws=999, random_state=None
) -> DependenceTest:
    """Test of conditional independence of X and Y given Z by kernels.

    Features of X and Y are regressed on Z by kernel ridge regression, and the products of their
    residuals are weighted by the similarity of the samples in Z.

    Parameters
    ----------
    X, Y, Z : array-like of shape (m, d), or (m,) for one variable
        The same m >= 20 samples; other objects if the kernels accept them.
    kernels : Kernel, str, or three of these, optional
        One for all or one for each, also "precomputed". Default, also for a None among three:
        Gaussians with ``gamma="scale"``. For Z, three widths on its standardized columns, from
        which the leave-one-out error selects one for X and one for Y.
    method : {"signs", "gamma"}
        The null distribution. "signs" changes the signs of pairs of residuals at random. "gamma" is
        a Gamma distribution with the mean and variance of a weighted sum of chi-squares; it rejects
        too rarely if residuals have heavy tails.
    n_draws : int, default 999
        Number of draws of the signs.
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    DependenceTest
        ``statistic`` is ``tr(K L) / m^2`` for the kernels of the residuals.

    Raises
    ------
    ValueError, TypeError
        Fewer than 20 samples, views of different length or constant under their kernels (for a
        constant Z use :func:`hsic_test`), NaN, or invalid parameters.

    Warns
    -----
    DoubtfulResultWarning
        Z explains all but a share of 1e-4 of the variation of X or Y, so that the residuals are
        mostly errors of the regression.

    Notes
    -----
    No test of this hypothesis controls its type I error rate for all distributions and also has
    power (Shah and Peters, 2020). The rate of this test is accurate if the regression of X or of Y
    on Z is accurate. If Z has many columns, or functions of Z vary too quickly for the number of
    samples, too many p-values are small. About five matrices (m, m) are held; the time is cubic in
    m.

    References
    ----------
    Zhang, Peters, Janzing and Scholkopf (2011), Kernel-based conditional independence test and
    application in causal discovery: the statistic and the Gamma distribution (proposition 5).
    Pogodin, Schrab, Li, Sutherland and Gretton (2024), Practical kernel tests of conditional
    independence: residuals of X only, times the kernel of Z.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import hsic_test, kci_test
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=60)  # a common cause
    >>> x, y = z + 0.3 * rng.normal(size=(2, 60))
    >>> hsic_test(x, y, random_state=0).p_value < 0.01
    True
    >>> kci_test(x, y, z, random_state=0).p_value > 0.05
    True
    """
    check_choice("method", method, ("signs", "gamma"))
    n_draws = check_count("n_draws", n_draws, optional=False)
    rng = check_seed("random_state", random_state)
    *views, given = _views(X, Y, Z, kernels)
    m = given[0].n_samples
    if m < _LEAST:
        raise ValueError(f"X has {m} samples; accepted for this test: at least {_LEAST}.")
    check_gram_memory(m, 5)
    features = [_features(view, name) for view, name in zip(views, _NAMES)]
    chosen = _regressions(given, features)
    operators = [_residual_operator(given[k], alpha) for k, alpha in chosen]
    residuals = [product(R, F) for R, F in zip(operators, features)]
    for name, F, E in zip(_NAMES, features, residuals):
        if np.vdot(E, E) < _EXPLAINED * np.vdot(F, F):
            doubt(
                f"Z explains all but a share of {_EXPLAINED:g} of the variation of {name}, so the "
                "p-value is not informative: the test uses the residuals of a regression on Z."
            )
    H = _alike(given) * product(residuals[0], residuals[0].T)
    H *= product(residuals[1], residuals[1].T)
    share = _freedom(*operators)
    statistic = float(H.sum())
    if method == "gamma":
        return DependenceTest(statistic / m**2, _gamma_tail(H, share), method, m, None)
    null = share * _signed(H, rng, n_draws)
    p_value = permutation_p_value(statistic, null)
    return DependenceTest(statistic / m**2, p_value, method, m, null / m**2)


def _views(X, Y, Z, kernels):
    """Views of X and of Y, and a list of those of Z."""
    if kernels is None or (isinstance(kernels, (list, tuple)) and len(kernels) == 3):
        first = list(kernels or (None,) * 3)
        ladder = first[2] is None
        kernels = view_kernels(first, 3)
    else:
        kernels, ladder = view_kernels(kernels, 3), False
    if ladder:
        with naming("view 'Z'"):
            Z = check_samples("X", as_column(Z, kernels[2])).astype(np.float64)
        spread = Z.std(axis=0)
        Z = np.divide(Z - Z.mean(axis=0), spread, where=spread > 0.0, out=np.zeros_like(Z))
        kernels[2] = Gaussian(_RATES[1] / Z.shape[1])
    opened = open_views([X, Y, Z], kernels, _NAMES)
    if not ladder:
        return [opened[0], opened[1], [opened[2]]]
    rates = [Gaussian(rate / Z.shape[1]) for rate in _RATES]
    return [opened[0], opened[1], open_views([Z] * len(rates), rates)]


def _features(view, name):
    """Features (m, r) of a centered kernel of about unit trace per sample, up to `_KEPT`."""
    K, _ = centered_gram(view, f"view {name!r}")
    K *= len(K) / K.trace()
    if view.source.rounding > np.finfo(np.float64).eps:
        K = K.astype(np.float32)  # The dtype sets the rounding that the factorization accepts.
    return pivoted_cholesky(K.diagonal(), lambda index: K[:, index], tol=_KEPT).factor


def _regressions(given, features):
    """For X and for Y, the kernel of Z and its alpha by leave-one-out error, alpha reduced."""
    targets, first = np.hstack(features), features[0].shape[1]
    parts = [slice(first), slice(first, None)]
    best = [(np.inf, 0, 0.0)] * 2
    for k, view in enumerate(given):
        K, _ = centered_gram(view, "view 'Z'")
        alphas = _ALPHAS * K.trace()
        path = ridge_loo_path(K, targets, alphas, check=False, overwrite=True)
        squares = np.square(path.predictions - targets).sum(axis=1)
        for i, part in enumerate(parts):
            errors = squares[:, part].sum(axis=1)
            j = int(errors.argmin())
            best[i] = min(best[i], (float(errors[j]), k, _LESS * alphas[j]))
    return [(k, alpha) for _, k, alpha in best]


def _residual_operator(view, alpha):
    """The matrix that maps targets to residuals of ridge regression with an intercept."""
    K, _ = centered_gram(view, "view 'Z'")
    m = len(K)
    K /= alpha
    K[np.diag_indices(m)] += 1.0
    cholesky(K)
    R = cholesky_solve(K, np.eye(m))
    R -= 1.0 / m  # centered kernels do not change the constant vector
    return R


def _alike(given):
    """A kernel of Z for the weights of pairs, plus its mean, to detect average dependence, too."""
    K = np.array(given[len(given) // 2].gram(exact=True), dtype=np.float64)
    K /= K.trace() / len(K)
    K += 1.0
    return K


def _freedom(R, S):
    """Variance of the sum of products of residuals, divided by the sum of their variances.

    Of errors that are independent of Z with a fixed variance: ``tr(RR'SS')`` over the sum of
    products of the diagonals.
    """
    both = float(np.square(product(R.T, S)).sum())
    return both / float(np.square(R).sum(axis=1) @ np.square(S).sum(axis=1))


def _signed(H, rng, n_draws):
    """``e'He`` for random signs e, (n_draws,)."""
    m, found = len(H), []
    step = max(1, _DRAWS // m)
    for start in range(0, n_draws, step):
        E = rng.choice([-1.0, 1.0], (min(step, n_draws - start), m))
        found.append(np.einsum("tj,tj->t", E, product(E, H)))
    return np.concatenate(found)


def _gamma_tail(H, share):
    """P-value of ``sum(H)`` for a sum of chi-squares times the eigenvalues of ``share H``."""
    from scipy.special import gammaincc

    mean, variance = share * H.trace(), 2.0 * share**2 * float(np.vdot(H, H))
    return float(gammaincc(mean**2 / variance, max(H.sum(), 0.0) * mean / variance))
