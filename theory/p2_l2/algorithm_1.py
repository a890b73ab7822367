"""The interpolated iteration for L2-regularized kernel learning.

Statement (after algorithm 1 of the 2009 paper, where eta in (0, 1) is a parameter, 1/2 in its
experiments, and convergence is not claimed): a Lipschitz constant of f(alpha) = (K(alpha) + lam)^-1
y bounds the number of iterations, which it can only do below 1. Checked: |f(alpha) - f(beta)|
against |alpha - beta|. Verdict: gap; the paper states that it "should be clear", without a proof or
a number, but the ratio can be arbitrarily close to 2. What holds: at eta = 1/2 the iteration
converges locally at rate 1/2 or better for every L, which is proved (proofs.md, section 5, and
`p2-algorithm-1-spectrum`), and has no 2-cycle (`p2-algorithm-1-hessian`); that it always converges
is a conjecture, supported by the size of the relative step after the library's iteration without
its safeguard. For eta < 1/3 it can cycle (`p2-algorithm-1-cycle`). `p2-algorithm-1-safeguarded` is
a variant with a proof of convergence.

`p2-algorithm-1-safeguarded`. Algorithm 1 with steps that are halved until the objective rises
enough. Not in the paper: from the step 1 - eta on, halve t until P(alpha + t d) >= P(alpha) + 2 c t
d'Md, d = F(alpha) - alpha, c < 1/4. The iteration then converges to the solution from every start
and for every eta in [0, 1), with a linear rate; at eta = 1/2 the step is not halved near the
solution; proofs.md, section 6. Checked: the relative step of plain NumPy that follows those of the
library, ``LKRR(solver="interpolated")``, from starts of all sizes. Verdict: holds.
"""

import numpy as np

from ..prelude import P2, Claim, NegativeControl, Status, combine, krr, replace
from ..reference.learners import lkrr_weights
from ..reference.library import lkrr_iteration


def cases(draw):
    m, p = draw.integer(1, 5), draw.integer(1, 4)
    form = draw.choice(("generic", "rank-one", "low-rank", "duplicated"))
    return {
        "kernels": np.array([draw.kernel(m, form) for _ in range(p)]),
        "y": draw.array(m) + 0.1,
        "lam": draw.log_real(0.1, 10),
        "radius": draw.log_real(1e-2, 1e4),
        "eta": draw.real(0.4, 0.9),
    }


def relative_step(case, eta, steps=3000, more=1):
    """The last of the further steps, in plain NumPy, from the library's last iterate."""
    kernels, y, lam, radius = (case[key] for key in ("kernels", "y", "lam", "radius"))
    mu0 = np.ones(len(kernels))
    alpha = lkrr_iteration(kernels, y, lam, mu0, radius, eta, steps, tol=1e-9)
    for _ in range(more):
        K = combine(lkrr_weights(kernels, alpha, mu0, radius), kernels)
        change = (1 - eta) * (krr(K, y, lam) - alpha)
        alpha, before = alpha + change, alpha
    return np.linalg.norm(change) / np.linalg.norm(before)


def bound(case):
    return 1e-7


def measure(case):
    # The library's iteration stops when it detects a cycle, which may not have converged yet.
    return relative_step(case, case["eta"], more=500)


def counterexample(eta=0.2, radius=100.0):
    """A 2-cycle; with L = 10^6 also at eta = 0.30, while 0.34 and 0.5 converge."""
    kernels = np.array([np.diag([1.0, 0.0]), np.diag([0.0, 1.0])])
    return {"kernels": kernels, "y": np.array([1.0, 1.1]), "lam": 1.0, "radius": radius, "eta": eta}


def half_measure(case):
    return relative_step(case, 0.5, steps=300)


def _no_interpolation(case):
    return relative_step(case, 0.0, steps=300)


CORRECTED = Claim(
    name="p2-algorithm-1-corrected",
    source=f"{P2}, Algorithm 1 at eta = 1/2",
    statement=r"\eta = \tfrac12:\ \alpha \to \alpha^\star \text{ (locally at rate } \le \tfrac12)",
    hypotheses="lam > 0, mu0 >= 0. Local convergence is proved, global convergence conjectured.",
    kind="convergence",
    bound=bound,
    measure=half_measure,
    cases=cases,
    negative_control=NegativeControl(counterexample, measure=_no_interpolation, note="eta = 0"),
    proof="5",
)


