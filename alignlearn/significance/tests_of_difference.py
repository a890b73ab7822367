"""Paired t-tests over folds, and Friedman's, Holm's and Nemenyi's tests over data sets.

Sources: Cortes, Mohri and Rostamizadeh (2012), appendix C, for the t-tests; Nadeau and Bengio
(2003), Inference for the generalization error, for the corrected one; Demsar (2006), Statistical
comparisons of classifiers over multiple data sets, section 3.2, for the tests on ranks.

Invalid input (too few values, NaN, different lengths, ...) raises a ValueError that names the
argument.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alignlearn._text import Result, listed, table
from alignlearn.validation import check_choice, check_count, check_number, check_numbers


@dataclass(frozen=True)
class TTestResult(Result):
    """A paired t-test of the errors of method a against those of method b.

    Attributes
    ----------
    statistic : float
        t, ``mean_difference / standard_error``; negative if a has the lower mean error.
    p_value : float
    df : int
        Degrees of freedom, n - 1.
    mean_difference, standard_error : float
        Mean of ``errors_a - errors_b`` and its standard error, in units of the errors.
    alternative : {"less", "greater", "two-sided"}

    Examples
    --------
    >>> from alignlearn.significance import paired_t_test
    >>> result = paired_t_test([0.10, 0.12, 0.08], [0.13, 0.14, 0.12])
    >>> result.df, result.alternative, result.p_value < 0.05
    (2, 'less', True)
    """

    statistic: float
    p_value: float
    df: int
    mean_difference: float
    standard_error: float
    alternative: str


def paired_t_test(errors_a, errors_b, alternative="less") -> TTestResult:
    """Paired t-test, by default one-sided: a small p-value means that a has the lower mean error.

    Equal errors give t = 0 and p = 1 for every alternative; differences that are equal and not zero
    give an infinite t and p = 0 or 1. Both hold up to rounding of the errors.

    Parameters
    ----------
    errors_a, errors_b : array-like of shape (n,), n >= 2
        Errors of the two methods on the same folds. Overlapping training sets make p too small; use
        `corrected_resampled_t_test`.
    alternative : {"less", "greater", "two-sided"}
        The alternative for the mean of ``errors_a - errors_b``.

    Returns
    -------
    TTestResult

    Examples
    --------
    >>> from alignlearn.significance import paired_t_test
    >>> new, old = [0.10, 0.12, 0.08, 0.11, 0.09], [0.13, 0.14, 0.12, 0.12, 0.13]  # errors on folds
    >>> result = paired_t_test(new, old)
    >>> round(result.mean_difference, 3), round(result.statistic, 2), round(result.p_value, 3)
    (-0.028, -4.8, 0.004)
    """
    return _t_test(errors_a, errors_b, 0.0, alternative)


def corrected_resampled_t_test(
    errors_a, errors_b, n_train, n_test, alternative="less"
) -> TTestResult:
    """`paired_t_test` with a variance that corrects for overlapping training sets.

    The variance of the mean difference is 1/n + n_test/n_train, in place of 1/n, times that of the
    differences, for a (repeated) cross-validation or random splits.

    Parameters
    ----------
    errors_a, errors_b : array-like of shape (n,), n >= 2
        Errors of the two methods on the same test sets.
    alternative : {"less", "greater", "two-sided"}
        The alternative for the mean of ``errors_a - errors_b``.
    n_train, n_test : float > 0
        Numbers of training and test samples of a split, or their means.

    Returns
    -------
    TTestResult

    Examples
    --------
    Training sets of 5 folds overlap, so that p is larger than of the plain test:

    >>> from alignlearn.significance import corrected_resampled_t_test, paired_t_test
    >>> new, old = [0.10, 0.12, 0.08, 0.11, 0.09], [0.13, 0.14, 0.12, 0.12, 0.13]
    >>> round(paired_t_test(new, old).p_value, 3)
    0.004
    >>> round(corrected_resampled_t_test(new, old, n_train=80, n_test=20).p_value, 3)
    0.016
    """
    n_train = check_number("n_train", n_train, low=0.0, strict=True)
    n_test = check_number("n_test", n_test, low=0.0, strict=True)
    return _t_test(errors_a, errors_b, n_test / n_train, alternative)


def pairwise_t_tests(errors, *, n_train=None, n_test=None) -> np.ndarray:
    """P-values of the one-sided t-tests of all pairs of methods on the same folds.

    Parameters
    ----------
    errors : array-like of shape (n, k), n >= 2, k >= 2
    n_train, n_test : float, optional
        Sizes of a split: with both, the corrected test; with neither, the plain one.

    Returns
    -------
    ndarray of shape (k, k)
        Entry (i, j): p-value for a lower mean error of method j than of method i; 1 on the
        diagonal. ``p < 0.1`` is an entry 1 in tables 4 and 5 of Cortes, Mohri and Rostamizadeh.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.significance import pairwise_t_tests
    >>> errors = np.array([[0.10, 0.13], [0.12, 0.14], [0.08, 0.12], [0.11, 0.12]])
    >>> pairwise_t_tests(errors, n_train=75, n_test=25).round(2)  # of 4 folds, 2 methods
    array([[1.  , 0.96],
           [0.04, 1.  ]])
    """
    errors = check_numbers("errors", errors, 2, 2)
    if (n_train is None) != (n_test is None):
        raise ValueError(f"n_train={n_train!r}, n_test={n_test!r}; accepted: both or neither.")
    sizes = () if n_train is None else (n_train, n_test)
    test = corrected_resampled_t_test if sizes else paired_t_test
    return np.array([[test(a, b, *sizes).p_value for a in errors.T] for b in errors.T])


def _t_test(errors_a, errors_b, ratio, alternative):
    from scipy.special import stdtr  # scipy.stats takes seconds to import

    check_choice("alternative", alternative, ("less", "greater", "two-sided"))
    a, b = check_numbers("errors_a", errors_a, 2), check_numbers("errors_b", errors_b, 2)
    n = a.size
    if n != b.size:
        raise ValueError(f"errors_a has {n} values, errors_b {b.size}; accepted: the same number.")
    difference = a - b
    rounding = 8 * np.finfo(np.float64).eps * np.maximum(np.abs(a), np.abs(b))
    # Any value from low to high explains all differences up to rounding.
    low, high = np.max(difference - rounding), np.min(difference + rounding)
    if low <= 0.0 <= high:
        return TTestResult(0.0, 1.0, n - 1, 0.0, 0.0, alternative)
    # t does not depend on the unit of the errors, but underflow of squares does.
    unit = float(np.abs(difference).max())
    mean = float(np.mean(difference / unit))
    spread = 0.0 if low <= high else float(np.std(difference / unit, ddof=1))
    error = math.sqrt(1.0 / n + ratio) * spread
    statistic = mean / error if error > 0.0 else math.copysign(math.inf, mean)
    tail = {"less": statistic, "greater": -statistic, "two-sided": -abs(statistic)}[alternative]
    p = float(stdtr(n - 1, tail)) * (2 if alternative == "two-sided" else 1)
    return TTestResult(statistic, p, n - 1, mean * unit, error * unit, alternative)


@dataclass(frozen=True, eq=False)
class FriedmanResult(Result):
    """Friedman's test of k methods on n data sets.

    Attributes
    ----------
    average_ranks : ndarray of shape (k,)
        Column means of ``ranks``.
    f_statistic, p_value : float
        Iman and Davenport's F.
    chi2, chi2_p_value : float
        Friedman's own statistic, with ``df[0]`` degrees of freedom; more conservative.
    df : (int, int)
        ``(k - 1, (k - 1)(n - 1))``, the degrees of freedom of F.
    n_datasets : int
    names : tuple of str
    ranks : ndarray of shape (n, k)
        1 is the best; ties on a data set get the mean of their ranks.

    Examples
    --------
    >>> from alignlearn.significance import friedman_test
    >>> result = friedman_test([[0.1, 0.2, 0.3], [0.2, 0.3, 0.3], [0.1, 0.3, 0.2]])
    >>> result.ranks.tolist()  # ties share the mean of their ranks
    [[1.0, 2.0, 3.0], [1.0, 2.5, 2.5], [1.0, 3.0, 2.0]]
    >>> result.df, round(result.f_statistic, 2)
    ((2, 4), 9.0)
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

    def __str__(self):
        return "\n".join(
            [
                _ranked(self),
                f"Friedman's test of {len(self.names)} methods on {self.n_datasets} data sets: "
                f"F({self.df[0]}, {self.df[1]}) = {self.f_statistic:.4g}, p = {self.p_value:.3g}",
            ]
        )


