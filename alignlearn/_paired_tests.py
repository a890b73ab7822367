"""Paired t-tests over the folds of one data set."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alignlearn.validation import check_choice, check_finite, check_number

_ALTERNATIVES = ("less", "greater", "two-sided")
# Differences of errors are taken as equal if this many units of rounding of the errors explain it.
_ROUNDING = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class TTestResult:
    """A paired t-test of the errors of method a against those of method b.

    Attributes
    ----------
    statistic : float
        t: the mean difference by its standard error; negative if a has the lower mean error.
    p_value : float
    df : int
        Degrees of freedom, n - 1.
    mean_difference : float
        Of errors_a - errors_b, in units of the errors.
    standard_error : float
        Of the mean difference, with the correction where there is one.
    alternative : {"less", "greater", "two-sided"}
    """

    statistic: float
    p_value: float
    df: int
    mean_difference: float
    standard_error: float
    alternative: str


def paired_t_test(errors_a, errors_b, alternative="less") -> TTestResult:
    """Paired t-test; by default one-sided: is the mean error of a less than that of b?

    Parameters
    ----------
    errors_a, errors_b : array-like of shape (n,), n >= 2
        Errors of the two methods on the same folds.
    alternative : {"less", "greater", "two-sided"}
        What is to be shown of the mean of ``errors_a - errors_b``.

    Returns
    -------
    TTestResult
        If the errors are equal on every fold, the statistic is 0 and p is 1 for every alternative:
        there is no evidence of any difference. If the differences are equal and not zero, the
        statistic is infinite and p is 0 or 1, the limits of the test. Both up to rounding of the
        errors.

    Raises
    ------
    ValueError
        Fewer than 2 folds, lengths that differ, NaN or infinity, an unknown alternative.

    Notes
    -----
    The folds of a cross-validation share training samples, so their differences are not
    independent and p is too small: `corrected_resampled_t_test` allows for that.

    Source: Cortes, Mohri and Rostamizadeh (2012), appendix C (tables 4 and 5, level 0.1).
    """
    difference, tolerance = _differences(errors_a, errors_b)
    return _t_test(difference, tolerance, 1.0 / difference.size, alternative)


def corrected_resampled_t_test(
    errors_a, errors_b, n_train, n_test, alternative="less"
) -> TTestResult:
    """Paired t-test over resampled training and test sets, with the variance of Nadeau and Bengio.

    The variance of the mean difference is (1/n + n_test/n_train) times the variance of the
    differences, in place of 1/n; n - 1 degrees of freedom.

    Parameters
    ----------
    errors_a, errors_b : array-like of shape (n,), n >= 2
        Errors of the two methods on the same splits: the folds of a (repeated) cross-validation or
        random splits.
    n_train, n_test : float
        Number of training and of test samples in a split (where they vary, their means).
    alternative : {"less", "greater", "two-sided"}
        What is to be shown of the mean of ``errors_a - errors_b``.

    Returns
    -------
    TTestResult
        Equal errors and equal differences as in `paired_t_test`.

    Raises
    ------
    ValueError
        As `paired_t_test`; sizes that are not positive.

    Notes
    -----
    Source: Nadeau and Bengio (2003), Inference for the generalization error, Machine Learning 52.
    Bouckaert and Frank (2004) use it for repeated cross-validation.
    """
    n_train = check_number("n_train", n_train, low=0.0, strict=True)
    n_test = check_number("n_test", n_test, low=0.0, strict=True)
    difference, tolerance = _differences(errors_a, errors_b)
    return _t_test(difference, tolerance, 1.0 / difference.size + n_test / n_train, alternative)


def pairwise_t_tests(errors, *, n_train=None, n_test=None) -> np.ndarray:
    """P-values of the one-sided t-tests of all pairs of methods on the same folds.

    Parameters
    ----------
    errors : array-like of shape (n, k)
        Folds by methods.
    n_train, n_test : float, optional
        Sizes of a split: with both, the corrected test, with neither, the plain one.

    Returns
    -------
    ndarray of shape (k, k)
        Entry (i, j): p-value for a lower mean error of method j than of method i; 1 on the
        diagonal. ``p < 0.1`` is an entry 1 in the tables of the source.

    Raises
    ------
    ValueError
        As `paired_t_test`; fewer than 2 methods; one of the sizes without the other.

    Notes
    -----
    Source: Cortes, Mohri and Rostamizadeh (2012), tables 4 and 5.
    """
    errors = check_table("errors", errors)
    if (n_train is None) != (n_test is None):
        raise ValueError(
            f"n_train={n_train!r} and n_test={n_test!r}; accepted: both sizes or neither."
        )

    def p_value(a, b):
        if n_train is None:
            return paired_t_test(a, b).p_value
        return corrected_resampled_t_test(a, b, n_train, n_test).p_value

    return np.array([[p_value(a, b) for a in errors.T] for b in errors.T])


def _differences(errors_a, errors_b):
    """Differences, and by how much rounding of the errors may move each."""
    a, b = check_array("errors_a", errors_a, 1), check_array("errors_b", errors_b, 1)
    if a.size != b.size:
        raise ValueError(
            f"errors_a has {a.size} values and errors_b {b.size}; accepted: one error of each "
            "method on every fold."
        )
    if a.size < 2:
        raise ValueError(f"errors_a and errors_b have {a.size} values; accepted: at least 2 folds.")
    with np.errstate(over="ignore"):
        difference = a - b
    check_finite("errors_a - errors_b", difference)
    return difference, _ROUNDING * np.maximum(np.abs(a), np.abs(b))


def _t_test(difference, tolerance, variance_factor, alternative):
    from scipy.special import stdtr

    check_choice("alternative", alternative, _ALTERNATIVES)
    df = difference.size - 1
    # Which single value would explain all differences, to rounding?
    low, high = np.max(difference - tolerance), np.min(difference + tolerance)
    if low <= 0.0 <= high:
        return TTestResult(0.0, 1.0, df, 0.0, 0.0, alternative)
    # The statistic does not depend on the scale; the squares of small differences do.
    scale = np.abs(difference).max()
    mean = np.mean(difference / scale)
    error = math.sqrt(variance_factor) * np.std(difference / scale, ddof=1)
    if low <= high:
        error, statistic = 0.0, math.copysign(math.inf, mean)
    else:
        statistic = float(mean / error)
    if alternative == "two-sided":
        p_value = 2.0 * stdtr(df, -abs(statistic))
    else:
        p_value = stdtr(df, statistic if alternative == "less" else -statistic)
    return TTestResult(
        statistic, float(p_value), df, float(mean * scale), float(error * scale), alternative
    )


# Checks


def check_array(name, values, ndim):
    """A finite float64 array of the stated number of dimensions."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of numbers: {error}.") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold real numbers, got dtype {array.dtype}.")
    if array.ndim != ndim:
        shape = "(n,)" if ndim == 1 else "(n, k)"
        raise ValueError(f"{name} has shape {array.shape}; accepted: {shape}.")
    array = array.astype(np.float64)
    check_finite(name, array)
    return array


def check_table(name, values):
    """A finite float64 matrix of at least two rows and two columns."""
    table = check_array(name, values, 2)
    if table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(
            f"{name} has shape {table.shape}; accepted: at least 2 rows (folds or data sets) and "
            "at least 2 columns (methods)."
        )
    return table
