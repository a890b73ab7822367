"""Contributions of kernels to predictions: parts that sum to R^2, losses without a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from alignlearn._text import largest, table
from alignlearn._versions import Versioned
from alignlearn.machines.scores import r2_by_target
from alignlearn.solvers.multiclass import predicted_labels
from alignlearn.sources import open_source
from alignlearn.validation import (
    check_choice,
    check_count,
    check_labels,
    check_memory,
    check_seed,
    check_targets,
    check_weights,
    is_sparse,
)
from alignlearn.weights import stage_one

from . import per_target
from ._calibrated import calibrated
from .kernel_groups import feature_groups, kernel_groups
from .kernel_table import refuse_several, training_source
from .scoring import SCORES, get_score

METHODS = ("product", "leave-out", "refit", "permutation")
_TITLES = {
    "product": "parts of R^2, which sum to R^2 (product measure)",
    "leave-out": "loss of {scoring} without the term of the group, with the others unchanged",
    "refit": "loss of {scoring} of a model that is fitted without the group",
    "permutation": "mean loss of {scoring} if the group is permuted among the samples",
    "interaction": "losses of {scoring} with either column permuted, minus that with both at once",
}
_FEW_TARGETS = 6  # that a table has a column for
_PAIRED = 6  # columns of the largest losses, all pairs of which are measured


@dataclass(frozen=True, eq=False)
class Contributions(Versioned):
    """Contributions of groups of kernels to the predictions of q targets (q = 1 for a classifier).

    Attributes
    ----------
    names : tuple of str
        Of the groups.
    values : ndarray of shape (n_groups, q)
        Parts of R^2 for "product", else how much the score falls.
    total : ndarray of shape (q,)
        Score of the whole model on these samples.
    offset : ndarray of shape (q,)
        Loss in R^2 because the means of predictions and targets differ; with it, ``values`` of
        "product" sum to ``total``. 0 for other methods.
    spread : ndarray of shape (n_groups, q)
        "permutation", "interaction": standard deviation over the repeats. 0 for other methods.
    method, scoring : str
        "interaction" with ``groups="pairs"``.
    n_samples : int
        Number of samples of positive weight.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Columns, Linear, MKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = X[:, 0] + 0.1 * X[:, 1]
    >>> kernels = [Columns(Linear(), [0]), Columns(Linear(), [1])]
    >>> parts = MKLRegressor(kernels, alpha=0.1).fit(X[:40], y[:40]).contributions(X[40:], y[40:])
    >>> parts.method, parts.values.shape
    ('product', (2, 1))
    >>> bool(parts.values[0, 0] > 0.8)  # the first column explains nearly all
    True
    >>> np.allclose(parts.values.sum() + parts.offset, parts.total)
    True
    >>> parts.to_frame().columns.tolist()
    ['value', 'spread']
    """

    names: tuple[str, ...]
    values: np.ndarray
    total: np.ndarray
    offset: np.ndarray
    spread: np.ndarray
    method: str
    scoring: str
    n_samples: int

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each group.

        Returns
        -------
        pandas.DataFrame
            Indexed by ``names``; the columns "value" and "spread", or "target 0", "target 1", ...
            for several targets.
        """
        from pandas import DataFrame

        q = self.values.shape[1]
        if q > 1:
            columns = {f"target {j}": self.values[:, j] for j in range(q)}
        else:
            columns = {"value": self.values[:, 0], "spread": self.spread[:, 0]}
        return DataFrame(columns, index=list(self.names))

    def table(self, max_rows=30) -> str:
        """The groups as a text table; of more than ``max_rows`` those of the largest values."""
        shown = largest(np.abs(self.values).mean(axis=1), max_rows)
        scoring = "R^2" if self.scoring == "r2" else self.scoring
        below = [f"{scoring} of the model"]
        if self.method == "product":
            below = ["means differ", "R^2"]
        names = ["group", *(self.names[k] for k in shown), *below]
        header, *rows = zip(names, *self._columns(shown))
        n = len(shown)
        options = {"total": len(self.names), "most": n, "below": rows[n:]}
        lines = table(rows[:n], header, more=" groups, of smaller contributions", **options)
        title = _TITLES[self.method].format(scoring=scoring)
        return f"{title}; {self.n_samples} samples\n{lines}"

    def _columns(self, rows):
        """Columns of numbers, as text, each with its head."""
        product, q = self.method == "product", len(self.total)
        below = np.vstack([self.offset, self.total]) if product else self.total[None]
        V = np.vstack([self.values[rows], below])
        if q > _FEW_TARGETS:
            kinds = {"mean": np.mean, "sd": np.std, "min": np.min, "max": np.max}
            head = f"of {q} targets: mean"
            found = {head if n == "mean" else n: f(V, axis=1) for n, f in kinds.items()}
        else:
            found = {f"target {j}" if q > 1 else "value": V[:, j] for j in range(q)}
        columns = [[head, *(f"{v:.4f}" for v in values)] for head, values in found.items()]
        if self.method in ("permutation", "interaction") and q == 1:
            texts = [f"{v:.4f}" for v in self.spread[rows, 0]]
            columns.append(["sd over repeats", *texts, ""])
        return columns

    def __str__(self):
        return self.table()


