"""Random Fourier features, re-weighted so that their kernel aligns with the target.

Source: Sinha and Duchi (2016), Learning kernels with random features.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn.kernels import as_kernel
from alignlearn.kernels.random_features import FourierFeatures, draw_frequencies, waves
from alignlearn.machines import SupportVectorClassifier
from alignlearn.machines.choice import faster_in_features
from alignlearn.machines.feature_space import fit_classifier
from alignlearn.solvers.chi_square import chi_square_ball
from alignlearn.sources.source import row_blocks
from alignlearn.statistics.targets import centered_columns, plain_columns, target_norm
from alignlearn.validation import (
    check_choice,
    check_count,
    check_features,
    check_flag,
    check_number,
    check_seed,
    is_sparse,
)
from alignlearn.validation.memory import check_gram_memory

from . import inputs
from .base import Classifier, Estimator, parameters, shared, svm_options
from .frame_output import FrameOutput

if TYPE_CHECKING:
    from typing_extensions import Self

_CONSTANT = 1e-12  # share of |K|_F = m: a smaller centered kernel is rounding


class _FeatureLearner(Estimator):
    """Stage 1 of both estimators: draw, score and re-weight frequencies, drop those of weight 0."""

    kernel: Any
    n_features: int
    rho: float
    n_components: int | None
    center: bool
    offsets: bool
    random_state: Any

    _fitted_marker = "kernel_"

    def _accepts_sparse(self):
        return True

    def _learn(self, X, y, task):
        """Fit the kernel to checked samples and targets."""
        n_drawn = check_count("n_features", self.n_features, optional=False)
        n_kept = check_count("n_components", self.n_components)
        rng = check_seed("random_state", self.random_state)
        check_flag("offsets", self.offsets)
        Y = plain_columns(y, X.shape[0], task)
        # Results do not depend on the units of y, but overflow of fourth powers would.
        Y = Y / (np.abs(Y).max() or 1.0)
        centered = centered_columns(Y)
        if not centered.any():
            raise ValueError("y is constant (1 class); at least two values are needed.")
        target = centered if check_flag("center", self.center) else Y
        norm = target_norm(target)
        kernel = as_kernel(self.kernel).resolve(X)
        inputs.doubt_scales(None, X, [kernel], getattr(self, "feature_names_in_", None))
        frequencies = draw_frequencies(kernel, n_drawn, X.shape[1], rng)
        offsets = rng.uniform(0.0, 2.0 * np.pi, n_drawn) if self.offsets else None
        scores = _scores(X, target, frequencies, offsets) / (X.shape[0] * norm)
        even = FourierFeatures(frequencies, np.full(n_drawn, 1.0 / n_drawn), offsets)
        uniform = _alignment(even, X, centered)
        found = chi_square_ball(scores, self.rho)
        weights = found.weights
        if n_kept is not None:
            weights = rng.multinomial(n_kept, weights) / n_kept
        kept = np.flatnonzero(weights)
        learned = FourierFeatures(
            frequencies[kept], weights[kept], None if offsets is None else offsets[kept]
        )
        self.alignment_, self.uniform_alignment_ = _alignment(learned, X, centered), uniform
        self.base_kernel_, self.scores_, self.result_ = kernel, scores, found
        self.weights_, self.kernel_ = weights, learned

    def _check_train(self, X):
        """Samples of fit; sets the attributes that scikit-learn expects."""
        self._forget()
        given, X = X, _rows(check_features(X))
        inputs.check_sample_count(X.shape[0])
        self._store_columns(given, X.shape[1])
        return X

    def _features(self, X):
        """Features of new samples."""
        X = self._check_columns(X, lambda X: _rows(check_features(X)))
        return self.kernel_.features(X)


def _rows(X):
    return X.tocsr() if is_sparse(X) else X


def _scores(X, Y, frequencies, offsets):
    """``<K_k, YY'>`` of every frequency, (D,), in blocks of rows: O(m D d)."""
    inner = 0.0
    for rows in row_blocks(X.shape[0], 2 * len(frequencies)):
        inner = inner + waves(X[rows], frequencies, offsets, 1.0).T @ Y[rows]
    squares = np.square(inner).sum(axis=1)
    return squares.reshape(-1, len(frequencies)).sum(axis=0)


