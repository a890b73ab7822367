"""Operations on kernels that give kernels.

Statement (the kernel factory of the slides): k + c with c >= 0, sums with weights >= 0, products,
pointwise limits, f(x) k(x, y) f(y), exp(k) and k(x, y)/(k(x, x) k(y, y))^(1/2) are kernels.
Checked: the smallest eigenvalue of the Gram matrices, and that (1 + k/n)^n tends to exp(k).
Verdict: holds; the limit must exist at every pair. Operations not listed are not rules: differences
and negative shifts may have negative eigenvalues.
"""

import numpy as np

from ..prelude import P5, Claim, NegativeControl


def cases(draw):
    n = draw.integer(1, 6)
    K, L = draw.kernel(n, "generic"), draw.kernel(n)
    return {
        "K": K / max(1.0, np.abs(K).max()),
        "L": L / max(1.0, np.abs(L).max()),
        "shift": abs(draw.array(1)[0]),
        "weights": np.abs(draw.array(2)),
        "f": draw.array(n),
    }


def made(case):
    """Gram matrices of the kernels that the rules make of two kernels."""
    K, L, f = case["K"], case["L"], case["f"]
    norm = np.sqrt(np.maximum(np.diag(K), 0.0))
    inverse = np.divide(1.0, norm, where=norm > 1e-8, out=np.zeros(len(norm)))
    a, b = case["weights"]
    return [
        K + case["shift"],
        a * K + b * L,
        K * L,
        np.outer(f, f) * K,
        np.exp(K),
        np.outer(inverse, inverse) * K,
        (1 + K / 50) ** 50,
    ]


def least(K):
    """The smallest eigenvalue divided by the size of the matrix."""
    size = np.abs(K).max()
    return float(np.linalg.eigvalsh((K + K.T) / 2)[0] / size) if size > 0 else 0.0


def bound(case):
    """No negative eigenvalue; and the limit up to 1/n, as |k| <= 1."""
    return np.append(np.zeros(7), -np.e / 50)


def measure(case):
    grams = made(case)
    return np.append([least(K) for K in grams], -np.abs(grams[-1] - grams[4]).max())


def _control_case():
    K = np.array([[1.0, 0.5], [0.5, 1.0]])
    return {"K": K, "L": 0.95 * K + 0.1, "shift": 0.1, "weights": np.ones(2), "f": np.ones(2)}


def _difference(case):
    return np.append(np.zeros(7), least(case["K"] - case["L"]))


CLAIM = Claim(
    name="p5-factory",
    source=f"{P5}, kernel factory",
    statement=(
        r"k+\gamma,\ \sum_m\alpha_m k_m,\ \prod_m k_m,\ \lim_n k_n,\ f k f,\ e^k,"
        r"\ k/\sqrt{k k} \text{ are kernels}"
    ),
    hypotheses="Kernels; gamma, alpha_m >= 0; limits exist at every pair.",
    kind="lower",
    bound=bound,
    measure=measure,
    cases=cases,
    scale=lambda case: 1.0,
    rtol=1e-12,
    negative_control=NegativeControl(
        _control_case,
        bound=lambda case: np.zeros(8),
        measure=_difference,
        note="a difference of two kernels that differ by little",
    ),
)