def contributions(
    model, X, y, *, method, groups, scoring, sample_weight, fit, n_repeats, random_state
) -> Contributions:
    """`MKLClassifier.contributions` and that of the other models."""
    X = model._check_test(X)
    regression = model._estimator_type == "regressor"
    of_features = isinstance(groups, str) and groups in ("features", "pairs")
    if method is None:
        method = "product" if regression else "leave-out"
        method = "permutation" if of_features else method
    _check_method(method, regression, fit)
    if of_features:
        _check_features(X, method, groups)
        names, members = feature_groups(model, X.shape[1])
    else:
        names, members = kernel_groups(model, groups)
    n_repeats = check_count("n_repeats", n_repeats, optional=False)
    rng = check_seed("random_state", random_state)
    decisions = model._predictor.decisions(X, model._engine())
    weight = check_weights(sample_weight, len(decisions))
    used = weight > 0.0
    if np.count_nonzero(used) < 2:
        raise ValueError(
            "X has 1 sample of positive weight; at least 2 are needed for contributions."
        )
    F, weight = decisions[used], weight[used] / weight.sum()
    score, scoring, Y = _scorer(model, y, used, weight, scoring)
    total = score(F)
    offset = np.zeros_like(total)
    if of_features:
        permuted = _PermutedFeatures(model, X, used, (n_repeats, rng))

        def losses(index):
            return np.array([total - score(found) for found in permuted(index)])

        if groups == "pairs":
            names, values, spread = _interactions(names, members, losses)
            how = "interaction", scoring, len(F)
            return Contributions(names, values, total, offset, spread, *how)

        def measured(index):
            return _over_repeats(losses(index))

    elif method == "refit":
        refit = _Refit(model, fit)

        def measured(index):
            return total - score(refit.decisions(index, X, decisions)[used]), 0.0
    else:
        terms = _Terms(model, X)
        of_term, offset = _measure(method, (F, Y, weight), score, (n_repeats, rng))

        def measured(index):
            T = terms(index)[used]
            return of_term(T - weight @ T)

    values, spread = np.zeros((2, len(names), len(total)))
    for g, index in enumerate(members):
        if index.size if of_features else model._term_weights()[index].any():
            values[g], spread[g] = measured(index)
    return Contributions(names, values, total, offset, spread, method, scoring, len(F))


def _over_repeats(losses):
    """Means and standard deviations of losses (n_repeats, q)."""
    return losses.mean(axis=0), losses.std(axis=0, ddof=len(losses) > 1)


def _interactions(names, members, losses):
    """Names of pairs of the columns of the largest losses, and their interactions (n_pairs, q).

    The interaction is the sum of the losses with one column permuted, minus the loss with both
    permuted together. It is 0 if the decisions are a sum of functions of single columns, the
    columns are independent, and the score is linear in the squared error. Otherwise it also
    reflects redundant columns (negative), or a bounded score (positive).
    """
    one = [losses(index) for index in members]
    size = np.array([found.mean() for found in one])
    some = sorted(np.argsort(-size, kind="stable")[:_PAIRED].tolist())
    if len(some) < 2:
        raise ValueError("groups='pairs' needs two columns; X has 1. Accepted: 'features'.")
    found, pairs = [], list(combinations(some, 2))
    for a, b in pairs:
        both = losses(np.concatenate([members[a], members[b]]))
        found.append(_over_repeats(one[a] + one[b] - both))
    values, spread = (np.array(column) for column in zip(*found))
    return tuple(f"{names[a]} and {names[b]}" for a, b in pairs), values, spread


def _check_features(X, method, groups):
    if method != "permutation":
        raise ValueError(f"groups={groups!r} requires method='permutation', got method={method!r}.")
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        raise TypeError(f"groups={groups!r} is for dense samples with columns.")


class _PermutedFeatures:
    """Decisions on samples with some features permuted among samples, for each repeat."""

    def __init__(self, model, X, used, repeats):
        n_repeats, rng = repeats
        self.model, self.X = model, np.asarray(X)[used]
        self.orders = [rng.permutation(len(self.X)) for _ in range(n_repeats)]

    def __call__(self, index):
        """Decisions (n, q) for each repeat, with the features of an index array permuted."""
        for order in self.orders:
            Z = self.X.copy()
            Z[:, index] = self.X[np.ix_(order, index)]
            yield self.model._predictor.decisions(Z, self.model._engine())


