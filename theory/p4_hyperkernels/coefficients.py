"""The effect of a negative coefficient on the learned kernel.

Statement (after (2.3) of the 2020 paper): coefficients may be negative, so that the learned kernel
can be positive definite or indefinite. Checked: the smallest eigenvalue of the Gram matrix of k*
for non-positive coefficients. Verdict: holds. A negative coefficient does not make k* indefinite by
itself: on (-1, 0, 1) one of -0.2 at (-1, 1) beside 1 at (0, 0) leaves all eigenvalues positive.
Sharpened, for the Gaussian hyper-kernel: k* is positive semi-definite if for each midpoint the sum
of beta_p exp(-|x_i - x_j|^2/(2 v1)) over its pairs is not negative; proofs.md, section 4.

`p4-definite-coefficients`. Non-negative coefficients and positive definite kernels. Statement
(section 2.2 of the 2020 paper): if all coefficients are positive, the learned kernel is positive
definite. Checked: the smallest eigenvalue of its Gram matrix. Verdict: unstated hypothesis.
Definition 2.1 lets f(p) f(q) in for every symmetric f, here xx' - 1, whose Gram matrix on {0, 1}
has eigenvalue -1.618. Correct with the condition that every section k(p, .) is a kernel, as for the
Gaussian hyper-kernel (if and only if 4 v2 >= v1) and the Wishart one; proofs.md, sections 1 and 4.
"""

from functools import partial

import numpy as np

from ..prelude import P4, Claim, HypothesisNotMet, NegativeControl, Status, replace
from ..reference import hyper
from .problems import random_case, smallest_eigenvalue


def cases(draw):
    case = random_case(draw, gaussian=True)
    beta = draw.array(len(case["X"]) ** 2)
    totals, group = by_midpoint(case | {"beta": beta})
    return case | {"beta": np.where(totals[group] < 0, -beta, beta)}


def by_midpoint(case):
    """sum beta_p exp(-|x_i - x_j|^2/(2 v1)) for each midpoint, and the midpoint of each pair."""
    S, T = hyper.ordered_pairs(case["X"])
    v1, _ = hyper.variances(**case["kernel"].keywords)
    _, group = np.unique(np.round((S + T) / 2, 12), axis=0, return_inverse=True)
    group = group.ravel()
    terms = case["beta"] * np.exp(-((S - T) ** 2).sum(1) / (2 * v1))
    return np.bincount(group, terms), group


def sharp_bound(case):
    return 0.0


def sharp_measure(case):
    gram = hyper.learned_gram(case["X"], case["beta"], case["Z"], case["kernel"])
    return float(np.linalg.eigvalsh(gram)[0])


def still_definite():
    """A negative coefficient with a positive definite Gram matrix."""
    X = np.array([[-1.0], [0.0], [1.0]])
    beta = np.zeros((3, 3))
    beta[1, 1], beta[0, 2] = 1.0, -0.2
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    return {"X": X, "kernel": kernel, "beta": beta.ravel(), "Z": X}


def _control_case():
    """Two midpoints far apart, so that each shows in an eigenvalue of its own."""
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    X = np.array([[0.0], [9.0]])
    return {"X": X, "kernel": kernel, "beta": np.array([1.0, 0.0, 0.0, 0.01]), "Z": X}


def _other_sign(case):
    return sharp_measure(case | {"beta": case["beta"] * [1, 1, 1, -1]})


SHARP = Claim(
    name="p4-negative-coefficients-sharpened",
    source=f"{P4}, after (2.3), sharpened",
    statement=(
        r"\forall c:\ \sum_{p:\,(s_p+t_p)/2=c}\beta_p e^{-\|s_p-t_p\|^2/(2v_1)} \ge 0"
        r"\ \Rightarrow\ k^* \succeq 0"
    ),
    hypotheses="Gaussian hyper-kernel.",
    kind="lower",
    bound=sharp_bound,
    measure=sharp_measure,
    cases=cases,
    scale=lambda case: np.abs(case["beta"]).sum() + 1e-300,
    negative_control=NegativeControl(
        _control_case, measure=_other_sign, note="one midpoint with -.01"
    ),
    proof="4",
)


