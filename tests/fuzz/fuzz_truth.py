"""Alignment statistics by definition in long double, and bounds on their rounding."""

from dataclasses import dataclass

import numpy as np
from draws import Wrong, require
from fuzz_data import EPS, LD
from oracle import center

LD_EPS = float(np.finfo(LD).eps)


def u_statistic(K, L):
    """m^2 times the U-statistic of HSIC in its zeroed-diagonal form (Song et al. 2012, eq. 5)."""
    m = len(K)
    # Constants and f_i + f_j change nothing; without them there is no cancellation here.
    K, L = center(K), center(L)
    K, L = K - np.diag(np.diagonal(K)), L - np.diag(np.diagonal(L))
    sums = K.sum() * L.sum() / ((m - 1) * (m - 2)) - 2 * K.sum(0) @ L.sum(0) / LD(m - 2)
    return m**2 * ((K * L).sum() + sums) / (m * (m - 3))


def unbiased_factor(m):
    """The factor by which rounding changes an unbiased statistic more than a biased one."""
    return 3 * (m / (m - 3) + m**2 / ((m - 2) * (m - 3)) + 2 * m**2 / ((m - 1) * (m - 2)))


def norm(A):
    """Frobenius norm as a float."""
    return float(np.sqrt((np.asarray(A, LD) ** 2).sum()))


@dataclass
class Truth:
    """The statistics by definition, and bounds on rounding.

    ``may_vanish`` marks kernels that vary so little that calling them constant is right, ``vanish``
    and ``target_vanishes`` those that are zero by definition. ``unsure`` is the norm that the
    oracle's own rounding hides; the library stores 1 - K, which hides less.
    """

    a: np.ndarray
    M: np.ndarray
    trace: np.ndarray
    target_norm: float
    slack_a: np.ndarray
    slack_M: np.ndarray
    slack_trace: np.ndarray
    slack_target2: float
    may_vanish: np.ndarray
    vanish: np.ndarray
    unsure: np.ndarray
    target_vanishes: bool


def truth(values, columns, eps, unbiased=False, given_eps=EPS):
    """`Truth` for kernel values (a list of `Values`) and target columns (m, c).

    ``given_eps`` is the unit of rounding of precomputed matrices: values that vary by less than the
    documented 32 units are treated as constant, with a warning.
    """
    m = len(columns)
    Y = columns - columns.mean(axis=0)
    T = Y @ Y.T
    centered = [center(v.K) for v in values]
    product = u_statistic if unbiased else lambda K, L: (K * L).sum()
    plain_pair = [v.K for v in values] if unbiased else centered
    M = np.array([[product(K, L) for L in plain_pair] for K in plain_pair])
    a = np.array([product(K, T) for K in plain_pair])
    target2 = float(product(T, T))
    # Sums run over tiles of at most 8 rows in the precision of the data, four or more at a time.
    terms = 2 * min(m, 128) + 16
    # The oracle rounds as well, by its own precision.
    E = np.array([norm(v.centered) + 8 * m * LD_EPS * norm(v.K) for v in values])
    R = np.array([norm(v.register) for v in values])
    C = np.array([norm(K) for K in centered])
    B = np.outer(E, C) + np.outer(C, E) + np.outer(E, E) + 4 * terms * eps * np.outer(R, R)
    length = norm(Y) if np.ptp(columns, axis=0).any() else 0.0
    wrong_Y = eps * length + 4 * EPS * float(np.abs(columns).max()) * Y.size**0.5
    wrong_T = 2 * length * wrong_Y + wrong_Y**2 + (Y.shape[1] + terms) * eps * length**2
    b = E * norm(T) + R * wrong_T + E * wrong_T
    t = (2 * length * wrong_Y + wrong_Y**2 + m * EPS * length**2) * norm(T)
    if unbiased:
        more = unbiased_factor(m)
        B, b, t = more * B, more * (b + C * wrong_T), more * t
    own, largest = np.diagonal(M), np.array([norm(v.K) for v in values])
    unsure = 8 * m * LD_EPS * largest
    zero, target_zero = unsure**2, (8 * m * LD_EPS * length) ** 4
    if unbiased:
        zero = zero + 64 * m * LD_EPS * C**2
        target_zero += 64 * m * LD_EPS * length**4
    # Where rounding here is no less than there, as beside a large constant, neither is right.
    sure = (R == 0) | (unsure <= 0.01 * EPS * R)
    # The mean square of what is left of a constant c and the rest, and c, are at most 2^(1/2) R/m.
    flat = (32 * 1.5 * given_eps * R) ** 2 if given_eps > EPS else 0.0
    return Truth(
        a=a,
        M=M,
        trace=np.array([np.trace(K) for K in centered]),
        target_norm=max(target2, 0.0) ** 0.5,
        slack_a=b,
        slack_M=B,
        slack_trace=2 * m**0.5 * (E + terms * eps * R),
        slack_target2=4 * t,
        # Values beyond the range of float64 leave nothing.
        may_vanish=(own <= 16 * EPS * R**2 + np.diagonal(B) + flat) | (own < 1e-300),
        vanish=(own <= zero) & sure,
        unsure=unsure,
        target_vanishes=target2 <= target_zero,
    )


