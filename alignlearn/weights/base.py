"""Base classes of the rules for kernel weights: result, checks, fallback."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from alignlearn._params import ParamsMixin
from alignlearn._text import MOST, Result, largest, table
from alignlearn._versions import Versioned
from alignlearn.statistics import AlignmentStatistics
from alignlearn.validation import DegenerateKernelWarning, check_choice, warn

from . import diagnostics

NORMALIZATIONS = ("l1", "l2")

NEEDS = ("nothing", "statistics", "source", "grams")
"""What a rule may need to learn weights, each beside what stands before it.

"nothing"
    The number of kernels that vary: ``weights_of(n_kernels)`` gives the weights.
"statistics"
    The alignment statistics, whose size is that of the number of kernels.
"source"
    The samples, of which the rule reads blocks of rows of kernel values.
"grams"
    All p matrices in memory at once.
"""


@dataclass(frozen=True, eq=False)
class WeightResult(Result, Versioned):
    """Weights of p kernels, with their alignment and diagnostics.

    Attributes
    ----------
    weights : ndarray of shape (p,), float64
        One weight per kernel; 0 for a kernel whose centered norm is 0.
    alignment : float
        Centered alignment of the weighted sum with the target.
    uniform_alignment : float
        Alignment of equal weights on all kernels.
    kernel_alignments : ndarray of shape (p,)
        Alignment of every single kernel; 0 for a kernel of zero norm.
    objective : float
        Value of the rule's own objective, before the weights are normalized.
    kkt_residual, duality_gap : float
        Certificate of the rule's optimization problem, as in
        `alignlearn.solvers.nnqp.NonnegativeQPResult`; 0 for a closed form.
    n_iter : int
        Linear systems solved.
    converged : bool
        Whether the certificate is within the tolerance.
    nonnegative : bool
        Whether the rule keeps weights nonnegative; otherwise the weighted sum may be indefinite.
    fallback : bool
        Whether the rule could not be applied and equal weights were used instead.
    statistics : AlignmentStatistics
        The statistics from which the weights were computed.

    Notes
    -----
    ``condition_number``, ``groups`` and ``unidentified`` are computed on first access.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import AlignF, Gaussian, Linear, alignment_statistics
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> kernels = [Gaussian(10.0), Linear(), 2.0 * Linear()]
    >>> result = AlignF().solve(alignment_statistics(X, X[:, 0], kernels))
    >>> result.groups, result.converged  # equal up to a factor
    (((1, 2),), True)
    >>> bool(result.alignment >= result.uniform_alignment)
    True
    """

    weights: np.ndarray
    alignment: float
    uniform_alignment: float
    kernel_alignments: np.ndarray
    objective: float
    kkt_residual: float = 0.0
    duality_gap: float = 0.0
    n_iter: int = 0
    converged: bool = True
    nonnegative: bool = True
    fallback: bool = False
    statistics: AlignmentStatistics = field(default=None, repr=False)

    def __str__(self):
        lines = [
            combination_table(self.statistics, self.weights, self.kernel_alignments, MOST),
            f"alignment of the combination {self.alignment:.4f}, of equal weights "
            f"{self.uniform_alignment:.4f}",
            self._units(),
        ]
        if self.fallback:
            lines.append("The rule could not be applied; equal weights were used.")
        if not self.converged:
            lines.append(f"Not converged: the residual is {self.kkt_residual:.3g}.")
        return "\n".join(lines)

    def _units(self):
        """The line that names the kernels to which the weights refer."""
        trace = self.statistics.trace[self.statistics.norms > 0.0]
        if np.allclose(trace, self.statistics.total_weight, rtol=1e-6):
            return (
                'The weights are for kernels scaled to trace m, as by normalize="trace"; for the '
                "kernels as they were they are multiplied by the factors of that (scale_)."
            )
        return (
            "The weights are for the unscaled kernels; those of an estimator are for kernels "
            "scaled to trace m, unless normalize=None."
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The kernels' labels."""
        return self.statistics.names

    @property
    def zero_kernels(self) -> tuple[int, ...]:
        """Kernels whose centered norm is 0 on the sample."""
        return tuple(int(k) for k in np.flatnonzero(~(self.statistics.norms > 0.0)))

    @cached_property
    def condition_number(self) -> float:
        """See `alignlearn.weights.diagnostics.condition_number`."""
        return diagnostics.condition_number(self.statistics.M)

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """See `alignlearn.weights.diagnostics.identical_groups`."""
        return diagnostics.identical_groups(self.statistics.M)

    @cached_property
    def unidentified(self) -> tuple[int, ...]:
        """See `alignlearn.weights.diagnostics.unidentified`."""
        return diagnostics.unidentified(self.statistics.M, self.weights)


