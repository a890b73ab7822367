"""Tests of independence: HSIC of two views, alignment of a Gram matrix with a target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn._lapack import product
from alignlearn._text import Result
from alignlearn.statistics import center_gram, centered_columns
from alignlearn.statistics.targets import plain_columns
from alignlearn.validation import (
    check_choice,
    check_count,
    check_flag,
    check_gram,
    check_seed,
    doubt,
    plain,
    real_part,
)
from alignlearn.validation.memory import check_gram_memory

from .permutations import (
    permutation_p_value,
    permuted_products,
    shifted_products,
)
from .views import centered_gram, constant_view, largest, naming, open_views


@dataclass(frozen=True, eq=False)
class DependenceTest(Result):
    """A test of the hypothesis that two or more variables are independent.

    Two samples have the same distribution if the values are independent of the sample label.

    Attributes
    ----------
    statistic : float
        Larger values indicate more dependence.
    p_value : float
        Probability of a statistic at least as large under independence. For permutations ``(1 + k)
        / (1 + n)`` if k of n permuted statistics are at least as large, which controls the type I
        error rate exactly for exchangeable samples.
    method : str
        "permutation", "low-rank", "gamma" or "signs".
    n_samples : int
    null : ndarray of shape (n_permutations,), or None
        The statistic after each permutation, or for each draw of signs; None for "gamma".

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import hsic_test
    >>> x = np.random.default_rng(0).normal(size=60)
    >>> result = hsic_test(x, x**2, n_permutations=199, random_state=0)
    >>> result.method, result.null.shape
    ('permutation', (199,))
    >>> float((1 + np.sum(result.null >= result.statistic)) / 200) == result.p_value
    True
    """

    statistic: float
    p_value: float
    method: str
    n_samples: int
    null: np.ndarray | None


def hsic_test(
    X,
    Y,
    kernels=None,
    *,
    method="auto",
    unbiased=False,
    n_permutations=999,
    n_centers=100,
    random_state=None,
) -> DependenceTest:
    """Test of independence of two views by the Hilbert-Schmidt independence criterion.

    Parameters
    ----------
    X, Y : array-like of shape (m, d), or (m,) for one variable
        The same m samples; other objects if the kernels accept them; Gram matrices (m, m) for
        "precomputed".
    kernels : Kernel, str, or a pair of these, optional
        One for both views or one for each, also "precomputed". Default: Gaussians with
        ``gamma="scale"``. A characteristic kernel, such as a Gaussian but not a linear one, detects
        every kind of dependence.
    method : {"auto", "permutation", "low-rank", "gamma"}
        "permutation": permutes the samples of Y. The type I error rate is exact, also with ties and
        heavy tails. The permutations are cyclic shifts of random orders, see the notes. "low-rank":
        permutes Nystrom features of the kernels, for at least ``10 (n_permutations + 1)`` samples,
        without a Gram matrix. Permutations are shifts of blocks of the randomly ordered samples,
        which form a group, so the type I error rate is exact. "auto": "low-rank" for more than
        10,000 samples if possible, otherwise "permutation". "gamma": approximates the null
        distribution by a Gamma distribution with the same mean and variance, in one pass. It needs
        m >= 6. The test rejects too often for few samples, and much too often for heavy tails and
        rare events (docs/guide/tests-of-dependence.md). It gives a warning if few samples dominate
        a kernel; use "permutation" then.
    unbiased : bool, default False
        Whether the statistic is the U-statistic, as in :func:`alignlearn.hsic`; permutation only,
        m >= 4.
    n_permutations : int, default 999
    n_centers : int, default 100
        Number of randomly drawn samples of each view that span the features of "low-rank".
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    DependenceTest
        ``statistic`` is :func:`alignlearn.hsic` of the two Gram matrices, or of the Gram matrices
        of the features for "low-rank".

    Raises
    ------
    ValueError, TypeError
        Views of different length or constant under their kernels, NaN, bad parameters.

    Notes
    -----
    Two Gram matrices are held. The permutations are ``4 (n_permutations + 1) / m`` random orders of
    the samples with cyclic shifts of each, drawn without replacement, including the identity. No
    permutation is distinguished from the others, so the p-value is exactly valid. All shifts of one
    order together cost m^2 log m operations by Fourier transforms. A seed gives the same null for
    any number of threads. "low-rank" holds some ``m n_centers`` numbers, and all its permutations
    together cost about 10 ``m n_centers^2`` products. It has less power against rare or very local
    dependence, for which there may be no center.

    References
    ----------
    Gretton, Fukumizu, Teo, Song, Scholkopf and Smola (2008), A kernel statistical test of
    independence: equations 9 and 10 for the Gamma distribution, with the mean for kernels with any
    diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import hsic_test
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=60), rng.normal(size=60)
    >>> hsic_test(x, x**2, random_state=0).p_value  # uncorrelated, dependent: 1 in 1000 orders
    0.001
    >>> hsic_test(x, noise, random_state=0).p_value > 0.05
    True
    """
    check_choice("method", method, ("auto", "permutation", "low-rank", "gamma"))
    n_permutations = check_count("n_permutations", n_permutations, optional=False)
    n_centers = check_count("n_centers", n_centers, optional=False)
    if check_flag("unbiased", unbiased) and method in ("gamma", "low-rank"):
        raise ValueError(
            f'unbiased=True is not available with method="{method}", which approximates '
            "the distribution of the biased statistic; accepted: unbiased=False, or "
            'method="permutation".'
        )
    rng = check_seed("random_state", random_state)
    views = open_views([X, Y], kernels, _NAMES)
    m, many = views[0].n_samples, _SHORTEST * (n_permutations + 1)
    if method == "auto":
        given = unbiased or any(view.source.is_given for view in views)
        method = "low-rank" if m > max(_LARGE, many - 1) and not given else "permutation"
    least = {"gamma": 6, "low-rank": many}.get(method, 4 if unbiased else 2)
    if m < least:
        raise ValueError(f"X has {m} samples; accepted for this test: at least {least}.")
    if method == "low-rank":
        return _low_rank_test(views, min(n_centers, m), n_permutations, rng)
    check_gram_memory(m, 4)  # unchanged, and in double precision
    if method == "gamma":
        return _gamma_test(views)
    (K, L), unit = _opened(views)
    unit /= m
    if unbiased:
        K, L, unit = _u_centered(K), _u_centered(L), unit * (m / (m - 3.0))
    # In the units of the views, these may overflow or underflow.
    return permutation_test(K, L, rng, n_permutations, unit / m)


def permutation_test(K, L, rng, n_permutations, unit):
    """The test by ``<K, L>_F`` in a unit, for L as in `permuted_products`."""
    values, rounding = permuted_products(K, L, rng, n_permutations)
    p_value = permutation_p_value(values[0], values[1:], rounding)
    values *= unit
    return DependenceTest(float(values[0]), p_value, "permutation", len(K), values[1:])


_NAMES = ("X", "Y")
_LARGE = 10_000  # samples, above which "auto" forms no Gram matrices
_SHORTEST = 10  # samples of a block: at least nine tenths of all samples are permuted
_DEPENDENT = 1e-10  # share of the largest eigenvalue: smaller directions of centers are rounding


def _low_rank_test(views, n_centers, n_permutations, rng):
    # Different centers for each view: shared ones would distinguish the order of the samples from
    # others.
    features = [
        _nystrom(view, n_centers, f"view {name!r}", rng) for name, view in zip(_NAMES, views)
    ]
    m = len(features[0][0])
    order, unit = rng.permutation(m), 1.0
    for i, (_, scale) in enumerate(features):
        unit *= (scale / m) * scale
        features[i] = features[i][0][order]
    values = shifted_products(*features, n_permutations + 1)
    statistic, null = float(values[0]), values[1:]
    p_value = permutation_p_value(statistic, null)
    return DependenceTest(statistic * unit, p_value, "low-rank", m, null * unit)


def _nystrom(view, n_centers, name, rng):
    """Centered features (m, r) over their largest entry, and that."""
    m = view.n_samples
    centers = rng.choice(m, n_centers, replace=False)
    with naming(name):
        rows = view.rows(centers, exact=True)
    values, vectors = np.linalg.eigh(np.asarray(rows[:, centers], dtype=np.float64))
    kept = values > max(_DEPENDENT, 10.0 * np.finfo(rows.dtype).eps) * values[-1]
    F = product(rows.T.astype(np.float64), vectors[:, kept] / np.sqrt(values[kept]))
    rounding = 32.0 * np.finfo(rows.dtype).eps * np.abs(F).max(initial=0.0)
    F -= F.mean(axis=0)
    scale = float(np.abs(F).max(initial=0.0))
    if not scale > rounding:
        raise constant_view(name, view)
    F /= scale
    return F, scale


def _opened(views):
    """The centered Gram matrices over their largest entries, and the product of these."""
    unit, grams = 1.0, []
    for name, view in zip(_NAMES, views):
        K = centered_gram(view, f"view {name!r}")[0]
        scale = largest(K)
        K /= scale
        unit *= scale
        grams.append(K)
    return grams, unit


def _u_centered(K):
    """K (m, m), overwritten, U-centered: rows sum to 0 without the diagonal, which is 0.

    Source: Szekely and Rizzo (2014), section 3: ``<K, L> / (m (m - 3))`` is the unbiased HSIC.
    """
    m = len(K)
    np.fill_diagonal(K, 0.0)
    sums = K.sum(axis=0)
    K -= (sums / (m - 2))[:, None]
    K -= sums / (m - 2)
    K += sums.sum() / ((m - 1.0) * (m - 2))
    np.fill_diagonal(K, 0.0)
    return K


_FEW = 1 / 3  # share of the samples: if fewer dominate a kernel, a warning is given


def _doubt_gamma(centered):
    """Warn if few samples hold most of the variance of a centered Gram matrix."""
    for name, K in zip(_NAMES, centered):
        d = np.diagonal(K)
        # The number of equal values with this ratio of the squared sum to the sum of squares.
        effective = float(d.sum() ** 2 / np.square(d).sum())
        if effective < _FEW * len(K):
            doubt(
                f'method="gamma" rejects too often if few samples dominate a kernel (heavy tails, '
                f"rare values): in view {name!r}, about {effective:.0f} of {len(K)} samples do; "
                'use method="permutation", whose type I error rate is exact.'
            )
            return


def _gamma_test(views):
    from scipy.special import gammaincc

    centered, unit = _opened(views)
    m = len(centered[0])
    _doubt_gamma(centered)
    products = centered[0] * centered[1]
    statistic = float(products.sum()) / m**2
    squares = float(np.vdot(products, products)) - float(np.sum(np.diagonal(products) ** 2))
    falling = m * (m - 1.0) * (m - 2.0) * (m - 3.0)
    variance = 2.0 * (m - 4) * (m - 5) / falling * squares / (m * (m - 1.0))
    # Unbiased estimates of the traces of both covariance operators.
    mean = float(np.prod([np.trace(K) / (m - 1.0) for K in centered])) / m
    # Shape mean^2 / variance, scale variance / mean.
    p_value = float(gammaincc(mean**2 / variance, statistic * mean / variance))
    return DependenceTest(statistic * unit, p_value, "gamma", m, None)


def alignment_test(K, y, *, task="auto", n_permutations=999, random_state=None) -> DependenceTest:
    """Permutation test for the alignment of a Gram matrix with a target.

    Parameters
    ----------
    K : array-like of shape (m, m)
        A Gram matrix. It may be indefinite, as estimates of quantum kernels from few shots, or
        complex Hermitian, whose real part is used.
    y : array-like of shape (m,), (m, c) or (m, m)
        A target of any units, or a second Gram matrix, as in :func:`alignlearn.alignment`.
    task : {"auto", "classification", "regression"}
        Type of the target; "auto" reads floating-point values as regression.
    n_permutations : int, default 999
        Of the samples of y.
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    DependenceTest
        ``statistic`` is the centered alignment.

    Raises
    ------
    ValueError, TypeError
        K or y is constant; K is not square, symmetric (Hermitian) and finite; lengths differ.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, alignment_test
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 2))
    >>> K = Gaussian(0.5)(X)
    >>> alignment_test(K, X[:, 0], random_state=0).p_value
    0.001
    >>> alignment_test(K, rng.normal(size=40), random_state=0).p_value > 0.05
    True
    """
    n_permutations = check_count("n_permutations", n_permutations, optional=False)
    rng = check_seed("random_state", random_state)
    K = _centered("K", K)
    y = plain("y", y)
    shape = y.shape if hasattr(y, "shape") else np.asarray(y, dtype=object).shape
    if len(shape) == 2 and shape[0] == shape[1]:
        L = _centered("y", y)
        if len(L) != len(K):
            raise ValueError(
                f"y has {len(L)} samples, but K has {len(K)}; accepted: the same number."
            )
        norm = np.linalg.norm(K) * np.linalg.norm(L)
    else:
        Y = _unit_columns(y, len(K), task)
        L, norm = (Y, Y), np.linalg.norm(K) * np.linalg.norm(Y.T @ Y)
    return permutation_test(K, L, rng, n_permutations, 1.0 / norm)


def _unit_columns(y, m, task):
    """Centered target columns, (m, c), in units of their largest entry."""
    Y = plain_columns(y, m, task)
    # A power of two changes no digits, and squares then neither underflow nor overflow.
    Y = centered_columns(np.ldexp(Y, -int(np.frexp(np.abs(Y).max())[1])))
    if not Y.any():
        raise ValueError(
            "y is constant, so alignment with it is undefined; accepted: at least two "
            "different values."
        )
    return Y / np.abs(Y).max()


def _centered(name, K):
    """K checked, real and centered, in units of its largest entry."""
    K = plain(name, K)
    try:
        is_complex = np.iscomplexobj(K)
    except ValueError:  # rows of several lengths, for which `check_gram` has the message
        is_complex = False
    K = real_gram(K) if is_complex else K
    K = np.array(check_gram(name, K), dtype=np.float64)
    K /= largest(K) or 1.0
    center_gram(K)
    if not largest(K) > 32.0 * np.finfo(np.float64).eps:
        raise ValueError(
            f"{name} is constant after centering, so its alignment is undefined; "
            "accepted: a Gram matrix that varies."
        )
    return K


def real_gram(K, *, test=False):
    """Real part of a Hermitian Gram matrix: the kernel of the same features over the reals.

    ``Re <phi, psi>`` is the inner product of the vectors ``(Re phi, Im phi)``, so the real part of
    a positive semi-definite K is positive semi-definite. For real coefficients and labels nothing
    is lost: ``y'Ky = y' Re(K) y``, since Im K is antisymmetric. (Fidelities ``|<phi, psi>|^2`` are
    real already.) If the real part of a noisy K is indefinite, use
    `alignlearn.machines.SpectrumFix` or `Precomputed(K, fix=...)`, which transform rows of new
    samples consistently.

    Parameters
    ----------
    K : array-like of shape (m, m), or (n, m) with ``test``
        Complex or real. Not modified.
    test : bool, default False
        Whether rows are new samples, so that the matrix is not Hermitian.

    Returns
    -------
    ndarray of K's shape, float64, or float32 of complex64 and float32

    Raises
    ------
    ValueError
        NaN or infinity; not square or not Hermitian to 1e-8 (complex64: 1e-4) of the largest entry,
        without ``test``.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.dependence import real_gram
    >>> states = np.array([[1.0, 0.0], [1.0, 1.0j], [1.0, -1.0]])  # rows: features
    >>> real_gram(states.conj() @ states.T)
    array([[1., 1., 1.],
           [1., 2., 1.],
           [1., 1., 2.]])
    """
    return real_part("K", K, test=check_flag("test", test))
