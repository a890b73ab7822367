"""The constraint with the target kernel, and the alignment.

Statement (section 2 of the paper): with Khat = yy', ||K - Khat||_F^2 reduces to the alignment of K
and yy'. Checked: the squared distance against ||yy'||^2 (1 - A^2), A the (uncentered) alignment.
Verdict: unstated hypothesis; the distance depends on the scale of K, and only its minimum over the
scale is a function of A. Over a cone of weights the nearest K_theta is therefore the best aligned
one (proposition 9 of Cortes, Mohri and Rostamizadeh); proofs.md, section 1.
"""

import numpy as np

from ..prelude import P3, Claim, HypothesisNotMet, NegativeControl, Status, combine, replace
from ..reference.matrices import alignf_minimizer, frobenius


def cases(draw):
    n, M = draw.integer(1, 4), draw.integer(1, 3)
    return {
        "kernels": np.array([draw.kernel(n, "generic") for _ in range(M)]),
        "theta": np.abs(draw.array(M)),
        "y": draw.signs(n),
    }


def _pair(case):
    K, Y = combine(case["theta"], case["kernels"]), np.outer(case["y"], case["y"])
    if not frobenius(K, K) > 1e-12:
        raise HypothesisNotMet("K must not be 0")
    return K, Y


def bound(case):
    K, Y = _pair(case)
    return frobenius(Y, Y) - frobenius(K, Y) ** 2 / frobenius(K, K)


def measure(case):
    K, Y = _pair(case)
    return frobenius(K - Y, K - Y)


def counterexample():
    """K = 2yy' has alignment 1 and lies ||yy'||^2 = 4 from yy'."""
    y = np.array([1.0, -1.0])
    return {"kernels": np.outer(y, y)[None], "theta": np.array([2.0]), "y": y}


def corrected_bound(case):
    """The distance at the best scale, and the best alignment over theta >= 0."""
    return np.array([bound(case), bound(case | {"theta": _nearest(case)})])


def _nearest(case):
    products = np.array([frobenius(K, np.outer(case["y"], case["y"])) for K in case["kernels"]])
    gram = np.einsum("kij,lij->kl", case["kernels"], case["kernels"])
    found = alignf_minimizer(products, gram)
    return found if found.any() else np.ones(len(found))


def corrected_measure(case):
    K, Y = _pair(case)
    scale = frobenius(K, Y) / frobenius(K, K)
    nearest = case | {"theta": _nearest(case)}
    best = measure(nearest)
    return np.array([frobenius(scale * K - Y, scale * K - Y), best])


def _scale(case):
    return float(len(case["y"]) ** 2)


def _first_power(case):
    K, Y = _pair(case)
    cosine = frobenius(K, Y) / np.sqrt(frobenius(K, K) * frobenius(Y, Y))
    return np.full(2, frobenius(Y, Y) * (1 - cosine))


def _control_case():
    return {"kernels": np.eye(2)[None], "theta": np.ones(1), "y": np.array([1.0, -1.0])}


CORRECTED = Claim(
    name="p3-kta-corrected",
    source=f"{P3}, section 2, corrected",
    statement=r"\min_{s\ge 0}\|sK-yy^\top\|_F^2 = \|yy^\top\|_F^2\,(1-A(K,yy^\top)^2)",
    hypotheses="K positive semi-definite and not 0.",
    kind="identity",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=_scale,
    rtol=1e-7,
    negative_control=NegativeControl(_control_case, bound=_first_power, note="1 - A"),
    proof="1",
)

CLAIM = replace(
    CORRECTED,
    name="p3-kta",
    source=f"{P3}, section 2",
    statement=r"\|K-yy^\top\|_F^2 = \|yy^\top\|_F^2\,(1-A(K,yy^\top)^2)",
    bound=bound,
    measure=measure,
    status=Status.HYPOTHESIS,
    remark=(
        "The distance depends on the scale of K; it is a function of the alignment only after "
        "minimizing over that scale, as on a cone of weights."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, note="the counterexample itself"),
    proof="",
)
