"""What is guaranteed of a fit, as the objects that the estimators return."""

from __future__ import annotations

from dataclasses import dataclass

SAMPLE = "samples independent and from one distribution"
UNSEEN = "samples that took no part in the fit"


@dataclass(frozen=True, kw_only=True, repr=False)
class Guarantee:
    """A statement that holds with probability 1 - delta over the samples, and what it rests on.

    Attributes
    ----------
    delta : float
        The statement fails with probability at most ``delta`` if the hypotheses are met.
    vacuous : bool
        True if it says no more than what is known without the sample.
    hypotheses : tuple of str
        What it rests on.
    not_met : tuple of str
        Those that this fit is known not to meet; then the statement is an indication only.
    method : str
        How it was found; empty where nothing can be said.
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
            lines.append("vacuous: this is known without the sample")
        lines.append("rests on: " + "; ".join(self.hypotheses))
        if self.not_met:
            lines.append("NOT met: " + "; ".join(self.not_met))
        return "\n".join(lines)

    __repr__ = __str__


@dataclass(frozen=True, kw_only=True, repr=False)
class AlignmentInterval(Guarantee):
    """Confidence interval for the population alignment of a kernel with the labels.

    It is vacuous if it says no more than that an alignment lies in [0, 1]. The attributes that are
    not listed are those of `Guarantee`.

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
    """Upper bound of the expected squared error of a fit, from its training samples.

    It is vacuous if a constant prediction, the middle of the labels' range, is known to be as good.
    The attributes that are not listed are those of `Guarantee`.

    Attributes
    ----------
    value : float
        The expected squared error is at most this, with probability 1 - delta; units of y^2. Of
        clipped predictions where the hypotheses say so.
    value_if_fixed : float
        What it would be, had the kernel been fixed before the sample was seen.
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
            f"{self.value_if_fixed:.4g} if the kernel had been fixed before)"
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class ErrorBound(Guarantee):
    """Upper bound of the probability that a fitted classifier errs, from its training samples.

    It is vacuous if it is no less than 1/2 or the share of the smaller class in the sample. The
    attributes that are not listed are those of `Guarantee`.

    Attributes
    ----------
    value : float
        The probability of error is at most this, with probability 1 - delta; the smaller of the
        next two, each of which holds with probability 1 - delta/2.
    by_margin : float
        From the margins on the sample and the Rademacher complexity of the class.
    by_random_predictors : float
        PAC-Bayes: from the margins and the norm of the predictor.
    empirical_risk : float
        Share of errors on the training samples.
    size : float
        sum_k R_k ||f_k|| + |b| of the predictor.
    complexity : float
        Of the predictors of size 1, with what random signs may hide.
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
    """Upper bound of the risk of a fitted estimator, from held-out samples.

    It is vacuous if a constant prediction is known to be as good: that of the largest class in the
    held-out samples, or of the middle of the labels' range. The attributes that are not listed are
    those of `Guarantee`.

    Attributes
    ----------
    value : float
        The risk is at most this, with probability 1 - delta: the probability of error, or the
        expected squared error of clipped predictions in units of y^2.
    by_bernstein : float
        The same from the mean and the variance of the losses (Maurer and Pontil), for comparison.
    empirical_risk : float
        On the held-out samples.
    n_samples : int
        How many were held out.
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