def friedman_test(
    results, names=None, *, greater_is_better=False, tie_correction=True
) -> FriedmanResult:
    """Friedman's test, with Iman and Davenport's F, for any difference between k methods.

    If all methods tie everywhere, the statistics are 0 and the p-values 1. If all data sets give
    the same ranks, F is infinite and p exact: the chance that n random orders agree.

    Parameters
    ----------
    results : array-like of shape (n, k), n >= 2, k >= 2
        Data sets by methods. Equal values are ties; round first if the last digits are noise.
    names : sequence of str, optional
        Names of the methods. Default: "method 1", "method 2", ...
    greater_is_better : bool
        False for errors, True for scores such as accuracy or AUC.
    tie_correction : bool
        Divide by the variance of the ranks with ties; Demsar's example divides by the larger
        variance of ranks without ties.

    Returns
    -------
    FriedmanResult

    Examples
    --------
    >>> from alignlearn.significance import friedman_test
    >>> errors = [[0.10, 0.13, 0.20], [0.22, 0.24, 0.23], [0.08, 0.12, 0.15], [0.31, 0.33, 0.40]]
    >>> result = friedman_test(errors, names=["alignf", "uniform", "best"])
    >>> result.average_ranks.tolist(), round(result.p_value, 3)
    ([1.0, 2.25, 2.75], 0.007)
    """
    from scipy import stats

    results = check_numbers("results", results, 2, 2)
    n, k = results.shape
    ranks = stats.rankdata(-results if greater_is_better else results, axis=1)
    centered = ranks - 0.5 * (k + 1)
    variance = np.sum(centered**2) / (n * (k - 1)) if tie_correction else k * (k + 1) / 12
    chi2 = float(n * np.sum(centered.mean(axis=0) ** 2) / variance) if variance > 0.0 else 0.0
    df = (k - 1, (k - 1) * (n - 1))
    left = n * (k - 1) - chi2
    # Rounding error of 0; one exchange of neighbors in one row gives a much larger value.
    if left <= 1e-12 * n * (k - 1):
        ties = np.unique(ranks[0], return_counts=True)[1]
        log_orders = math.lgamma(k + 1) - sum(math.lgamma(tie + 1) for tie in ties)
        f, p = math.inf, math.exp((1 - n) * log_orders)
    else:
        f = (n - 1) * chi2 / left
        p = float(stats.f.sf(f, *df))
    chi2_p, names = float(stats.chi2.sf(chi2, k - 1)), _check_names(names, k)
    return FriedmanResult(ranks.mean(axis=0), f, p, chi2, chi2_p, df, n, names, ranks)


