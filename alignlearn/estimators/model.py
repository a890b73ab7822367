"""The kernels of a fitted model: their contributions to new predictions, and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from alignlearn.weights.base import shares

from .kernel_groups import NOT_CONTRIBUTIONS, named_groups, sums_line
from .learner import KernelLearner

if TYPE_CHECKING:
    from .contributions import Contributions


class KernelModel(KernelLearner):
    """Base of classifiers and regressors on a learned kernel: contributions and a table."""

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
        """How much each kernel, or group of kernels, contributes to predictions of new samples.

        A decision is ``sum_k f_k(x)`` and an intercept, with a term for every kernel. Terms are
        taken less their mean over the samples, which an intercept makes up for.

        Parameters
        ----------
        X : as in ``fit``, n >= 2 samples
            Samples that were not fitted, unless the fit itself is asked about.
        y : array-like of shape (n,) or (n, q)
            Targets that vary, or labels.
        method : {"product", "leave-out", "refit", "permutation"}, optional
            "product": parts of R^2 that add up to it, which may be negative; the default of
            regressors, and only for these. "leave-out": loss in score without the group's term, the
            others unchanged; the default of classifiers. "refit": loss where kernels of the group
            are left out and the model is fitted again with the same alpha or C; see Notes.
            "permutation": loss where the group's term is that of another sample, at random.
        groups : dict, "columns", "features", "pairs" or None
            ``{"name": [numbers or names of kernels]}``; those in no group are one more, "other
            kernels". "columns": kernels of the same name (of a table, or of a dict ``kernels``), or
            on the same columns, are a group. None: each is one. "features": each column of X, a
            matrix or data frame, with ``method="permutation"``: the loss in score where the values
            of the column are those of other samples, at random (Breiman 2001). "pairs": for all
            pairs of the six columns with the largest such losses the loss of one, plus that of the
            other, less the loss where both are permuted alike: positive where the columns act
            together, negative where one can stand for the other.
        scoring : str or callable, optional
            Of classifiers "accuracy" (default), "balanced_accuracy", "neg_log_loss", for which
            ``probability`` is needed, or ``scoring(y_true, y_predicted)``; of regressors "r2".
        sample_weight : array-like of shape (n,), optional
            Of the means over samples.
        fit : tuple (X, y) or (X, y, sample_weight), optional
            The training samples, for "refit".
        n_repeats : int, default 10
            "permutation": how often.
        random_state : int or numpy.random.Generator, optional
            Of the permutations; None is the seed 0.

        Returns
        -------
        Contributions
            ``names``, ``values`` (n_groups, q), ``total`` (q,), ...; ``str()`` is a table.

        Raises
        ------
        ValueError, TypeError
            One sample, a constant target, another number of targets than in ``fit``, a group that
            the model does not have, a kernel in two groups, an argument that is not known.

        Notes
        -----
        With y and f centered on the samples, and d the difference of their means::

            R^2 = 1 - (|y - f|^2 + n d^2) / |y|^2 = sum_k (2 y'f_k - f_k'f) / |y|^2 - n d^2 / |y|^2

        of which "product" returns the terms as ``values`` and the last, which no kernel is
        responsible for, as ``offset``.

        "refit" learns weights from the statistics of the fit (p x p), without another pass over the
        pairs, where the rule needs no more, and trains the machine once for every group. With
        ``per_target`` the other weights of every target keep their ratios and are made to sum to 1;
        where none is left, they are equal.

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
        """The kernels with their weights, and how much weights vary with the samples.

        Parameters
        ----------
        X, y, sample_weight : optional
            The training samples, as in ``fit``: then weights are learned without each fold in turn,
            from one pass over the pairs where the rule needs no more. Not with ``per_target``.
        groups : dict, "columns" or None
            As in `contributions`: a row for each group, with sums of weights and shares, and the
            alignment of what the group has of the combination.
        folds : int, default 10
            Also what else `MKLClassifierCV` takes as ``cv``, such as labels of runs that are left
            out together.
        random_state : int or numpy.random.Generator, optional
            Of the folds; None is the seed 0.
        frame : {"pandas"}, optional
            Return a data frame.

        Returns
        -------
        dict of ndarray of shape (p,), or pandas.DataFrame
            ``kernel`` (its name), ``alignment`` of it alone with the target, ``weight``, ``share``
            of the combination's inner product with the target, ``unidentified`` (whether the data
            do not determine the weight). With samples ``spread`` and ``zero``, the share of the
            training sets in which the weight is 0. With ``per_target`` over the targets: ``weight``
            (mean), ``spread`` (standard deviation), ``largest``, and ``zero``, the share of the
            targets for which it is 0.

        Notes
        -----
        ``spread`` is that of the jackknife that leaves out one of g folds at a time,
        ``sqrt((g - 1) / g * sum_t (w_t - mean)^2)``. It measures how much a weight varies with the
        samples. It is not a confidence interval, because weights that are 0 in most training sets
        are not nearly normal, and its coverage is unknown.
        """
        from .kernel_table import kernel_table

        self._check_table(X)
        return kernel_table(
            self, X, y, groups=groups, sample_weight=sample_weight, folds=folds,
            random_state=random_state, frame=frame,
        )  # fmt: skip

    def _check_one_label(self, what):
        """Raise where a fit has many labels."""

    def _check_table(self, X):
        """Raise where a fit has no table of kernels."""

    def __getstate__(self):
        # What is made for error bars has the size of a Gram matrix, and can be made again.
        state = super().__getstate__()
        state.pop("_smoothers", None)
        return state

    def _verdict(self):
        yield from super()._verdict()
        groups = named_groups(self)
        if groups is not None:
            yield sums_line(*groups, self.weights_, shares(self.statistics_, self.weights_))
        yield NOT_CONTRIBUTIONS