def _measure(method, sample, score, repeats):
    """``of_term(T) -> (value, spread)`` of a centered term (n, q), and the offset.

    ``sample`` are decisions, targets and weights that sum to 1.
    """
    F, Y, weight = sample
    if method == "product":
        product = _Product(Y, F, weight)
        return (lambda T: (product(T), 0.0)), product.offset
    total = score(F)
    if method == "leave-out":
        return (lambda T: (total - score(F - T), 0.0)), np.zeros_like(total)
    n_repeats, rng = repeats
    orders = [rng.permutation(len(F)) for _ in range(n_repeats)]

    def permuted(T):
        return _over_repeats(np.array([total - score(F + (T[order] - T)) for order in orders]))

    return permuted, np.zeros_like(total)


def _check_method(method, regression, fit):
    check_choice("method", method, METHODS)
    if method == "product" and not regression:
        raise ValueError(
            "method='product' is for regressors, as it adds up to R^2; accepted for classifiers: "
            "'leave-out', 'refit', 'permutation'."
        )
    if (method == "refit") != (fit is not None):
        raise ValueError(
            "method='refit' requires fit=(X_train, y_train), the training samples, which "
            f"no other method accepts; got method={method!r} and "
            f"fit={('None' if fit is None else 'samples')}."
        )
    if fit is not None and (not isinstance(fit, (tuple, list)) or len(fit) not in (2, 3)):
        raise TypeError("fit must be a tuple (X, y) or (X, y, sample_weight) of training samples.")


def split_decisions(model, X):
    """Return the parts of the decisions (n, q) of each group of kernels, and their intercept.

    Parameters
    ----------
    model : MKLRegressor or MKLRegressorCV
        Fitted, with one model.
    X : as in ``fit``, n samples

    Returns
    -------
    dict {name: ndarray of shape (n, q)}
        Of each kernel, or of the kernels of each table or name; last "intercept", which is equal
        for all samples. Their sum are the decisions.
    """
    X = model._check_test(X)
    refuse_several(model, "predict(split=True)")
    names, members = kernel_groups(model, "columns")
    if len(names) == 1:
        names, members = kernel_groups(model, None)
    terms = _Terms(model, X, centered=False)
    found = {name: terms(index) for name, index in zip(names, members)}
    whole = model._predictor.decisions(X, model._engine())
    rest = whole - sum(found.values())
    return {**found, "intercept": np.broadcast_to(rest.mean(axis=0), whole.shape)}


# Terms and scores


class _Terms:
    """Parts of the decisions on checked samples from some kernels, up to a constant.

    Dense samples of linear kernels are ``centered`` at their mean.
    """

    def __init__(self, model, X, centered=True):
        self.centered = centered
        self.weights, self.predictor = model._term_weights(), model._predictor
        self.X, self.engine = X, model._engine()
        if self.predictor.is_linear:
            if self.predictor.takes_gaps and np.isnan(X).any():
                raise ValueError(
                    "X has missing tables, for which the contributions of linear kernels "
                    "are undefined; accepted: samples with all tables."
                )
            source = open_source(X, model.kernels_, engine=self.engine)
            self.owners = _owners(source.column_groups(), source.n_features)
            self.X = X.tocsc() if is_sparse(X) else X
            self.whole = self._per_feature(slice(None))

    def _per_feature(self, index):
        weights = self.weights[index]
        return self.owners[:, index] @ weights.reshape(len(weights), -1)

    def __call__(self, index):
        """The sum of the terms (n, q) of kernels that an index array names."""
        if not self.predictor.is_linear:
            part = np.zeros_like(self.weights)
            part[index] = self.weights[index]
            return self.predictor.reweighted(part).decisions(self.X, self.engine)
        # A coefficient is a number of its feature times the summed weights of the kernels on it.
        own = self._per_feature(index)
        some = np.flatnonzero(own.any(axis=1))
        own, whole = own[some], self.whole[some]
        share = np.divide(own, whole, out=np.zeros_like(own), where=whole != 0.0)
        Z, coef = self.X[:, some], share * self.predictor.coef[some]
        if is_sparse(Z) or not self.centered:
            return np.asarray(Z @ coef)
        return (Z - Z.mean(axis=0, dtype=np.float64)) @ coef


def _owners(groups, n_features):
    """How often a kernel has a feature, times its scale: a sparse matrix (d, p)."""
    from scipy.sparse import csc_array

    rows = np.concatenate([columns for columns, _ in groups])
    values = np.concatenate([np.full(len(columns), scale) for columns, scale in groups])
    starts = np.cumsum([0, *(len(columns) for columns, _ in groups)])
    return csc_array((values, rows, starts), shape=(n_features, len(groups)))


