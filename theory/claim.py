"""A published statement as an object, and the function that checks it.

A `Claim` describes what is asserted (`bound`), what it is about (`measure`), on which inputs
(`cases`), and what is known about it (`status`, `counterexample`, `corrected`). `check` evaluates
one case and returns a `Verdict`. The fixed order of a claim file is that of `template.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any

import numpy as np

from alignlearn.bounds.binomial import clopper_pearson
from alignlearn.bounds.checks import HypothesisNotMet

KINDS = ("identity", "upper", "lower", "equivalence", "convergence")
OUTCOMES = ("holds", "violated", "vacuous", "inconclusive")

Case = dict[str, Any]


class Status(str, Enum):
    """The status of a statement, as printed.

    ``TRUE``
        It holds.
    ``PROOF_WRONG``
        It holds, but a step of the printed proof fails.
    ``DEGENERATE``
        It holds, but is no stronger than a trivial bound.
    ``MISPRINT``
        It fails by a constant, sign, index or exponent; its derivation shows the intended form,
        which holds.
    ``HYPOTHESIS``
        It fails, but holds under a hypothesis that is not stated there.
    ``FALSE``
        It fails, and neither a missing hypothesis nor a misprint is the reason.
    ``GAP``
        Stated without a proof, or too vaguely to decide; the claim records the reading that is
        checked.
    ``NEW``
        It holds, and is not in the papers.

    Examples
    --------
    >>> from alignlearn.theory import CLAIMS, Status
    >>> CLAIMS["p1-prop-7"].status is Status.MISPRINT
    True
    >>> CLAIMS["p1-prop-7"].corrected is not None
    True
    """

    TRUE = "true"
    PROOF_WRONG = "true, proof wrong"
    DEGENERATE = "true but degenerate"
    MISPRINT = "misprint"
    HYPOTHESIS = "unstated hypothesis"
    FALSE = "false"
    GAP = "gap"
    NEW = "new"

    def __str__(self) -> str:
        return self.value

    @property
    def holds(self) -> bool:
        """Whether the status asserts that no case violates the statement."""
        return self in (Status.TRUE, Status.PROOF_WRONG, Status.DEGENERATE, Status.NEW)

    @property
    def outcome(self) -> str:
        """The outcome that the cases of the claim must have."""
        if self is Status.DEGENERATE:
            return "vacuous"
        return "holds" if self.holds else "violated"


@dataclass(frozen=True)
class NegativeControl:
    """A deliberately wrong variant of a claim, with a case on which `check` must reject it.

    Attributes
    ----------
    case : callable () -> Case
    bound, measure : callable Case -> value, optional
        Replacements of those of the claim. Default: those of the claim.
    note : str
        What was changed.

    Examples
    --------
    A check that cannot fail shows nothing, so each claim has a wrong variant that must be rejected.

    >>> from alignlearn.theory import CLAIMS, check
    >>> claim = CLAIMS["p1-lemma-1"]
    >>> claim.negative_control.note
    'centered on one side'
    >>> check(claim.wrong(), claim.negative_control.case()).outcome
    'violated'
    """

    case: Callable[[], Case]
    bound: Callable[[Case], Any] | None = None
    measure: Callable[[Case], Any] | None = None
    note: str = ""


@dataclass(frozen=True)
class Mutant:
    """A wrong variant of a claim that at least one case of the claim must reject.

    Attributes
    ----------
    note : str
        What was changed, for example ``"second term dropped"``.
    bound, measure : callable Case -> value, optional
        Replacements of those of the claim. Default: those of the claim.
    """

    note: str
    bound: Callable[[Case], Any] | None = None
    measure: Callable[[Case], Any] | None = None


@dataclass(frozen=True)
class Claim:
    """One published statement.

    Attributes
    ----------
    name : str
        Key in `CLAIMS`, for example ``"p1-lemma-1"``.
    source : str
        Paper and number.
    statement : str
        LaTeX, without dollar signs.
    hypotheses : str
        In words.
    kind : {"identity", "upper", "lower", "equivalence", "convergence"}
        How `measure` is asserted to relate to `bound`: equal (identity, equivalence of two
        problems by their optimal values), at most (upper; convergence, with the residual
        measured), at least (lower).
    bound, measure : callable Case -> float, Fraction or array
        Compared elementwise. Exact when both are rational.
    cases : callable Draw -> Case
        Draws an input that meets the hypotheses (see `draws.py`).
    confidence : float or None
        None for a deterministic statement. Otherwise the usual confidence 1 - delta; the entries of
        `measure` are then independent repetitions, and their violation frequency is compared with
        ``case["delta"]``.
    status : Status
        Status of the statement as printed.
    remark : str
        One plain sentence: what is wrong, and what follows for a user. Required unless the status
        is TRUE or NEW.
    quotation : str
        The words of the paper that decide a disputed status.
    follows : str
        The claim whose error this one inherits, if its own derivation is sound.
    counterexample : callable () -> Case, optional
        A case that violates the printed statement. Required if the statement fails.
    corrected : Claim, optional
        The corrected or sharpened statement.
    negative_control : NegativeControl
    scale : callable Case -> float, optional
        The magnitude that rounding is relative to; by default the larger of the two compared
        numbers.
    rtol : float
        Rounding allowance in units of `scale`.
    trivial : callable Case -> float, optional
        The bound that holds without the statement; a bound no smaller than it is vacuous.
    proof : str
        Section of ``proofs.md`` in the folder of the claim, if the statement is corrected or
        sharpened.
    extremes : callable () -> iterable of Case, optional
        The known cases closest to a violation; they are tried before the random ones.
    sharp : bool
        Whether the constant is the best possible: the cases must reject the bound shrunk by 5%.
    mutants : tuple of Mutant
        Variants with a single term or constant changed, which shrinking the whole bound cannot
        test.
    factors : mapping of str to callable Case -> float
        Powers of the arguments of the bound, such as ``{"m^(-1/2)": ...}``. Some case must reject
        the bound multiplied by each of them.

    Examples
    --------
    >>> from alignlearn.theory import CLAIMS
    >>> claim = CLAIMS["p1-lemma-1"]
    >>> claim.source[-7:], claim.kind, claim.status.value
    ('Lemma 1', 'identity', 'true')
    >>> "K_c = U K U" in claim.statement  # LaTeX
    True
    """

    name: str
    source: str
    statement: str
    hypotheses: str
    kind: str
    bound: Callable[[Case], Any]
    measure: Callable[[Case], Any]
    cases: Callable[[Any], Case]
    negative_control: NegativeControl
    status: Status = Status.TRUE
    remark: str = ""
    quotation: str = ""
    follows: str = ""
    confidence: float | None = None
    counterexample: Callable[[], Case] | None = None
    corrected: Claim | None = None
    scale: Callable[[Case], float] | None = None
    rtol: float = 1e-9
    trivial: Callable[[Case], float] | None = None
    proof: str = ""
    extremes: Callable[[], Iterable[Case]] | None = None
    sharp: bool = False
    mutants: tuple[Mutant, ...] = ()
    factors: Mapping[str, Callable[[Case], float]] = field(default_factory=dict, hash=False)

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"kind={self.kind!r} is not known; accepted: {KINDS}.")
        object.__setattr__(self, "status", _status(self.status))
        words = f"{self.name}: status {self.status.value!r} needs"
        if not self.status.holds and self.counterexample is None:
            raise ValueError(f"{words} a counterexample.")
        if self.status not in (Status.TRUE, Status.NEW) and not self.remark:
            raise ValueError(f"{words} a remark.")
        if self.status is Status.DEGENERATE and self.trivial is None:
            raise ValueError(f"{words} what is known without it (trivial).")
        if self.status in (Status.MISPRINT, Status.HYPOTHESIS) and self.corrected is None:
            raise ValueError(f"{words} the form that is meant (corrected).")

    def wrong(self) -> Claim:
        """The negative control as a claim; `check` must reject it on the control's case."""
        control = self.negative_control
        return self.mutated(Mutant("negative control", control.bound, control.measure))

    def mutated(self, mutant: Mutant) -> Claim:
        """The claim with the bound and the measure of a mutant."""
        return replace(
            self,
            name=f"{self.name} ({mutant.note})",
            bound=mutant.bound or self.bound,
            measure=mutant.measure or self.measure,
        )

    def extreme_cases(self) -> list[Case]:
        """Return the cases of `extremes` as a list."""
        return [] if self.extremes is None else list(self.extremes())


