"""The penalty that the regularization of the KCCA estimate implies.

Statement (slides, Q2): the estimate with (G + kappa I)^2 is that of sup cov(f, g)/((var f + kappa
|f|^2)(var g + kappa |g|^2))^(1/2), with the same kappa. Checked: both on a sample. Verdict: false:
no value of kappa makes them equal, as for a view of one eigenvalue s the estimate is s^2/(s +
kappa)^2 and the other s/(s + N kappa'). (1/N)(G + kappa I)^2 = (1/N) G^2 + (2 kappa/N) G +
(kappa^2/N) I penalizes the norm by 2 kappa/N, and the coefficients by kappa^2/N on top. So the
estimate lies between v w and 1 times that of the penalty 2 kappa/N, where v, w are the smallest of
the numbers (1 + kappa^2/(s^2 + 2 kappa s))^(-1/2) over the eigenvalues s > 0; proofs.md, section
12.

`p5-kcca-second-block`. The KCCA problem with ones on the diagonal. Statement (slides, Q3): adding
the right-hand side to both sides gives a problem with the eigenvalues 1 +- lambda; the right-hand
side is printed with (G_X + kappa I)^2 in both blocks. Checked: the eigenvalues against 1 +- those
of the problem before. Verdict: misprint; the second block is (G_Y + kappa I)^2; proofs.md, section
13.

`p5-kcca-several`. Measures of dependence of more than two variables from the KCCA problem. Not on
the slides, which write down the problem of M variables and do not state which gamma is the measure:
for M > 2 the largest and the smallest are two measures, max in [1, M] and min in [0, 1]. With a =
max - 1 and b = 1 - min: a <= (M - 1) b and b <= (M - 1) a, so that a/(M - 1) is in [0, 1] and both
vanish together; proofs.md, section 13. Checked: the four inequalities. Verdict: holds.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl, Status, center, replace
from ..reference import kcca


def cases(draw):
    return {"G": kcca.drawn(draw), "kappa": draw.log_real(1e-3, 10.0)}


def bound(case):
    return kcca.penalized(case["G"], case["kappa"])


def measure(case):
    return kcca.correlation(case["G"], case["kappa"])


def counterexample():
    """A view of two points, twice: s = 1, N = 2, so s/(s + kappa) squared is the estimate."""
    return {"G": np.array([center(np.eye(2))] * 2), "kappa": 0.1}


def corrected_bound(case):
    """The estimate, and the estimate with the penalty."""
    value = kcca.penalized(case["G"], 2 * case["kappa"] / len(case["G"][0]))
    return np.array([value, measure(case)])


def corrected_measure(case, power=1.0):
    """The estimate, and its lower bound."""
    kappa, value = case["kappa"], kcca.penalized(case["G"], 2 * case["kappa"] / len(case["G"][0]))
    for K in case["G"]:
        s = np.linalg.eigvalsh(K)
        s = s[s > 1e-9 * s[-1]]
        value *= ((1 + kappa**2 / (s**2 + 2 * kappa * s)) ** -0.5).min() ** power
    return np.array([measure(case), value])


def _one_kappa(case):
    """The penalty kappa/N."""
    value = kcca.penalized(case["G"], case["kappa"] / len(case["G"][0]))
    return np.array([measure(case), value * corrected_measure(case)[1] / corrected_bound(case)[0]])


CORRECTED = Claim(
    name="p5-kcca-penalty-corrected",
    source=f"{P5}, KCCA, Q2, corrected",
    statement=(
        r"\tfrac1N(G+\kappa I)^2 = \tfrac1N G^2 + \tfrac{2\kappa}{N}G + \tfrac{\kappa^2}{N}I"
        r"\ \Rightarrow\ v w\,\rho(2\kappa/N) \le \hat\rho \le \rho(2\kappa/N)"
    ),
    hypotheses="kappa > 0.",
    kind="upper",
    bound=corrected_bound,
    measure=corrected_measure,
    cases=cases,
    scale=lambda case: 1.0,
    negative_control=NegativeControl(
        counterexample, measure=_one_kappa, note="kappa/N in place of 2 kappa/N"
    ),
    proof="12",
)

CLAIM = replace(
    CORRECTED,
    name="p5-kcca-penalty",
    source=f"{P5}, KCCA, Q2",
    statement=r"\hat\rho = \sup_{f,g} \mathrm{corr}(f(X), g(Y); \kappa)",
    kind="identity",
    bound=bound,
    measure=measure,
    quotation="In fact, we estimated",
    status=Status.FALSE,
    remark=(
        "The two are not equal for any kappa: (G + kappa I)^2/N penalizes the norm by 2 kappa/N "
        "and also the coefficients. Use 2 kappa/N in the penalized problem."
    ),
    counterexample=counterexample,
    corrected=CORRECTED,
    negative_control=NegativeControl(
        counterexample,
        bound=lambda case: kcca.penalized(case["G"], case["kappa"] / 2),
        note="the penalty kappa/N",
    ),
    proof="",
)


# -- p5-kcca-second-block --------------------------------------------------------------


def second_cases(draw):
    return {"G": kcca.drawn(draw), "kappa": draw.log_real(1e-2, 10.0)}


def shifted_eigenvalues(case, blocks):
    """Eigenvalues of (A + B) z = gamma B' z, where B' has the blocks of these views."""
    A, B = kcca.pencil(case["G"], case["kappa"])
    _, right = kcca.pencil(case["G"][list(blocks)], case["kappa"])
    return kcca.eigenvalues(A + B, right)


def second_bound(case):
    return shifted_eigenvalues(case, (0, 0))


def second_measure(case):
    return 1 + kcca.eigenvalues(*kcca.pencil(case["G"], case["kappa"]))


def second_counterexample():
    """The second view has twice the scale."""
    K = center(np.eye(2))
    return {"G": np.array([K, 2 * K]), "kappa": 0.5}


def second_corrected_bound(case):
    return shifted_eigenvalues(case, (0, 1))


def _scale(case):
    return (1.0 + np.abs(case["G"]).max() / case["kappa"]) ** 2


def _control_case():
    K = center(np.eye(2))
    return {"G": np.array([K, 1.05 * K]), "kappa": 0.5}


SECOND_CORRECTED = Claim(
    name="p5-kcca-second-block-corrected",
    source=f"{P5}, KCCA, Q3, corrected",
    statement=(r"(A+B)z = (1+\lambda)Bz,\ B = \mathrm{diag}((G_X+\kappa I)^2, (G_Y+\kappa I)^2)"),
    hypotheses="kappa > 0.",
    kind="identity",
    bound=second_corrected_bound,
    measure=second_measure,
    cases=second_cases,
    scale=_scale,
    rtol=1e-9,
    negative_control=NegativeControl(
        _control_case, bound=second_bound, note="the block of G_X for a G_Y 5 % larger"
    ),
    proof="13",
)

SECOND = replace(
    SECOND_CORRECTED,
    name="p5-kcca-second-block",
    source=f"{P5}, KCCA, Q3",
    statement=(r"(A+B)z = (1+\lambda)\,\mathrm{diag}((G_X+\kappa I)^2, (G_X+\kappa I)^2) z"),
    bound=second_bound,
    status=Status.MISPRINT,
    remark="(G_X + kappa I)^2 is printed in both blocks; the second block contains G_Y.",
    counterexample=second_counterexample,
    corrected=SECOND_CORRECTED,
    proof="",
)


# -- p5-kcca-several -------------------------------------------------------------------


def several_cases(draw):
    views = draw.integer(2, 4)
    return {"G": kcca.drawn(draw, views, most=5), "kappa": draw.log_real(1e-2, 10.0)}


def ends(case):
    """Return (max - 1, 1 - min)."""
    A, B = kcca.pencil(case["G"], case["kappa"])
    values = kcca.eigenvalues(A + B, B)
    return values[-1] - 1, 1 - values[0]


def three_copies():
    """A view of two points three times: the eigenvalues are near 3, and 0 twice."""
    return {"G": np.array([center(np.eye(2))] * 3), "kappa": 0.01}


def several_bound(case):
    a, b = ends(case)
    views = len(case["G"])
    return np.array([(views - 1) * b, (views - 1) * a, views - 1, 1.0])


def several_measure(case):
    a, b = ends(case)
    return np.array([a, b, a, b])


def _slightly_less(case):
    return np.append(0.95 * several_bound(case)[:2], several_bound(case)[2:])


SEVERAL = Claim(
    name="p5-kcca-several",
    source=f"{P5}, KCCA, Q3, new",
    status=Status.NEW,
    statement=(
        r"\gamma_{\max}-1 \le (M-1)(1-\gamma_{\min}),\ 1-\gamma_{\min} \le"
        r" (M-1)(\gamma_{\max}-1),\ 1 \le \gamma_{\max} \le M,\ 0 \le \gamma_{\min} \le 1"
    ),
    hypotheses="kappa > 0.",
    kind="upper",
    bound=several_bound,
    measure=several_measure,
    cases=several_cases,
    scale=lambda case: (1.0 + np.abs(case["G"]).max() / case["kappa"]) ** 2,
    rtol=1e-10,
    negative_control=NegativeControl(
        three_copies, bound=_slightly_less, note="0.95 of the first two bounds"
    ),
    proof="13",
    extremes=lambda: [three_copies()],
    sharp=True,
)