class _Product:
    """The product measure of centered terms, and the loss from different means."""

    def __init__(self, Y, F, weight):
        self.unit = np.maximum(np.abs(Y).max(axis=0), np.abs(F).max(axis=0))
        Y, F = Y / self.unit, F / self.unit
        gap = weight @ (Y - F)
        Y, F = Y - Y[0], F - F[0]
        Y, F = Y - weight @ Y, F - weight @ F
        self.size = weight @ np.square(Y)
        lost = np.flatnonzero(~(self.size > 0.0))
        if lost.size:
            raise ValueError(
                f"y: target {lost[0]} varies so much less than its predictions that R^2 "
                "is beyond the range of float64; accepted: y in the units of fit."
            )
        self._rest = weight[:, None] * (2.0 * Y - F)
        self.offset = -np.square(gap) / self.size

    def __call__(self, T):
        return np.einsum("ij,ij->j", T / self.unit, self._rest) / self.size


def _scorer(model, y, used, weight, scoring):
    """(score of decisions, its name, targets or None); scores have shape (q,)."""
    if model._estimator_type == "regressor":
        if scoring is not None:
            check_choice("scoring", scoring, ("r2",))
        Y = check_targets(y, used.size)
        Y = Y[:, None] if Y.ndim == 1 else Y
        q = np.size(model.intercept_)
        if Y.shape[1] != q:
            raise ValueError(
                f"y has {Y.shape[1]} columns; accepted: {q}, the number of targets in fit."
            )
        Y = Y[used]
        per_target.check_varies(Y, "of which R^2 does not exist")
        return lambda F: r2_by_target(Y, F, weight), "r2", Y
    labels = check_labels(y, used.size)[used]
    if scoring == "neg_log_loss":
        return _log_loss(model, labels, weight), scoring, None
    if not callable(scoring) and scoring is not None:
        check_choice("scoring", scoring, (*SCORES["classifier"], "neg_log_loss"))
    score = get_score(scoring, "classifier")
    equal = weight.max() == weight.min()

    def of_decisions(raw):
        found = predicted_labels(model.machine_.confidences(raw), model.classes_)
        return np.array([score(labels, found, *(() if equal else (weight,)))])

    name = "scoring(y, predicted)" if callable(scoring) else scoring or "accuracy"
    return of_decisions, name, None


def _log_loss(model, labels, weight):
    if model.probability is None or model.calibration_ is None:
        raise ValueError(
            "scoring='neg_log_loss' needs probabilities, but the model was fitted with "
            "probability=None; accepted: a model fitted with probability='sigmoid', 'isotonic' or "
            "'temperature'."
        )
    unknown = np.setdiff1d(labels, model.classes_)
    if unknown.size:
        raise ValueError(
            f"y has class {unknown[0].item()!r}, for which the model has no probability; "
            f"accepted: {model.classes_.tolist()}."
        )
    at = np.arange(len(labels)), np.searchsorted(model.classes_, labels)

    def of_decisions(raw):
        P = calibrated(model, model.machine_, raw)
        return np.array([weight @ np.log(np.maximum(P[at], np.finfo(P.dtype).eps))])

    return of_decisions


# Fits without a group


class _Refit:
    """The model fitted again without some kernels, with its alpha or C and its training samples."""

    def __init__(self, model, fit):
        refuse_several(model, "method='refit'")
        self.model, self.engine = model, model._engine()
        self.X = model._as_fitted(fit[0])
        self.source, self.y = training_source(model, "fit", *fit)

    def decisions(self, index, X, decisions):
        """Decisions on checked samples without the kernels of an index array."""
        model = self.model
        kept = model.scale_.copy()
        kept[index] = 0.0
        if not kept.any():
            raise ValueError(
                "method='refit': a group contains every kernel that varies, so no kernel "
                "is left to fit without the group; accepted: groups that leave at least "
                "one kernel."
            )
        if model._own_weights:
            found, columns = decisions.copy(), np.flatnonzero(model.weights_[index].any(axis=0))
            Y = self.y.reshape(len(self.y), -1)
            predictor = per_target.without(model, self.source, Y, kept, columns)
            found[:, columns] = predictor.decisions(X, self.engine)
            return found
        plain, regression = model._as_plain(), model._estimator_type == "regressor"
        task = "regression" if regression else "classification"
        statistics = model.statistics_.scaled(kept != 0.0)
        problem = plain._problem(self.source, self.y, task, scaled=(statistics, kept))
        found = stage_one.learn(problem, plain.weighting)
        learned = self.source.combine(found.weights * kept)
        memory = check_memory("memory", plain.memory)
        _, predictor = plain._train(learned, self.y, memory)
        predictor = plain._taking_gaps(predictor, self.X, learned)
        return predictor.decisions(X, self.engine)