def _status(value) -> Status:
    try:
        return Status(value)
    except ValueError:
        accepted = ", ".join(repr(status.value) for status in Status)
        raise ValueError(f"status={value!r} is not known; accepted: {accepted}.") from None


@dataclass(frozen=True)
class Verdict:
    """The result of `check`.

    Attributes
    ----------
    claim : str
    outcome : {"holds", "violated", "vacuous", "inconclusive"}
    bound, measured : float
        At the entry that comes closest to a violation.
    slack : float
        Distance to a violation at that entry, in the units of the claim (negative: violated). For
        an identity, minus the absolute difference.
    tightness : float
        measured / bound for an upper bound (bound / measured for a lower one), relative error for
        an identity.
    violations, trials : int
    frequency : tuple of float
        Clopper-Pearson interval of the violation probability; (nan, nan) for a statement without
        probability.
    note : str
    margin : float
        Largest share, mostly between 0 and 1, by which the bound can be shrunk (raised for a lower
        bound, changed for an identity) before this case rejects it; nan where the bound is 0,
        infinity where no change is rejected.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.theory import CLAIMS, check
    >>> claim = CLAIMS["p1-prop-7"]
    >>> verdict = check(claim, claim.counterexample())
    >>> verdict.outcome, verdict.measured > verdict.bound, verdict.slack < 0
    ('violated', True, True)
    """

    claim: str
    outcome: str
    bound: float
    measured: float
    slack: float
    tightness: float
    violations: int
    trials: int
    frequency: tuple[float, float] = (math.nan, math.nan)
    note: str = ""
    margin: float = math.nan