def _alignment(kernel, X, Y):
    """Centered alignment of a kernel of features with YY', Y centered; ValueError if constant."""
    m, q = X.shape[0], kernel.n_features
    if m <= q:
        Z = kernel.features(X)
        Z -= Z.mean(axis=0)
        square, inner = Z @ Z.T, Z.T @ Y
    else:
        square, inner, total = np.zeros((q, q)), np.zeros((q, Y.shape[1])), np.zeros(q)
        first = kernel.features(X[:1])[0]  # near the mean where the kernel is nearly constant
        for rows in row_blocks(m, q):
            Z = kernel.features(X[rows]) - first
            square += Z.T @ Z
            inner += Z.T @ Y[rows]
            total += Z.sum(axis=0)
        square -= np.outer(total, total / m)
    size = np.linalg.norm(square)
    if size <= _CONSTANT * m:
        raise ValueError(
            "X: the kernel is constant on the training samples, so nothing can be learned; "
            "accepted: samples on which it varies."
        )
    return float(np.square(inner).sum() / (size * target_norm(Y)))


@parameters
class AlignedRandomFeatures(FrameOutput, _FeatureLearner):
    """Transformer to random Fourier features whose weights align their kernel with the target.

    Frequencies are drawn from the spectral density of a base kernel. Their weights are a
    distribution q that maximizes ``sum_k q_k <K_k, T>`` within a chi-square ball about equal
    weights, where K_k is the kernel of one frequency and T that of the target. Frequencies of
    weight 0 are dropped. Inner products of the columns are the values of the learned kernel, so any
    linear model can follow.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        Gaussian, Laplacian, Exponential, Matern or RationalQuadratic.
    n_features : int, default 1000
        Frequencies that are drawn, D.
    rho : float, default 3.0
        Radius of the ball, ``D sum(q^2) - 1 <= rho``. 0 keeps equal weights. At least
        ``D / (1 + rho)`` frequencies are kept, and usually about twice this number.
    n_components : int, optional
        Draw this many frequencies from q, with replacement, instead of using q itself.
    center : bool, default True
        Align with the centered target, which is to align centered kernels; False for the uncentered
        target, -1 and +1 for two classes, as the paper has it.
    offsets : bool, default False
        Features ``sqrt(2) cos(omega'x + b)`` with random b, as the paper has them. By default each
        frequency has a cosine and a sine: the learned kernel is then a function of x - x'.
    task : {"auto", "classification", "regression"}, default "auto"
        How to read y; "auto" takes floating-point values as regression. More than two classes: T is
        the agreement of labels.

    Attributes
    ----------
    kernel_ : FourierFeatures
        The learned kernel, of the frequencies that are kept.
    weights_ : ndarray of shape (D,)
        Weights of all drawn frequencies, which sum to 1.
    scores_ : ndarray of shape (D,)
        ``<K_k, T>_F / (m |T|_F)``, the alignment of each frequency up to its own norm.
    result_ : ChiSquareBall
        q with its certificate.
    alignment_, uniform_alignment_ : float
        Centered alignment with the target, of the learned kernel and of equal weights.
    base_kernel_ : Kernel
        With a number for ``gamma="scale"``.
    n_features_in_, feature_names_in_

    Notes
    -----
    Time is O(m D d) for the scores, O(D log D) for q, and O(m D min(m, D)) for the two alignments
    that are reported. Memory: blocks of rows, and a matrix of order min(m, 2 D).

    The alignment in the objective is an inner product. The paper's bound needs rho of the order 1;
    larger values keep fewer frequencies and fit the training samples more closely.

    References
    ----------
    Sinha and Duchi (2016), Learning kernels with random features, sections 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import AlignedRandomFeatures, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> features = AlignedRandomFeatures(Gaussian(0.5), n_features=200).fit(X, np.sin(2 * X[:, 0]))
    >>> Z = features.transform(X)
    >>> np.allclose(Z @ Z.T, features.kernel_(X), atol=0.1)
    True
    """

    kernel: Any = field(default="rbf", kw_only=False)
    n_features: int = 1000
    rho: float = 3.0
    n_components: int | None = None
    center: bool = True
    offsets: bool = False
    task: str = "auto"
    random_state: Any = shared("random_state")

    def fit(self, X, y) -> Self:
        """Learn the weights from X (m, d), dense or sparse, and y (m,) or (m, c); return self.

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X, y):
        """Learn the weights and return the features of the training samples, (m, q)."""
        samples = self._fit(X, y)
        return self._in_container(self.kernel_.features(samples), X)

    def transform(self, X):
        """Features of n samples, ``kernel_.features(X)``, float64 (n, q), or a data frame."""
        return self._in_container(self._features(X), X)

    @property
    def _n_features_out(self):
        return self.kernel_.n_features

    def _fit(self, X, y):
        task = check_choice("task", self.task, ("auto", "classification", "regression"))
        X = self._check_train(X)
        inputs.require_y(self, y)
        self._learn(X, y, task)
        return X


@parameters
class AlignedRandomFeaturesClassifier(Classifier, _FeatureLearner):
    """Support vector classifier on aligned random features.

    Parameters
    ----------
    kernel : Kernel or str, default "rbf"
        Gaussian, Laplacian, Exponential, Matern or RationalQuadratic.
    n_features : int, default 1000
        Frequencies that are drawn, D.
    rho : float, default 3.0
        Radius of the ball, ``D sum(q^2) - 1 <= rho``. 0 keeps equal weights. At least
        ``D / (1 + rho)`` frequencies are kept, and usually about twice this number.
    n_components : int, optional
        Draw this many frequencies from q, with replacement, instead of using q itself.
    center : bool, default True
        Align with the centered target, which is to align centered kernels; False for the uncentered
        target, -1 and +1 for two classes, as the paper has it.
    offsets : bool, default False
        Features ``sqrt(2) cos(omega'x + b)`` with random b, as the paper has them. By default each
        frequency has a cosine and a sine: the learned kernel is then a function of x - x'.
    C : float, default 1.0
        Cost of margin violations, > 0; ``numpy.inf`` for a hard margin. The kernel is not
        normalized: its diagonal is 1.
    multiclass : {"ovo", "ovr"}, default "ovo"
    class_weight : None, "balanced" or dict, default None
        Weight of each class; "balanced" makes the total weights of all classes equal.
    tol : float, default 1e-3
        Maximum KKT violation.
    max_iter : int, optional
        Maximum number of steps for each pair of classes.

    Attributes
    ----------
    kernel_ : FourierFeatures
        The learned kernel, of the frequencies that are kept.
    weights_ : ndarray of shape (D,)
        Weights of all drawn frequencies, which sum to 1.
    scores_ : ndarray of shape (D,)
        ``<K_k, T>_F / (m |T|_F)``, the alignment of each frequency up to its own norm.
    result_ : ChiSquareBall
        q with its certificate.
    alignment_, uniform_alignment_ : float
        Centered alignment with the target, of the learned kernel and of equal weights.
    base_kernel_ : Kernel
        With a number for ``gamma="scale"``.
    n_features_in_, feature_names_in_
    classes_ : ndarray of shape (c,)
    coef_ : ndarray of shape (q, n_problems)
        Decisions are ``kernel_.features(X) @ coef_ + intercept_``.
    intercept_ : ndarray of shape (n_problems,)
    n_iter_ : ndarray of shape (n_problems,)
    machine_ : SupportVectorClassifier

    Notes
    -----
    The SVM needs one (m, m) matrix, or none if there are few features (m >= 2000 and at least 25
    samples per feature), with the same ``tol``. A fitted classifier holds frequencies, coefficients
    and the dual coefficients of ``machine_``, but no samples.

    References
    ----------
    Sinha and Duchi (2016), Learning kernels with random features.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import AlignedRandomFeaturesClassifier, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> model = AlignedRandomFeaturesClassifier(Gaussian(0.5), n_features=200).fit(X, y)
    >>> model.score(X, y) > 0.9
    True
    """

    kernel: Any = field(default="rbf", kw_only=False)
    n_features: int = 1000
    rho: float = 3.0
    n_components: int | None = None
    center: bool = True
    offsets: bool = False
    C: float = 1.0
    multiclass: str = "ovo"
    class_weight: Any = None
    tol: float = 1e-3
    max_iter: int | None = None
    random_state: Any = shared("random_state")

    def fit(self, X, y) -> Self:
        """Learn the kernel from X (m, d), dense or sparse, and labels y (m,); train the classifier.

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.

        Warns
        -----
        ConvergenceWarning
            The solver stopped above ``tol``.
        """
        machine = SupportVectorClassifier(self.C, **svm_options(self))
        C = check_number("C", self.C, low=0.0, strict=True, finite=False)
        X = self._check_train(X)
        labels = inputs.class_labels(self, y, X.shape[0])
        self._learn(X, labels, "classification")
        learned = self.__dict__.pop("kernel_")  # not fitted until the machine is fitted
        Z = learned.features(X)
        if faster_in_features(*Z.shape, C):
            fit_classifier(machine, Z, labels)
        else:
            check_gram_memory(len(Z))
            machine.fit(Z @ Z.T, labels, check=False)
        self.machine_, self.classes_ = machine, machine.classes_
        self.coef_ = Z[machine.support_].T @ machine.dual_coef_
        self.intercept_, self.n_iter_ = machine.intercept_, machine.n_iter_
        self.kernel_ = learned
        return self

    def decision_function(self, X) -> np.ndarray:
        """Confidence of each class for n samples, (n,) or (n, c), as `MKLClassifier` gives it."""
        Z = self._features(X)
        return self.machine_.confidences(Z @ self.coef_ + self.intercept_)