def compare(where, found, exact, tags):
    """Compare statistics with the truth; raises `Wrong`."""
    tags = " ".join(sorted(tags))
    for name, value in (("a", found.a), ("M", found.M), ("trace", found.trace)):
        require(np.all(np.isfinite(value)), f"{where}: {name} is not finite", tags)
    zero = exact.may_vanish & (found.norms == 0.0)
    require(
        not np.any(exact.vanish & ~zero & (found.norms > exact.unsure)),
        f"{where}: rounding of a constant kernel is variance",
        tags,
    )
    rounding = exact.target_vanishes and found.target_norm != 0.0
    require(not rounding, f"{where}: rounding of a constant target is variance", tags)
    close(f"{where}: M", found.M, exact.M, exact.slack_M, zero[:, None] | zero, tags)
    close(f"{where}: a", found.a, exact.a, exact.slack_a, zero, tags)
    close(f"{where}: trace", found.trace, exact.trace, exact.slack_trace, zero, tags)
    squares = found.target_norm**2, exact.target_norm**2
    close(
        f"{where}: target_norm^2",
        *map(np.array, squares),
        exact.slack_target2,
        np.array(False),
        tags,
    )
    _check_alignments(where, found, exact, tags)


def close(name, found, exact, slack, excused, tags):
    error = np.abs(np.asarray(found, LD) - exact).astype(float)
    bad = ~excused & ~(error <= slack)
    if bad.any():
        slack = np.broadcast_to(slack, error.shape)
        with np.errstate(over="ignore"):
            ratio = np.where(bad, error / np.maximum(slack, 1e-300), 0.0)
        k = np.unravel_index(np.argmax(ratio), error.shape)
        raise Wrong(
            f"{name} differs",
            f"{k}: {found[k]:.17g}, exact {exact[k]:.17g}, allowed {slack[k]:.3g}; {tags}",
        )


def _check_alignments(where, found, exact, tags):
    alignments = found.alignments
    largest = float(np.abs(alignments).max())
    require(largest <= 1.01, f"{where}: alignment outside [-1, 1]", f"{largest}; {tags}")
    own, slack = np.diagonal(exact.M), np.diagonal(exact.slack_M)
    sure = (own > 4 * slack) & ~exact.may_vanish
    sure &= exact.target_norm**2 > 4 * exact.slack_target2
    unit = exact.target_norm**2 or 1.0
    own = np.where(sure, own, 1.0)
    scale = np.sqrt(own * unit)
    relative = slack / own + exact.slack_target2 / unit
    allowed = 2 * (exact.slack_a + np.abs(exact.a) * relative) / scale + 8 * EPS
    with np.errstate(over="ignore"):
        allowed = allowed.astype(float)
    close(f"{where}: alignments", alignments, exact.a / scale, allowed, ~sure, tags)


def out_of_range(values, eps, m):
    """Whether a number on the way is too large to be squared and summed in the precision."""
    return not max(v.peak for v in values) * m < (1e18 if eps > 1e-10 else 1e150)


def too_small(values, eps):
    """Whether the squares of a kernel's values underflow in the precision; then it may vanish."""
    least = 1e-17 if eps > 1e-10 else 1e-150
    return any(0 < float(np.abs(v.register).max()) < least for v in values)


def bounded(values, eps, m):
    """Whether the bounds hold: no overflow, no underflow, no division by what is rounding."""
    finite = all(np.all(np.isfinite(v.centered)) and np.all(np.isfinite(v.K)) for v in values)
    return finite and not out_of_range(values, eps, m) and not too_small(values, eps)