def once(function):
    """Memoize a function for its last case, because bound and measure share computations."""
    last: list = [None, None]

    @wraps(function)
    def remembering(case):
        if last[0] is not case:
            last[:] = case, function(case)
        return last[1]

    return remembering


def violation_interval(violations: int, trials: int, level: float = 0.999) -> tuple[float, float]:
    """Confidence interval, at confidence `level`, for the probability of a violation."""
    return clopper_pearson(violations, trials, (1 - level) / 2, (1 - level) / 2)


def check(claim: Claim, case: Case, *, level: float = 0.999) -> Verdict:
    """Check one claim on one case.

    Parameters
    ----------
    claim : Claim
    case : dict
        One of ``claim.cases``, ``claim.counterexample``, or a case written by hand.
    level : float
        Confidence of the Clopper-Pearson interval, for statements with probability: violated if the
        whole interval lies above delta, holds if the whole interval lies at or below it, otherwise
        inconclusive.

    Returns
    -------
    Verdict
        "inconclusive" also if a hypothesis is not met or a value is not finite; the note names the
        reason.

    Examples
    --------
    >>> from alignlearn.theory import CLAIMS, check
    >>> claim = CLAIMS["p1-prop-7"]
    >>> check(claim, claim.counterexample()).outcome
    'violated'
    >>> check(claim.corrected, claim.counterexample()).outcome
    'holds'
    """
    try:
        bound, measured = claim.bound(case), claim.measure(case)
    except HypothesisNotMet as reason:
        nan = math.nan
        return Verdict(claim.name, "inconclusive", nan, nan, nan, nan, 0, 0, note=str(reason))
    if _is_exact(bound) and _is_exact(measured):
        difference = _signed(claim.kind, bound, measured)
        slack, violated = np.array([float(difference)]), np.array([difference < 0])
        bound, measured = np.array([float(bound)]), np.array([float(measured)])
        scale, allowed = np.maximum(np.abs(bound), np.abs(measured)), 0.0
    else:
        bound, measured = np.broadcast_arrays(
            np.asarray(bound, dtype=float), np.asarray(measured, dtype=float)
        )
        scale = _scale(claim, case, bound, measured)
        slack = np.asarray(_signed(claim.kind, bound, measured))
        allowed = claim.rtol * scale
        violated = slack < -allowed
    values = np.broadcast_arrays(bound, measured, slack, violated, scale, allowed)
    return _judge(claim, case, [np.ravel(value) for value in values], level)