@dataclass(frozen=True, eq=False)
class HolmResult(Result):
    """Pairs of methods compared by their average ranks, with Holm's adjustment.

    Attributes
    ----------
    pairs : tuple of (str, str)
    z : ndarray of shape (n_pairs,)
        Average rank of the first of a pair minus that of the second, by its standard error
        ``sqrt(k (k + 1) / (6 n))``; positive if the second is better.
    p_value : ndarray of shape (n_pairs,)
        Two-sided p-value of each pair separately.
    adjusted : ndarray of shape (n_pairs,)
        The probability of any false rejection among ``adjusted <= level`` is at most the level.

    Examples
    --------
    >>> from alignlearn.significance import holm
    >>> result = holm([1.4, 2.1, 2.5], n_datasets=20)  # all pairs
    >>> [pair for pair, p in zip(result.pairs, result.adjusted) if p <= 0.05]
    [('method 1', 'method 3')]
    """

    pairs: tuple[tuple[str, str], ...]
    z: np.ndarray
    p_value: np.ndarray
    adjusted: np.ndarray

    def __str__(self):
        numbers = zip(self.z, self.p_value, self.adjusted)
        rows = [
            (f"{first} - {second}", f"{z:.3f}", f"{p:.3g}", f"{adjusted:.3g}")
            for (first, second), (z, p, adjusted) in zip(self.pairs, numbers)
        ]
        return table(rows, ("pair", "z", "p", "adjusted p"))


