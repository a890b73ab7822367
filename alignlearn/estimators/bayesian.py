"""Bayesian multiple kernel learning as a classifier with probabilities.

Source: Goenen (2012), Bayesian efficient multiple kernel learning.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from alignlearn.kernels import are_per_column
from alignlearn.machines.bayesian import BayesianCombination, Priors
from alignlearn.solvers.multiclass import two_class_problems
from alignlearn.sources import open_source
from alignlearn.statistics import alignment, center_gram
from alignlearn.validation import check_count, check_number
from alignlearn.validation.memory import check_gram_memory

from . import inputs
from .base import Classifier, Estimator, parameters

if TYPE_CHECKING:
    from typing_extensions import Self


@parameters
class BayesianMKLClassifier(Classifier, Estimator):
    """Classifier with a Bayesian combination of kernels, by variational inference.

    Every kernel gives each sample a response ``K_k(x, .) a`` of shared coefficients a; responses
    are weighted by e, a bias is added, and the sign decides. Coefficients and weights have normal
    priors with gamma priors on their precisions, and both have a posterior.

    Parameters
    ----------
    kernels : sequence of Kernel and str, dict, or "precomputed", optional
        Default: nine Gaussians around ``gamma="scale"``. With "precomputed", X is a sequence of p
        Gram matrices (m, m) in ``fit`` and (n, m) later. A dict, and several tables as X, as in
        `MKLClassifier`. All are centered and scaled to trace m.
    alpha_lambda, beta_lambda : float, default 1.0
        Shape and scale of the gamma prior on the precisions of the sample coefficients a.
    alpha_gamma, beta_gamma : float, default 1.0
        The same on the precision of the bias b.
    alpha_omega, beta_omega : float, default 1.0
        The same on the precisions of the kernel weights e; 1e-10 and 1e10 make these sparse.
    sigma_g : float, default 1.0
        Standard deviation of the noise that is added to a kernel's response before weighting. Less
        noise fits the training samples more closely.
    margin : float, default 0.0
        From 0 to 1000: how far beyond 0 the decision of a training sample has to lie. The paper
        takes 1, with which probabilities are overconfident; see the notes.
    tol : float, default 1e-4
        Stop when a round of updates adds at most this to the evidence lower bound, in nats per
        sample.
    max_iter : int, default 1000
        Maximum number of rounds for each problem.

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
    weights_, weights_std_ : ndarray of shape (p,), or (p, c) for c > 2 classes
        Posterior mean and standard deviation of e, of the kernels centered and scaled. May be
        negative.
    scale_ : ndarray of shape (p,)
        Factors that scale the centered kernels to trace m; 0 for a constant kernel, which is left
        out.
    intercept_ : ndarray of shape (n_problems,)
        Posterior mean of b.
    dual_coef_ : ndarray of shape (m, n_problems)
        Posterior mean of a.
    lower_bounds_ : list of ndarray of shape (n_iter,)
        Evidence lower bound of each problem after every round, in nats; nondecreasing.
    n_iter_ : ndarray of shape (n_problems,)
    kernels_ : list of Kernel
        The kernels, with numbers in place of ``gamma="scale"``.
    kernel_ : Kernel
        ``sum_k weights_k scale_k K_k``, for two classes. Indefinite where a weight is negative.
    alignment_, uniform_alignment_ : float
        Centered alignment with the labels, of ``kernel_`` and of equal weights, for two classes.
    n_features_in_, feature_names_in_

    Notes
    -----
    More than two classes: each against the rest, with probabilities that are scaled to sum 1.

    If e is negative, or the posterior of e is wide relative to its mean, the data determine the
    weights poorly. Signs of a and e may change together; the sign is chosen so that the sum of e is
    nonnegative.

    Time is O(p m^3) once and O(p m^2 + m^3) per round; memory is p + 3 matrices (m, m). The paper's
    experiments use a noise variance of g of 1 and a margin of 1. As in the paper, the probability
    of a new sample ignores the variance of the response, which would need the covariance of a, (m,
    m), and is small.

    The margin is for separable classes. If labels are random given x, a margin makes probabilities
    too extreme. Without a margin, probabilities are much closer to the observed frequencies, at
    equal accuracy, but still too extreme: the posterior of a product of factors is narrower than
    the true one.

    References
    ----------
    Goenen (2012), Bayesian efficient multiple kernel learning. The model and its updates are in
    `alignlearn.machines.bayesian`.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import BayesianMKLClassifier, Gaussian, Linear
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> model = BayesianMKLClassifier([Gaussian(0.5), Linear()]).fit(X, y)
    >>> model.weights_.shape, model.weights_std_.shape  # of the posterior
    ((2,), (2,))
    >>> bool((np.diff(model.lower_bounds_[0]) >= -1e-9).all())
    True
    """

    _fitted_marker = "_predictors"

    kernels: Any = field(default=None, kw_only=False)
    alpha_lambda: float = 1.0
    beta_lambda: float = 1.0
    alpha_gamma: float = 1.0
    beta_gamma: float = 1.0
    alpha_omega: float = 1.0
    beta_omega: float = 1.0
    sigma_g: float = 1.0
    margin: float = 0.0
    tol: float = 1e-4
    max_iter: int = 1000

    def _accepts_sparse(self):
        return not are_per_column(self.kernels) and super()._accepts_sparse()

    def fit(self, X, y) -> Self:
        """Compute the approximate posterior.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Or a list of objects, a sparse matrix, p Gram matrices or several tables, as ``kernels``
            allows.
        y : array-like of shape (m,)
            Labels of one type, at least two different ones.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.
        MemoryError
            The matrices do not fit into free memory; raised before they are made.

        Warns
        -----
        ConvergenceWarning
            A problem's lower bound still grew after ``max_iter`` rounds.
        """
        self._forget()
        priors, options = self._checked()
        source = open_source(X, self.kernels)
        inputs.check_sample_count(source.n_samples)
        labels = inputs.class_labels(self, y, source.n_samples)
        inputs.doubt_scales(X, source.X, source.kernels)
        check_gram_memory(source.n_samples, len(source.names) + 3)
        grams, means = self._open(source)
        self.classes_, signs, _ = two_class_problems(labels)
        shared = BayesianCombination(grams, priors)
        found = []
        for sign in signs:  # no comprehension: warnings name the caller's line
            found.append(shared.fit(sign, **options))
        self._store(source, means, found)
        if len(signs) == 1:
            kernel = source.combine(self.weights_ * self.scale_).kernel
            self._two_classes = kernel, *self._alignments(grams, signs[0])
        else:
            self._two_classes = None
        self._store_columns(X, source.n_features)
        return self

    def _checked(self):
        """(Priors, options of the updates)."""
        if are_per_column(self.kernels):
            raise TypeError(
                "kernels=RankOneKernels() would need a Gram matrix for each column; "
                "accepted: a sequence of kernels, or 'precomputed'."
            )
        pairs = {}
        for which in ("lambda", "gamma", "omega"):
            named = [f"{parameter}_{which}" for parameter in ("alpha", "beta")]
            pairs[which] = tuple(
                check_number(name, getattr(self, name), low=1e-100, high=1e100) for name in named
            )
        priors = Priors(
            pairs["lambda"],
            pairs["gamma"],
            pairs["omega"],
            sigma_g=check_number("sigma_g", self.sigma_g, low=1e-8, high=1e8),
            margin=check_number("margin", self.margin, low=0.0, high=1e3),
        )
        tol = check_number("tol", self.tol, low=0.0)
        return priors, {
            "tol": tol,
            "max_iter": check_count("max_iter", self.max_iter, optional=False),
        }

    def _open(self, source):
        """Gram matrices (p, m, m), centered and scaled to trace m, and their means."""
        p, m = len(source.names), source.n_samples
        grams, means, self.scale_ = np.empty((p, m, m)), np.empty((p, m)), np.zeros(p)
        for k in range(p):
            gram = source.single(k).gram()
            # In single precision, the two orders of a pair may differ by rounding.
            np.add(gram, gram.T, out=grams[k])
            grams[k] *= 0.5
            means[k] = grams[k].mean(axis=0)
            diagonal = np.abs(np.diagonal(grams[k])).mean()
            center_gram(grams[k])
            trace = np.trace(grams[k])
            if trace > 1e-12 * m * diagonal:
                self.scale_[k] = m / trace
            grams[k] *= self.scale_[k]
        if not self.scale_.any():
            raise ValueError(
                "X: every kernel is constant on the training samples, so nothing can be learned; "
                "accepted: samples on which at least one kernel varies."
            )
        self.kernels_ = source.fitted_kernels
        return grams, means

    def _store(self, source, means, found):
        self.dual_coef_ = np.column_stack([posterior.a for posterior in found])
        weights = np.column_stack([posterior.be[1:] for posterior in found])
        deviations = np.column_stack(
            [np.sqrt(np.diagonal(posterior.be_covariance)[1:]) for posterior in found]
        )
        one = len(found) == 1
        self.weights_, self.weights_std_ = ((A[:, 0] if one else A) for A in (weights, deviations))
        self.intercept_ = np.array([posterior.be[0] for posterior in found])
        self.lower_bounds_ = [posterior.lower_bounds for posterior in found]
        self.n_iter_ = np.array([len(bounds) for bounds in self.lower_bounds_])
        self._posteriors = found
        # A centered row times a is the uncentered row times a minus its mean, plus a constant.
        coef = self.dual_coef_ - self.dual_coef_.mean(axis=0)
        kept = source.kept()
        self._predictors = [
            kept.single(k).predictor(None, coef * s, -s * (means[k] @ coef))
            for k, s in enumerate(self.scale_)
        ]

    def _kernel_weights(self):
        if self.weights_.ndim == 1:
            return super()._kernel_weights()
        return np.abs(self.weights_).mean(axis=1), f", mean sizes over {len(self.classes_)} classes"

    def _alignments(self, grams, sign):
        """Centered alignments of the learned and of the uniform combination."""
        return tuple(
            alignment(np.tensordot(w, grams, 1), sign) if w.any() else 0.0
            for w in (self.weights_, np.ones(len(grams)))
        )

    def _of_two_classes(self, k, name):
        self._check_is_fitted()
        if self._two_classes is None:
            raise AttributeError(
                f"{name} exists for two classes only; each of the {len(self.classes_)} "
                "classes has its own weights."
            )
        return self._two_classes[k]

    @property
    def kernel_(self):
        """``sum_k weights_k scale_k K_k``, for two classes."""
        return self._of_two_classes(0, "kernel_")

    @property
    def alignment_(self):
        """Centered alignment of ``kernel_`` with the labels, for two classes."""
        return self._of_two_classes(1, "alignment_")

    @property
    def uniform_alignment_(self):
        """Centered alignment of equal weights with the labels, for two classes."""
        return self._of_two_classes(2, "uniform_alignment_")

    def decision_function(self, X) -> np.ndarray:
        """Log-odds of each class against the rest.

        Parameters
        ----------
        X : as in ``fit``, n samples

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes of ``classes_[1]`` against ``classes_[0]``.
        """
        self._check_is_fitted()
        X = self._check_columns(X, self._predictors[0].check)
        responses = np.array([one.decisions(X) for one in self._predictors])
        odds = [q.log_odds(responses[:, :, j]) for j, q in enumerate(self._posteriors)]
        return odds[0] if len(odds) == 1 else np.column_stack(odds)

    def predict_proba(self, X):
        """Probability of each class for n samples, (n, c); of more than two, scaled to sum 1."""
        odds = self.decision_function(X)
        if odds.ndim == 1:
            return expit(np.column_stack([-odds, odds]))
        # Relative to the most probable class, which is not 0 if all are small.
        size = -np.logaddexp(0.0, -odds)
        share = np.exp(size - size.max(axis=1, keepdims=True))
        return share / share.sum(axis=1, keepdims=True)
