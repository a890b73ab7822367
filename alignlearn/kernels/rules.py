"""Checks of what users combine: numbers of the algebra, exponents, column names."""

from __future__ import annotations

import numpy as np

from alignlearn.engine import vectormath
from alignlearn.validation import check_samples, check_sparse, is_sparse


class KernelRuleError(ValueError):
    """A combination that is not guaranteed to be positive semi-definite."""


def kernel_samples(name, X, kernels):
    """Samples as these kernels take them, checked: a matrix, `SparseRows`, or any sequence.

    Raises
    ------
    TypeError
        X is sparse, and a kernel does not take sparse samples.
    """
    if not is_sparse(X):
        return check_samples(name, X, any(k.needs_vectors for k in kernels))
    for kernel in kernels:
        if not kernel.takes_sparse:
            raise TypeError(
                f"{name} is a sparse matrix, which {kernel} does not take; accepted with it are "
                f"the samples as it reads them, such as {name}.toarray()."
            )
    return check_sparse(name, X)


def is_number(value):
    """Whether a value is a real number and no boolean."""
    real = (int, float, np.integer, np.floating)
    return isinstance(value, real) and not isinstance(value, (bool, np.bool_))


def as_float(value):
    """A real number as a float, infinite where it is beyond float64."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")


def difference(left, right):
    """The error for a difference of kernels."""
    return KernelRuleError(
        f"{left!r} - {right!r}: a difference of kernels is not guaranteed to be positive "
        "semi-definite; only sums with non-negative coefficients are."
    )


def non_negative(value, rule, expression):
    """A finite number >= 0 as a float, else the error of a rule."""
    if not is_number(value):
        raise TypeError(f"{expression}: {rule} must be a real number >= 0, got {value!r}.")
    value = as_float(value)
    if not (0.0 <= value < np.inf):
        raise KernelRuleError(
            f"{expression}: {rule} must be finite and >= 0, otherwise the result is not guaranteed "
            "to be positive semi-definite."
        )
    return value


def check_exponent(kernel, X, largest):
    """Raise where ``exp(largest)``, the largest value of a kernel on samples X, overflows."""
    single = kernel.needs_vectors and X.dtype == np.float32
    limit = float(vectormath.LARGEST_F if single else vectormath.LARGEST)
    if not largest <= limit:
        raise ValueError(
            f"{kernel}: its values reach exp({largest:.4g}), accepted are exponents up to "
            f"{limit:g} ({'float32' if single else 'float64'}). Scale X, lower gamma, or normalise "
            "the kernel: kernel.normalized() does not overflow."
        )


def column_names(X):
    """Column names of a data frame if all are strings, else None."""
    names = getattr(X, "columns", None)
    names = [] if names is None else list(names)
    return names if names and all(isinstance(n, str) for n in names) else None
