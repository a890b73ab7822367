"""Displays of fitted models: weights, contributions, similarity of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from alignlearn._text import largest
from alignlearn.dependence import cka_matrix, plot_cka
from alignlearn.validation import check_choice, check_count, check_label_matrix

from .labels import COLORS, new_axes, new_panels, tick_labels, tidy
from .models import fitted_part

if TYPE_CHECKING:
    from typing_extensions import Self

_FEW_TARGETS = 6  # maximum targets for bars; more are an image
_FEW_LABELS = 6  # maximum labels for panels; more are distributions
_EACH = 0.34  # inches of a row
_LEAST_VIOLIN, _BINS = 15, 12  # minimum targets for a distribution, and its bins
_LONGEST = 40  # letters of a name
_MODELS = (
    "a fitted MKLClassifier, MKLRegressor or one of their searches; of a pipeline its last step"
)


def _rows(ax, names):
    """Names of rows, the first one on top."""
    labels, what = tick_labels(list(names), _LONGEST)
    ax.set_yticks(np.arange(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    if what != "kernel":
        ax.set_ylabel(what)
    tidy(ax)
    ax.grid(visible=False, axis="y")
    ax.grid(axis="x", color="#DDDDDD", linewidth=0.6)


class KernelWeightsDisplay:
    """Weights of the kernels of a fitted model as bars, with their variation.

    Weights of many targets are drawn as distributions over the targets. An average of models has
    one panel per model, and a model with ``per_label=True`` one panel per label, for up to six
    labels; the weights of more labels are drawn as distributions.

    Parameters
    ----------
    table : dict of ndarray
        The result of ``model.kernel_table()``.
    target_weights : ndarray of shape (p, q), optional
        The weights of each of q targets.
    of : str, default "targets"
        Name of the targets in the figure.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    bars_ : matplotlib.container.BarContainer
        Not for the weights of targets.
    distributions_ : list of matplotlib artists
        For the weights of targets: one for each kernel.
    panels_ : list of KernelWeightsDisplay
        For an average of models, one per model; for ``per_label=True``, one per label that is not
        constant.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, KernelWeightsDisplay, Linear, MKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = X[:, 0] + np.sin(2 * X[:, 1])
    >>> model = MKLRegressor([Gaussian(0.5), Linear()]).fit(X, y)
    >>> display = KernelWeightsDisplay.from_estimator(model, X, y, folds=4)
    >>> len(display.bars_)  # display.figure_.savefig("weights.png") writes it
    2
    """

    def __init__(self, table, target_weights=None, of="targets"):
        self.table, self.target_weights, self.of = table, target_weights, of

    @classmethod
    def from_estimator(
        cls, estimator, X=None, y=None, *, ax=None, max_kernels=30, **options: Any
    ) -> Self:
        """Draw the weights of a fitted model.

        Parameters
        ----------
        estimator : fitted MKLClassifier, MKLRegressor or one of their searches
        X, y : optional
            The training samples. If given, lines show the spread of the weights. Not for an average
            of models and distributions.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; for panels a sequence of one for each. Default: a new figure.
        max_kernels : int, default 30
            If there are more kernels, those with the largest weights are drawn.
        **options
            Options of ``estimator.kernel_table``.

        Returns
        -------
        KernelWeightsDisplay

        Raises
        ------
        NotFittedError, ValueError
            The estimator is not fitted, or of another type.
        """
        found = fitted_part(estimator, "kernel_table", _MODELS)
        labels = vars(estimator).get("models_")  # of per_label=True
        if labels is not None:
            return cls._of_labels(estimator, labels, (X, y), ax, max_kernels, options)
        members = getattr(estimator, "_members", ())
        if len(members) > 1:
            return cls._of_members(members, X, ax, max_kernels, options)
        of_targets = "groups" not in options and np.ndim(estimator.weights_) == 2
        weights = estimator.weights_ if of_targets else None
        return cls(found(X, y, **options), weights).plot(ax=ax, max_kernels=max_kernels)

    @classmethod
    def _of_members(cls, members, X, axes, max_kernels, options) -> Self:
        """A panel for each model of an average."""
        if X is not None:
            raise ValueError(
                "X and y are for a single model, but this one is an average of several; "
                "accepted: neither of them, or a fit with ensemble=False."
            )
        titles = [f"{member.name}, share {member.share:.2g}" for member in members]
        tables = [member.model.kernel_table(**options) for member in members]
        return cls._panels(tables, titles, axes, max_kernels, "model")

    @classmethod
    def _of_labels(cls, estimator, models, samples, axes, max_kernels, options) -> Self:
        """A panel for each of few labels, the distributions over many."""
        varying = [k for k, model in enumerate(models) if model is not None]
        if any(len(getattr(models[k], "_members", ())) > 1 for k in varying):
            raise ValueError(
                "the model of a label is an average of several; accepted: models_[j], or a fit "
                "with ensemble=False."
            )
        X, y = samples
        if len(varying) <= _FEW_LABELS:
            tables = [_table_of_label(models[k], k, X, y, options) for k in varying]
            titles = [f"label {k}" for k in varying]
            return cls._panels(tables, titles, axes, max_kernels, "label that varies")
        if X is not None or "groups" in options or not hasattr(estimator, "weights_"):
            raise ValueError(
                "X, y, groups, and kernels that differ between labels need one panel per "
                f"label, for at most {_FEW_LABELS} labels, got {len(varying)}; "
                "accepted: models_[j]."
            )
        table = models[varying[0]].kernel_table(**options)
        weights = estimator.weights_[:, varying]
        table = {"kernel": table["kernel"], "weight": weights.mean(axis=1)}
        return cls(table, weights, "labels").plot(ax=axes, max_kernels=max_kernels)

    @classmethod
    def _panels(cls, tables, titles, axes, max_kernels, what) -> Self:
        """One display with a panel for each table."""
        axes = new_panels(len(tables)) if axes is None else list(np.atleast_1d(axes).ravel())
        if len(axes) != len(tables):
            raise ValueError(f"ax has {len(axes)} axes; accepted: {len(tables)}, one per {what}.")
        panels = []
        for table, title, ax in zip(tables, titles, axes):
            panels.append(cls(table).plot(ax=ax, max_kernels=max_kernels))
            ax.set_title(title, fontsize=11)
        found = cls(panels[0].table)
        vars(found).update(vars(panels[0]))
        found.panels_ = panels
        return found

    def plot(self, *, ax=None, max_kernels=30) -> Self:
        """Draw the figure; parameters are those of ``from_estimator``."""
        most = check_count("max_kernels", max_kernels, optional=False)
        weight = np.asarray(self.table["weight"])
        p = weight.size
        shown = largest(np.abs(weight), most)
        at = np.arange(shown.size)
        ax = self.ax_ = new_axes(ax, 6.4, 1.3 + _EACH * shown.size)
        self.figure_ = ax.figure
        if self.target_weights is not None:
            return self._distributions(ax, shown)
        spread, error = self.table.get("spread"), {}
        if spread is not None:
            style = {"elinewidth": 1.2, "capsize": 3.0, "ecolor": "#222222"}
            right = left = np.asarray(spread)[shown]
            if weight.min() >= 0.0:
                left = np.minimum(left, weight[shown])  # no weight is below 0
            error = {"xerr": [left, right], "error_kw": style}
        self.bars_ = ax.barh(at, weight[shown], 0.7, color=COLORS[0], label="weight", **error)
        if "alignment" in self.table:
            own = np.asarray(self.table["alignment"])[shown]
            point = {"color": COLORS[1], "markersize": 6, "linestyle": "none"}
            ax.plot(own, at, "D", label="alignment of the kernel", **point)
            ax.legend(frameon=False, fontsize=9, loc="best")
        _rows(ax, [str(self.table["kernel"][k]) for k in shown])
        ax.axvline(0.0, color="#222222", linewidth=0.8)
        over = "over targets" if "largest" in self.table else "over samples"
        with_spread = "" if spread is None else f", with spread {over}"
        less = "" if shown.size == p else f"; {shown.size} of {p} kernels"
        ax.set_xlabel(
            f"{'mean weight' if 'largest' in self.table else 'weight'}{with_spread}{less}"
        )
        return self

    def _distributions(self, ax, shown):
        """The weights over targets: violins, or a point for each of few targets."""
        values, at = np.asarray(self.target_weights)[shown], np.arange(shown.size)
        q = values.shape[1]
        if q < _LEAST_VIOLIN:
            style = {"color": COLORS[0], "linestyle": "none", "markersize": 6, "alpha": 0.7}
            self.distributions_ = [
                ax.plot(v, np.full(q, k), "o", **style)[0] for k, v in zip(at, values)
            ]
        else:
            edges = np.linspace(0.0, max(1.0, values.max()), _BINS + 1)
            middle = 0.5 * (edges[1:] + edges[:-1])
            self.distributions_ = []
            for k, own in zip(at, values):
                share = np.histogram(own, edges)[0] / q
                half = 0.45 * np.sqrt(share / share.max())
                body = ax.fill_between(middle, k - half, k + half, color=COLORS[0], alpha=0.6, lw=0)
                self.distributions_.append(body)
        ax.plot(np.median(values, axis=1), at, "|", color="#222222", markersize=14)
        _rows(ax, [str(self.table["kernel"][k]) for k in shown])
        less = "" if shown.size == len(self.target_weights) else f"; {shown.size} kernels"
        ax.set_xlabel(f"weight, over {q} {self.of} (line: median){less}")
        return self


def _table_of_label(model, k, X, y, options):
    """The table of the model of label k; y are all labels."""
    y = None if y is None else check_label_matrix(y)[:, k]
    return model.kernel_table(X, y, **options)


class ContributionsDisplay:
    """Contributions of kernels to the predictions of a fitted model.

    Parameters
    ----------
    contributions : Contributions
        The result of ``model.contributions(X, y)``.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure
    image_ : matplotlib.image.AxesImage
        Of kind "image".
    order_ : ndarray of shape (q,)
        Of kind "image": the targets from left to right.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Columns, ContributionsDisplay, Linear, MKLRegressor
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = X[:, 0] + 0.1 * X[:, 1]
    >>> kernels = [Columns(Linear(), [0]), Columns(Linear(), [1])]
    >>> model = MKLRegressor(kernels).fit(X[:40], y[:40])
    >>> display = ContributionsDisplay.from_estimator(model, X[40:], y[40:])  # on new samples
    >>> display.contributions.values.shape, display.ax_.get_xlabel()
    ((2, 1), 'part of $R^2$ (product measure)')
    """

    def __init__(self, contributions):
        self.contributions = contributions

    @classmethod
    def from_estimator(
        cls, estimator, X, y, *, ax=None, kind="auto", max_groups=30, **options: Any
    ) -> Self:
        """Draw the contributions on new samples.

        Parameters
        ----------
        estimator : fitted MKLClassifier, MKLRegressor or one of their searches
        X, y : n samples and their labels or targets
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. Default: a new figure.
        kind : {"auto", "bars", "image", "violins"}, default "auto"
            "bars": a bar for every target, for up to 6 of them; "image": a column for every target,
            sorted by its largest group; "violins": the distribution over targets. "auto": one of
            the first two.
        max_groups : int, default 30
            If there are more groups, those with the largest contributions are drawn.
        **options
            Options of ``estimator.contributions``, such as ``method`` and ``groups``.

        Returns
        -------
        ContributionsDisplay

        Raises
        ------
        NotFittedError, ValueError
            The estimator is not fitted, or of another type.
        """
        found = fitted_part(estimator, "contributions", _MODELS)(X, y, **options)
        return cls(found).plot(ax=ax, kind=kind, max_groups=max_groups)

    def plot(self, *, ax=None, kind="auto", max_groups=30) -> Self:
        """Draw the figure; parameters are those of ``from_estimator``."""
        check_choice("kind", kind, ("auto", "bars", "image", "violins"))
        most = check_count("max_groups", max_groups, optional=False)
        found, q = self.contributions, len(self.contributions.total)
        few = q <= _FEW_TARGETS
        if kind == "bars" and not few:
            raise ValueError(
                f"kind='bars' is for up to {_FEW_TARGETS} targets, got {q}; accepted: "
                "'image', 'violins'."
            )
        if kind == "violins" and q < 2:
            raise ValueError("kind='violins' is for several targets, got 1; accepted: 'bars'.")
        kind = ("bars" if few else "image") if kind == "auto" else kind
        size = np.abs(found.values).mean(axis=1)
        shown = largest(size, most)
        per_row = max(_EACH, 0.16 * q) if kind == "bars" else 1.2 * _EACH
        least = {"violins": 4.2, "image": 3.2, "bars": 0.0}[kind]
        height = max(least, (1.4 + per_row * shown.size) * (kind != "violins"))
        ax = self.ax_ = new_axes(ax, 6.4, height)
        self.figure_ = ax.figure
        getattr(self, f"_{kind}")(ax, shown)
        part, score = found.method == "product", _score_name(found.scoring)
        what = "part of $R^2$ (product measure)" if part else f"loss in {score}, {found.method}"
        if kind == "image":
            ax.figure.colorbar(self.image_, ax=ax, label=what)
            ax.set_xlabel(f"{q} targets, sorted by their largest group")
        else:
            (ax.set_ylabel if kind == "violins" else ax.set_xlabel)(what)
        less = "" if shown.size == len(found.names) else f"; {shown.size} of {len(found.names)}"
        means = found.total.mean()
        ax.set_title(
            f"{'mean ' * (q > 1)}{score} of all: {means:.3f}, {found.n_samples} samples{less}",
            fontsize=11,
        )
        return self

    def _bars(self, ax, shown):
        found, q = self.contributions, len(self.contributions.total)
        at, width = np.arange(shown.size), 0.8 / q
        for j in range(q):
            error = {}
            if found.method in ("permutation", "interaction"):
                style = {"elinewidth": 1.2, "capsize": 2.0, "ecolor": "#222222"}
                error = {"xerr": found.spread[shown, j], "error_kw": style}
            where = at + (j - 0.5 * (q - 1)) * width
            ax.barh(where, found.values[shown, j], width, color=COLORS[j], label=f"target {j}",
                    **error)  # fmt: skip
        _rows(ax, [found.names[k] for k in shown])
        ax.axvline(0.0, color="#222222", linewidth=0.8)
        if q > 1:
            ax.legend(frameon=False, fontsize=9)

    def _image(self, ax, shown):
        found = self.contributions
        V = found.values[shown]
        largest = V.argmax(axis=0)
        self.order_ = np.lexsort((-V.max(axis=0), largest))
        reach = float(np.abs(V).max()) or 1.0
        options = {"cmap": "PuOr_r", "vmin": -reach, "vmax": reach, "interpolation": "nearest"}
        self.image_ = ax.imshow(V[:, self.order_], aspect="auto", **options)
        labels, _ = tick_labels([found.names[k] for k in shown], _LONGEST)
        ax.set_yticks(np.arange(shown.size), labels)

    def _violins(self, ax, shown):
        found, at = self.contributions, np.arange(shown.size)
        drawn = ax.violinplot(found.values[shown].T, at, widths=0.8, showmedians=True)
        for body in drawn["bodies"]:
            body.set(facecolor=COLORS[0], alpha=0.6)
        for name in ("cmedians", "cmins", "cmaxes", "cbars"):
            drawn[name].set(color=COLORS[0], linewidth=1.0)
        labels, _ = tick_labels([found.names[k] for k in shown], _LONGEST)
        ax.set_xticks(at, labels, rotation=45, ha="right", rotation_mode="anchor")
        ax.axhline(0.0, color="#222222", linewidth=0.8)
        tidy(ax)


def _score_name(scoring):
    return {"r2": "$R^2$", "neg_log_loss": "log-likelihood"}.get(scoring, scoring.replace("_", " "))


class CKADisplay:
    """Similarities of kernels or of representations as a heat map.

    Parameters
    ----------
    values : array-like of shape (p, q)
    names, other_names : sequence of str, optional
        Names of rows and columns. Default: numbers.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
    figure_ : matplotlib.figure.Figure

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import CKADisplay
    >>> rng = np.random.default_rng(0)
    >>> layers = {"one": rng.normal(size=(40, 4)), "two": rng.normal(size=(40, 6))}
    >>> display = CKADisplay.from_representations(layers)
    >>> display.values.shape, display.names
    ((2, 2), ['one', 'two'])
    """

    def __init__(self, values, names=None, other_names=None):
        self.values, self.names, self.other_names = values, names, other_names

    @classmethod
    def from_estimator(cls, estimator, *, ax=None, title="") -> Self:
        """Draw the centered alignments of a fitted model's kernels with each other.

        Parameters
        ----------
        estimator : fitted MKLClassifier, MKLRegressor or one of their searches
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. Default: a new figure.
        title : str

        Returns
        -------
        CKADisplay

        Raises
        ------
        ValueError
            With ``per_target``, which keeps no statistics.
        """
        accepted = "a fitted model of one kernel combination, per_target=False"
        statistics = fitted_part(estimator, "statistics_", accepted)
        norms = np.where(statistics.norms > 0.0, statistics.norms, 1.0)
        values = np.clip(statistics.M / norms[:, None] / norms, -1.0, 1.0)
        names, _ = tick_labels(list(statistics.names), _LONGEST)
        return cls(values, names).plot(ax=ax, title=title)

    @classmethod
    def from_representations(
        cls, representations, others=None, *, names=None, other_names=None, ax=None, title="",
        **options: Any,
    ) -> Self:  # fmt: skip
        """Draw the similarities of sets of features of the same samples.

        Parameters
        ----------
        representations, others : sequence or dict of array-like of shape (m, d)
            Representations of the same m samples, such as the layers of a network; those of a
            second network are optional. Keys of a dict are the names.
        names, other_names : sequence of str, optional
            Labels of rows and columns. Default: numbers.
        ax : matplotlib.axes.Axes, optional
            Axes to draw on. Default: a new figure.
        title : str
        **options
            Options of `cka_matrix`, such as ``unbiased``.

        Returns
        -------
        CKADisplay
        """
        values = cka_matrix(representations, others, **options)
        if names is None and isinstance(representations, Mapping):
            names = list(map(str, representations))
        if other_names is None and isinstance(others, Mapping):
            other_names = list(map(str, others))
        return cls(values, names, other_names).plot(ax=ax, title=title)

    def plot(self, *, ax=None, title="") -> Self:
        """Draw the figure; parameters are those of ``from_estimator``."""
        names = {"names": self.names, "other_names": self.other_names}
        self.ax_ = plot_cka(self.values, **names, title=title, ax=ax)
        self.figure_ = self.ax_.figure
        return self
