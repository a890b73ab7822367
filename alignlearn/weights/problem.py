"""The problem that a rule for weights solves: kernels on samples, a target, normalization."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from alignlearn.statistics import AlignmentStatistics
from alignlearn.statistics.targets import reads_as_regression


class Scaled(NamedTuple):
    """Statistics of scaled kernels, their factors, and data of the unscaled ones for errors.

    The statistics of the unscaled kernels are not kept: of 4000 kernels they take 128 MB.
    """

    statistics: AlignmentStatistics
    scale: np.ndarray
    traces: np.ndarray
    some_vary: bool


class Problem:
    """The input of a weight rule: kernels on samples, and a target.

    Statistics, matrices and the training part of the samples are computed when they are first read,
    so that a rule computes only what it needs.

    Parameters
    ----------
    source : Source
        The kernels on all samples.
    y : ndarray of shape (m,) or (m, q)
        The target of all samples, checked.
    task : {"classification", "regression"}
    normalize : {"trace"} or None, default "trace"
        "trace" scales every centered kernel to trace m, see `scale`.
    unbiased : bool, default False
        Whether the statistics are U-statistics.
    machine : dict, optional
        Parameters of the model that is trained on the learned kernel, such as ``{"C": 1.0}``. A
        one-stage rule given by name uses those that it has.
    rows : ndarray of int, optional
        The training set, as positions among the samples of ``source``. Default: all samples.
    statistics : AlignmentStatistics, optional
        Statistics of the unscaled kernels on the training set, where they are known already.
    scaled : tuple of (AlignmentStatistics, ndarray of shape (p,)), optional
        Statistics of the kernels times factors, and these factors, where both are known already;
        ``normalize`` is not read then.

    Attributes
    ----------
    source, y, task, normalize, unbiased, machine
        On the training set.
    is_training_set : bool
        Whether ``rows`` were given.
    is_known : bool
        Whether the statistics are known without another pass over the pairs of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import AlignF, Gaussian, Linear
    >>> from alignlearn.sources import open_source
    >>> from alignlearn.weights import Problem
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> source = open_source(X, [Gaussian(0.5), Linear()])
    >>> problem = Problem(source, X[:, 0], "regression")
    >>> problem.statistics.trace.round().tolist()  # of the scaled kernels: the number of samples
    [40.0, 40.0]
    >>> AlignF().learn(problem).converged
    True
    """

    def __init__(
        self,
        source,
        y,
        task,
        *,
        normalize="trace",
        unbiased=False,
        machine=None,
        rows=None,
        statistics=None,
        scaled=None,
    ):
        self.task, self.normalize, self.unbiased = task, normalize, unbiased
        self.machine = {} if machine is None else machine
        self.is_training_set = rows is not None
        self.y = y if rows is None else y[rows]
        self._whole, self._rows = source, rows
        self._unscaled, self.is_known = statistics, not (statistics is None and scaled is None)
        if scaled is not None:
            traces, norms = scaled[0].trace, scaled[0].norms
            self.scaled = Scaled(*scaled, traces, bool(norms.any()))  # in place of the cache

    @cached_property
    def source(self):
        """The `Source` of the kernels on the training set."""
        return self._whole if self._rows is None else self._whole.part(self._rows)

    @cached_property
    def scaled(self):
        """The `Scaled` statistics; this is where they are computed."""
        found, self._unscaled = self._unscaled, None
        if found is None:
            found = self.source.statistics(self.y, self.task, unbiased=self.unbiased)
        scaled, scale = found, np.ones(found.n_kernels)
        if self.normalize == "trace":
            scaled, scale = found.trace_normalized()
        return Scaled(scaled, scale, found.trace, bool(found.norms.any()))

    @property
    def statistics(self):
        """`AlignmentStatistics` of the kernels times `scale`."""
        return self.scaled.statistics

    @property
    def scale(self):
        """Factors of the kernels, (p,), which the weights are for; 1 without normalization."""
        return self.scaled.scale

    @property
    def is_regression(self):
        """Whether the target holds real numbers, not class labels."""
        return reads_as_regression(self.y, self.task)

    def family(self, rooted=False):
        """The kernels, centered and times `scale`, as one-stage rules take them.

        With ``rooted`` times the square roots of the sample weights of both samples.
        """
        return self.source.family(self.scale, rooted=rooted)

    def used(self):
        """The problem on the samples of positive weight; itself if these are all."""
        weight = self.source.weight
        if weight is None or weight.all():
            return self
        return Problem(
            self.source.used(),
            self.y[weight > 0.0],
            self.task,
            unbiased=self.unbiased,
            machine=self.machine,
            scaled=(self.statistics, self.scale),
        )

    def kept(self):
        """The problem for later, on copies of its samples and targets."""
        how = {"normalize": self.normalize, "unbiased": self.unbiased, "machine": self.machine}
        return Problem(self.source.kept(), np.array(self.y), self.task, **how)

    def check(self):
        """Return the problem itself, or raise a ValueError where no scaled kernel varies."""
        if np.any(self.scaled.statistics.norms > 0.0):
            return self
        if self.is_training_set and not self.scaled.some_vary:
            raise ValueError(
                "cv: every kernel is constant on a training set (X without one fold), so no model "
                "can be learned from it; accepted: features and folds such that a kernel varies on "
                "every training set."
            )
        _refuse_unusable(self.statistics.names, self.scaled.traces)


def _refuse_unusable(names, traces):
    """Raise the error for kernels none of which is left after normalization."""
    worst = int(np.argmin(traces))
    if traces[worst] < 0.0:
        raise ValueError(
            f"{names[worst]} is not positive semi-definite: its centered trace is "
            f"{traces[worst]:.3g}, so it has no mean diagonal to be scaled to 1, and no other "
            "kernel varies; accepted: a kernel of positive trace, or normalize=None."
        )
    raise ValueError(
        "X: every kernel is constant on the training samples, so nothing can be learned; "
        "accepted: samples on which at least one kernel varies."
    )
