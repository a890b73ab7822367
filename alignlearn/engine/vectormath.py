"""exp, expm1 and log that LLVM can vectorize, for float64; the first two also for float32.

``math.exp`` is a library call, which keeps a loop scalar. These are branch-free: Cody-Waite
reduction ``x = n ln 2 + r`` with ``|r| <= ln(2)/2``, a Taylor polynomial for ``expm1(r)`` of degree
13 (remainder 4e-18) or 7 (5e-9), and ``2^n`` built from exponent bits. NaN stays NaN. Arguments
beyond a range are replaced by one whose power of two has the bits of infinity or of 0:

- above 709 (float32: 88) the result is inf, so that saturation is found where values are checked;
- below -345 (float32: -41) ``exp`` is 0. The smallest other value, 1e-150 (1.6e-18), still has a
normal square. Otherwise sums of products of kernels would contain subnormal numbers, and a product
with one costs a hundred cycles. The change is too small to affect a sum with a term of 1.

``log`` takes positive normal numbers: ``x = 2^n m`` with m within a factor sqrt(2) of 1, and
``log m = 2 atanh((m - 1) / (m + 1))`` by its series to degree 23 (remainder 1e-18).

In float64, relative errors of ``exp`` and ``expm1`` are below the machine epsilon. A loop of
``exp`` is several times as fast as one of ``math.exp`` (AVX-512).

References
----------
Cody and Waite (1980), Software manual for the elementary functions, chapter 6.
"""

from __future__ import annotations

import numpy as np
from numba import config, types
from numba.extending import intrinsic, overload

from alignlearn._jit import PART, jit_fma


def _reinterpret(source, target):
    """An intrinsic that reads the bits of one type as another of the same width."""
    if config.DISABLE_JIT:
        return lambda value: np.array(value, str(source)).view(str(target))[()]

    @intrinsic
    def cast(typingctx, value):
        def codegen(context, builder, signature, args):
            return builder.bitcast(args[0], context.get_value_type(target))

        return target(source), codegen

    return cast


def _counted(name):
    """An intrinsic that counts the bits below the exponent in "and_" or "xor" of two floats.

    As an integer of their width.
    """
    if config.DISABLE_JIT:
        operation = {"and_": np.bitwise_and, "xor": np.bitwise_xor}[name]

        def count(a, b):
            kind, mask = (np.uint32, 2**23 - 1) if a.itemsize == 4 else (np.uint64, 2**52 - 1)
            return bin(int(operation(a.view(kind), b.view(kind))) & mask).count("1")

        return count

    @intrinsic
    def count(typingctx, a, b):
        width = a.bitwidth
        kind = types.int32 if width == 32 else types.int64

        def codegen(context, builder, signature, args):
            whole = context.get_value_type(kind)
            left, right = (builder.bitcast(arg, whole) for arg in args)
            bits = getattr(builder, name)(left, right)
            mask = whole((1 << (23 if width == 32 else 52)) - 1)
            return builder.ctpop(builder.and_(bits, mask))

        return kind(a, b), codegen

    return count


common_bits, different_bits = _counted("and_"), _counted("xor")

_bits64, _from_bits64 = (
    _reinterpret(types.float64, types.int64),
    _reinterpret(types.int64, types.float64),
)
_bits32, _from_bits32 = (
    _reinterpret(types.float32, types.int32),
    _reinterpret(types.int32, types.float32),
)

# ln 2 is split so that n times the high part is exact; adding 1.5 * 2^52 (2^23) rounds to the
# nearest integer and leaves it in the low mantissa bits.
_LOG2E = 1.4426950408889634
_LN2_HI, _LN2_LO = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_ROUND = 6755399441055744.0

# The range of exp; beyond it n is 1024 or -1023 (float32: 128 or -127), the bits of inf and of 0.
# Above, r must be positive: inf + inf * expm1(r) is then inf.
LARGEST, SMALLEST = 709.0, -345.0
LARGEST_F, SMALLEST_F = np.float32(88.0), np.float32(-41.0)
_INF, _ZERO = 1024.25 * np.log(2.0), -1023.0 * np.log(2.0)
_INF_F, _ZERO_F = np.float32(128.25 * np.log(2.0)), np.float32(-127.0 * np.log(2.0))
_NEGLIGIBLE, _NEGLIGIBLE_F = np.exp(SMALLEST), np.exp(SMALLEST_F)

_ROOT_2 = np.sqrt(2.0)
_MANTISSA, _ONE_BITS = (1 << 52) - 1, 1023 << 52

