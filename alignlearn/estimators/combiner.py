"""The learned kernel as a transformer, for models on a precomputed Gram matrix."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.statistics import center_gram, target_columns
from alignlearn.statistics.targets import reads_as_regression
from alignlearn.validation import check_choice
from alignlearn.weights import get_weighting, without_target

from .base import parameters, shared
from .frame_output import FrameOutput
from .learner import KernelLearner

if TYPE_CHECKING:
    from typing_extensions import Self


@parameters
class KernelCombiner(FrameOutput, KernelLearner):
    """Transformer from samples to Gram matrices of the learned kernel.

    ``make_pipeline(KernelCombiner(kernels), SVC(kernel="precomputed"))`` is a classifier. With an
    unsupervised weighting, ``fit(X)`` needs no target, for example before clustering or kernel PCA.
    ``set_output(transform="pandas")`` gives data frames, with the index of X if X is one and the
    columns ``get_feature_names_out()``: "kernelcombiner0", ..., one per training sample.

    Parameters
    ----------
    kernels : sequence of Kernel and str, dict, RankOneKernels or "precomputed", optional
        Default: nine Gaussians around ``gamma="scale"``. With "precomputed", X is a sequence of p
        Gram matrices (m, m) in ``fit`` and (n, m) later, arrays or data frames (read by position).
        In ``fit``, pass an indefinite matrix as ``Precomputed(K, fix="clip")``, which also
        transforms the rows of new samples, or as ``Precomputed(K, is_psd=False)``. For complex
        Hermitian matrices the real part is used. All kernels except functions and precomputed
        matrices also accept SciPy sparse X, which stays sparse. A dict has a kernel, a sequence of
        them or columns for each name; columns (an integer, a slice, a sequence of integers or of
        column names) mean a linear kernel on them. See the notes of `MKLClassifier` on several
        tables.
    weighting : str or object, default "alignf"
        Two-stage, from streamed alignment: "uniform", "align", "alignf", "alignf-linear",
        "align-lq", or an object with a method ``solve(statistics)``. Unsupervised: "consensus",
        "max-entropy" and "structure", see `Consensus`, `MaxEntropy` and `Structure`. By margins of
        one solution: "easymkl", see `EasyMKL`. One-stage,
        holding p Gram matrices: "lkrr", "l1-svm", "aligned-krr" with default parameters, or an
        object such as `LKRR` with a method ``solve_grams``. The weights keep the scale of their
        problem.
    center : bool, default True
        Center the Gram matrices at the means of the training samples.
    task : {"auto", "classification", "regression"}, default "auto"
        How to read y; "auto" takes floating-point values as regression.
    normalize : {"trace"} or None, default "trace"
        Scale every centered kernel to trace m before stage 1.

    Attributes
    ----------
    weights_ : ndarray of shape (p,)
        Weights of the normalized kernels.
    scale_ : ndarray of shape (p,)
        Normalization factors; ``kernel_`` is ``sum_k weights_k scale_k K_k``.
    kernel_ : Kernel
        The learned kernel: ``kernel_(X, Y)`` is a Gram matrix, usable as ``SVC(kernel=...)``. A
        FeatureWeighted for RankOneKernels and linear kernels; a function of p matrices for
        "precomputed".
    alignment_, uniform_alignment_ : float
        Centered alignment of the learned and of the uniform combination with y; without y, with the
        combination itself.
    kernel_alignments_ : ndarray of shape (p,)
    kernels_ : list of Kernel
        The kernels, with numbers in place of ``gamma="scale"``.
    statistics_ : AlignmentStatistics
        Statistics of the normalized kernels.
    result_ : WeightResult
        Result of stage 1 with its certificate and diagnostics.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        If X was a data frame with string column names, or several tables: "table__column".
    means_ : ndarray of shape (m,)
        Column means of the training Gram matrix, up to a constant; with ``center``.

    Notes
    -----
    A fitted combiner holds the training samples, since every column of its output is one; with
    "precomputed" it holds weights and means only.

    Examples
    --------
    What it gives is a matrix for machines that take kernels:

    >>> import numpy as np
    >>> from alignlearn import Gaussian, KernelCombiner, Linear
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> combiner = KernelCombiner([Gaussian(0.5), Linear()]).fit(X, X[:, 0])
    >>> combiner.transform(X[:5]).shape  # of new samples against those of the fit
    (5, 40)
    >>> bool(np.allclose(combiner.transform(X).sum(axis=0), 0))  # centered
    True
    """

    kernels: Any = field(default=None, kw_only=False)
    weighting: Any = "alignf"
    center: bool = True
    task: str = "auto"
    normalize: str | None = "trace"
    unbiased: bool = shared("unbiased")
    missing: str | None = shared("missing")
    verbose: Any = shared("verbose")
    device: str = shared("device")
    client: Any = shared("client")

    def fit(self, X, y=None) -> Self:
        """Learn the kernel from X and y (m samples); return self.

        Without y where the weighting needs none: "uniform", "consensus", "max-entropy",
        "structure", or a rule whose attribute ``needs_target`` is False.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X, y=None):
        """Learn the kernel and return the Gram matrix of the training samples, (m, m)."""
        return self._in_container(self._centered(self._fit(X, y)), X)

    def transform(self, X):
        """Gram matrix between n samples and the training samples.

        Parameters
        ----------
        X : as in ``fit``, n samples

        Returns
        -------
        ndarray of shape (n, m), or a data frame
            Centered with the training means if ``center``.
        """
        samples = self._check_test(X)
        K = self._centered(self._predictor.cross_gram(samples, not self.center, self._engine()))
        return self._in_container(K, X)

    def _needs_target(self):
        try:
            return not without_target(get_weighting(self.weighting))
        except (TypeError, ValueError):
            return True  # the error comes in ``fit``

    @property
    def _n_features_out(self):
        return self._predictor.n_samples

    def _fit(self, X, y):
        task = check_choice("task", self.task, ("auto", "classification", "regression"))
        if not isinstance(self.center, (bool, np.bool_)):
            raise TypeError(f"center must be True or False, got {self.center!r}.")
        prepared, source = self._opened(X)
        if y is not None and not np.any(target_columns(y, source.n_samples, task)):
            raise ValueError("y is constant (1 class); at least two values are needed.")
        # The target was read before, so reading it again gives no warnings.
        real = y is None or reads_as_regression(y, task)
        read = "regression" if real else "classification"
        learned = self._learn(prepared, source, y, read)
        K = learned.gram(exact=not self.center)
        if self.center:
            self.means_ = K.mean(axis=0, dtype=np.float64)
        self._predictor = (self._for_gaps(X, learned) or learned).kept()
        self.kernel_ = self._predictor.kernel  # one object in a pickle
        return K

    def _centered(self, K):
        if self.center:
            center_gram(K, self.means_)
        return K
