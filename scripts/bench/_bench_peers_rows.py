"""Rows of bench_peers.py: tasks for alignlearn and for the packages that a user may know.

A row is a function of a size that returns the sides: alignlearn first, then the packages that are
compared with it. Its docstring is the title and the note of the row on the page. ``Side.start()``
imports what the side needs and returns the work that is timed; the result of the work goes to
``Side.score``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import _bench  # noqa: F401, for the folder of accuracy.py
import accuracy
import many_targets
import numpy as np
from dependence_tests import p_of
from rows.dependence import two_views
from rows.svm import ijcnn1, one_gaussian, overlapping_classes, stream
from sklearn import gaussian_process as gp
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.svm import SVC, LinearSVC

import alignlearn as al
from alignlearn import datasets
from alignlearn.engine import grams
from alignlearn.machines import LinearSVM


class Side(NamedTuple):
    """One tool; ``start`` returns the work."""

    name: str
    package: str  # the installed package whose version is reported
    start: Callable[[], Callable[[], Any]]
    score: Callable[[Any], float] = float
    timed: bool = False  # whether the work returns (result, seconds)


class Row(NamedTuple):
    """A comparison, its sizes, and its score."""

    title: str
    note: str
    sides: Callable[..., list[Side]]
    axis: str
    sizes: tuple
    quick: Any
    score: str
    repeats: int = 3
    small: dict[str, Any] = {}  # noqa: RUF012, what makes the quick size quicker
    warm: tuple = ()  # other sizes at which code is compiled

    def smallest(self):
        """The sides at the quick size."""
        return self.sides(self.quick, **self.small)


ROWS = {}


def row(*given, name="", **more):
    """Register a `Row` of a function, whose docstring has the title and the note."""

    def register(function):
        title, *note = re.split(r"\s*\n\s*", function.__doc__.strip())
        about = title.removesuffix("."), " ".join(note).strip()
        ROWS[name or function.__name__] = Row(*about, function, *given, **more)
        return function

    return register


def fit_of(model, *data):
    """``start`` of a model that is fitted on the data; ``model`` makes it, importing as it must."""

    def start():
        made = model()
        return lambda: made.fit(*data)

    return start


def scored(*new):
    """The score of a fitted model on new samples."""
    return lambda model: float(model.score(*new))


OURS, SKLEARN = "alignlearn", "scikit-learn"
DATA = ("breast_cancer", "australian", "heart_statlog", "digits", "diabetes", "kin8nm")

# -- a search over kernels, and other learners -----------------------------------------

_SPLITS = 3
_SEARCHES = {
    "grid": ("GridSearchCV over widths and {penalty}", SKLEARN),
    "halving": ("HalvingGridSearchCV over the same", SKLEARN),
    "boosting": ("HistGradientBoosting", SKLEARN),
    "process": ("GaussianProcess", SKLEARN),
}


def _gaussian_process(X, y, classes):
    kernel = gp.kernels.ConstantKernel() * gp.kernels.RBF(np.sqrt(X.shape[1]))
    if classes:
        return gp.GaussianProcessClassifier(kernel, random_state=0).fit(X, y)
    kernel += gp.kernels.WhiteKernel()
    return gp.GaussianProcessRegressor(kernel, normalize_y=True, random_state=0).fit(X, y)


def _one_model(kind, X, y, folds, classes):
    """A fitted model of one kind, including those of accuracy.py."""
    if kind == "default":
        return (al.MKLClassifier if classes else al.MKLRegressor)().fit(X, y)
    if kind == "process":
        return _gaussian_process(X, y, classes)
    if kind == "linear":
        return RidgeCV(alphas=accuracy.ALPHAS).fit(X, y)
    return accuracy.fitted(kind, X, y, folds, classes)


@row("data", DATA, "diabetes", "accuracy, or R^2", 1, small={"size": 60, "splits": 1})
def search(name, size=400, splits=_SPLITS):
    """A model for a table with kernel selection.

    At most 400 training samples, mean score of three splits, total time of all three. The constants
    of `weighting="auto"` were chosen on half of the data sets of `scripts/lab/accuracy.py` (of
    these: digits, diabetes, kin8nm). GaussianProcess is omitted for ten classes.
    """
    parts = [accuracy.parts(name, size, seed) for seed in range(splits)]
    classes = parts[0][-1]
    maker = StratifiedKFold if classes else KFold
    machine = "Classifier" if classes else "Regressor"

    def side(kind, name, package):
        def work():
            return [
                _one_model(kind, X, y, maker(5, shuffle=True, random_state=seed), classes)
                for seed, (X, y, *_) in enumerate(parts)
            ]

        def score(models):
            scores = [model.score(*data[2:4]) for model, data in zip(models, parts)]
            return float(np.mean(scores))

        return Side(name, package, lambda: work, score)

    sides = [
        side("default", f"MKL{machine}(), no search", OURS),
        side("auto", f'MKL{machine}CV(weighting="auto")', OURS),
    ]
    penalty = "C of SVC" if classes else "alpha of KernelRidge"
    for kind, (text, package) in _SEARCHES.items():
        if kind != "process" or len(np.unique(parts[0][1])) == 2 or not classes:
            sides.append(side(kind, text.format(penalty=penalty), package))
    if not classes:
        sides.append(side("linear", "RidgeCV, linear", SKLEARN))
    return sides


# -- models ----------------------------------------------------------------------------


def _two_classes(m, new=2000):
    """ijcnn1 if it is registered, otherwise overlapping classes, and the width for it."""
    try:
        X, y = (part[: m + new] for part in ijcnn1())
        return X[:m], y[:m], X[m:], y[m:], 2.0
    except datasets.DatasetError:
        X, y = overlapping_classes(m + new, 20)
        return X[:m], y[:m], X[m:], y[m:], 1.0 / 20


@row("m", (1000, 2000, 4000, 8000), 200, "accuracy", warm=(3500,))
def svc(m, C=10.0):
    """One support vector machine, one Gaussian, C = 10."""
    X, y, new, y_new, gamma = _two_classes(m)
    how = {"C": C, "gamma": gamma, "cache_size": 1000}

    def daal():
        import daal4py
        from sklearnex.svm import SVC as Other

        daal4py.daalinit(1)
        return Other(**how)

    def ours():
        return lambda: one_gaussian(X, y, C, gamma)

    score = scored(new, y_new)
    return [
        Side("MKLClassifier, one kernel", OURS, ours, score),
        Side("SVC (LIBSVM)", SKLEARN, fit_of(lambda: SVC(**how), X, y), score),
        Side("SVC of scikit-learn-intelex", "scikit-learn-intelex", fit_of(daal, X, y), score),
    ]


@row("m", (5000, 20_000, 80_000), 500, "accuracy")
def linear(m, C=0.01):
    """One linear support vector machine, C = 0.01."""
    X, y = stream(m + 2000)
    data, new = (X[:m], y[:m]), (X[m:], y[m:])
    how = {"C": C, "loss": "hinge", "fit_intercept": False, "tol": 1e-3, "max_iter": 100_000}

    def accuracy(machine):
        return float(np.mean((machine.decision_function(new[0]).ravel() > 0) == (new[1] > 0)))

    return [
        Side("LinearSVM", OURS, fit_of(lambda: LinearSVM(C, tol=1e-3), *data), accuracy),
        Side("LinearSVC (LIBLINEAR)", SKLEARN, fit_of(lambda: LinearSVC(**how), *data), accuracy),
    ]


def _regression(m, d=10, new=1000):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m + new, d))
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(m + new)
    return (X[:m], y[:m]), (X[m:], y[m:])


@row("m", (500, 1000, 2000, 4000), 200, "R^2")
def ridge(m, alpha=1.0):
    """Kernel ridge regression, one Gaussian, alpha = 1.

    alignlearn fits an intercept, the others do not (the target has mean 0).
    """
    data, new = _regression(m)
    gamma = 1.0 / data[0].shape[1]

    def ours():
        how = {"weighting": "uniform", "normalize": None, "alpha": alpha}
        return al.MKLRegressor([al.Gaussian(gamma)], **how)

    def theirs():
        return KernelRidge(alpha=alpha, kernel="rbf", gamma=gamma)

    def process():
        kernel = gp.kernels.RBF(np.sqrt(0.5 / gamma))
        return gp.GaussianProcessRegressor(kernel, alpha=alpha, optimizer=None)

    score = scored(*new)
    return [
        Side("MKLRegressor, one kernel", OURS, fit_of(ours, *data), score),
        Side("KernelRidge", SKLEARN, fit_of(theirs, *data), score),
        Side("GaussianProcessRegressor, fixed", SKLEARN, fit_of(process, *data), score),
    ]


@row("m", (500, 1000, 2000), 200, "R^2", 2)
def penalty(m, alphas=accuracy.ALPHAS):
    """Ridge regression with one of 13 penalties.

    MKLRegressorCV and RidgeCV use leave-one-out, the grid search 5 folds. RidgeCV is made for a
    linear model on few columns.
    """
    data, new = _regression(m)
    gamma = 1.0 / data[0].shape[1]

    def ours(kernel):
        return lambda: al.MKLRegressorCV([kernel], weighting="uniform", alphas=alphas)

    def linear():
        return RidgeCV(alphas=alphas)

    def folds():
        return GridSearchCV(KernelRidge(kernel="rbf", gamma=gamma), {"alpha": alphas}, cv=5)

    score = scored(*new)
    return [
        Side("MKLRegressorCV, Gaussian", OURS, fit_of(ours(al.Gaussian(gamma)), *data), score),
        Side("GridSearchCV(KernelRidge), 5 folds", SKLEARN, fit_of(folds, *data), score),
        Side("MKLRegressorCV, linear", OURS, fit_of(ours(al.Linear()), *data), score),
        Side("RidgeCV, linear", SKLEARN, fit_of(linear, *data), score),
    ]


@row("q", (20, 100, 300), 3, "R^2", 1, small={"design": "corr"})
def targets(q, design="few"):
    """A kernel and a penalty for each of q targets.

    Three linear kernels, m = 600 (design `few` of `scripts/lab/many_targets.py`). Matrices of
    MultipleKernelRidgeCV are computed outside the measured time.
    """
    data, alphas = many_targets.simulated(design, q, 10), many_targets.ALPHAS

    def ours(**how):
        return lambda: many_targets.ours(al.Linear(), data, per_target=True, **how)

    def himalaya(n):
        import himalaya  # noqa: F401

        return lambda: many_targets.himalaya(al.Linear(), data, n)

    def one_model(model):
        spaces, Y, new, Y_new = data
        X, Z = np.hstack(spaces), np.hstack(new)
        return lambda: r2_score(Y_new, model.fit(X, Y).predict(Z))

    def by_kernel():
        from himalaya.kernel_ridge import KernelRidgeCV

        return one_model(KernelRidgeCV(alphas=alphas, kernel="linear", fit_intercept=True))

    def by_columns():
        return one_model(RidgeCV(alphas=alphas, alpha_per_target=True))

    def side(name, package, start):
        return Side(name, package, start, timed=True)

    name, equal = "MKLRegressorCV(per_target=True)", {"weighting": "uniform"}
    return [
        side(name, OURS, lambda: ours()),
        *(
            side(f"MultipleKernelRidgeCV, {n} candidates", "himalaya", lambda n=n: himalaya(n))
            for n in ((20, 100) if q == 100 else (20,))
        ),
        side(f"{name}, equal weights", OURS, lambda: ours(**equal)),
        Side("KernelRidgeCV of himalaya, one kernel", "himalaya", by_kernel),
        Side("RidgeCV(alpha_per_target=True)", SKLEARN, by_columns),
    ]


# -- weights of many kernels -----------------------------------------------------------


@row("p", (5, 10, 20, 30), 3, "accuracy", 2, name="kernels", small={"m": 60})
def many_kernels(p, m=600):
    """Weights of p Gram matrices, m = 600, and a support vector machine.

    Digits, odd against even, Gaussians of p widths, C = 10. mklaren is written for Python 2: its
    Alignf runs in Python 3, its low-rank method does not. CKA of MKLpy has weights of either sign;
    the sum is an indefinite kernel here, for which the support vector machine fails (with its
    default C = 1000 it has an accuracy of 0.86 at p = 5).
    """
    X, y = load_digits(return_X_y=True)
    X, y = X / 16.0, np.where(y % 2, 1, -1)
    gammas = np.geomspace(0.005, 0.5, p)
    train, new, labels, truth = X[:m], X[m : 2 * m], y[:m], y[m : 2 * m]
    K = [al.Gaussian(g)(train) for g in gammas]
    L = [al.Gaussian(g)(new, train) for g in gammas]

    def ours(name, kernels, X, Z):
        def model():
            return al.MKLClassifier(kernels, C=10.0)

        return Side(name, OURS, fit_of(model, X, labels), scored(Z, truth))

    return [
        ours("MKLClassifier, alignf", "precomputed", K, L),
        *_mklpy_sides(K, L, labels, truth),
        *_mklaren_sides(K, L, labels, truth),
        ours("MKLClassifier, alignf, from samples", [al.Gaussian(g) for g in gammas], train, new),
    ]


def _mklpy_sides(K, L, labels, truth):
    """Three rules of MKLpy on matrices K of the training samples and L of new ones."""

    def start(name, **how):
        def made():
            import torch
            from MKLpy import algorithms

            kernels, target = [torch.tensor(A) for A in K], torch.tensor(labels)
            learner = SVC(C=10.0, kernel="precomputed")
            model = getattr(algorithms, name)(learner=learner, **how)
            return lambda: model.fit(kernels, target)

        return made

    def score(model):
        import torch

        return float(np.mean(np.asarray(model.predict([torch.tensor(A) for A in L])) == truth))

    return [
        Side("CKA of MKLpy (alignf without its sign)", "MKLpy", start("CKA"), score),
        Side("EasyMKL", "MKLpy", start("EasyMKL", lam=0.1), score),
        Side("AverageMKL", "MKLpy", start("AverageMKL"), score),
    ]


def _mklaren_sides(K, L, labels, truth):
    """Two methods of mklaren on the same."""

    def alignf():
        with suppress(ImportError):  # of Python 2's; this part runs nevertheless
            import mklaren.mkl  # noqa: F401
        from mklaren.mkl.alignf import Alignf

        def work():
            rule = Alignf(typ="convex")
            rule.fit(K, labels.astype(float))
            machine = SVC(C=10.0, kernel="precomputed").fit(np.tensordot(rule.mu, K, 1), labels)
            return rule.mu, machine

        return work

    def alignf_score(found):
        mu, machine = found
        return float(machine.score(np.tensordot(mu, L, 1), truth))

    def low_rank():
        from mklaren.mkl.mklaren import Mklaren

        model = Mklaren(rank=50)
        return lambda: model.fit(K, labels.astype(float)) or model

    def low_rank_score(model):
        return float(np.mean(np.sign(model.predict(None, Ks=L)) == truth))

    return [
        Side("Alignf of mklaren", "mklaren", alignf, alignf_score),
        Side("Mklaren of mklaren, rank 50", "mklaren", low_rank, low_rank_score),
    ]


# -- dependence ------------------------------------------------------------------------


@row("m", (100, 200, 400), 40, "p-value", 2)
def independence(m):
    """A test of independence of two variables."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0.0, 2.0 * np.pi, m)
    noise = 0.9 * rng.normal(size=(2, m))
    pair = np.cos(angle) + noise[0], np.sin(angle) + noise[1]

    def ours(**how):
        return lambda: lambda: p_of(al.hsic_test, **how)(pair, 0)

    def hyppo(**how):
        from hyppo.independence import Hsic

        samples = [A[:, None] for A in pair]
        return lambda: Hsic().test(*samples, workers=1, random_state=0, **how)[1]

    return [
        Side("hsic_test, 999 permutations", OURS, ours()),
        Side("Hsic of hyppo, 999 permutations", "hyppo", lambda: hyppo(reps=999, auto=False)),
        Side('hsic_test(method="gamma")', OURS, ours(method="gamma")),
        Side("Hsic of hyppo, its approximation", "hyppo", lambda: hyppo(auto=True)),
    ]


