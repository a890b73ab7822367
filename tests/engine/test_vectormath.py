"""The vectorized exponentials against extended precision."""

import numpy as np
import pytest
from numba import njit

from alignlearn.engine import vectormath

LD = np.longdouble


def each_number(function):
    """A compiled loop over an array."""

    @njit
    def apply(x):
        out = np.empty_like(x)
        for i in range(x.shape[0]):
            out[i] = function(x[i])
        return out

    return apply


apply_exp, apply_expm1 = each_number(vectormath.exp), each_number(vectormath.expm1)
apply_flush = each_number(vectormath.flush)


def arguments(low, high, smallest, dtype):
    """The whole range, both signs of every magnitude, and where the reduction changes."""
    rng = np.random.default_rng(0)
    magnitudes = 10.0 ** rng.uniform(np.log10(smallest), np.log10(high), 40_000)
    edges = (np.arange(-1000, 1001) / 2) * np.log(2)
    x = np.concatenate([rng.uniform(low, high, 40_000), magnitudes, -magnitudes, edges])
    for k in range(2):
        x = np.concatenate([x, np.nextafter(edges, np.inf if k else -np.inf)])
    x = x[(x > low) & (x < high)].astype(dtype)
    return x[x != 0]


CASES = [(np.float64, -345.0, 709.0, 1e-300, 5e-16), (np.float32, -41.0, 88.0, 1e-30, 2.5e-7)]


@pytest.mark.parametrize(("dtype", "low", "high", "smallest", "bound"), CASES)
def test_relative_error_over_the_range(dtype, low, high, smallest, bound):
    x = arguments(low, high, smallest, dtype)
    for function, exact in (
        (apply_exp, np.exp(x.astype(LD))),
        (apply_expm1, np.expm1(x.astype(LD))),
    ):
        y = function(x)
        assert y.dtype == dtype
        assert np.max(np.abs(y.astype(LD) - exact) / np.abs(exact)) < bound


@pytest.mark.parametrize(("dtype", "low", "high", "smallest", "bound"), CASES)
def test_special_values(dtype, low, high, smallest, bound):
    x = np.array([0.0, -0.0, -np.inf, 10 * low, np.inf, 10 * high, np.nan], dtype)
    np.testing.assert_array_equal(apply_exp(x), [1, 1, 0, 0, np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(apply_expm1(x), [0, 0, -1, -1, np.inf, np.inf, np.nan])


@pytest.mark.parametrize(("dtype", "low", "high", "smallest", "bound"), CASES)
def test_beyond_the_range_saturation_shows_and_no_square_is_subnormal(
    dtype, low, high, smallest, bound
):
    low, high = dtype(low), dtype(high)
    below, above = np.nextafter(low, -dtype(np.inf)), np.nextafter(high, dtype(np.inf))
    # Around every multiple of ln(2)/2 beyond the range too: inf * negative would be -inf or NaN.
    more = (np.arange(100, 3000) / 2 * np.log(2)).astype(dtype)
    y = apply_exp(np.array([low, high, below, above]))
    assert np.square(y[0]) > 2 * np.finfo(dtype).tiny
    assert np.isfinite(y[1])
    assert y[2] == 0
    assert y[3] == np.inf
    assert np.all(apply_exp(more[more > high]) == np.inf)
    assert np.all(apply_expm1(more[more > high]) == np.inf)
    assert np.all(apply_exp(-more[-more < low]) == 0)
    assert np.all(apply_expm1(-more[-more < low]) == -1)
    x = np.array([y[0] / 2, -y[0] / 2, 2 * y[0], -2 * y[0], 0, np.inf, np.nan], dtype)
    flushed = apply_flush(x)
    assert flushed.dtype == dtype
    np.testing.assert_array_equal(flushed, [0, 0, *x[2:]])


def test_smallest_arguments_of_expm1_survive():
    x = np.array([1e-300, -1e-300, 5e-324, 1e-17])
    np.testing.assert_array_equal(apply_expm1(x), x)
