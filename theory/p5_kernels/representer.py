"""The representer theorem.

Statement (slides): V(f(x_1), ..., f(x_n)) + r(|f|^2) with r increasing has a solution in the span
of the k(., x_i). Checked: whether the objective falls at every doubling of one f, so that there is
no minimum, and that the projection of any f on the span has the same values at the x_i and an
objective that is not larger. Verdict: unstated hypothesis; the proof projects any f, and hence any
minimizer, on the span. It does not show that there is a minimizer, and with r = 0 and V =
exp(-f(x_1)) there is none. For strictly increasing r all minimizers are in the span; proofs.md,
section 5.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, replace


def cases(draw):
    """f = sum_j beta_j k(., z_j), of which the first n points are the sample."""
    total = draw.integer(1, 6)
    return {
        "K": draw.kernel(total, "generic") + 1e-3 * np.eye(total),
        "n": draw.integer(1, total),
        "beta": draw.array(total),
        "y": draw.signs(total),
        "loss": draw.choice(("hinge", "square", "exp")),
        "rate": draw.choice((0.0, 0.1, 1.0)),
    }


def objective(values, squared_norm, case):
    """V of the values at the sample, plus rate times the squared norm."""
    y = case["y"][: case["n"]]
    margin = np.clip(y * values, -30, None)
    losses = {
        "hinge": np.maximum(0, 1 - margin),
        "square": (values - y) ** 2,
        "exp": np.exp(-margin),
    }
    return float(losses[case["loss"]].mean() + case["rate"] * squared_norm)


def bound(case):
    """The objective at f, and 0 for the change of the values at the sample."""
    K, beta = case["K"], case["beta"]
    return np.array([objective((K @ beta)[: case["n"]], beta @ K @ beta, case), 0.0])


def measure(case):
    """The objective and the change of values at the projection of f on the span of the sections."""
    K, n = case["K"], case["n"]
    values = (K @ case["beta"])[:n]
    coef = np.linalg.solve(K[:n, :n], values)
    change = np.abs(K[:n, :n] @ coef - values).max()
    return np.array([objective(K[:n, :n] @ coef, coef @ values, case), change])


def _scale(case):
    K, beta = case["K"], case["beta"]
    return 1.0 + np.abs(K).max() * (1.0 + np.abs(beta).sum()) ** 2


def _control_case():
    K, beta = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0.0, 1.0])
    return {"K": K, "n": 1, "beta": beta, "y": np.ones(2), "loss": "square", "rate": 1.0}


def _without_what_is_orthogonal(case):
    """The norm of 0.9 of the projection: smaller than it can be at these values."""
    K, n = case["K"], case["n"]
    values = (K @ case["beta"])[:n]
    norm = values @ np.linalg.solve(K[:n, :n], values)
    return np.array([objective(values, 0.81 * norm, case), 0.0])


CORRECTED = Claim(
    name="p5-representer-corrected",
    source=f"{P5}, representer theorem, corrected",
    statement=(
        r"\arg\min_f V + r(\|f\|^2) \ne \emptyset \Rightarrow \exists\, f^* ="
        r" \sum_i \alpha_i k(\cdot,x_i) \text{ in it}"
    ),
    hypotheses="r increasing, and the minimum is attained.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=_scale,
    rtol=1e-8,
    negative_control=NegativeControl(
        _control_case, bound=_without_what_is_orthogonal, note="0.9 of the norm"
    ),
    proof="5",
)


def counterexample():
    """V = exp(-f(x_1)) and no penalty: the infimum 0 is not attained."""
    case = {"K": np.eye(1), "n": 1, "beta": np.ones(1), "y": np.ones(1)}
    return case | {"loss": "exp", "rate": 0.0}


def minimum_is_attained(case):
    """0 where the objective falls at every doubling of f = sum_i y_i k(., x_i)/|y|, else 1."""
    n = case["n"]
    K, coef = case["K"][:n, :n], np.linalg.solve(case["K"][:n, :n], case["y"][:n])
    sizes = 2.0 ** np.arange(5)
    values = [objective(t * K @ coef, t**2 * coef @ K @ coef, case) for t in sizes]
    return float(not (np.diff(values) < 0).all())


CLAIM = replace(
    CORRECTED,
    name="p5-representer",
    source=f"{P5}, representer theorem",
    statement=r"\exists\, f^* = \sum_i \alpha_i k(\cdot,x_i) \in \arg\min_f V + r(\|f\|^2)",
    hypotheses="r increasing.",
    kind="equivalence",
    bound=lambda case: 1.0,
    measure=minimum_is_attained,
    scale=None,
    status=Status.HYPOTHESIS,
    remark=(
        "If a minimizer exists there is one in the span; existence has to be assumed, as "
        "exp(-f(x)) without penalty shows."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, note="the counterexample itself"),
    proof="",
)