@row("m", (250, 500, 1000, 2000), 60, "correlation of new samples", 1)
def canonical(N):
    """Kernel canonical correlation of two views.

    Default regularization of each tool; the penalties have different forms.
    """
    views = two_views(N + 1000)
    train, new = ([A[part] for A in views] for part in (slice(N), slice(N, None)))
    gammas = [1.0 / (A.shape[1] * A.var()) for A in train]

    def ours(solver):
        return lambda: al.KernelCCA(kernels=[al.Gaussian(g) for g in gammas], solver=solver)

    def zoo():
        from cca_zoo.nonparametric import KCCA

        return KCCA(kernel="rbf", gamma=gammas, shrinkage=0.1)

    def correlation(model):
        first, second = (np.asarray(part)[:, 0] for part in model.transform(new))
        return abs(float(np.corrcoef(first, second)[0, 1]))

    return [
        Side('KernelCCA(solver="exact")', OURS, fit_of(ours("exact"), train), correlation),
        Side("KernelCCA", OURS, fit_of(ours("auto"), train), correlation),
        Side("KCCA of cca-zoo", "cca-zoo", fit_of(zoo, train), correlation),
    ]


@row("p", (5, 10, 20), 3, "mean CKA", 2)
def layers(p, batches=5, batch=200, width=256):
    """CKA of all pairs of p layers from mini-batches.

    Five batches of 200, layers of 256 values; both run the network, in float32. torch_cka sums in
    float32, too; deep layers of this untrained network vary little, so its sums are inaccurate.
    """

    def network():
        import torch

        torch.manual_seed(0)
        torch.set_num_threads(1)
        parts = [torch.nn.Linear(32 if k == 0 else width, width) for k in range(p)]
        model = torch.nn.Sequential(*(x for part in parts for x in (part, torch.nn.Tanh())))
        names = [str(2 * k + 1) for k in range(p)]
        samples = torch.randn(batches * batch, 32)
        data = torch.utils.data.TensorDataset(samples)
        return model, names, torch.utils.data.DataLoader(data, batch_size=batch)

    def ours():
        import torch

        model, names, loader = network()

        def work():
            with torch.no_grad(), al.CKARecorder(model, layers=names) as recorder:
                for (x,) in loader:
                    model(x)
            return recorder.matrix()

        return work

    def theirs():
        import torch
        from torch_cka import CKA

        model, names, loader = network()

        def work():
            with torch.no_grad():
                cka = CKA(model, model, "first", "second", names, names)
                cka.compare(loader, loader)
            return cka.export()["CKA"].numpy()

        return work

    def mean(matrix):
        return float(np.mean(matrix[~np.eye(len(matrix), dtype=bool)]))

    return [
        Side("CKARecorder", OURS, ours, mean),
        Side("torch_cka", "torch_cka", theirs, mean),
    ]