def holm(ranks, n_datasets=None, *, control=None, names=None) -> HolmResult:
    """Compare average ranks with a control, or in all pairs, by Holm's step-down procedure.

    Parameters
    ----------
    ranks : FriedmanResult or array-like of shape (k,), k >= 2
        Average ranks (1 is the best), or a result.
    n_datasets : int, optional
        Number of data sets; required if ``ranks`` is an array.
    control : str or int, optional
        Name or position of the control, the first method of each pair. Default: all pairs.
    names : sequence of str, optional
        Names of the methods if ``ranks`` is an array.

    Returns
    -------
    HolmResult

    Examples
    --------
    >>> from alignlearn.significance import holm
    >>> ranks = {"alignf": 1.4, "uniform": 2.1, "best": 2.5}
    >>> result = holm(list(ranks.values()), n_datasets=20, names=list(ranks), control="alignf")
    >>> result.pairs
    (('alignf', 'uniform'), ('alignf', 'best'))
    >>> result.adjusted.round(3).tolist()
    [0.027, 0.001]
    """
    from scipy.stats import norm

    average, n, names = _check_average_ranks(ranks, n_datasets, names)
    k = average.size
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    if control is not None:
        named = isinstance(control, str) and control in names
        first = names.index(control) if named else control
        whole = isinstance(first, (int, np.integer)) and not isinstance(first, bool)
        if not whole or first not in range(k):
            raise ValueError(
                f"control={control!r}; accepted: 0 to {k - 1} or one of {listed(names)}."
            )
        pairs = [(int(first), j) for j in range(k) if j != first]
    i, j = np.array(pairs).T
    z = (average[i] - average[j]) / _rank_error(k, n)
    p = 2.0 * norm.sf(np.abs(z))
    return HolmResult(tuple((names[i], names[j]) for i, j in pairs), z, p, holm_adjusted(p))


def holm_adjusted(p_values) -> np.ndarray:
    """Holm's step-down adjusted p-values of any family of tests, in the given order.

    Parameters
    ----------
    p_values : array-like of shape (n,), in [0, 1]

    Returns
    -------
    ndarray of shape (n,), float64

    Raises
    ------
    ValueError
        A number outside [0, 1].

    Examples
    --------
    >>> from alignlearn.significance import holm_adjusted
    >>> holm_adjusted([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = check_numbers("p_values", p_values, 1)
    if p.min() < 0.0 or p.max() > 1.0:
        raise ValueError(f"p_values={p}; accepted: all in [0, 1].")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(p.size)
    # Holm's steps: the smallest p-value is multiplied by the number of tests, the next by one less;
    # adjusted values are monotone.
    adjusted[order] = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return np.minimum(adjusted, 1.0)


@dataclass(frozen=True, eq=False)
class NemenyiResult(Result):
    """All pairs of k methods on n data sets, by one critical difference of average ranks.

    Attributes
    ----------
    critical_difference : float
        ``q`` times the standard error of `HolmResult`.
    q : float
        The critical value.
    average_ranks : ndarray of shape (k,)
    p_value : ndarray of shape (k, k)
        Adjusted for all pairs; 1 on the diagonal.
    significant : ndarray of bool of shape (k, k)
        Pairs that differ by the critical difference or more.
    groups : tuple of tuple of int
        The largest sets of two or more methods without a significant difference, as positions,
        best first.
    level : float
    n_datasets : int
    names : tuple of str

    Examples
    --------
    >>> from alignlearn.significance import nemenyi
    >>> result = nemenyi([1.4, 2.1, 2.5], n_datasets=20)
    >>> result.significant.tolist()  # only the first and the last differ
    [[False, False, True], [False, False, False], [True, False, False]]
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

    def __str__(self):
        groups = "; ".join(
            listed([self.names[k] for k in group], show=str) for group in self.groups[:20]
        )
        return "\n".join(
            [
                _ranked(self),
                f"critical difference {self.critical_difference:.4g} of average ranks at level "
                f"{self.level:g}, on {self.n_datasets} data sets",
                f"not told apart: {groups or 'none'}",
            ]
        )