_F = np.float32
_LOG2E_F, _LN2_HI_F, _LN2_LO_F = _F(_LOG2E), _F(0.693359375), _F(-2.12194440e-4)
_ROUND_F = _F(12582912.0)
_C2_F, _C3_F, _C4_F, _C5_F, _C6_F, _C7_F, _ONE_F = (
    _F(v) for v in (1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040, 1.0)
)


@jit_fma
def _reduce64(x):
    """(expm1(r), 2^n) with x = n ln 2 + r."""
    x = _INF if x > LARGEST else x
    x = _ZERO if x < SMALLEST else x
    shifted = x * _LOG2E + _ROUND
    n = shifted - _ROUND
    r = (x - n * _LN2_HI) - n * _LN2_LO
    q = 1.0 / 6227020800.0
    q = q * r + 1.0 / 479001600.0
    q = q * r + 1.0 / 39916800.0
    q = q * r + 1.0 / 3628800.0
    q = q * r + 1.0 / 362880.0
    q = q * r + 1.0 / 40320.0
    q = q * r + 1.0 / 5040.0
    q = q * r + 1.0 / 720.0
    q = q * r + 1.0 / 120.0
    q = q * r + 1.0 / 24.0
    q = q * r + 1.0 / 6.0
    q = q * r + 0.5
    return r + (r * r) * q, _from_bits64((_bits64(shifted) + 1023) << 52)


@jit_fma
def _reduce32(x):
    """The same in single precision."""
    x = _INF_F if x > LARGEST_F else x
    x = _ZERO_F if x < SMALLEST_F else x
    shifted = x * _LOG2E_F + _ROUND_F
    n = shifted - _ROUND_F
    r = (x - n * _LN2_HI_F) - n * _LN2_LO_F
    q = _C7_F
    q = q * r + _C6_F
    q = q * r + _C5_F
    q = q * r + _C4_F
    q = q * r + _C3_F
    q = q * r + _C2_F
    return r + (r * r) * q, _from_bits32(np.int32((_bits32(shifted) + 127) << 23))


@jit_fma
def log(x):
    """Natural logarithm of a positive normal float64; for use inside compiled loops."""
    bits = _bits64(x)
    m = _from_bits64((bits & _MANTISSA) | _ONE_BITS)
    high = m > _ROOT_2
    m = 0.5 * m if high else m
    n = np.float64((bits >> 52) - 1023) + (1.0 if high else 0.0)
    t = (m - 1.0) / (m + 1.0)
    u = t * t
    q = 1.0 / 23.0
    q = q * u + 1.0 / 21.0
    q = q * u + 1.0 / 19.0
    q = q * u + 1.0 / 17.0
    q = q * u + 1.0 / 15.0
    q = q * u + 1.0 / 13.0
    q = q * u + 1.0 / 11.0
    q = q * u + 1.0 / 9.0
    q = q * u + 1.0 / 7.0
    q = q * u + 1.0 / 5.0
    q = q * u + 1.0 / 3.0
    return n * _LN2_HI + (2.0 * (t + t * u * q) + n * _LN2_LO)


@jit_fma
def _flush64(x):
    return 0.0 if abs(x) < _NEGLIGIBLE else x


@jit_fma
def _flush32(x):
    return _F(0.0) if abs(x) < _NEGLIGIBLE_F else x


@jit_fma
def _exp64(x):
    p, power = _reduce64(x)
    return power + power * p


@jit_fma
def _exp32(x):
    p, power = _reduce32(x)
    return power + power * p


@jit_fma
def _expm1_64(x):
    p, power = _reduce64(x)
    return (power - 1.0) + power * p


@jit_fma
def _expm1_32(x):
    p, power = _reduce32(x)
    return (power - _ONE_F) + power * p


def exp(x):
    """exp(x), inf and 0 outside its range; for use inside compiled loops."""
    return _exp32(x) if isinstance(x, np.float32) else _exp64(x)


def expm1(x):
    """exp(x) - 1 without cancellation near 0; for use inside compiled loops."""
    return _expm1_32(x) if isinstance(x, np.float32) else _expm1_64(x)


def flush(x):
    """0 if x is smaller than any value of ``exp``, else x; for use inside compiled loops."""
    return _flush32(x) if isinstance(x, np.float32) else _flush64(x)


@overload(exp, jit_options=PART)
def _exp(x):
    return (lambda x: _exp32(x)) if x == types.float32 else (lambda x: _exp64(x))


@overload(expm1, jit_options=PART)
def _expm1(x):
    return (lambda x: _expm1_32(x)) if x == types.float32 else (lambda x: _expm1_64(x))


@overload(flush, jit_options=PART)
def _flush(x):
    return (lambda x: _flush32(x)) if x == types.float32 else (lambda x: _flush64(x))