# -- products --------------------------------------------------------------------------


@row("m", (10_000, 40_000, 160_000), 500, "relative error")
def products(m, n=1000, d=10):
    """A product of an m x 1000 Gaussian matrix and a vector.

    PyKeOps compiles its formula before the measurement.
    """
    rng = np.random.default_rng(0)
    X, v, gamma = rng.standard_normal((m, d)), rng.standard_normal(n), 1.0 / d
    Z = rng.standard_normal((n, d))

    def reference(found):
        exact = al.Gaussian(gamma)(X[:500], Z) @ v
        return float(np.abs(np.ravel(found)[:500] - exact).max() / np.abs(exact).max())

    def ours():
        return lambda: grams.gram_times([al.Gaussian(gamma)], [1.0], X, Z, v)

    def blocks():
        def work(rows=4096):
            parts = [rbf_kernel(X[i : i + rows], Z, gamma=gamma) @ v for i in range(0, m, rows)]
            return np.concatenate(parts)

        return work

    def keops():
        from pykeops.numpy import LazyTensor

        x, z = LazyTensor(X[:, None, :]), LazyTensor(Z[None, :, :])
        K = (-gamma * ((x - z) ** 2).sum(-1)).exp()
        return lambda: K @ v[:, None]

    return [
        Side("product of alignlearn", OURS, ours, reference),
        Side("PyKeOps", "pykeops", keops, reference),
        Side("rbf_kernel, blocks of 4096 rows, and @", SKLEARN, blocks, reference),
    ]