class Rule(ABC):
    """Base class of all weight rules: ``learn(problem) -> WeightResult``, and its requirements.

    Attributes
    ----------
    needs : {"nothing", "statistics", "source", "grams"}
        See `NEEDS`; each class states it.
    needs_target : bool
        Whether the weights depend on a target.

    Examples
    --------
    >>> from alignlearn import AlignF, LKRR, Structure, Uniform
    >>> [rule.needs for rule in (Uniform(), AlignF(), Structure(), LKRR())]
    ['nothing', 'statistics', 'source', 'grams']
    """

    needs: str
    needs_target = True

    @abstractmethod
    def learn(self, problem) -> WeightResult:
        """Learn the weights of the scaled kernels of a `alignlearn.weights.Problem`."""


class Weighting(ParamsMixin, Rule):
    """Base of the two-stage rules: ``solve(statistics) -> WeightResult``.

    Examples
    --------
    Estimators take one of its rules, or anything with such a ``solve``:

    >>> from alignlearn import AlignF
    >>> from alignlearn.weights import Weighting
    >>> isinstance(AlignF(), Weighting), AlignF(max_kernels=2).get_params()["max_kernels"]
    (True, 2)
    """

    needs = "statistics"

    def learn(self, problem) -> WeightResult:
        """Learn the weights of the scaled kernels of a problem; errors and warnings as in `solve`.

        Parameters
        ----------
        problem : alignlearn.weights.Problem

        Returns
        -------
        WeightResult
        """
        return self.solve(problem.statistics)

    def solve(self, statistics) -> WeightResult:
        """Compute the weights.

        Parameters
        ----------
        statistics : AlignmentStatistics
            Of p kernels.

        Returns
        -------
        WeightResult
            The weights refer to the kernels of the statistics. For ``alignment_statistics`` these
            are the unscaled kernels, while an estimator first scales each kernel to trace m
            (``normalize="trace"``). To get the estimator's ``weights_``, use
            ``statistics.trace_normalized()[0]``. For a rule that does not depend on the kernels'
            units, such as `AlignF`, both give the same combination: ``estimator.weights_ *
            estimator.scale_`` is proportional to these weights.

        Raises
        ------
        TypeError
            ``statistics`` is not an AlignmentStatistics.
        ValueError
            Shapes disagree, an entry is NaN or inf, every kernel has zero norm, or a parameter is
            out of range.

        Warns
        -----
        DegenerateKernelWarning
            The target is constant, or no kernel is positively aligned with it: equal weights on the
            kernels of positive norm are returned, and ``fallback`` is set.
        """
        nonzero, usable = self._checked(statistics)
        found = self._solve(statistics, nonzero) if usable else None
        return self._result(statistics, nonzero, found)

    def _checked(self, statistics):
        """Kernels of positive norm, (p,) bool, and whether weights can be learned.

        Where they cannot, this warns.
        """
        if self.normalize is not None:
            check_choice("normalize", self.normalize, NORMALIZATIONS)
        _check(statistics)
        nonzero = statistics.norms > 0.0
        if not nonzero.any():
            raise ValueError(
                "statistics: every kernel is constant on the sample (centered norm 0), so no "
                "weights can be learned; accepted: at least one kernel that varies."
            )
        reason = self._unusable(statistics)
        if reason is not None:
            warn(
                f"{type(self).__name__}: {reason}; equal weights are used.",
                DegenerateKernelWarning,
            )
        return nonzero, reason is None

    def _result(self, statistics, nonzero, found):
        """The `WeightResult` of ``found``, weights and fields; equal weights if it is None."""
        if found is None:
            found = nonzero.astype(np.float64), {"objective": 0.0, "fallback": True}
        weights, details = found
        return WeightResult(
            weights=normalized(weights, self.normalize),
            alignment=statistics.alignment(weights),
            uniform_alignment=statistics.alignment(np.ones(nonzero.size)),
            kernel_alignments=statistics.alignments,
            statistics=statistics,
            **details,
        )

    def _unusable(self, statistics):
        """The reason if the rule cannot learn from the statistics, or None."""
        if not statistics.target_norm > 0.0:
            return "the target is constant on the sample"
        if not (statistics.alignments > 0.0).any():
            return "no kernel is positively aligned with the target"
        return None

    @abstractmethod
    def _solve(self, statistics, nonzero):
        """Return the weights and the rule's own fields of the result (``objective`` at least)."""