def _judge(claim, case, values, level) -> Verdict:
    bound, measured, slack, violated, scale, _ = values
    undefined = np.isnan(bound) | np.isnan(measured)
    if undefined.all():
        nan = math.nan
        return Verdict(claim.name, "inconclusive", nan, nan, nan, nan, 0, 0, note="not a number")
    violated = violated & ~undefined
    worst = int(np.argmin(np.where(undefined, np.inf, np.nan_to_num(slack, posinf=1e300))))
    violations, trials = int(violated.sum()), int((~undefined).sum())
    frequency = (math.nan, math.nan)
    if claim.confidence is None:
        outcome = "violated" if violations else "holds"
    else:
        frequency = violation_interval(violations, trials, level)
        delta = case["delta"]
        outcome = "inconclusive"
        if frequency[0] > delta:
            outcome = "violated"
        elif frequency[1] <= delta:
            outcome = "holds"
    if outcome != "violated" and claim.trivial is not None:
        limit = np.asarray(claim.trivial(case), dtype=float)
        weak = bound <= limit if claim.kind == "lower" else bound >= limit
        outcome = "vacuous" if np.all(weak) else outcome
    b, q = float(bound[worst]), float(measured[worst])
    return Verdict(
        claim.name,
        outcome,
        b,
        q,
        float(slack[worst]),
        _tightness(claim.kind, b, q, scale[worst]),
        violations,
        trials,
        frequency,
        margin=_margin(claim, case, values, undefined, level),
    )


def _margin(claim, case, values, undefined, level) -> float:
    """`Verdict.margin`, over the entries that must be violated for the case to be rejected."""
    bound, _, slack, _, _, allowed = values
    share = np.full(bound.shape, math.inf)
    use = ~undefined & np.isfinite(bound) & (bound != 0)
    if not use.any():
        return math.nan
    # What an identity is off by already may add to the change or make up for it.
    distance = np.abs(slack[use]) if claim.kind in ("identity", "equivalence") else slack[use]
    share[use] = (distance + allowed[use]) / np.abs(bound[use])
    needed = 1
    if claim.confidence is not None:
        needed = least_refused(int((~undefined).sum()), case["delta"], level)
    return float(np.sort(share)[needed - 1]) if needed <= len(share) else math.inf


@lru_cache(maxsize=4096)
def least_refused(trials: int, delta: float, level: float = 0.999) -> int:
    """Minimum number of violations in `trials` that refutes a violation probability of delta.

    trials + 1 if no number refutes it.
    """
    low, high = 1, trials + 1
    while low < high:
        middle = (low + high) // 2
        if violation_interval(middle, trials, level)[0] > delta:
            high = middle
        else:
            low = middle + 1
    return low


def _is_exact(value) -> bool:
    return isinstance(value, (Fraction, int)) and not isinstance(value, bool)


def _signed(kind, bound, measured):
    if kind in ("identity", "equivalence"):
        with np.errstate(invalid="ignore"):
            return -abs(measured - bound)
    with np.errstate(invalid="ignore"):
        return measured - bound if kind == "lower" else bound - measured


def _scale(claim, case, bound, measured):
    if claim.scale is not None:
        return claim.scale(case)
    return np.maximum(np.abs(np.nan_to_num(bound)), np.abs(np.nan_to_num(measured)))


def _tightness(kind, bound, measured, scale) -> float:
    if kind in ("identity", "equivalence"):
        return float(abs(bound - measured) / scale) if scale > 0 and math.isfinite(scale) else 0.0
    top, bottom = (bound, measured) if kind == "lower" else (measured, bound)
    return top / bottom if bottom > 0 and math.isfinite(bottom) else math.nan