def nemenyi(ranks, n_datasets=None, *, level=0.05, names=None) -> NemenyiResult:
    """Compare all pairs of average ranks by Nemenyi's test.

    Parameters
    ----------
    ranks : FriedmanResult or array-like of shape (k,), k >= 2
        Average ranks (1 is the best), or a result.
    n_datasets : int, optional
        Number of data sets; required if ``ranks`` is an array.
    names : sequence of str, optional
        Names of the methods if ``ranks`` is an array.
    level : float in (0, 1), default 0.05
        The probability of any false rejection.

    Returns
    -------
    NemenyiResult

    Examples
    --------
    >>> from alignlearn.significance import nemenyi
    >>> result = nemenyi([1.4, 2.1, 2.5], n_datasets=20, names=["alignf", "uniform", "best"])
    >>> round(result.critical_difference, 2), result.groups
    (0.74, ((0, 1), (1, 2)))
    """
    from scipy.stats import studentized_range

    level = check_number("level", level, low=0.0, high=1.0, strict=True)
    average, n, names = _check_average_ranks(ranks, n_datasets, names)
    k, error = average.size, _rank_error(average.size, n)
    gap = np.abs(average[:, None] - average)
    q = float(studentized_range.isf(level, k, np.inf)) / math.sqrt(2.0)
    # Many pairs have the same gap, and the distribution takes long to evaluate.
    gaps, where = np.unique(gap, return_inverse=True)
    p = np.clip(studentized_range.sf(math.sqrt(2.0) * gaps / error, k, np.inf), 0.0, 1.0)
    # In order of rank, a group is a run; a run with the same end as the previous one is part of it.
    order = np.argsort(average, kind="stable")
    ends = np.sum(average[order] - average[order, None] < q * error, axis=1)
    starts = np.flatnonzero((ends > np.arange(1, k + 1)) & (np.diff(ends, prepend=0) > 0))
    groups = tuple(tuple(order[i : ends[i]].tolist()) for i in starts)
    p, significant = p[where.reshape(gap.shape)], gap >= q * error
    return NemenyiResult(q * error, q, average, p, significant, groups, level, n, names)


def _rank_error(k, n):
    """Standard error of the difference of two average ranks, without ties."""
    return math.sqrt(k * (k + 1) / (6 * n))


def _ranked(result):
    """A table of average ranks, the best first."""
    order = np.argsort(result.average_ranks, kind="stable")
    rows = [(result.names[k], f"{result.average_ranks[k]:.3f}") for k in order]
    return table(rows, ("method", "average rank"))


def _check_names(names, k):
    if names is None:
        names = [f"method {j + 1}" for j in range(k)]
    names = tuple(map(str, names))
    if len(names) != k or len(set(names)) < k:
        raise ValueError(
            f"names={listed(names)}; accepted: {k} different names, one for each method."
        )
    return names


def _check_average_ranks(ranks, n_datasets, names):
    """Average ranks, number of data sets and names, from a result or as given."""
    if isinstance(ranks, FriedmanResult):
        if n_datasets is not None or names is not None:
            raise ValueError(
                "n_datasets and names are part of the FriedmanResult; do not pass them."
            )
        return ranks.average_ranks, ranks.n_datasets, ranks.names
    average = check_numbers("ranks", ranks, 2)
    k = average.size
    # Published ranks are rounded, to one digit in the worst case.
    expected = 0.5 * k * (k + 1)
    if average.min() < 0.95 or average.max() > k + 0.05 or abs(average.sum() - expected) > 0.05 * k:
        raise ValueError(
            f"ranks={average}; accepted: average ranks of {k} methods, in [1, {k}], of sum "
            f"{expected:g}, or the result of friedman_test."
        )
    n_datasets = check_count("n_datasets", n_datasets, low=2)
    if n_datasets is None:
        raise ValueError("n_datasets=None; accepted with average ranks: an integer >= 2.")
    return average, n_datasets, _check_names(names, k)