def _check(statistics):
    if not isinstance(statistics, AlignmentStatistics):
        raise TypeError(
            f"statistics must be an AlignmentStatistics, got {type(statistics).__name__}."
        )
    p = np.shape(statistics.a)
    if len(p) != 1 or p[0] == 0 or np.shape(statistics.M) != (*p, *p):
        raise ValueError(
            f"statistics: a has shape {p} and M {np.shape(statistics.M)}; accepted: (p,) and "
            "(p, p) with p >= 1."
        )
    for name in ("a", "M", "target_norm"):
        if not np.isfinite(getattr(statistics, name)).all():
            raise ValueError(f"statistics.{name} contains NaN or inf; accepted: finite numbers.")


def toward_itself(result):
    """The result of a rule without a target, whose place the combination itself takes.

    Alignments of the kernels are those with the combination.
    """
    found, w = result.statistics, result.weights
    a = found.M @ w
    norm = float(np.sqrt(max(w @ a, 0.0)))
    statistics = replace(found, a=a, target_norm=norm)
    return replace(
        result,
        statistics=statistics,
        alignment=statistics.alignment(w),
        uniform_alignment=statistics.alignment(np.ones(w.size)),
        kernel_alignments=statistics.alignments,
    )


def combination_table(statistics, weights, alignments, max_rows):
    """Format a table of the kernels with the largest shares: alignment, weight and share."""
    part = shares(statistics, weights)
    shown = largest(np.abs(part), max_rows)
    names = [statistics.names[k] if statistics.names else f"kernel {k}" for k in shown]
    rows = [
        (name, f"{alignments[k]:.4f}", f"{weights[k]:.4f}", f"{part[k]:.1%}")
        for name, k in zip(names, shown)
    ]
    options = {"total": weights.size, "most": max_rows, "more": " kernels, of smaller share"}
    return table(rows, ("kernel", "alignment", "weight", "share"), **options)


def shares(statistics, weights):
    """Shares (p,) of the combination's inner product with the target; 0 where that is 0."""
    products = weights * statistics.a
    total = float(products.sum())
    return products / total if total != 0.0 else np.zeros_like(products)


def normalized(weights, normalize):
    """The weights with their norm ``normalize`` ("l1", "l2") set to 1, or unchanged for None."""
    if normalize is None:
        return weights
    # The largest entry first: squares and sums of very large or small weights stay in range.
    weights = weights / np.abs(weights).max()
    return weights / np.linalg.norm(weights, 1 if normalize == "l1" else 2)
