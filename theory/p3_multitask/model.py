"""Whether model (10) has a minimum.

Statement ((10) to (12) of the paper, with eta >= 4 beta): the problem over theta >= 0 and Khat is
well posed, so its objective is bounded below. Checked: eta/2 sum_t ||K_t - Khat_t||^2 + beta/2
Omega plus the values of the SVMs, at given theta and Khat, against -beta^2 d'A^+d/(2 eta). Verdict:
misprint; false for every beta > 0; with -4c in Omega what is left after Khat is minimized is -eta
beta/(eta - 2 beta) ||V theta||^2 and linear terms. Also the loss "C sum (f, y)" of (10) is to be
read C sum l(f, y). Correct: with -2c and eta >= 2 beta the objective is at least this number;
proofs.md, section 4.
"""

import numpy as np

from ..prelude import P3, Claim, NegativeControl, Status, replace
from ..reference.multitask import alignment_part, best_targets, inverse, svm_value
from .tasks import learned, random_model, stacked, terms_of


def cases(draw):
    case = random_model(draw, least_ratio=4.1)
    T, n = len(case["kernels"]), len(case["kernels"][0][0])
    return case | {
        "labels": [draw.signs(n) for _ in range(T)],
        "C": draw.log_real(0.1, 10),
        "theta_factor": draw.choice((1.0, 1e3)),
        "minimize": draw.choice((False, True)),
    }


def _scaled(case):
    factor = case.get("theta_factor", 1.0)
    return case | {"mu": factor * case["mu"], "lam": factor * case["lam"]}


def objective(case, factor):
    """The value of (10) at theta and at the target matrices, or at the stationary ones."""
    case = _scaled(case)
    terms, theta = terms_of(case), stacked(case)
    if case.get("minimize"):
        terms = at(terms, best_targets(terms, theta, case["eta"], case["beta"], factor))
    values = [svm_value(K, y, case["C"]) for K, y in zip(learned(case), case["labels"])]
    return sum(values) + alignment_part(terms, theta, case["eta"], case["beta"], factor)


def at(terms, v):
    """The terms with other target matrices."""
    return terms._replace(v=v, b=2 * terms.V.T @ v, c=float(v @ v))


def _scale(case):
    """The scale of rounding errors: the squares of K_t and Khat_t."""
    case = _scaled(case)
    terms, theta = terms_of(case), stacked(case)
    size = np.sum((terms.V @ theta) ** 2) + terms.c + abs(terms.d @ theta)
    return (case["eta"] + case["beta"]) * size + abs(bound(case)) + 1e-300


def bound(case):
    terms = terms_of(case)
    return float(-(case["beta"] ** 2) / (2 * case["eta"]) * (terms.d @ inverse(terms.A) @ terms.d))


def measure(case):
    return objective(case, 4.0)


def counterexample(factor=1000.0):
    """n = 2, K = [[2, 1], [1, 2]], eta = 8, beta = 1, theta = 1000: -1.3e7."""
    kernels = [np.array([[[2.0, 1.0], [1.0, 2.0]]])]
    case = {"kernels": kernels, "targets": [np.zeros((2, 2))], "eta": 8.0, "beta": 1.0, "C": 1.0}
    weights = {"mu": np.ones(1), "lam": np.zeros((1, 1)), "labels": [np.array([1.0, -1.0])]}
    return case | weights | {"theta_factor": factor, "minimize": True}


def corrected_measure(case):
    return objective(case, 2.0)


def _above(case):
    """At theta = 0 the SVM has the value C n, and the bound is attained up to it."""
    return 0.5 * bound(case)


def _attained():
    return counterexample() | {"mu": np.zeros(1), "C": 1e-3}


CORRECTED = Claim(
    name="p3-model-corrected",
    source=f"{P3}, (10) with -2c, corrected",
    statement=(
        r"\tfrac\eta2\sum_t\|K_t-\hat K_t\|_F^2 + \tfrac\beta2\Omega + \sum_t\mathrm{SVM}_t \ge"
        r" -\tfrac{\beta^2}{2\eta}d^\top A^+d"
    ),
    hypotheses="theta >= 0, eta >= 2 beta.",
    kind="lower",
    bound=bound,
    measure=corrected_measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    negative_control=NegativeControl(_attained, bound=_above, note="half the number"),
    proof="4",
)

CLAIM = replace(
    CORRECTED,
    name="p3-model",
    source=f"{P3}, (10) to (12)",
    statement=(
        r"\tfrac\eta2\sum_t\|K_t-\hat K_t\|_F^2 + \tfrac\beta2\Omega + \sum_t\mathrm{SVM}_t"
        r" \text{ is bounded below}"
    ),
    hypotheses="theta >= 0, eta >= 4 beta.",
    measure=measure,
    status=Status.MISPRINT,
    remark=(
        "With -4c the objective has no lower bound for any beta > 0; with -2c and eta >= "
        "2 beta it has one."
    ),
    follows="p3-omega",
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(lambda: counterexample(2.0), note="theta = 2 is large enough"),
    proof="",
)
