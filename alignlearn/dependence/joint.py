"""Joint independence of several variables, and equality of the distributions of two samples."""

from __future__ import annotations

import numpy as np

from alignlearn.sources import Opener
from alignlearn.validation import check_count, check_flag, check_samples, check_seed
from alignlearn.validation.memory import check_gram_memory

from .independence import DependenceTest, permutation_test
from .permutations import permutation_p_value, permuted_joint
from .views import as_column, centered_gram, largest, open_views, single_view, view_kernels


def dhsic_test(*views, kernels=None, n_permutations=999, random_state=None) -> DependenceTest:
    """Test of joint independence of several variables by dHSIC.

    Pairwise independent variables may be jointly dependent: of two fair coins and the indicator of
    their equality, each is a function of the other two.

    Parameters
    ----------
    *views : array-likes of shape (m, d_k) or (m,)
        Two or more views of the same m samples; other objects if the kernels accept them; Gram
        matrices (m, m) for "precomputed".
    kernels : Kernel, str, or a sequence of these, optional
        One for all views or one for each, also "precomputed". Default: Gaussians with
        ``gamma="scale"``.
    n_permutations : int, default 999
        The samples of all views except the first are permuted, each view separately, by cyclic
        shifts of random orders, see the notes. The type I error rate is exact.
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    DependenceTest
        ``statistic`` is dHSIC, the squared distance in feature space between the joint distribution
        and the product of the marginal distributions. For two views it is :func:`alignlearn.hsic`.

    Raises
    ------
    ValueError, TypeError
        Fewer than two views; fewer than 2 d samples for d views; views of different length or
        constant under their kernels; NaN; bad parameters.

    Notes
    -----
    A Gram matrix of each view is held, and half of another one. The permutations are random orders
    of the samples of each view with at most 32 sets of cyclic shifts of each set of orders. No
    permutation is distinguished from another, so the p-value is exactly valid. A permutation costs
    ``(d - 1) m^2 / 2`` products of vectors in the cache. A seed gives the same null for any number
    of threads. The kernels are not centered: with three views or more, a constant that is added to
    a kernel changes the test.

    References
    ----------
    Pfister, Buehlmann, Scholkopf and Peters (2018), Kernel-based tests for joint independence:
    definition 2.6 for the statistic, section 3.2.1 for the permutations.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import dhsic_test, hsic_test
    >>> a, b = np.random.default_rng(0).integers(2, size=(2, 60))  # two coins
    >>> same = (a == b).astype(float)  # whether they agree
    >>> hsic_test(a, same, random_state=0).p_value > 0.05
    True
    >>> dhsic_test(a, b, same, random_state=0).p_value
    0.001
    """
    n_permutations = check_count("n_permutations", n_permutations, optional=False)
    rng = check_seed("random_state", random_state)
    if len(views) < 2:
        raise ValueError(
            f"views: {len(views)} given; accepted: two or more, each as a separate argument."
        )
    opened = open_views(views, kernels)
    m, d = opened[0].n_samples, len(opened)
    if m < 2 * d:
        raise ValueError(f"view 0 has {m} samples; accepted for {d} views: at least {2 * d}.")
    check_gram_memory(m, max(d + 2, -(-3 * d // 2)))
    grams, unit = np.empty((d, m, m)), 1.0
    for i, view in enumerate(opened):
        centered_gram(view, f"view {i}")  # raises an error for a constant view
        grams[i] = view.gram(exact=True)
        scale = largest(grams[i])
        grams[i] /= scale
        unit *= scale
    sums, means, rounding = permuted_joint(grams, rng, n_permutations)
    values = sums / m**2 + np.prod(grams.mean(axis=(1, 2))) - 2.0 * means
    statistic, null = float(values[0]), values[1:]
    p_value = permutation_p_value(statistic, null, 4.0 * rounding)
    return DependenceTest(statistic * unit, p_value, "permutation", m, null * unit)


def mmd_test(
    X, Y, kernel=None, *, unbiased=False, n_permutations=999, random_state=None
) -> DependenceTest:
    """Two-sample test by the maximum mean discrepancy.

    Parameters
    ----------
    X, Y : array-like of shape (n, d) and (m, d), or (n,) and (m,)
        The two samples, of any sizes; other objects if the kernel accepts them.
    kernel : Kernel or str, optional
        Default: a Gaussian with ``gamma="scale"`` of both samples together. A characteristic kernel
        detects every difference.
    unbiased : bool, default False
        Whether the statistic is the U-statistic, which leaves out the kernel of a value with
        itself.
    n_permutations : int, default 999
        Permutations of the values over both samples; the type I error rate is exact.
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    DependenceTest
        ``statistic`` is the squared MMD, ``n_samples`` the number of both samples together.

    Raises
    ------
    ValueError, TypeError
        Fewer than two values in a sample; another number of columns; all values equal under the
        kernel; NaN; bad parameters.

    References
    ----------
    Gretton, Borgwardt, Rasch, Scholkopf and Smola (2012), A kernel two-sample test: equations 3
    and 5.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import mmd_test
    >>> rng = np.random.default_rng(0)
    >>> narrow, wide = rng.normal(size=60), 3 * rng.normal(size=60)  # of the same mean
    >>> mmd_test(narrow, wide, random_state=0).p_value < 0.01
    True
    >>> mmd_test(narrow, rng.normal(size=60), random_state=0).p_value > 0.05
    True
    """
    n_permutations = check_count("n_permutations", n_permutations, optional=False)
    rng = check_seed("random_state", random_state)
    unbiased = check_flag("unbiased", unbiased)
    pooled, n = _pooled(X, Y, view_kernels(kernel, 1)[0])
    m = pooled.n_samples
    check_gram_memory(m, 2)
    K, _ = centered_gram(pooled, None)
    unit = largest(K)
    K /= unit
    if unbiased:
        np.fill_diagonal(K, 0.0)
    return permutation_test(K, _difference(n, m - n, unbiased), rng, n_permutations, unit)


def _pooled(X, Y, kernel):
    """Both samples as one view, and the size of the first."""
    if isinstance(kernel, (Opener, str)):
        raise ValueError(
            f"kernel={kernel!r:.60} cannot be evaluated on new samples; accepted: a "
            "kernel function. (`alignment_test` accepts a Gram matrix and labels.)"
        )
    parts = []
    for name, A in (("X", X), ("Y", Y)):
        A = check_samples(name, as_column(A, kernel, name), kernel.needs_vectors)
        if len(A) < 2:
            raise ValueError(f"{name} has {len(A)} samples; accepted for this test: at least 2.")
        parts.append(A)
    X, Y = parts
    if not kernel.needs_vectors and not (hasattr(X, "ndim") and hasattr(Y, "ndim")):
        return single_view([*X, *Y], kernel), len(X)
    if X.shape[1:] != Y.shape[1:]:
        raise ValueError(
            f"Y has shape {Y.shape}, but X has {X.shape}; accepted: the same columns in both."
        )
    return single_view(np.concatenate([X, Y]), kernel), len(X)


def _difference(n, m, unbiased):
    """Factors of the matrix whose product with K is the squared MMD of n and m samples."""
    less, ones = int(unbiased), np.repeat([[1.0, 0.0], [0.0, 1.0]], [n, m], axis=0)
    within, across = np.array([n * (n - less), m * (m - less)]), n * m
    return ones, ones / within - ones[:, ::-1] / across
