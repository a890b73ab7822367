"""Which variables have maximal correlation 1.

Statement (desideratum 4 of Rényi on the slides, which they state for the maximal correlation Q): Q
= 1 if and only if Y = f(X) or X = g(Y). Checked: the second singular value of p(x, y)/(p(x)
p(y))^(1/2) against whether one variable is a function of the other. Verdict: false; only "if"
holds, for variables that are not constant. On finitely many values Q = 1 if and only if some
non-constant function of X equals a function of Y: the graph of the pairs of positive probability is
not connected; proofs.md, section 1.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, replace


def cases(draw):
    """A table of probabilities with many zeros, rows and columns that occur."""
    rows, columns = draw.integer(2, 4), draw.integer(2, 4)
    table = np.abs(draw.array((rows, columns))) + 0.2
    table *= draw.signs(rows * columns).reshape(rows, columns) > 0
    for i in range(max(rows, columns)):
        table[i % rows, i % columns] += 1.0
    return {"table": table / table.sum()}


def second_singular_value(table):
    """The maximal correlation of two variables with finitely many values."""
    scaled = table / np.sqrt(np.outer(table.sum(1), table.sum(0)))
    return float(np.linalg.svd(scaled, compute_uv=False)[1])


def bound(case):
    """1 if one variable is a function of the other."""
    positive = case["table"] > 0
    return float((positive.sum(1) == 1).all() or (positive.sum(0) == 1).all())


def measure(case):
    """1 if the maximal correlation is 1."""
    return float(second_singular_value(case["table"]) > 1 - 1e-9)


def counterexample():
    """Uniform on {1, 2}^2 and {3, 4}^2: the block is a function of either."""
    return {"table": np.kron(np.eye(2), np.ones((2, 2))) / 8}


def corrected_bound(case):
    """1 if the graph of the pairs is not connected, found by powers of its matrix."""
    positive = (case["table"] > 0).astype(float)
    reached = np.linalg.matrix_power(positive @ positive.T, len(positive)) > 0
    return float(not reached.all())


def _nearly_connected():
    """A pair of probability 0.02 joins the blocks."""
    table = np.kron(np.eye(2), np.ones((2, 2))) / 8
    table[0, 3] = 0.02
    return {"table": table / table.sum()}


def _from_95_per_cent(case):
    return float(second_singular_value(case["table"]) > 0.9)


CORRECTED = Claim(
    name="p5-max-correlation-corrected",
    source=f"{P5}, desiderata of Rényi, corrected",
    statement=(
        r"Q = 1 \Leftrightarrow \{(x,y): p(x,y) > 0\} \text{ is not connected}"
        r" \Leftarrow Y = f(X) \text{ or } X = g(Y)"
    ),
    hypotheses="Finitely many values; X and Y not constant.",
    kind="equivalence",
    bound=corrected_bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        _nearly_connected, measure=_from_95_per_cent, note="correlations from .9 on count as 1"
    ),
    proof="1",
)

CLAIM = replace(
    CORRECTED,
    name="p5-max-correlation",
    source=f"{P5}, desiderata of Rényi",
    statement=r"Q = 1 \Leftrightarrow Y = f(X) \text{ or } X = g(Y)",
    hypotheses="X and Y not constant.",
    bound=bound,
    status=Status.FALSE,
    remark=(
        'Only "if" holds: two variables with a common part that is not constant have maximal '
        "correlation 1 although neither is a function of the other."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    proof="",
)
