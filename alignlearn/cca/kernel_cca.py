"""The estimator `KernelCCA`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn._text import listed
from alignlearn.dependence import DependenceTest
from alignlearn.dependence.permutations import permutation_p_value
from alignlearn.dependence.views import as_column, naming, open_views, view_kernels
from alignlearn.estimators import inputs
from alignlearn.estimators.base import check_same_names, parameters
from alignlearn.estimators.frame_output import FrameOutput
from alignlearn.kernels import check_group_names
from alignlearn.sources import Opener, Tables
from alignlearn.validation import (
    check_choice,
    check_count,
    check_number,
    check_samples,
    check_seed,
    is_sequence,
    is_sparse,
)
from alignlearn.validation.memory import check_gram_memory

from ._factors import exact_factor, low_rank_factor
from ._problem import Problem, measured

if TYPE_CHECKING:
    from typing_extensions import Self

_LARGEST = 1e100  # maximum of kappa and of eigenvalues, which are squared
_EXACT = 500  # number of samples up to which eigenvectors of all views take less than a second


@parameters
class KernelCCA(FrameOutput):
    """Kernel canonical correlation analysis of two or more views of the same samples.

    Finds functions ``f_i`` in the spaces of the kernels, one for each view, of largest regularized
    correlation. Two views: ``fit(X, Y)``, as for scikit-learn's `CCA`; any number:
    ``fit([X1, X2, ...])``.

    Parameters
    ----------
    n_components : int, default 1
        q, at most the rank of each centered kernel matrix (of two views), or the sum of the ranks.
    kernels : Kernel, str, or a sequence or dict of one for each view, optional
        "precomputed" means that the view is a Gram matrix. Default: Gaussians with
        ``gamma="scale"``. A dict is for a dict of views with the same names.
    kappa : float, default 0.02
        Regularization parameter, > 0. Without regularization, all correlations are 1 for all data
        if the centered Gram matrices have full rank.
    regularization : {"norm", "gram"}
        Replacement for the variance of f. "norm": ``var f + kappa |f|^2``, which does not depend on
        the number of samples N (Fukumizu et al. 2007). "gram": ``c'(G + kappa I)^2 c / N`` with the
        centered Gram matrix G and coefficients c (Bach and Jordan 2002); that is "norm" with ``2
        kappa / N`` plus a term ``kappa^2 |c|^2 / N``, so correlations are smaller.
    measure : {"max", "min"}
        Definition of `dependence_` for M > 2 views, from the generalized eigenvalues gamma (1 +-
        the correlations for two views). "max": ``(gamma_max - 1) / (M - 1)``; "min": ``1 -
        gamma_min``, in the sense of Bach and Jordan. Both in [0, 1], 0 without dependence, and
        equal for two views only.
    solver : {"auto", "exact", "low-rank"}
        "exact": eigenvectors of all Gram matrices, O(N^3) time. "low-rank": pivoted Cholesky of
        rank r, O(N r^2) time, no Gram matrix. "auto": "exact" up to 500 samples.
    tol : float in [0, 0.1], default 1e-6
        For "low-rank": accepted trace of the residual Gram matrix, relative to its trace without a
        constant. Values of the components on new samples change by the order of its square root.
    max_rank : int, default 1000
        For "low-rank": upper bound of r. A ConvergenceWarning is given if it prevents ``tol``.

    Attributes
    ----------
    correlations_ : ndarray of shape (q,)
        Regularized, descending; for M > 2 views ``(gamma - 1) / (M - 1)``.
    dependence_ : float
        The dependence measure. It is positive on a sample even for independent views; use
        `independence_test`.
    eigenvalue_range_ : tuple of float
        gamma_min and gamma_max.
    residual_ : ndarray of shape (q,)
        Certificate: ``|A z - lambda B z| / (|A z| + |B z|)`` in the generalized eigenvalue problem,
        for "low-rank" that of the approximated Gram matrices.
    error_bound_ : ndarray of shape (q,)
        Proved bound on the change of the correlations by "low-rank"; 0 for "exact".
    ranks_ : tuple of int
        Rank used for each centered Gram matrix.
    solver_ : str
    n_views_, n_samples_ : int
    n_features_in_, feature_names_in_
        Set for X after ``fit(X, Y)``.

    References
    ----------
    Bach and Jordan (2002), Kernel independent component analysis, section 3; Fukumizu, Bach and
    Gretton (2007), Statistical consistency of kernel canonical correlation analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn.cca import KernelCCA
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 100)
    >>> x, y = np.cos(angle)[:, None], np.sin(angle)[:, None]  # dependent, uncorrelated
    >>> bool(KernelCCA().fit(x, y).dependence_ > 0.8)
    True
    """

    _fitted_marker = "_predictors"

    n_components: int = field(default=1, kw_only=False)
    kernels: Any = None
    kappa: float = 0.02
    regularization: str = "norm"
    measure: str = "max"
    solver: str = "auto"
    tol: float = 1e-6
    max_rank: int = 1000

    def fit(self, X, y=None) -> Self:
        """Find the components; return self.

        Parameters
        ----------
        X : array-like of shape (N, d), or sequence, dict or `Tables` of M >= 2 views
            Views are such arrays, (N,) for a single variable, Gram matrices for "precomputed", or
            other objects that their kernels accept.
        y : array-like of shape (N, e) or (N,), optional
            The second view, if X is the first.

        Raises
        ------
        ValueError, TypeError
            Fewer than two views, of different length, constant under their kernels, with NaN; kappa
            <= 0; too many components; an indefinite kernel.
        """
        self._forget()
        q = check_count("n_components", self.n_components, optional=False)
        views, problem = self._open(X, y)
        for given, view in zip(self._listed(X, y), views):
            inputs.doubt_scales(given, view.source.X, view.source.kernels)
        ranks = tuple(len(f.values) for f in problem.factors)
        most = min(ranks) if len(ranks) == 2 else sum(ranks)
        if q > most:
            raise ValueError(
                f"n_components={q}, but the centered kernel matrices have ranks "
                f"{listed(ranks)}; accepted: at most {most}."
            )
        found = problem.solve(q)
        self.correlations_, combinations, self.eigenvalue_range_ = found
        self.dependence_ = measured(*self.eigenvalue_range_, len(ranks), self.measure)
        self.residual_ = problem.residuals(self.correlations_, combinations)
        self.error_bound_ = problem.error_bounds(self.correlations_)
        self.ranks_, self.n_views_, self.n_samples_ = ranks, len(ranks), views[0].n_samples
        self.solver_ = self._chosen(self.n_samples_)
        self._pair = y is not None
        self._store_names(X, views[0])
        self._names = [inputs.feature_names(V) for V in self._listed(X, y)]
        self._view_kernels = [view.source.fitted_kernels for view in views]
        self._predictors = [
            _predictor(view, factor, v)
            for view, factor, v in zip(views, problem.factors, combinations)
        ]
        return self

    def fit_transform(self, X, y=None):
        """``fit(X, y).transform(X)``: the components of X, or of all views in a sequence."""
        return self.fit(X, y).transform(X)

    def transform(self, X, y=None):
        """Values of the components on new samples, centered with the means of the training samples.

        Parameters
        ----------
        X, y : as in ``fit``, n samples
            Gram matrices (n, N) against the training samples for "precomputed". After ``fit(X, Y)``
            y may be omitted; in a sequence views may be None, and in a dict views may be missing.

        Returns
        -------
        ndarray of shape (n, q) or data frame
            After ``fit(X, Y)``; with y a tuple of two.
        list of M such, None where a view was None
            After a ``fit`` on a sequence of views.
        """
        self._check_is_fitted()
        if not self._pair:
            views = self._by_name(X, self._listed(X, y))
            if len(views) != self.n_views_:
                raise ValueError(
                    f"X has {len(views)} views, but fit had {self.n_views_}; accepted: "
                    "the same number, with None for missing views."
                )
            return [None if V is None else self._values(i, V) for i, V in enumerate(views)]
        if not self._predictors[0].is_given:
            self._check_names(X)
        first = self._values(0, X)
        return first if y is None else (first, self._values(1, y))

    def score(self, X, y=None) -> float:
        """Mean correlation of the first component over all pairs of views, on new samples.

        Not regularized: high only if the fitted functions are correlated on samples that were not
        used in ``fit``. Parameters as in `transform`, all views given.

        Returns
        -------
        float
            In [-1, 1].
        """
        self._check_is_fitted()
        values = self.transform(X, y)
        if (self._pair and y is None) or any(V is None for V in values):
            raise ValueError("score needs all views; accepted: (X, Y), or [X1, X2, ...].")
        Z = np.column_stack([np.asarray(V, dtype=float)[:, 0] for V in values])
        Z = Z - Z.mean(axis=0)
        norms = np.linalg.norm(Z, axis=0)
        Z = np.divide(Z, norms, where=norms > 0.0, out=np.zeros_like(Z))
        C = Z.T @ Z
        return float(C[np.triu_indices(len(C), 1)].mean())

    def independence_test(self, X, y=None, *, n_permutations=199, random_state=None):
        """Permutation test of whether views are independent, by the measure of dependence.

        The samples of all views except the first are permuted separately. The fitted attributes are
        not used and stay unchanged. All parameters except ``n_components`` are used.

        Parameters
        ----------
        X, y : as in ``fit``
        n_permutations : int, default 199
        random_state : int or numpy.random.Generator, optional

        Returns
        -------
        alignlearn.dependence.DependenceTest
            ``p_value`` is ``(1 + k) / (1 + n)``.
        """
        n = check_count("n_permutations", n_permutations, optional=False)
        rng = check_seed("random_state", random_state)
        _, problem = self._open(X, y)
        statistic = problem.independence(self.measure)
        N, others = len(problem.factors[0].Z), len(problem.factors) - 1
        observed = statistic([np.arange(N)] * others)
        null = np.array([statistic([rng.permutation(N) for _ in range(others)]) for _ in range(n)])
        p_value = permutation_p_value(observed, null)
        return DependenceTest(observed, p_value, "permutation", N, null)

    @property
    def _n_features_out(self):
        return len(self.correlations_)

    def _accepts_sparse(self):
        kernels = self.kernels
        if isinstance(kernels, Mapping):
            kernels = list(kernels.values())
        kernels = kernels if isinstance(kernels, (list, tuple)) else [kernels]
        return all(inputs.take_sparse(["rbf"] if k is None else [k]) for k in kernels)

    def _open(self, X, y):
        """The checked views, each with its kernel, and their problem."""
        kappa = check_number("kappa", self.kappa, high=_LARGEST)
        if kappa <= 0.0:
            raise ValueError(
                f"kappa={self.kappa!r} is degenerate: without regularization, functions "
                "of full-rank kernels fit every sample, and all correlations are 1 for "
                "any data; accepted: kappa > 0."
            )
        check_choice("regularization", self.regularization, ("norm", "gram"))
        check_choice("measure", self.measure, ("max", "min"))
        listed = self._listed(X, y)
        if len(listed) < 2:
            raise ValueError(f"X has {len(listed)} view; accepted: 2 or more.")
        if y is not None:
            self._check_matrix(X)
        views = open_views(listed, self.kernels, None if y is not None else view_names(X))
        inputs.check_sample_count(views[0].n_samples)
        factors = self._factors(views)
        for i, factor in enumerate(factors):
            if factor.values.max() > _LARGEST:
                raise ValueError(
                    f"view {i}: eigenvalues of its kernel matrix reach {factor.values.max():.3g}; "
                    f"accepted: up to {_LARGEST:g}. Scale the view."
                )
        return views, Problem(factors, kappa, self.regularization)

    def _check_matrix(self, X):
        """scikit-learn distinguishes a vector X from a single column."""
        kernel = view_kernels(self.kernels, 2)[0]
        own = isinstance(kernel, (Opener, str))
        if not own and kernel.needs_vectors and not is_sparse(X):
            check_samples("X", X)

    def _factors(self, views):
        tol = check_number("tol", self.tol, low=0.0, high=0.1)
        max_rank = check_count("max_rank", self.max_rank, optional=False)
        N = views[0].n_samples
        names = [f"view {i}" for i in range(len(views))]
        if self._chosen(N) == "low-rank":
            return [low_rank_factor(s, name, tol, max_rank) for s, name in zip(views, names)]
        check_gram_memory(N, 2 * len(views) + 1)
        return [exact_factor(s, name) for s, name in zip(views, names)]

    def _chosen(self, n_samples):
        solver = check_choice("solver", self.solver, ("auto", "exact", "low-rank"))
        if solver == "auto":
            return "exact" if n_samples <= _EXACT else "low-rank"
        return solver

    def _listed(self, X, y):
        """The views as a list."""
        if y is not None:
            return [X, y]
        if view_names(X) is not None:
            return list((X.tables if isinstance(X, Tables) else X).values())
        if is_sequence(X) and len(getattr(X, "shape", ())) != 2:
            return list(X)
        raise ValueError(
            f"{type(self).__name__} requires y to be passed, but the target y is None, and X is "
            "one view; accepted: (X, Y), or a sequence of views [X1, X2, ...]."
        )

    def _by_name(self, X, views):
        """The views in the order of ``fit``, None for those missing in a dict."""
        given, known = view_names(X), getattr(self, "table_names_in_", None)
        if given is None:
            return views
        unknown = [name for name in given if name not in (known or ())]
        if unknown:
            raise ValueError(
                f"X has views {listed(unknown)}, which were not in fit; accepted: "
                f"{('a sequence of views' if known is None else listed(known))}."
            )
        found = dict(zip(given, views))
        return [found.get(name) for name in known]

    def _store_names(self, X, view):
        self._store_columns(X if self._pair else None, view.n_features if self._pair else None)
        names = None if self._pair else view_names(X)
        if names is not None:
            self.table_names_in_ = names

    def _values(self, i, X):
        predictor = self._predictors[i]
        first = self._pair and i == 0
        with naming(None if first else f"view {i}"):
            if predictor.is_given:
                samples = predictor.check([X])
            else:
                if not first:
                    check_same_names(self._names[i], inputs.feature_names(X))
                samples = predictor.check(X if first else self._as_view(i, X))
                width = samples.shape[1] if predictor.n_features is not None else None
                if width != predictor.n_features:
                    raise ValueError(
                        f"X has {width} features, but {type(self).__name__} is expecting "
                        f"{predictor.n_features} features as input."
                    )
        return self._in_container(predictor.decisions(samples), X)

    def _as_view(self, i, X):
        kernels = self._view_kernels[i]
        return as_column(X, kernels[0] if isinstance(kernels, list) else kernels)


def view_names(X):
    """Names of the views of a dict or `Tables`, else None."""
    if isinstance(X, Tables):
        return X.names
    return tuple(check_group_names("X", X)) if isinstance(X, Mapping) else None


def _predictor(view, factor, v):
    """The components as functions of new samples, with mean 0 over the training samples."""
    coef = factor.to_landmarks @ v
    # Coefficients of few landmarks do not sum to 0.
    exact = factor.gram is None
    found = view.predictor(factor.landmarks, coef, exact=exact)
    # With the values of new samples, which may omit a constant of the kernel.
    means = found.decisions(view.source.as_new(np.arange(view.n_samples))).mean(axis=0)
    return view.predictor(factor.landmarks, coef, -means, exact=exact)