def lipschitz_cases(draw):
    case = cases(draw)
    shift = draw.log_real(1e-3, 1.0) * draw.array(len(case["y"])) + 1e-3
    return case | {"alpha": case["y"], "beta": case["y"] + shift}


def image(case, alpha):
    """f(alpha) = (K(alpha) + lam)^-1 y."""
    kernels = case["kernels"]
    weights = lkrr_weights(kernels, alpha, np.ones(len(kernels)), case["radius"])
    return krr(combine(weights, kernels), case["y"], case["lam"])


def lipschitz_bound(case):
    """|alpha - beta|: no constant above 1 bounds the number of steps of alpha <- f(alpha)."""
    return np.linalg.norm(case["alpha"] - case["beta"])


def lipschitz_measure(case):
    return np.linalg.norm(image(case, case["alpha"]) - image(case, case["beta"]))


def steep(radius=100.0):
    """Two equal coordinates, moved apart: f moves them back almost twice as far."""
    case = counterexample(0.5, radius) | {"y": np.ones(2)}
    at_rest = 1 / (2 + radius / np.sqrt(2))
    shift = 1e-3 * at_rest * np.array([1.0, -1.0])
    return case | {"alpha": at_rest + shift, "beta": at_rest - shift}


CLAIM = replace(
    CORRECTED,
    name="p2-algorithm-1",
    source=f"{P2}, section 5, after Algorithm 1",
    statement=(
        r"|f(\alpha)-f(\beta)| \le \ell\,|\alpha-\beta|,\ \ell < 1,\ f(\alpha) ="
        r" (K(\alpha)+\lambda I)^{-1}y"
    ),
    hypotheses="lam > 0, mu0 >= 0; l < 1, as a number of steps follows from l only then.",
    kind="upper",
    bound=lipschitz_bound,
    measure=lipschitz_measure,
    cases=lipschitz_cases,
    quotation=(
        "But, it should be clear that bounding techniques similar to what we used for the "
        "stability analysis can be used to estimate the Lipschitz constant"
    ),
    status=Status.GAP,
    remark=(
        "Stated without a proof: the Lipschitz constant of f comes close to 2, so it does not "
        "bound the number of iterations; the iteration still converges locally at rate 1/2 for "
        "eta = 1/2, and can cycle below 1/3."
    ),
    counterexample=steep,
    corrected=CORRECTED,
    negative_control=NegativeControl(steep, note="the counterexample itself"),
    proof="",
)


# -- p2-algorithm-1-safeguarded --------------------------------------------------------


def safeguarded_cases(draw):
    case = cases(draw)
    start = draw.log_real(1e-4, 1e4) * (draw.array(len(case["y"])) + 0.1)
    return case | {"eta": draw.choice((0.0, 0.2, 0.5, 0.8)), "start": start}


def safeguarded_bound(case):
    return 1e-5


def residual(case, safeguard=True):
    """|F(alpha) - alpha| / |alpha| after the library's iteration."""
    kernels, y, lam, radius = (case[key] for key in ("kernels", "y", "lam", "radius"))
    mu0 = np.ones(len(kernels))
    alpha = lkrr_iteration(
        kernels, y, lam, mu0, radius, case["eta"], 2000, 1e-8, safeguard, case["start"]
    )
    K = combine(lkrr_weights(kernels, alpha, mu0, radius), kernels)
    return np.linalg.norm(krr(K, y, lam) - alpha) / np.linalg.norm(alpha)


def safeguarded_measure(case):
    return residual(case)


def _control_case():
    return counterexample(eta=0.3, radius=1e6) | {"start": np.array([0.3, 0.5])}


SAFEGUARDED = Claim(
    name="p2-algorithm-1-safeguarded",
    source=f"{P2}, Algorithm 1, new",
    status=Status.NEW,
    statement=(
        r"\alpha_{i+1} = \alpha_i + t_i d_i,\ P(\alpha_{i+1}) \ge P(\alpha_i) + 2ct_i d_i'Md_i:"
        r"\ \alpha_i \to \alpha^\star \text{ for every } \eta, \alpha_0"
    ),
    hypotheses="lam > 0, mu0 >= 0, 0 < c < 1/4; t_i is the first of (1 - eta) 2^-j that will do.",
    kind="convergence",
    bound=safeguarded_bound,
    measure=safeguarded_measure,
    cases=safeguarded_cases,
    negative_control=NegativeControl(
        _control_case,
        measure=lambda case: residual(case, safeguard=False),
        note="no safeguard, eta = 0.3",
    ),
    proof="6",
)
