"""The orthogonality of kernels that isolating a vector requires.

Statement (definition 1 and its use after lemma 1, 2009 paper): if Phi_i(x)'Phi_j(x) = 0 for all x
and i != j, then |sum_k c_k Phi_k alpha|^2 = sum_k c_k^2 |Phi_k alpha|^2. Checked: both sides for
random features that meet (18). Verdict: misprint. (18) is for equal points only; Phi_1 = (e1, e2),
Phi_2 = (e2, e1) at two points meet it, and Phi_1 alpha = Phi_2 alpha for alpha = (1, 1). Correct:
Phi_i(x)'Phi_j(x') = 0 for all x, x'. As feature maps may be chosen, any kernels have orthogonal
ones, in the direct sum of their spaces: the definition excludes nothing; proofs.md, section 7.
"""

import numpy as np

from ..prelude import P2, Claim, NegativeControl, Status, replace


def cases(draw):
    """Draw features (p, n, d) of p kernels, with a different orthogonal frame at every point."""
    p, n = draw.integer(2, 3), draw.integer(1, 4)
    frames = np.array([np.linalg.qr(draw.array((p, p)) + 3 * np.eye(p))[0] for _ in range(n)])
    sizes = np.abs(draw.array((p, n, 1)))
    return {
        "features": sizes * frames.transpose(2, 0, 1),
        "alpha": draw.array(n) + 0.1,
        "c": draw.array(p),
    }


def _scale(case):
    size = np.abs(case["features"]).max() * np.abs(case["alpha"]).sum()
    return 1e-9 + np.abs(case["c"]).sum() * size


def bound(case):
    vectors = np.einsum("knd,n->kd", case["features"], case["alpha"])
    return float(np.sqrt((case["c"] ** 2 * (vectors**2).sum(1)).sum()))


def measure(case):
    return float(np.linalg.norm(np.einsum("k,knd,n->d", *_terms(case))))


def _terms(case):
    return case["c"], case["features"], case["alpha"]


def counterexample():
    """0 on the left, 2 on the right."""
    frame = np.eye(2)
    features = np.array([frame, frame[::-1]])
    return {"features": features, "alpha": np.ones(2), "c": np.array([1.0, -1.0])}


def general_cases(draw):
    """Draw any features, because those of a direct sum need not be orthogonal before."""
    p, n, d = draw.integer(1, 3), draw.integer(1, 4), draw.integer(1, 3)
    return {"features": draw.array((p, n, d)), "alpha": draw.array(n), "c": draw.array(p)}


def direct_sum(features):
    """The same kernels with features (p, n, p d) in orthogonal spaces."""
    p, n, d = features.shape
    apart = np.zeros((p, n, p, d))
    for k in range(p):
        apart[k, :, k] = features[k]
    return apart.reshape(p, n, p * d)


def direct_measure(case):
    return measure(case | {"features": direct_sum(case["features"])})


def _two_kernels():
    return counterexample() | {"c": np.array([1.0, 0.2])}


def _sum_of_norms(case):
    vectors = np.einsum("knd,n->kd", case["features"], case["alpha"])
    return float((np.abs(case["c"]) * np.linalg.norm(vectors, axis=1)).sum())


CORRECTED = Claim(
    name="p2-definition-1-corrected",
    source=f"{P2}, Definition 1, corrected",
    statement=(
        r"\Phi_i(x)^\top\Phi_j(x') = 0 \Rightarrow \|\textstyle\sum_k c_k\Phi_k\alpha\|^2 ="
        r" \sum_k c_k^2\|\Phi_k\alpha\|^2"
    ),
    hypotheses="For all x, x' and i != j, as in the direct sum of any feature spaces.",
    kind="identity",
    bound=bound,
    measure=direct_measure,
    cases=general_cases,
    scale=_scale,
    negative_control=NegativeControl(_two_kernels, bound=_sum_of_norms, note="the sum of norms"),
    proof="7",
)

CLAIM = replace(
    CORRECTED,
    name="p2-definition-1",
    source=f"{P2}, section 4.2, Definition 1 and (18)",
    statement=(
        r"\Phi_i(x)^\top\Phi_j(x) = 0 \Rightarrow \|\textstyle\sum_k c_k\Phi_k\alpha\|^2 ="
        r" \sum_k c_k^2\|\Phi_k\alpha\|^2"
    ),
    hypotheses="(18): for all x and i != j.",
    measure=measure,
    cases=cases,
    status=Status.MISPRINT,
    remark=(
        "A prime is missing twice: the features must be orthogonal for all pairs x, x', as in the "
        "examples of the paper; orthogonality at each x alone is not enough for proposition 2."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(counterexample, bound=_sum_of_norms, note="the sum of norms"),
    proof="",
)
