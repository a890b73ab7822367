"""Bounds as functions of the sample size, for every claim that bounds a quantity for each m.

`CURVES` maps the name of a claim to its `Curve`: the printed form first, then the correct ones.
Each form is a function of m, delta and the constants of a setting, whose defaults are stated with
every table and figure. Claims about one given sample (identities, optimization problems, steps that
need the data) have no curve.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from alignlearn.bounds import intervals

from ..bounds import concentration, generalization, stability, u_statistics
from ..reference.problems import GaussianMixture
from ..registry import CLAIMS, all_claims
from . import price
from .drawing import Curve
from .more_curves import COMPLEXITIES_AND_RATES, interval_lengths

# -- forms -----------------------------------------------------------------------------


def _fixed(function):
    """Wrap a bound that depends on m alone."""
    return lambda m, delta: function(m)


def interval_length(m, delta, a, a_prime, rho):
    """Length of the interval for the alignment where the sample equals the population."""
    numerator = rho * np.sqrt(a * a_prime)
    found = intervals.alignment_interval_from(m, delta, numerator, a, a_prime)
    return found.high - found.low


def _bernstein(m, delta, theta, variance):
    span = u_statistics.kernel_range(nonnegative=True)
    far = max(span.high - theta, theta - span.low)
    return u_statistics.bernstein_deviation(m, np.log(2 / delta), variance, far)


def _empirical_bernstein(m, delta, theta, variance):
    span = u_statistics.kernel_range(nonnegative=True)
    if m < 8:  # too few points for a variance; this is always true
        return span.high - span.low
    return u_statistics.empirical_bernstein_deviation(m, delta, variance, span.high - span.low)


def unbiased_deviation(m, delta, a, a_prime, rho, cross, first, second):
    """Theorem D for the alignment with a kernel without negative values."""
    if m < 4:
        return 1.0
    return u_statistics.alignment_deviation_unbiased(
        m, delta, a, a_prime, rho, (cross, first, second), nonnegative=True
    )


def _rate(m, delta, a, a_prime, epsilon):
    B = 1 / np.sqrt(a * a_prime)
    return 3 * np.exp(-m / 8 * max(epsilon / (6 * B) - 2 / np.sqrt(3 * m), 0.0) ** 2)


def _theorem_16(m, delta, label_bound, kappa, lam0, weight_rate):
    change = min(2.0, weight_rate / m) * m * kappa
    return stability.two_stage_stability_printed(m, kappa, lam0, label_bound, 1.0, change)


def _two_stage(m, delta, label_bound, kappa, lam0, weight_rate):
    change = min(2.0, weight_rate / m)
    return stability.two_stage_stability_by_weights(m, kappa, lam0, label_bound, 1.0, change)


def _theorem_17(function):
    def form(m, delta, label_bound, kappa, lam0, weight_rate):
        term = min(2.0, weight_rate / m) * m * kappa
        return function(0.0, m, delta, label_bound, kappa, lam0, term)

    return form


def _theorem_17_corrected(m, delta, label_bound, kappa, lam0, weight_rate):
    change = _two_stage(m, delta, label_bound, kappa, lam0, weight_rate)
    return generalization.two_stage_bound(0.0, m, delta, label_bound, kappa, lam0, change)


def _lkrr_constants(label_bound, p, radius, lam0):
    """Residual bound, kappa and kappa_d for mu0 = 1 and p kernels with K_k(x, x) <= 1."""
    p = int(p)
    capacity = stability.lkrr_capacity(np.ones((1, p)), np.ones(p), radius)
    residual = stability.residual_bound(label_bound, capacity.kernel, lam0)
    return residual, capacity.kernel, capacity.stability


def _prop_3(m, delta, label_bound, p, radius, lam0):
    residual, kappa, _ = _lkrr_constants(label_bound, p, radius, lam0)
    return stability.lkrr_stability_printed(m, lam0, residual, kappa, radius, p)


def _lkrr(m, delta, label_bound, p, radius, lam0):
    residual, _, kappa_d = _lkrr_constants(label_bound, p, radius, lam0)
    return stability.lkrr_stability(m, lam0, residual, kappa_d)


def _theorem_3(m, delta, label_bound, p, radius, lam0):
    residual, _, _ = _lkrr_constants(label_bound, p, radius, lam0)
    b = 2 * residual * _lkrr(m, delta, label_bound, p, radius, lam0)
    return generalization.lkrr_bound_printed(0.0, m, delta, residual, b)


def _theorem_3_corrected(m, delta, label_bound, p, radius, lam0):
    residual, _, kappa_d = _lkrr_constants(label_bound, p, radius, lam0)
    return generalization.lkrr_bound(0.0, m, delta, residual, lam0, kappa_d)


def _krr(m, delta, label_bound, kappa, lam0):
    residual = stability.residual_bound(label_bound, kappa, lam0)
    return stability.krr_stability(m, kappa, lam0, residual)


# -- settings and trivial levels -------------------------------------------------------


@cache
def mixture():
    """The mixture of the examples: two normal distributions at distance 2 in the plane."""
    return GaussianMixture(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0]))


def _mixture_setting():
    moments = mixture().gaussian_moments(1.0)
    return {"a": moments.kernel_norm, "a_prime": moments.target_norm, "rho": moments.alignment}


# Var h over quadruples of the mixture, for the pairs (K, K'), (K, K), (K', K'); the last is 5/3.
MIXTURE_VARIANCES = u_statistics.Variances(0.0537, 0.00589, 5 / 3)


def _variance_setting():
    setting = _mixture_setting()
    theta = setting["rho"] * np.sqrt(setting["a"] * setting["a_prime"])
    return {"theta": theta, "variance": MIXTURE_VARIANCES.cross}


def _unbiased_setting():
    return _mixture_setting() | MIXTURE_VARIANCES._asdict()


_MIXTURE = (
    "a = E[K_c^2]/R^4, a_prime = E[K'_c^2]/R'^4 and rho, by default those of the Gaussian kernel "
    "of bandwidth 1 and the labels +-1 of two normal distributions in the plane at distance 2"
)
_TWO_STAGE = {"label_bound": 1.0, "kappa": 1.0, "lam0": 1.0, "weight_rate": 0.0}
_TWO_STAGE_MEANING = (
    "|y| <= label_bound, K_mu(x, x) <= kappa, ridge lam0 in units of the kernel, weights of sum 1 "
    "that change by weight_rate/m when a point is exchanged (0: weights fixed in advance)"
)
_ONE_STAGE = {"label_bound": 1.0, "p": 4, "radius": 1.0, "lam0": 1.0}
_ONE_STAGE_MEANING = (
    "p kernels with K_k(x, x) <= 1, mu0 = 1, ||mu - mu0||_2 <= radius, |y| <= label_bound, ridge "
    "lam0 in units of the kernel"
)
_CHANGE = r"$\sup_x |h'(x)-h(x)|$, units of $y$"
_RISK = r"bound on $R-\hat R$, units of $y^2$"
_SCALED = r" $/\,(R^2R'^2)$"


def _one(**_):
    return 1.0


def _span(label_bound, kappa, lam0, **_):
    return 2 * stability.hypothesis_bound(label_bound, kappa, lam0)


def _span_lkrr(label_bound, p, radius, lam0):
    _, kappa, _ = _lkrr_constants(label_bound, p, radius, lam0)
    return 2 * stability.hypothesis_bound(label_bound, kappa, lam0)


def _square(label_bound, **_):
    return label_bound**2


# -- the curves ------------------------------------------------------------------------

_LIST = (
    Curve(
        "p1-prop-11",
        r"$|\langle K_c,K'_c\rangle/m^2-\mathrm{E}[K_cK'_c]|$" + _SCALED,
        {
            "printed": concentration.numerator_deviation_printed,
            "sharpened": concentration.numerator_deviation,
            "sharpened, K' = yy'": lambda m, d: concentration.numerator_deviation(
                m, d, scalar_target=True
            ),
        },
        _one,
        "both numbers lie in [0, 1]",
    ),
    Curve(
        "p1-theorem-12",
        r"$|\rho-\hat\rho|$, or the length of an interval for $\rho$",
        {
            "printed": lambda m, d, a, a_prime, rho: concentration.alignment_deviation_printed(
                m, d, a, a_prime
            ),
            "form (ii)": lambda m, d, a, a_prime, rho: concentration.alignment_deviation(
                m, d, a, a_prime
            ),
            "form (iii)": lambda m, d, a, a_prime, rho: concentration.alignment_deviation_refined(
                m, d, a, a_prime, rho
            ),
            "interval": interval_length,
        },
        _one,
        "an alignment lies in [0, 1]",
        _mixture_setting,
        _MIXTURE,
        informative=0.5,
    ),
    price.CURVE,
    Curve(
        "p1-interval",
        r"length of the confidence interval for $\rho$",
        {"interval": interval_length},
        _one,
        "an alignment lies in [0, 1]",
        _mixture_setting,
        _MIXTURE,
        informative=0.5,
    ),
    Curve(
        "p1-u-statistic",
        r"$|U-\mathrm{E}[K_cK'_c]|$" + _SCALED,
        {
            "McDiarmid": lambda m, d, **_: u_statistics.u_statistic_deviation(m, d),
            "McDiarmid, K' = yy'": lambda m, d, **_: u_statistics.u_statistic_deviation(
                m, d, scalar_target=True
            ),
            "Bernstein (D)": _bernstein,
            "from the data (D')": _empirical_bernstein,
        },
        _one,
        "the expectation lies in [0, 1]",
        _variance_setting,
        "theta = E[K_c K'_c] and variance = Var h for K >= 0, in units of R^2 R'^2, by default "
        "those of the Gaussian kernel of bandwidth 1 and the labels +-1 of two normal "
        "distributions in the plane at distance 2; D' where the estimate of the variance is right",
        least=4,
    ),
    Curve(
        "p1-u-alignment",
        r"$|\rho-\rho_U|$ for unbiased statistics",
        {"Bernstein (D)": unbiased_deviation},
        _one,
        "an alignment lies in [0, 1]",
        _unbiased_setting,
        _MIXTURE + "; cross, first, second are Var h for (K, K'), (K, K), (K', K'), and K >= 0",
        least=4,
    ),
    Curve(
        "p1-theorem-12-rate",
        r"$\Pr[|\rho-\hat\rho|>\epsilon]$",
        {
            "printed": lambda m, d, a, a_prime, epsilon: np.exp(-m * epsilon**2),
            "corrected": _rate,
        },
        _one,
        "it is a probability",
        lambda: {"a": _mixture_setting()["a"], "a_prime": 1.0, "epsilon": 0.2},
        "a and a_prime as in theorem 12; the printed O(.) is drawn with constant 1",
    ),
    Curve(
        "p1-theorem-16",
        _CHANGE,
        {"printed": _theorem_16, "corrected": _two_stage},
        _span,
        "|h| <= (M/2)(kappa/lam0)^(1/2) for both",
        _TWO_STAGE | {"weight_rate": 1.0},
        _TWO_STAGE_MEANING,
        1,
        note="for weights that change by weight_rate/m when a point is exchanged;\nthose of alignf "
        "need not",
    ),
    Curve(
        "p1-theorem-17",
        _RISK,
        {
            "printed": _theorem_17(generalization.two_stage_bound_printed),
            "printed, M1^2/4 for M1 M2/4": _theorem_17(
                generalization.two_stage_bound_loss_repaired
            ),
            "corrected": _theorem_17_corrected,
        },
        _square,
        "the predictor 0 has risk at most M^2",
        _TWO_STAGE,
        _TWO_STAGE_MEANING,
        1,
    ),
    Curve(
        "p1-trace-degenerate",
        r"$\frac{1}{m}\sum_i h(x_i)^2$, units of $y^2$",
        {"as derived": lambda m, d, label_bound, lam0: (label_bound / (lam0 * m)) ** 2},
        lambda label_bound, lam0: label_bound**2,
        "fitted values have mean square at most M^2",
        {"label_bound": 1.0, "lam0": 1.0},
        "|y| <= label_bound, Tr K_k = 1 on the sample, weights of sum 1, ridge lam0",
        1,
    ),
    Curve(
        "p1-alignf-stability",
        _CHANGE,
        {
            "printed": lambda m, d, lam0: 2 / (lam0 * np.sqrt(m)),
            "one flipped label, K(x, x) = 1": lambda m, d, lam0: np.full(
                np.shape(m), 2 / (1 + lam0)
            ),
        },
        lambda lam0: 1 / np.sqrt(lam0),
        "|h| <= (M/2)(kappa/lam0)^(1/2) for both, by K(x, x) <= 1 alone",
        {"lam0": 10.0},
        "labels +-1, traces of 1, K(x, x) <= 1, ridge lam0; what is printed is the size of h + h'",
        3,
    ),
    Curve(
        "p1-lemma-18",
        r"$|f(S)-f(S')|$" + _SCALED,
        {
            "printed": lambda m, d: 24 / m,
            "sharpened": _fixed(concentration.perturbation_bound),
            "sharpened, K' = yy'": lambda m, d: concentration.perturbation_bound(
                m, scalar_target=True
            ),
            "sharpened, K' = K": lambda m, d: concentration.perturbation_bound(m, same_kernel=True),
        },
        _one,
        "both numbers lie in [0, 1]",
    ),
    Curve(
        "p1-covariance-change",
        r"$\|C_S-C_{S'}\|_{\mathrm{HS}}$ $/\,(RR')$",
        {"as derived": lambda m, d: 4 * (m - 1) / m**2},
        lambda: 2.0,
        "both operators have norm at most RR'",
    ),
    Curve(
        "p1-lemma-19",
        r"bias $|\mathrm{E} f-\mathrm{E}[K_cK'_c]|$" + _SCALED,
        {"printed": lambda m, d: 18 / m, "sharpened": _fixed(concentration.bias_bound)},
        _one,
        "both numbers lie in [0, 1]",
        least=1,
    ),
    Curve(
        "p2-theorem-2",
        _CHANGE,
        {"printed": _krr},
        _span,
        "|h| <= (M/2)(kappa/lam0)^(1/2) for both",
        {"label_bound": 1.0, "kappa": 1.0, "lam0": 1.0},
        "|y| <= label_bound, K(x, x) <= kappa, ridge lam0 in units of the kernel, lambda_min = 0",
        1,
    ),
    Curve(
        "p2-prop-3",
        _CHANGE,
        {"printed": _prop_3, "corrected": _lkrr},
        _span_lkrr,
        "|h| <= (M/2)(kappa/lam0)^(1/2) for both",
        _ONE_STAGE,
        _ONE_STAGE_MEANING,
        1,
    ),
    Curve(
        "p2-theorem-3",
        _RISK,
        {"printed": _theorem_3, "corrected": _theorem_3_corrected},
        _square,
        "the predictor 0 has risk at most M^2",
        _ONE_STAGE,
        _ONE_STAGE_MEANING,
        1,
    ),
)
_LIST = (*_LIST, *interval_lengths(_mixture_setting, _MIXTURE), *COMPLEXITIES_AND_RATES)
CURVES = {name: curve for name in CLAIMS for curve in _LIST if curve.claim == name}


def find_curve(name: str) -> Curve:
    """Look up the curve of a claim, by its name or by the name of its corrected form.

    Raises
    ------
    ValueError
        For a name that is not a claim, or a claim without a bound in m; both errors list the known
        names.
    """
    if name in CURVES:
        return CURVES[name]
    for curve in _LIST:
        claim = CLAIMS[curve.claim]
        while claim is not None:
            if claim.name == name:
                return curve
            claim = claim.corrected
    known = ", ".join(CURVES)
    if name in {claim.name for claim in all_claims()}:
        raise ValueError(f"{name} has no bound for each m; claims that have one: {known}.")
    raise ValueError(f"{name!r} is not a claim; claims with a bound for each m: {known}.")
