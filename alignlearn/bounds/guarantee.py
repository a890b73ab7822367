"""Guarantees for a fitted model: the objects that the estimators return."""

from __future__ import annotations

from dataclasses import dataclass

SAMPLE = "samples independent and identically distributed"
UNSEEN = "samples not used by the fit"


@dataclass(frozen=True, kw_only=True, repr=False)
class Guarantee:
    """A statement with its hypotheses, which holds with probability 1 - delta over the samples.

    Attributes
    ----------
    delta : float
        The statement fails with probability at most ``delta`` if the hypotheses are met.
    vacuous : bool
        True if the statement holds trivially, for every sample.
    hypotheses : tuple of str
        The assumptions of the statement.
    not_met : tuple of str
        The assumptions that this fit does not meet. The statement is then only an indication.
    method : str
        How the bound was computed; empty if there is no bound.
    """

    delta: float
    vacuous: bool
    hypotheses: tuple[str, ...]
    not_met: tuple[str, ...] = ()
    method: str = ""

    def _statement(self):
        """The first line of the text."""
        raise NotImplementedError

    def __str__(self):
        lines = [self._statement()]
        if self.vacuous:
            lines.append("vacuous: this holds without the sample")
        lines.append("assumes: " + "; ".join(self.hypotheses))
        if self.not_met:
            lines.append("NOT met: " + "; ".join(self.not_met))
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, kw_only=True, repr=False)
class AlignmentInterval(Guarantee):
    """Confidence interval for the population alignment of a kernel with the labels.

    The interval is vacuous if it is [0, 1]. Further attributes are those of `Guarantee`.

    Attributes
    ----------
    low, high : float
    """

    low: float
    high: float

    def _statement(self):
        ends = f"alignment in [{self.low:.4f}, {self.high:.4f}]"
        method = f" ({self.method})" if self.method else ""
        return f"{ends} with probability {1 - self.delta:g}{method}"


@dataclass(frozen=True, kw_only=True, repr=False)
class RiskBound(Guarantee):
    """Upper bound on the expected squared error of a fit, from its training samples.

    The bound is vacuous if the constant prediction in the middle of the labels' range is known to
    be as good. Further attributes are those of `Guarantee`.

    Attributes
    ----------
    value : float
        The expected squared error is at most this, with probability 1 - delta; units of y^2. If
        the hypotheses list clipping, it is the error of clipped predictions.
    value_if_fixed : float
        The bound for a kernel that is fixed before the sample is drawn.
    empirical_risk : float
        Mean squared error on the training samples.
    """

    value: float
    value_if_fixed: float
    empirical_risk: float

    def _statement(self):
        return (
            f"expected squared error at most {self.value:.4g} with probability "
            f"{1 - self.delta:g} ({self.method}; training: {self.empirical_risk:.4g}; "
            f"{self.value_if_fixed:.4g} if the kernel had been fixed in advance)"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class ErrorBound(Guarantee):
    """Upper bound on the error probability of a fitted classifier, from its training samples.

    The bound is vacuous if it is not below 1/2 and the share of the smaller class in the sample.
    Further attributes are those of `Guarantee`.

    Attributes
    ----------
    value : float
        The probability of error is at most this, with probability 1 - delta. The minimum of the
        next two attributes, each of which holds with probability 1 - delta/2.
    by_margin : float
        From the margins on the sample and the Rademacher complexity of the class.
    by_random_predictors : float
        PAC-Bayes: from the margins and the norm of the predictor.
    empirical_risk : float
        Share of errors on the training samples.
    size : float
        sum_k R_k ||f_k|| + |b| of the predictor.
    complexity : float
        Rademacher complexity of the predictors of size 1, including the error of its Monte Carlo
        estimate.
    """

    value: float
    by_margin: float
    by_random_predictors: float
    empirical_risk: float
    size: float
    complexity: float

    def _statement(self):
        return (
            f"probability of error at most {self.value:.4g} with probability {1 - self.delta:g} "
            f"(training: {self.empirical_risk:.4g}; from margins {self.by_margin:.4g}, PAC-Bayes "
            f"{self.by_random_predictors:.4g})"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class HeldOutBound(Guarantee):
    """Upper bound on the risk of a fitted estimator, from held-out samples.

    The bound is vacuous if a constant prediction is known to be as good: the largest class in the
    held-out samples, or the middle of the labels' range. Further attributes are those of
    `Guarantee`.

    Attributes
    ----------
    value : float
        The risk is at most this, with probability 1 - delta: the probability of error, or the
        expected squared error of clipped predictions in units of y^2.
    by_bernstein : float
        The bound from the mean and the variance of the losses (Maurer and Pontil), for comparison.
    empirical_risk : float
        Mean loss on the held-out samples.
    n_samples : int
        Number of held-out samples.
    loss : str
        "probability of error" or "expected squared error".
    """

    value: float
    by_bernstein: float
    empirical_risk: float
    n_samples: int
    loss: str

    def _statement(self):
        return (
            f"{self.loss} at most {self.value:.4g} with probability {1 - self.delta:g} "
            f"({self.method}; {self.n_samples} held-out samples: {self.empirical_risk:.4g}; by the "
            f"variance, Maurer and Pontil: {self.by_bernstein:.4g})"
        )
