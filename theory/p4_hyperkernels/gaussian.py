"""The Gaussian hyper-kernel and the integral that defines it.

Statement (section 2.3 of the 2020 paper, after Kondor and Jebara, 2007): the hyper-kernel is <x1,
x1'>_{sigma^2} <x2, x2'>_{sigma^2} <mid1, mid2>_{sigma^2 + sigma_h^2}. The claim is read as: this
definition is a hyper-kernel. Checked: it is the integral of <x1, z> <x1', z> <z, z'>_{v_h} <z', x2>
<z', x2'> with densities of variance v = sigma^2/2 and v_h = sigma_h^2 + sigma^2/2, by quadrature,
one coordinate at a time. Verdict: holds; proofs.md, section 9.

`p4-gaussian-integral`. The integral of Kondor and Jebara (2007) for sigma^2 and sigma_h^2 has 2
sigma^2 in the first two factors: 0.0255257744 against the definition's 0.0191081119 at one point.
So a sigma^2 of that paper is half of one of the 2020 paper. Checked: against the integral. Verdict:
holds.

`p4-gaussian-scale`. The constant in front of the Gaussian hyper-kernel. Not in the 2020 paper: its
factor (2 pi sigma^2)^-d (2 pi (sigma^2 + sigma_h^2))^(-d/2) is 0 in double precision from a
dimension of some hundred on (log10 of it is -404 at d = 300, sigma = sigma_h = 1) and can be
omitted: ridge regression with c K and lam is that with K and lam/c, support vector regression with
c K and C that with K and c C; proofs.md, section 9. Checked: the learned values on both sides.
Verdict: holds.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status, krr
from ..reference import hyper
from .problems import random_case


def cases(draw):
    points = draw.array((4, draw.integer(1, 2)))
    return {"points": points, "sigma2": draw.real(0.3, 2.0), "sigma_h2": draw.real(0.3, 2.0)}


def normal(x, variance):
    """Density of the normal distribution of mean 0 at x."""
    return np.exp(-(x**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


def form(case, v1, v2):
    """The product of three normal densities, with their constants."""
    x, x_new, y, y_new = case["points"]
    between = (x + x_new) / 2 - (y + y_new) / 2
    return float(np.prod(normal(x - x_new, v1) * normal(y - y_new, v1) * normal(between, v2)))


def bound(case):
    return form(case, case["sigma2"], case["sigma2"] + case["sigma_h2"])


def integral(points, sigma2, sigma_h2):
    """The double integral by the trapezoidal rule, which is exact to rounding here."""
    value = 1.0
    for x, x_new, y, y_new in points.T:
        z = np.linspace(min(points.min(), 0) - 9, max(points.max(), 0) + 9, 241)
        left = normal(x - z, sigma2) * normal(x_new - z, sigma2)
        right = normal(y - z, sigma2) * normal(y_new - z, sigma2)
        step = z[1] - z[0]
        value *= left @ normal(z[:, None] - z, sigma_h2) @ right * step**2
    return float(value)


def measure(case):
    half = case["sigma2"] / 2
    return integral(case["points"], half, case["sigma_h2"] + half)


def example():
    return {"points": np.array([[0.3], [-0.5], [1.1], [0.4]]), "sigma2": 0.7, "sigma_h2": 0.9}


def same_variances(case):
    """The integral for sigma^2 and sigma_h^2."""
    return integral(case["points"], case["sigma2"], case["sigma_h2"])


def _scale(case):
    return (0.16 / case["sigma2"] ** 1.5) ** case["points"].shape[1]


CLAIM = Claim(
    name="p4-gaussian",
    source=f"{P4}, section 2.3",
    statement=(
        r"\underline{k} = \langle x_1,x_1'\rangle_{\sigma^2}\langle x_2,x_2'\rangle_{\sigma^2}"
        r"\langle\tfrac{x_1+x_1'}2,\tfrac{x_2+x_2'}2\rangle_{\sigma^2+\sigma_h^2}"
        r"\ \text{is a hyper-kernel}"
    ),
    quotation="The Gaussian hyper-kernel is defined as",
    hypotheses="Densities as in the paper.",
    kind="identity",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    negative_control=NegativeControl(
        example, measure=same_variances, note="the integral for sigma^2 and sigma_h^2"
    ),
)


# -- p4-gaussian-integral --------------------------------------------------------------


def integral_bound(case, factor=2.0):
    return form(case, factor * case["sigma2"], case["sigma2"] + case["sigma_h2"])


def _less_than_two(case):
    return integral_bound(case, factor=1.98)


INTEGRAL = Claim(
    name="p4-gaussian-integral",
    source=f"{P4}, section 2.3, new",
    status=Status.NEW,
    statement=(
        r"\int \langle x_1,z\rangle\langle x_1',z\rangle\langle z,z'\rangle_{\sigma_h^2}"
        r"\langle z',x_2\rangle\langle z',x_2'\rangle = \langle x_1,x_1'\rangle_{2\sigma^2}"
        r"\langle x_2,x_2'\rangle_{2\sigma^2}"
        r"\langle\tfrac{x_1+x_1'}2,\tfrac{x_2+x_2'}2\rangle_{\sigma^2+\sigma_h^2}"
    ),
    hypotheses="Densities as in the paper; z and z' over R^d.",
    kind="identity",
    bound=integral_bound,
    measure=same_variances,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    negative_control=NegativeControl(
        example, bound=_less_than_two, note="1.98 sigma^2 in place of 2 sigma^2"
    ),
    proof="9",
)


# -- p4-gaussian-scale -----------------------------------------------------------------


def scale_cases(draw):
    case = random_case(draw, most=3, gaussian=True)
    size = {"dimension": draw.integer(1, 400), "sigma2": draw.log_real(1e-2, 1e2)}
    more = {"sigma_h2": draw.log_real(1e-2, 1e2), "c": draw.log_real(1e-2, 1e2)}
    return case | size | more | {"C": draw.log_real(0.05, 1.0), "eps": 0.1}


def computed_log10(case):
    """The factor's logarithm in double precision, clipped to +-400 where it is 0 or infinite."""
    d, two_pi = case["dimension"], 2 * np.pi
    with np.errstate(all="ignore"):
        factor = np.float64(two_pi * case["sigma2"]) ** -d
        factor *= np.float64(two_pi * (case["sigma2"] + case["sigma_h2"])) ** (-d / 2)
        return float(np.clip(np.log10(factor), -400, 400))