def negative_cases(draw):
    """Draw non-positive coefficients: minus a kernel."""
    case = cases(draw)
    return case | {"beta": -np.abs(case["beta"]) - 1e-3}


def bound(case):
    """Minus the largest entry: minus the Gram matrix is positive semi-definite."""
    return -np.abs(hyper.learned_gram(case["X"], case["beta"], case["Z"], case["kernel"])).max()


def _one_pair():
    case = still_definite()
    return case | {"X": case["X"][:1], "Z": case["X"][:1], "beta": -np.ones(1)}


CLAIM = replace(
    SHARP,
    name="p4-negative-coefficients",
    source=f"{P4}, section 2.1, after (2.3)",
    statement=r"\min_p \beta_p < 0:\ k^* \text{ can be indefinite}",
    hypotheses="Gaussian hyper-kernel, no positive coefficient.",
    kind="upper",
    bound=bound,
    measure=sharp_measure,
    cases=negative_cases,
    corrected=SHARP,
    negative_control=NegativeControl(
        _one_pair, bound=lambda case: 1.05 * bound(case), note="1.05 times as far below"
    ),
    proof="",
)


# -- p4-definite-coefficients ----------------------------------------------------------


def definite_cases(draw):
    case = random_case(draw)
    return case | {"beta": np.abs(draw.array(len(case["X"]) ** 2))}


def definite_bound(case):
    return 0.0


def definite_measure(case):
    gram = hyper.learned_gram(case["X"], case["beta"], case["Z"], case["kernel"])
    return float(np.linalg.eigvalsh((gram + gram.T) / 2)[0])


def affine(S, T):
    """Return <s, t> - 1."""
    return (S * T).sum(1) - 1


def definite_counterexample():
    X = np.array([[0.0], [1.0]])
    kernel = partial(hyper.product, function=affine)
    return {"X": X, "kernel": kernel, "beta": np.array([1.0, 0, 0, 0]), "Z": X}


def definite_corrected_bound(case):
    S, T = hyper.ordered_pairs(case["X"])
    for s, t in zip(S[:, None], T[:, None]):
        section = case["kernel"](s, t, *hyper.ordered_pairs(case["Z"]))
        if smallest_eigenvalue(section.reshape(len(case["Z"]), -1)) < -1e-8:
            raise HypothesisNotMet("every section k(p, .) must be a kernel")
    return 0.0


def _definite_control_case():
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.0)
    X = np.array([[0.0], [0.5], [1.0], [1.5]])
    return {"X": X[:1], "kernel": kernel, "beta": np.ones(1), "Z": X}


def _narrow(case):
    """4 v2 = 0.9 v1, which no sigma_h >= 0 gives."""
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.225 - 1)
    return definite_measure(case | {"kernel": kernel})


DEFINITE_CORRECTED = Claim(
    name="p4-definite-coefficients-corrected",
    source=f"{P4}, section 2.2, corrected",
    statement=(
        r"\beta \ge 0,\ \underline{k}(p,\cdot) \succeq 0\ \forall p"
        r" \Rightarrow k^* \succeq 0"
    ),
    hypotheses="Every section of the hyper-kernel is a kernel.",
    kind="lower",
    bound=definite_corrected_bound,
    measure=definite_measure,
    cases=definite_cases,
    scale=lambda case: np.abs(case["beta"]).sum() + 1e-300,
    negative_control=NegativeControl(_definite_control_case, measure=_narrow, note="4 v2 = .9 v1"),
    proof="4",
)

DEFINITE = replace(
    DEFINITE_CORRECTED,
    name="p4-definite-coefficients",
    source=f"{P4}, section 2.2",
    statement=r"\beta \ge 0 \Rightarrow k^* \succeq 0",
    hypotheses="A hyper-kernel as in definition 2.1.",
    bound=definite_bound,
    status=Status.HYPOTHESIS,
    remark=(
        "Every section of the hyper-kernel has to be a kernel, which definition 2.1 does not "
        "require; it holds for Gaussian and Wishart hyper-kernels."
    ),
    counterexample=definite_counterexample,
    corrected=DEFINITE_CORRECTED,
    proof="",
)
