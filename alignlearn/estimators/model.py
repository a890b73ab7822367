"""The kernels of a fitted model: their contributions to new predictions, and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alignlearn.weights.base import shares

from ._machines import held_matrices
from .kernel_groups import NOT_CONTRIBUTIONS, named_groups, sums_line
from .learner import KernelLearner

if TYPE_CHECKING:
    from .contributions import Contributions


class KernelModel(KernelLearner):
    """Base of classifiers and regressors on a learned kernel: contributions and a table."""

    machine: str
    memory: int | str | None

    _paired: str  # the machine on all pairs of samples

    def _matrices(self, source):
        return held_matrices(self.machine, self._paired, source, self.memory)

    def contributions(
        self,
        X,
        y,
        *,
        method=None,
        groups=None,
        scoring=None,
        sample_weight=None,
        fit=None,
        n_repeats=10,
        random_state=None,
    ) -> Contributions:
        """Contribution of each kernel, or group of kernels, to the predictions of new samples.

        A decision is ``sum_k f_k(x)`` plus an intercept, with one term for every kernel. The mean
        of each term over the samples is subtracted, since the intercept can absorb it.

        Parameters
        ----------
        X : as in ``fit``, n >= 2 samples
            Samples not used in the fit. Training samples describe the fit, not the prediction.
        y : array-like of shape (n,) or (n, q)
            Targets, not constant, or labels.
        method : {"product", "leave-out", "refit", "permutation"}, optional
            "product": parts of R^2 that sum to it and may be negative; the default of regressors,
            and only for them. "leave-out": loss in score without the group's term, the others
            unchanged; the default of classifiers. "refit": loss if the model is fitted again
            without the kernels of the group, with the same alpha or C; see Notes. "permutation":
            loss if the group's term is permuted among the samples.
        groups : dict, "columns", "features", "pairs" or None
            ``{"name": [numbers or names of kernels]}``; the remaining kernels form the group
            "other kernels". "columns": kernels with the same name (of a table, or of a dict
            ``kernels``), or on the same columns, form a group. None: each kernel is a group.
            "features": each column of X, a matrix or data frame, with ``method="permutation"``: the
            loss in score if the values of the column are permuted (Breiman 2001). "pairs": for all
            pairs of the six columns with the largest such losses, the sum of both losses minus the
            loss if both columns are permuted together: positive if the columns act together,
            negative if one can replace the other.
        scoring : str or callable, optional
            For classifiers "accuracy" (default), "balanced_accuracy", "neg_log_loss" (requires
            ``probability``), or ``scoring(y_true, y_predicted)``; for regressors "r2".
        sample_weight : array-like of shape (n,), optional
            Weights of the means over samples.
        fit : tuple (X, y) or (X, y, sample_weight), optional
            The training samples, for "refit".
        n_repeats : int, default 10
            Number of permutations, for "permutation".
        random_state : int or numpy.random.Generator, optional
            Seed of the permutations. Default: 0.

        Returns
        -------
        Contributions
            ``names``, ``values`` (n_groups, q), ``total`` (q,), ...; ``str()`` is a table.

        Raises
        ------
        ValueError, TypeError
            For a single sample, a constant target, another number of targets than in ``fit``, an
            unknown group or argument, or a kernel in two groups.

        Notes
        -----
        With y and f centered on the samples, and d the difference of their means::

            R^2 = 1 - (|y - f|^2 + n d^2) / |y|^2 = sum_k (2 y'f_k - f_k'f) / |y|^2 - n d^2 / |y|^2

        "product" returns the terms of the sum as ``values``, and the last term, which belongs to no
        kernel, as ``offset``.

        "refit" trains the model once for every group. If the rule needs only the statistics of the
        fit (p x p), it learns weights without another pass over the pairs. With
        ``per_target``, the remaining weights of every target are divided by their sum; if all are
        0, they become equal.

        Kernels of weight 0 contribute exactly 0.

        References
        ----------
        Hoffman (1960), The paramorphic representation of clinical judgment; Pratt (1987), Dividing
        the indivisible; for kernels Dupre la Tour et al. (2022), Feature-space selection with
        banded ridge regression.
        """
        from .contributions import contributions

        self._check_one_label("contributions")
        return contributions(
            self, X, y, method=method, groups=groups, scoring=scoring, sample_weight=sample_weight,
            fit=fit, n_repeats=n_repeats, random_state=random_state,
        )  # fmt: skip

    def kernel_table(
        self,
        X=None,
        y=None,
        *,
        groups=None,
        sample_weight=None,
        folds=10,
        random_state=None,
        frame=None,
    ) -> Any:
        """Table of the kernels with their weights, and the variation of the weights.

        Parameters
        ----------
        X, y, sample_weight : optional
            The training samples, as in ``fit``. If given, weights are also learned without each
            fold in turn, from one pass over the pairs if the rule needs only statistics. Not with
            ``per_target``.
        groups : dict, "columns" or None
            ``{"name": [numbers or names of kernels]}``, or "columns" for kernels with the same name
            or on the same columns. The table then has a row for each group, with sums of weights
            and shares, and the alignment of the group's part of the combination.
        folds : int, default 10
            Also any other ``cv`` of `MKLClassifierCV`, such as labels of runs that are left out
            together.
        random_state : int or numpy.random.Generator, optional
            Seed of the folds. Default: 0.
        frame : {"pandas"}, optional
            Return a data frame.

        Returns
        -------
        dict of ndarray of shape (p,), or pandas.DataFrame
            ``kernel`` (its name), its ``alignment`` with the target, ``weight``, ``share``
            of the combination's inner product with the target, ``unidentified`` (whether the data
            do not determine the weight). With samples ``spread`` and ``zero``, the share of the
            training sets in which the weight is 0. With ``per_target`` over the targets: ``weight``
            (mean), ``spread`` (standard deviation), ``largest``, and ``zero``, the share of the
            targets for which it is 0.

        Notes
        -----
        ``spread`` is the standard error of the jackknife that leaves out one of g folds at a time,
        ``sqrt((g - 1) / g * sum_t (w_t - mean)^2)``. It measures how much a weight varies with the
        samples. It is not a confidence interval, because weights that are 0 in most training sets
        are far from normally distributed, and its coverage is unknown.
        """
        from .kernel_table import kernel_table

        self._check_table(X)
        return kernel_table(
            self, X, y, groups=groups, sample_weight=sample_weight, folds=folds,
            random_state=random_state, frame=frame,
        )  # fmt: skip

    def _check_one_label(self, what):
        """Raise an error for a fit with many labels."""

    def _check_table(self, X):
        """Raise an error for a fit without a table of kernels."""

    def __getstate__(self):
        # Results for error bars have the size of a Gram matrix and can be computed again.
        state = super().__getstate__()
        state.pop("_smoothers", None)
        return state

    def _verdict(self):
        yield from super()._verdict()
        groups = named_groups(self)
        if groups is not None:
            yield sums_line(*groups, self.weights_, shares(self.statistics_, self.weights_))
        if len(self.weights_) > 1:
            yield NOT_CONTRIBUTIONS
