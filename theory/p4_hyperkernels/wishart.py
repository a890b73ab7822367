"""The Wishart hyper-kernel in closed form.

Statement (section 2.3 of the 2020 paper): the integral of four normal densities in z and an inverse
Wishart density, with the constant (2 pi)^(m/2), D in R^(m x m) and the exponent of <x1, x> at x -
x1'. Checked in one and two dimensions: the closed form with these, against quadrature over Sigma.
Verdict: misprint: d for m, x - x1 in the exponent, real r > d - 1, z over R^d. Then k = pi^(-3d/2)
2^-d Gamma_d((r+3)/2)/Gamma_d(r/2) |C|^(r/2) |C + S|^(-(r+3)/2), S the scatter of the four points,
|C + S| = |C| times a 3 x 3 determinant; proofs.md, section 10.
"""

import numpy as np

from ..prelude import P4, Claim, NegativeControl, Status, replace


def cases(draw):
    d = draw.integer(1, 2)
    f = draw.array((d, d))
    return {
        "points": draw.array((4, d)),
        "C": 0.5 * np.eye(d) + f @ f.T / 2,
        "r": d - 1 + draw.real(0.5, 4.0),
        "m": draw.integer(1, 6),
    }


def log_gamma(d, a):
    """log Gamma_d(a)."""
    from scipy.special import multigammaln

    return float(multigammaln(a, d))


def closed_form(points, C, r, power=3.0):
    """The corrected form of 2.B, by the determinant of C + S."""
    d = len(C)
    apart = points - points.mean(0)
    half = (r + power) / 2
    constant = -1.5 * d * np.log(np.pi) - d * np.log(2) + log_gamma(d, half) - log_gamma(d, r / 2)
    sizes = np.linalg.slogdet(C)[1], np.linalg.slogdet(C + apart.T @ apart)[1]
    return float(np.exp(constant + r / 2 * sizes[0] - half * sizes[1]))


def by_three(points, C, r):
    """The same with |C + S| = |C| det3, from whitened differences and midpoints."""
    d = len(C)
    white = np.linalg.solve(np.linalg.cholesky(C), points.T).T
    x, x_new, y, y_new = white
    B = np.array([(x - x_new) / 2**0.5, (y - y_new) / 2**0.5, (x + x_new - y - y_new) / 2])
    det3 = np.linalg.det(np.eye(3) + B @ B.T)
    constant = -1.5 * d * np.log(np.pi) - d * np.log(2)
    constant += log_gamma(d, (r + 3) / 2) - log_gamma(d, r / 2)
    return float(np.exp(constant - 1.5 * np.linalg.slogdet(C)[1] - (r + 3) / 2 * np.log(det3)))


def bound(case):
    """The closed form with (2 pi)^(m/2), and with x - x1' for x - x1."""
    points, d = case["points"], len(case["C"])
    right = closed_form(points, case["C"], case["r"])
    constant = (2 * np.pi) ** (-2.0 * (case["m"] - d))
    return np.array([right * constant, closed_form(points[[1, 1, 3, 3]], case["C"], case["r"])])


def measure(case):
    value = integral(case["points"], case["C"], case["r"])
    return np.array([value, value])


def integral(points, C, r):
    """The integral over Sigma by its eigenvalues and angle, over z by convolution (section 9)."""
    d = len(C)
    typical = np.log((np.trace(C) + ((points - points.mean(0)) ** 2).sum()) / d / (r + 3))
    middle = typical + np.linspace(-7, 16, 160)
    if d == 1:
        weight = (middle[1] - middle[0]) * np.exp(middle)
        inverse = np.exp(-middle)[:, None, None]
        return float(weight @ _integrand(points, C, r, inverse, middle))
    spread, weights = np.polynomial.legendre.leggauss(48)
    spread, weights = 8 * (spread + 1), 8 * weights
    angle = np.arange(32) * np.pi / 32
    a, u, t = (grid.ravel() for grid in np.meshgrid(middle, spread, angle, indexing="ij"))
    w = (middle[1] - middle[0]) * np.pi / 32 * np.tile(np.repeat(weights, 32), len(middle))
    large, small = np.exp(a + u / 2), np.exp(a - u / 2)
    axis = np.array([np.cos(t), np.sin(t)]).T
    across = np.array([-axis[:, 1], axis[:, 0]]).T
    inverse = axis[:, :, None] * axis[:, None] / large[:, None, None]
    inverse = inverse + across[:, :, None] * across[:, None] / small[:, None, None]
    # d Sigma = (l1 - l2) dl1 dl2 dt and dl1 dl2 = l1 l2 da du.
    return float((w * (large - small) * large * small) @ _integrand(points, C, r, inverse, 2 * a))


def _integrand(points, C, r, inverse, log_size):
    """N(x1 - x1'; 2S) N(x2 - x2'; 2S) N(mid1 - mid2; S) IW(S; C, r) at S = inverse^-1."""
    d = len(C)
    x, x_new, y, y_new = points
    gaps = ((x - x_new, 2.0), (y - y_new, 2.0), ((x + x_new - y - y_new) / 2, 1.0))
    log = -(r + d + 1) / 2 * log_size - np.einsum("nij,ij->n", inverse, C) / 2
    log = log + r / 2 * np.linalg.slogdet(C)[1] - r * d / 2 * np.log(2) - log_gamma(d, r / 2)
    for gap, factor in gaps:
        log = log - (d * np.log(2 * np.pi * factor) + log_size) / 2
        log = log - np.einsum("nij,i,j->n", inverse, gap, gap) / (2 * factor)
    return np.exp(log)


def counterexample():
    """0.0171878878; with (2 pi)^(m/2) for m = 3 points it is 4 pi^2 times smaller, twice."""
    points = np.array([[0.3], [-0.5], [1.1], [0.4]])
    return {"points": points, "C": np.array([[1.5]]), "r": 3.0, "m": 3}


def corrected_bound(case):
    forms = closed_form, by_three
    return np.array([form(case["points"], case["C"], case["r"]) for form in forms])


def _power(case):
    value = closed_form(case["points"], case["C"], case["r"], power=2.98)
    return np.array([value, value])


CORRECTED = Claim(
    name="p4-wishart-corrected",
    source=f"{P4}, section 2.3, corrected",
    statement=(
        r"\underline{k} = \frac{\Gamma_d(\frac{r+3}2)}{\pi^{3d/2}2^d\,\Gamma_d(\frac r2)}"
        r"\,|C|^{r/2}\,|C+S|^{-\frac{r+3}2}"
    ),
    hypotheses="C positive definite, r > d - 1, z over R^d.",
    kind="identity",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    rtol=1e-4,
    negative_control=NegativeControl(counterexample, bound=_power, note="r + 2.98 for r + 3"),
    proof="10",
)

CLAIM = replace(
    CORRECTED,
    name="p4-wishart",
    source=f"{P4}, section 2.3",
    statement=(
        r"\langle x_1,x\rangle_\Sigma = (2\pi)^{-m/2}|\Sigma|^{-1/2}"
        r"e^{-\frac12(x-x_1')^\top\Sigma^{-1}(x-x_1')}"
    ),
    hypotheses="m points.",
    bound=bound,
    status=Status.MISPRINT,
    remark=(
        "The letter m is printed for the dimension d, and x_1' for x_1; the printed integral "
        "depends on the wrong point."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample, bound=lambda case: 2 * bound(case), note="twice"
    ),
    proof="",
)
