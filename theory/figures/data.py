"""Figure on real data: accuracy of a kernel against its alignment (P1, figure 2, table 1).

The Gaussian kernels of section 5 of Cortes, Mohri and Rostamizadeh (2012), one at a time: accuracy
by cross-validation, the mean over five assignments of folds, against the centered and the
uncentered alignment of the whole sample. Accuracy is 1 - RMSE for regression. With a single
assignment, the correlations of german credit and their order vary with the assignment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import style


@dataclass(frozen=True)
class DataSet:
    """A data set of the figure and its kernels, gamma = 2^low, ..., 2^high."""

    name: str
    title: str
    task: str
    exponents: tuple[int, int]
    scale: str
    size: int | None = None


PAPER = (
    DataSet("kin8nm", "kinematics (kin8nm)", "regression", (-3, 3), "none", 1000),
    DataSet("ionosphere", "ionosphere, labels as numbers", "regression", (-3, 3), "none"),
    DataSet("german_numeric", "german credit", "classification", (-4, 3), "minmax"),
)
BUNDLED = (
    DataSet("diabetes", "diabetes", "regression", (-6, 3), "minmax"),
    DataSet("breast_cancer", "breast cancer", "classification", (-6, 3), "minmax"),
)


@dataclass(frozen=True)
class KernelScores:
    """Scores with one entry for each kernel.

    Attributes
    ----------
    accuracy : ndarray (p,)
        1 - RMSE, or the share of samples classified correctly; mean over the test folds.
    centered, uncentered : ndarray (p,)
        Alignment with the target on the whole sample.
    """

    accuracy: np.ndarray
    centered: np.ndarray
    uncentered: np.ndarray

    def correlations(self) -> tuple[float, float]:
        """Correlation of the accuracy with each alignment: one column of the paper's table 1."""
        return tuple(
            float(np.corrcoef(self.accuracy, a)[0, 1]) for a in (self.centered, self.uncentered)
        )


def kernel_scores(X, y, data: DataSet, n_folds=5, repeats=5) -> KernelScores:
    """Accuracy and both alignments of each kernel of a data set.

    Parameters
    ----------
    X : array (m, d)
    y : array (m,)
        Real-valued targets, or two classes.
    data : DataSet
    n_folds, repeats : int
        Number of folds, and of random assignments of samples to them.
    """
    from alignlearn.kernels import Gaussian

    target = _target(y, data.task)
    # Regression on labels of two classes, as in the paper, needs numbers.
    y = target if data.task == "regression" else y
    scaled = _scaled(X) if data.scale == "minmax" else np.asarray(X, float)
    rows = []
    for exponent in range(data.exponents[0], data.exponents[1] + 1):
        kernel = Gaussian(2.0**exponent)
        accuracy = _accuracy(X, y, kernel, data, n_folds, repeats)
        rows.append((accuracy, *alignments(kernel(scaled), target)))
    return KernelScores(*np.array(rows).T)


def _accuracy(X, y, kernel, data, n_folds, repeats):
    from alignlearn.comparison import Protocol, compare

    errors = []
    for seed in range(repeats):
        protocol = Protocol(scale=data.scale, n_folds=n_folds, random_state=seed)
        options = {"methods": ("uniform",), "task": data.task, "protocol": protocol}
        errors.append(compare(X, y, [kernel], **options).error.mean())
    return 1.0 - np.mean(errors)


def alignments(K, y):
    """(centered, uncentered) alignment of a Gram matrix with yy'."""
    yc = y - y.mean()
    means = K.mean(0)
    Kc = K - means - means[:, None] + means.mean()
    centered = yc @ Kc @ yc / (np.linalg.norm(Kc) * (yc @ yc))
    return centered, y @ K @ y / (np.linalg.norm(K) * (y @ y))


def _target(y, task):
    if task == "regression":
        return np.asarray(y, dtype=float)
    classes = np.unique(y)
    return np.where(np.asarray(y) == classes[1], 1.0, -1.0)


def _scaled(X):
    low, high = X.min(0), X.max(0)
    return 2 * (X - low) / np.where(high > low, high - low, 1.0) - 1


def load_sets():
    """Load [(DataSet, X, y)]: the paper's data sets where available, else those of scikit-learn.

    Returns
    -------
    (sets, substitute) : list, bool
    """
    from alignlearn import datasets

    try:
        return [_load(data, datasets) for data in PAPER], False
    except (OSError, ValueError):
        # No network and no cache: something real is drawn all the same, and the title states that.
        return [_load(data, datasets) for data in BUNDLED], True


def _load(data, datasets):
    found = datasets.load(data.name, task=data.task)
    X, y = np.asarray(found.X, dtype=float), found.y
    if data.size is not None and len(y) > data.size:
        X, y = X[: data.size], y[: data.size]
    return data, X, y


def alignment_accuracy(quick=False):
    """Draw the accuracy of each kernel against its centered and uncentered alignment."""
    sets, substitute = load_sets()
    figure, axes = style.new_figure(len(sets), height=9.6)
    for ax, (data, X, y) in zip(axes, sets):
        if quick:
            X, y = X[:200], y[:200]
        _draw_scores(ax, kernel_scores(X, y, data, *((3, 1) if quick else (5, 5))), data)
    title = (
        "Alignment and accuracy of single Gaussian kernels, means over five assignments of folds;\n"
        r"lines connect neighboring $\gamma$"
    )
    if substitute:
        title += "; data sets of scikit-learn in place of those of the paper"
    figure.suptitle(title, fontsize=11)
    return figure


def _draw_scores(ax, scores, data):
    correlations = scores.correlations()
    looks = (
        (scores.centered, "centered", style.BLUE, "o", "-"),
        (scores.uncentered, "uncentered", style.ORANGE, "s", (0, (4, 2))),
    )
    for (values, name, color, marker, line), r in zip(looks, correlations):
        label = f"{name}: correlation {r:+.2f}"
        ax.plot(
            scores.accuracy, values, marker=marker, color=color, linestyle=line, linewidth=1.0,
            markersize=6.5, label=label,
        )  # fmt: skip
    regression = data.task == "regression"
    x = "1 - RMSE, units of $y$" if regression else "accuracy"
    low, high = data.exponents
    for k, exponent, shift, side in ((0, low, (8, 3), "left"), (-1, high, (-8, -3), "right")):
        place = scores.accuracy[k], scores.uncentered[k]
        ax.annotate(
            f"$\\gamma=2^{{{exponent}}}$", place, xytext=shift, textcoords="offset points",
            ha=side, fontsize=9,
        )  # fmt: skip
    title = f"{data.title}, {len(scores.accuracy)} kernels"
    style.finish(ax, x=x, y="alignment with the target", title=title, log="", legend=None)
    ax.margins(0.16, 0.12)
    ax.set_ylim(0, None)
    ax.locator_params(axis="x", nbins=6)
    style.legend_below(ax)
