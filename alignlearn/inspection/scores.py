"""The display of a search by cross-validation: scores against C or alpha, for every rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .labels import COLORS, MARKERS, new_axes, tidy
from .models import fitted_part

if TYPE_CHECKING:
    from typing_extensions import Self

_SEARCHES = "a fitted MKLClassifierCV, or MKLRegressorCV with per_target=False"


class CVScoreDisplay:
    """Scores of a search by cross-validation against C or alpha, a line for every rule or method.

    Parameters
    ----------
    parameter : {"C", "alpha"}
    values : ndarray of shape (n,)
        Ascending.
    scores : dict of str to ndarray of shape (n_splits, n)
        Scores of every weight rule, or every method of a strategy; NaN if a fold was not tried. For
        a value that several levels of a search tried, the scores on the most samples.
    best : (str, float)
        The selected rule or method, and value.
    score_name : str

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    lines_ : list of matplotlib.lines.Line2D

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import CVScoreDisplay, Gaussian, MKLClassifierCV
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> model = MKLClassifierCV([Gaussian(0.1), Gaussian(1.0)], Cs=[0.1, 1.0, 10.0], cv=3).fit(X, y)
    >>> display = CVScoreDisplay.from_estimator(model)
    >>> display.values.tolist(), len(display.lines_)
    ([0.1, 1.0, 10.0], 2)
    """

    def __init__(self, parameter, values, scores, best, score_name="score"):
        self.parameter, self.values, self.scores = parameter, values, scores
        self.best, self.score_name = best, score_name

    @classmethod
    def from_estimator(cls, estimator, *, ax=None) -> Self:
        """Draw the scores of a fitted search.

        Parameters
        ----------
        estimator : fitted MKLClassifierCV or MKLRegressorCV
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. Default: a new figure.

        Returns
        -------
        CVScoreDisplay

        Raises
        ------
        ValueError
            The estimator holds no scores of candidates: it is not a search, or it selected for
            every target separately (``per_target``).
        """
        results = fitted_part(estimator, "cv_results_", _SEARCHES)
        known = "param_C" in results or "param_alpha" in results
        if not known or not hasattr(estimator, "weighting_"):
            raise ValueError(
                f"{type(estimator).__name__} has no scores of C or alpha by weighting; accepted: "
                f"{_SEARCHES}."
            )
        parameter = "C" if "param_C" in results else "alpha"
        values = np.asarray(results[f"param_{parameter}"], float)
        by_strategy = "param_method" in results
        rules = results["param_method"] if by_strategy else results.get("param_weighting")
        rules = [estimator.weighting_] * len(values) if rules is None else rules
        n_splits = sum(
            name.startswith("split") and name.endswith("_test_score") for name in results
        )
        every = np.array([results[f"split{t}_test_score"] for t in range(n_splits)])
        distinct, scores = np.unique(values), {}
        sizes = np.asarray(results.get("n_samples", np.zeros(values.size)))
        for number, rule in enumerate(_in_order(rules)):
            mine = np.array([_same(rule, other) for other in rules])
            name = rule if isinstance(rule, str) else repr(rule)
            name = f"{name} ({number})" if name in scores else name
            scores[name] = np.full((n_splits, distinct.size), np.nan)
            # If several levels tried a value, the later scores, on more samples, are shown.
            for row in np.flatnonzero(mine)[np.argsort(sizes[mine], kind="stable")]:
                scores[name][:, np.searchsorted(distinct, values[row])] = every[:, row]
            if mine[estimator.best_index_]:
                best = name, float(values[estimator.best_index_])
        default = "accuracy" if parameter == "C" and hasattr(estimator, "classes_") else "score"
        scoring = estimator.scoring
        label = default if scoring is None else str(getattr(scoring, "__name__", scoring))
        label = label if getattr(estimator, "refit", None) is None else estimator.refit
        if scoring is None and default == "score":
            label = "neg_root_mean_squared_error"
        elif scoring is None and by_strategy:
            label = "accuracy minus 0.3 times the log loss"
        return cls(parameter, distinct, scores, best, label).plot(ax=ax)

    def plot(self, *, ax=None) -> Self:
        """Draw the figure; ``ax`` is that of ``from_estimator``."""
        ax = self.ax_ = new_axes(ax, 6.4, 4.2)
        self.figure_, self.lines_ = ax.figure, []
        at, ticks = _positions(self.values)
        for k, (name, scores) in enumerate(self.scores.items()):
            color, marker = COLORS[k % len(COLORS)], MARKERS[k % len(MARKERS)]
            tried = np.isfinite(scores).any(axis=0)
            mean, spread = np.nanmean(scores[:, tried], axis=0), np.nanstd(scores[:, tried], axis=0)
            style = {"marker": marker, "color": color, "label": name, "markersize": 5}
            self.lines_ += ax.plot(at[tried], mean, **style)
            if len(scores) > 1:
                band = mean - spread, mean + spread
                ax.fill_between(at[tried], *band, color=color, alpha=0.12, lw=0)
        name, value = self.best
        k = int(np.flatnonzero(self.values == value)[0])
        point = {"markersize": 15, "markerfacecolor": "none", "markeredgecolor": "#222222"}
        label = f"chosen: {self.parameter} = {value:.3g}"
        ax.plot(
            at[k], np.nanmean(self.scores[name][:, k]), "o", linestyle="none", label=label, **point
        )
        ax.set_xticks(*ticks)
        n = len(next(iter(self.scores.values())))
        folds = f"mean and standard deviation over {n} folds" if n > 1 else "one score"
        ax.set(xlabel=self.parameter, ylabel=self.score_name.replace("_", " "))
        ax.set_title(f"Cross-validation: {folds}", fontsize=11)
        ax.legend(frameon=False)
        tidy(ax)
        return self


def _in_order(rules):
    found = []
    for rule in rules:
        if not any(_same(rule, other) for other in found):
            found.append(rule)
    return found


def _same(rule, other):
    return rule is other or (isinstance(rule, str) and isinstance(other, str) and rule == other)


def _positions(values):
    """Logarithms of values, with 0 and infinity one step outside, and ticks for these two."""
    inside = (values > 0.0) & np.isfinite(values)
    at = np.zeros(values.size)
    at[inside] = np.log10(values[inside])
    low, high = (at[inside].min(), at[inside].max()) if inside.any() else (0.0, 0.0)
    step = max(1.0, 0.1 * (high - low))
    at[values == 0.0], at[np.isinf(values)] = low - step, high + step
    whole = np.arange(np.ceil(low - 1e-9), np.floor(high + 1e-9) + 1.0)
    whole = whole[:: max(1, int(np.ceil(whole.size / 10)))]
    if whole.size < 2:
        ticks, labels = at[inside], [f"{v:.3g}" for v in values[inside]]
    else:
        ticks, labels = whole, [f"$10^{{{int(t)}}}$" for t in whole]
    outside = np.flatnonzero(~inside)
    labels = [*labels, *("0" if values[k] == 0.0 else r"$\infty$" for k in outside)]
    return at, (np.concatenate([ticks, at[outside]]), labels)
