"""Required ratio of a ladder of Gaussian kernels: its error for a Gaussian between two rungs.

A Gaussian ``exp(-gamma r)`` of the squared distance r of two independent points N(0, v I) is
approximated by a combination of rungs ``exp(-a_k r)``, whose coefficients may be any functions of
the midpoint. In two dimensions the smallest relative error in L2 is exactly ``prod_k |gamma - a_k|
/ (gamma + a_k + 1/(4 v))``; in one dimension it is at most that, in more at least. An infinite
ladder of ratio q has, for distant points, an error of at most ``2 exp(-pi^2 / (2 ln q))``: 5.7% for
q = 4 and 0.16% for q = 2. Proofs: ``p4_hyperkernels/proofs.md``, section 22.
"""

from __future__ import annotations

import numpy as np

from alignlearn.bounds.checks import HypothesisNotMet, check_positive


def ladder_error(gamma, rates, variance=np.inf) -> float:
    """Relative L2 error of a ladder on ``exp(-gamma r)`` in two dimensions.

    ``prod_k |gamma - a_k| / (gamma + a_k + 1/(4 v))``.

    Parameters
    ----------
    gamma : float > 0
    rates : array of shape (p,), > 0
        a_k.
    variance : float > 0
        v of each coordinate of the points; infinite for distant points.

    Raises
    ------
    HypothesisNotMet
        If a number is not positive.
    """
    check_positive("gamma", gamma, "the target must decay")
    rates = np.atleast_1d(np.asarray(rates, dtype=float))
    if not (rates > 0).all() or not variance > 0:
        raise HypothesisNotMet("rates and variance must be positive.")
    return float(np.prod(np.abs(gamma - rates) / (gamma + rates + 0.25 / variance)))


def ratio_error(ratio) -> float:
    """Relative error of an infinite ladder of this ratio for the worst Gaussian.

    ``prod_k tanh((2k + 1) ln(q) / 4)^2``, at most ``2 exp(-pi^2 / (2 ln q))``.

    Parameters
    ----------
    ratio : float > 1

    Raises
    ------
    HypothesisNotMet
        If the ratio is not above 1.
    """
    if not ratio > 1.0:
        raise HypothesisNotMet(
            f"ratio={ratio!r}: the rates of neighboring kernels must differ; accepted: ratio > 1."
        )
    step = float(np.log(ratio)) / 4.0
    if step < 0.05:  # an error below 1e-10: the product has too many factors
        return float(2.0 * np.exp(-(np.pi**2) / (8.0 * step)))
    k = np.arange(1.0, 42.0 / step, 2.0)
    return float(np.exp(2.0 * np.log(np.tanh(k * step)).sum()))


def ratio_for(error) -> float:
    """The ratio of neighboring rates of a ladder for this error: ``exp(pi^2 / (2 ln(2 / error)))``.

    Parameters
    ----------
    error : float in (0, 1)
        Error for the worst Gaussian between two neighboring kernels; the ratio is 2.0 for 0.0016
        and 4.0 for 0.057.

    Raises
    ------
    HypothesisNotMet
        If the error is not in (0, 1).
    """
    if not 0.0 < error < 1.0:
        raise HypothesisNotMet(f"error={error!r}; accepted: 0 < error < 1.")
    return float(np.exp(np.pi**2 / (2.0 * np.log(2.0 / error))))