def scale_example():
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=1.0)
    X, y = np.array([[0.0], [1.0]]), np.array([1.0, -1.0])
    case = {"X": X, "kernel": kernel, "target": np.outer(y, y), "lam": 0.1, "c": 3.0}
    return case | {"C": 0.5, "eps": 0.1, "dimension": 300, "sigma2": 1.0, "sigma_h2": 1.0}


def _fits(case, c, lam, C):
    """k* of ridge regression and of support vector regression (b may not be unique), with c K."""
    K, y = c * hyper.hyper_matrix(case["X"], case["kernel"]), case["target"].ravel()
    beta, *_ = hyper.svr(K, y, C, case["eps"])
    return np.r_[K @ krr(K, y, lam), K @ beta]


def scale_bound(case):
    return _fits(case, 1.0, case["lam"] / case["c"], case["c"] * case["C"])


def scale_measure(case):
    return _fits(case, case["c"], case["lam"], case["C"])


def _control_case():
    return scale_example() | {"c": 1.05}


def _same_parameters(case):
    return _fits(case, 1.0, case["lam"], case["C"])


SCALE = Claim(
    name="p4-gaussian-scale",
    source=f"{P4}, section 2.3, new",
    status=Status.NEW,
    statement=r"k^*(c\underline{k}, \lambda, C) = k^*(\underline{k}, \lambda/c, cC)",
    hypotheses="c > 0.",
    kind="identity",
    bound=scale_bound,
    measure=scale_measure,
    cases=scale_cases,
    scale=lambda case: np.abs(case["target"]).sum() + 1.0,
    rtol=1e-4,
    negative_control=NegativeControl(
        _control_case, bound=_same_parameters, note="parameters unchanged for c = 1.05"
    ),
    proof="9",
)
