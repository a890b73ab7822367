"""A bound on the error of a learned classifier from its own training sample.

Not in the paper. The first two fifths of the sample determine the components of the kernel and the
center of a prior; all of it trains the classifier; PAC-Bayes and a margin
(`own_sample.own_sample_machine`); proofs.md, section 26. Checked: how often the risk exceeds the
bound, against delta, on finite distributions, where the risk is a sum. Verdict: holds.
"""

import numpy as np

from alignlearn.bounds.own_sample import own_sample_machine

from ..prelude import P1, Claim, NegativeControl, Status, gaussian_kernel, once

TRIALS = 20


def cases(draw):
    n = draw.integer(3, 8)
    labels = draw.signs(n)
    labels[:2] = 1.0, -1.0
    return {
        "weights": draw.weights(n),
        "labels": labels,
        "flipped": draw.choice((0.0, 0.1, 0.5)),
        "K": gaussian_kernel(draw.array((n, 2)), draw.log_real(0.3, 3.0)),
        "m": draw.choice((30, 60, 120)),
        "delta": draw.choice((0.2, 0.5)),
        "seed": draw.integer(0, 2**32 - 1),
    }


@once
def machines(case):
    """(risk, bound) of classifiers of independent samples; nan where the first part is constant."""
    rng, K = np.random.default_rng(case["seed"]), case["K"]
    found = np.full((TRIALS, 2), np.nan)
    first = 2 * case["m"] // 5
    for row in found:
        rows = rng.choice(len(K), size=case["m"], p=case["weights"])
        y = case["labels"][rows] * np.where(rng.random(case["m"]) < case["flipped"], -1.0, 1.0)
        if np.ptp(K[np.ix_(rows[:first], rows[:first])]) < 1e-6:
            continue
        columns, part = K[np.ix_(rows, rows[:first])], np.arange(first)
        machine = own_sample_machine(columns, y, case["delta"], first=part)
        decisions = K[:, rows[:first]] @ machine.coef + machine.intercept
        wrong = np.where(case["labels"] * decisions > 0, case["flipped"], 1 - case["flipped"])
        row[:] = case["weights"] @ np.where(decisions == 0, 1.0, wrong), machine.bound.value
    return found


def bound(case):
    return machines(case)[:, 1]


def measure(case):
    return machines(case)[:, 0]


def _control_case():
    K = gaussian_kernel(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), 1.0)
    rest = {"flipped": 0.1, "m": 120, "delta": 0.2, "seed": 1}
    return {"weights": np.full(3, 1 / 3), "labels": np.array([1.0, -1.0, -1.0]), "K": K} | rest


CLAIM = Claim(
    name="p1-own-sample",
    source=f"{P1}, after Theorem 13, new",
    status=Status.NEW,
    statement=(
        r"\Pr[y h(x) \le 0] \le \tfrac{p}{\Phi(t)},\quad \mathrm{kl}\big(\tfrac1n\sum_i \Phi(t -"
        r"\tfrac{c\,y_i \langle h, z_i\rangle}{|h||z_i|}), p\big) \le \tfrac1n\big(\tfrac12"
        r"\big|\tfrac{c h}{|h|} - \tfrac{a h_1}{|h_1|}\big|^2 + \log\tfrac{2\sqrt n J}{\delta}\big)"
    ),
    hypotheses="Independent points of two classes; z and h_1 do not depend on the n points.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: 1.0,
    negative_control=NegativeControl(
        _control_case, bound=lambda case: 0.3 * bound(case), note="0.3 of the bound"
    ),
    proof="26",
)
