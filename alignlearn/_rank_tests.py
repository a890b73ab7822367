"""Tests on ranks over several data sets: Friedman's, and Holm's and Nemenyi's after it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alignlearn._paired_tests import check_array, check_table
from alignlearn.validation import check_choice, check_number


@dataclass(frozen=True, eq=False)
class FriedmanResult:
    """Friedman's test of k methods on n data sets.

    Attributes
    ----------
    average_ranks : ndarray of shape (k,)
        1 is best; methods that tie on a data set share the mean of their ranks.
    f_statistic, p_value : float
        Iman and Davenport's F, less conservative than chi2, and its p-value.
    chi2, chi2_p_value : float
        Friedman's statistic and its p-value.
    df : tuple of int
        Degrees of freedom of F: (k - 1, (k - 1)(n - 1)). Those of chi2 are the first.
    n_datasets : int
    names : tuple of str
    ranks : ndarray of shape (n, k)
    """

    average_ranks: np.ndarray
    f_statistic: float
    p_value: float
    chi2: float
    chi2_p_value: float
    df: tuple[int, int]
    n_datasets: int
    names: tuple[str, ...]
    ranks: np.ndarray


def friedman_test(
    results, names=None, *, greater_is_better=False, tie_correction=True
) -> FriedmanResult:
    """Friedman's test, with Iman and Davenport's F: do k methods differ over n data sets?

    Parameters
    ----------
    results : array-like of shape (n, k), n >= 2, k >= 2
        Data sets by methods: an error each (or a score, see below). Equal values are ties: round
        first where the last digits are noise.
    names : sequence of str, optional
        Of the methods. Default: "method 1", "method 2", ...
    greater_is_better : bool
        False for errors, True for scores such as accuracy or AUC.
    tie_correction : bool
        Divide by the variance of the ranks as they are. Without it chi2 is that of the formula for
        ranks without ties, as in Demsar's example, and smaller if there are ties.

    Returns
    -------
    FriedmanResult
        If all methods tie on every data set, the statistics are 0 and the p-values 1. If all data
        sets give the same ranks, F is infinite; its p-value would be 0 however few the data sets,
        so the exact one is given: the probability that n random orders agree.

    Raises
    ------
    ValueError
        Fewer than 2 methods or data sets, NaN or infinity, wrong number of names.

    Notes
    -----
    Source: Demsar (2006), section 3.2.2; Iman and Davenport (1980), Approximations of the critical
    region of the Friedman statistic. With the correction F is the F of a two-way analysis of
    variance of the ranks (Conover and Iman 1981).
    """
    from scipy.special import chdtrc, fdtrc

    results = check_table("results", results)
    n, k = results.shape
    ranks = np.array([_ranks(-row if greater_is_better else row) for row in results])
    average = ranks.mean(axis=0)
    middle = 0.5 * (k + 1)
    variance = k * (k + 1) / 12
    if tie_correction:
        variance = float(np.sum((ranks - middle) ** 2)) / (n * (k - 1))
    chi2 = n * float(np.sum((average - middle) ** 2)) / variance if variance > 0.0 else 0.0
    df = (k - 1, (k - 1) * (n - 1))
    left = n * (k - 1) - chi2
    # What rounding leaves of 0; one exchange of neighbours in one row leaves far more.
    if left <= 1e-12 * n * (k - 1):
        f, p = math.inf, _probability_of_agreement(ranks[0], n)
    else:
        f = (n - 1) * chi2 / left
        p = float(fdtrc(*df, f))
    return FriedmanResult(
        average_ranks=average,
        f_statistic=f,
        p_value=p,
        chi2=chi2,
        chi2_p_value=float(chdtrc(k - 1, chi2)),
        df=df,
        n_datasets=n,
        names=_check_names(names, k),
        ranks=ranks,
    )


def _ranks(row):
    """Ranks of the values from 1, tied values sharing their mean rank."""
    _, where, counts = np.unique(row, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - 0.5 * (counts - 1))[where]


def _probability_of_agreement(ranks, n):
    """That n random orders of these (tied) ranks are all the same."""
    ties = np.unique(ranks, return_counts=True)[1]
    log_orders = math.lgamma(ranks.size + 1) - sum(math.lgamma(t + 1) for t in ties)
    return math.exp((1 - n) * log_orders)


# After Friedman's test: which methods differ


@dataclass(frozen=True, eq=False)
class HolmResult:
    """Pairs of methods compared by their average ranks, with Holm's adjustment.

    Attributes
    ----------
    pairs : tuple of (str, str)
        With a control it is the first of each pair.
    z : ndarray of shape (number of pairs,)
        Difference of the average ranks, first minus second, by its standard error; positive if the
        second is better.
    p_value : ndarray
        Two-sided, of each pair by itself.
    adjusted : ndarray
        Adjusted for the number of pairs: those below a level are significant at that level, the
        probability of any false one among them being at most the level.
    """

    pairs: tuple[tuple[str, str], ...]
    z: np.ndarray
    p_value: np.ndarray
    adjusted: np.ndarray


def holm(ranks, n_datasets=None, *, control=None, names=None) -> HolmResult:
    """Compare average ranks, with a control or in all pairs, by Holm's step-down procedure.

    Parameters
    ----------
    ranks : FriedmanResult or array-like of shape (k,)
        Or average ranks, 1 the best.
    n_datasets : int, optional
        Needed with average ranks.
    control : str or int, optional
        Name or position of the method that the others are compared with. Default: all pairs.
    names : sequence of str, optional
        With average ranks: names of the methods.

    Returns
    -------
    HolmResult

    Raises
    ------
    ValueError
        Unknown control, bad ranks.

    Notes
    -----
    z = (R_i - R_j) / sqrt(k (k + 1) / (6 n)), normal without differences between the methods.

    Source: Demsar (2006), section 3.2.2; Holm (1979), A simple sequentially rejective multiple test
    procedure.
    """
    average, n, names = _check_average_ranks(ranks, n_datasets, names)
    k = average.size
    if control is None:
        pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    else:
        first = _check_control(control, names)
        pairs = [(first, j) for j in range(k) if j != first]
    i, j = np.array(pairs).T
    z = (average[i] - average[j]) / _rank_error(k, n)
    p = np.array([math.erfc(abs(value) / math.sqrt(2.0)) for value in z])
    return HolmResult(tuple((names[a], names[b]) for a, b in pairs), z, p, holm_adjusted(p))


def holm_adjusted(p_values) -> np.ndarray:
    """Holm's step-down adjusted p-values, for any family of tests.

    Parameters
    ----------
    p_values : array-like of shape (n,)

    Returns
    -------
    ndarray of shape (n,)
        In the given order; at least the given values, at most 1.

    Raises
    ------
    ValueError
        No values, NaN, values outside [0, 1].
    """
    p = check_array("p_values", p_values, 1)
    if p.size == 0 or p.min() < 0.0 or p.max() > 1.0:
        raise ValueError(f"p_values={p}; accepted: at least one value, all in [0, 1].")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(p.size)
    # The smallest is one of p.size tests, the next one of those left; none overtakes its successor.
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return np.minimum(adjusted, 1.0)


@dataclass(frozen=True, eq=False)
class NemenyiResult:
    """All pairs of k methods on n data sets, by one critical difference of average ranks.

    Attributes
    ----------
    critical_difference : float
        Average ranks that differ by this much or more differ significantly at ``level``.
    q : float
        Critical value: quantile of the studentised range for k groups, by sqrt(2).
    average_ranks : ndarray of shape (k,)
    p_value : ndarray of shape (k, k)
        Of each pair, adjusted for all pairs; 1 on the diagonal.
    significant : ndarray of bool, shape (k, k)
    groups : tuple of tuple of int
        Largest sets of two or more methods without a significant difference, as positions, best
        first.
    level : float
    n_datasets : int
    names : tuple of str
    """

    critical_difference: float
    q: float
    average_ranks: np.ndarray
    p_value: np.ndarray
    significant: np.ndarray
    groups: tuple[tuple[int, ...], ...]
    level: float
    n_datasets: int
    names: tuple[str, ...]


def nemenyi(ranks, n_datasets=None, *, level=0.05, names=None) -> NemenyiResult:
    """Compare all pairs of average ranks by Nemenyi's test.

    Parameters
    ----------
    ranks : FriedmanResult or array-like of shape (k,)
        Or average ranks, 1 the best.
    n_datasets : int, optional
        Needed with average ranks.
    level : float
        In (0, 1): probability of any false difference.
    names : sequence of str, optional
        With average ranks: names of the methods.

    Returns
    -------
    NemenyiResult

    Raises
    ------
    ValueError
        Level outside (0, 1), bad ranks.

    Notes
    -----
    Source: Demsar (2006), section 3.2.2; Nemenyi (1963), Distribution-free multiple comparisons.
    """
    from scipy.stats import studentized_range

    level = check_number("level", level, low=0.0, high=1.0, strict=True)
    average, n, names = _check_average_ranks(ranks, n_datasets, names)
    k = average.size
    q = float(studentized_range.isf(level, k, np.inf)) / math.sqrt(2.0)
    critical = q * _rank_error(k, n)
    gap = np.abs(average[:, None] - average)
    # Many pairs share a gap, and the distribution is slow.
    gaps, where = np.unique(gap, return_inverse=True)
    p = studentized_range.sf(math.sqrt(2.0) * gaps / _rank_error(k, n), k, np.inf)
    return NemenyiResult(
        critical_difference=critical,
        q=q,
        average_ranks=average,
        p_value=np.clip(p, 0.0, 1.0)[where.reshape(gap.shape)],
        significant=gap >= critical,
        groups=_groups(average, critical),
        level=level,
        n_datasets=n,
        names=names,
    )


def _rank_error(k, n):
    """Standard error of the difference of two average ranks, without ties."""
    return math.sqrt(k * (k + 1) / (6 * n))


def _groups(average, critical):
    """Runs of the sorted ranks within the critical difference that no other run contains."""
    order = np.argsort(average, kind="stable")
    sorted_ranks = average[order]
    groups, reached = [], 0
    for start in range(order.size):
        end = start + 1
        while end < order.size and sorted_ranks[end] - sorted_ranks[start] < critical:
            end += 1
        if end > max(reached, start + 1):
            groups.append(tuple(int(i) for i in order[start:end]))
            reached = end
    return tuple(groups)


# Checks


def _check_names(names, k):
    if names is None:
        return tuple(f"method {j + 1}" for j in range(k))
    names = (names,) if isinstance(names, str) else tuple(str(name) for name in names)
    if len(names) != k:
        raise ValueError(f"names has {len(names)} entries for {k} methods; accepted: one for each.")
    if len(set(names)) < k:
        raise ValueError(f"names={names!r} names a method twice.")
    return names


def _check_average_ranks(ranks, n_datasets, names):
    """(average ranks, number of data sets, names)."""
    if isinstance(ranks, FriedmanResult):
        if n_datasets is not None or names is not None:
            raise ValueError("n_datasets and names are known to a FriedmanResult; leave them out.")
        return ranks.average_ranks, ranks.n_datasets, ranks.names
    average = check_array("ranks", ranks, 1)
    k = average.size
    if k < 2:
        raise ValueError(f"ranks has {k} values; accepted: at least 2 methods.")
    # Published ranks are rounded, to one digit in the worst case.
    expected = 0.5 * k * (k + 1)
    if average.min() < 0.95 or average.max() > k + 0.05 or abs(average.sum() - expected) > 0.05 * k:
        raise ValueError(
            f"ranks={average} are not average ranks of {k} methods, which lie in [1, {k}] and add "
            f"up to {expected:g}; for a table of errors use friedman_test first."
        )
    integer = isinstance(n_datasets, (int, np.integer)) and not isinstance(n_datasets, bool)
    if not integer or n_datasets < 2:
        raise ValueError(
            f"n_datasets={n_datasets!r}; accepted: an integer >= 2, needed with average ranks."
        )
    return average, int(n_datasets), _check_names(names, k)


def _check_control(control, names):
    if isinstance(control, str):
        return names.index(check_choice("control", control, names))
    integer = isinstance(control, (int, np.integer)) and not isinstance(control, bool)
    if not integer or not 0 <= control < len(names):
        raise ValueError(
            f"control={control!r}; accepted: 0 to {len(names) - 1} or one of {', '.join(names)}."
        )
    return int(control)
