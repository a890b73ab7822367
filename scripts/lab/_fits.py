"""Small fits of every kind of estimator, and what is recorded of each (see record_fits.py)."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

import alignlearn as al
from alignlearn import cca, hyper, machines
from alignlearn.comparison.ensemble import Ensemble
from alignlearn.weights import one_stage

M, NEW = 72, 24

# What is read of a fitted estimator, where it has it. Texts and objects are left out.
# fmt: off
ATTRIBUTES = [
    "weights_", "scale_", "dual_coef_", "coef_", "intercept_", "support_", "classes_", "n_iter_",
    "alignment_", "uniform_alignment_", "kernel_alignments_", "best_score_", "C_", "alpha_",
    "n_splits_", "uniform_score_", "scales_", "correlations_", "objective_", "offset_",
    "centers_", "weights_std_", "lower_bounds_", "loss_curve_", "dependence_", "duality_gap_",
]
# fmt: on
METHODS = ["predict", "decision_function", "predict_proba", "transform", "score_samples"]


def _data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M + NEW, 4))
    X[:, 3] = np.round(X[:, 3])
    signal = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=M + NEW)
    thin = np.where(X > 0.3, X, 0.0)
    tables = {"a": X[:, :2], "b": X[:, 2:], "c": X[:, :1] * X[:, 1:2]}
    present = rng.random((M + NEW, 3)) > 0.15
    present[:, 0] |= ~present.any(axis=1)
    gaps = {
        name: np.where(have[:, None], table, np.nan)
        for (name, table), have in zip(tables.items(), present.T)
    }
    words = ["".join(rng.choice(list("abc"), 8)) for _ in range(M + NEW)]
    targets = {
        "y": signal,
        "Y": np.c_[signal, X[:, 2] - X[:, 1], np.cos(X[:, 0])],
        "two": np.where(signal > 0.2, "up", "down"),
        "three": np.digitize(signal, [-0.5, 0.6]),
    }
    weight = rng.integers(0, 4, M) * 0.5
    return {
        "X": X,
        "single": X.astype(np.float32),
        "sparse": sparse.csr_array(thin),
        "tables": tables,
        "gaps": gaps,
        "words": words,
        "grams": [np.exp(-g * np.square(X[:, None] - X).sum(axis=2)) for g in (0.05, 0.3, 2.0)],
        "weight": weight,
        "groups": rng.integers(0, 6, M),
        **targets,
    }


DATA = _data()
KERNELS = [al.Gaussian(0.1), al.Gaussian(1.0), al.Laplacian(0.3), al.Polynomial(0.25, degree=2)]
BY_TABLE = {"a": [al.Gaussian(0.3), "linear"], "b": al.Gaussian(0.2), "c": "linear"}
LINEAR = [al.Linear(), al.Columns(al.Linear(), [0]), al.Columns(al.Linear(), [1, 2])]


def _rows(X, train):
    """The training samples, or the new ones, of one kind of data."""
    part = slice(M) if train else slice(M, None)
    if isinstance(X, dict):
        return {name: table[part] for name, table in X.items()}
    if isinstance(X, list) and not isinstance(X[0], str):
        return [K[part, :M] for K in X]
    return X[part]


class Fit:
    """A fit that is done when called, and returns what is recorded of it: {name: array}.

    Parameters
    ----------
    make : callable
        Makes the estimator.
    y : str or None
        Name of the target in `DATA`.
    X : str
        Name of the samples in `DATA`.
    more : callable, optional
        ``more(model, X_new, y_new)``: further results, {name: array}.
    **given
        Further arguments of ``fit``.
    """

    def __init__(self, make, y, X="X", more=None, **given):
        self.make, self.y, self.X, self.more, self.given = make, y, X, more, given

    def __call__(self):
        X, new = (_rows(DATA[self.X], train) for train in (True, False))
        model = self.make()
        if self.y is None:
            return self.seen(model.fit(X, **self.given), new, None)
        y, later = (_rows(DATA[self.y], train) for train in (True, False))
        return self.seen(model.fit(X, y, **self.given), new, later)

    def seen(self, model, new, y):
        found = dict(_attributes(model))
        for name in METHODS:
            if hasattr(type(model), name):
                found[name] = _tried(lambda name=name: getattr(model, name)(new))
        if y is not None and hasattr(type(model), "score"):
            found["score"] = _tried(lambda: model.score(new, y))
        if self.more is not None:
            for name, call in self.more(model, new, y).items():
                found[name] = _tried(call)
        return found


def _tried(call):
    """The value of a call, or the text of what it raises; None for what does not exist."""
    try:
        return call()
    except AttributeError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _attributes(model):
    """(name, value) of the attributes, of a search also its results and its members."""
    for name in ATTRIBUTES:
        try:
            yield name, getattr(model, name)
        except (AttributeError, ValueError):  # of no fit, or not of an average
            continue
    if hasattr(model, "cv_results_"):
        yield from _results(model.cv_results_)
    for place, member in enumerate(getattr(model, "members_", ())):
        yield f"members_[{place}].name", str(member.name)
        yield f"members_[{place}].share", member.share
        for name, value in _attributes(member.model):
            yield f"members_[{place}].{name}", value


def _results(results):
    """The scores of a search, the candidates in the order of their parameters."""
    if isinstance(results, list):
        results = {"params": [{}] * len(results)}
    texts = ["; ".join(sorted(map(str, params.values()))) for params in results["params"]]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    yield "cv_results_.params", [texts[i] for i in order]
    for name, column in results.items():
        if ("score" in name and "rank" not in name) or name == "mean_test_shown":
            yield f"cv_results_.{name}", np.asarray(column)[order]


def _deviations(model, new, y):
    fit = (_rows(DATA["X"], True), _rows(DATA["y"], True))
    return {"std": lambda: np.array(model.predict(new, return_std=True, fit=fit))}


def _intervals(model, new, y):
    fit = (_rows(DATA["X"], True), _rows(DATA["y"], True))
    return {
        "interval": lambda: model.predict_interval(new, fit=fit, refit=False)[:],
        "interval of folds": lambda: model.predict_interval(new, folds=4, fit=fit, refit=False)[:],
        "interval refitted": lambda: model.predict_interval(new, folds=4, fit=fit, refit=True)[:],
    }


def _sets(model, new, y):
    return {
        "set": lambda: model.predict_set(new, 0.8, refit=False),
        "set per class": lambda: model.predict_set(new, 0.8, per_class=True, refit=False),
    }


def _bounds(model, new, y):
    real = {} if y.dtype.kind == "U" else {"label_range": (-3.0, 3.0)}
    return {
        "held-out bound": lambda: model.bound(new, y, held_out=True, **real).value,
        "alignment interval": lambda: _numbers(model.alignment_interval(new, y, held_out=True)),
        "contributions": lambda: _numbers(model.contributions(new, y, random_state=0)),
        "kernel table": lambda: _numbers(model.kernel_table(frame="pandas").to_dict("list")),
    }


def _numbers(table):
    """The columns of numbers of a table or a result, one after the other."""
    columns = table if isinstance(table, dict) else vars(table)
    columns = [np.asarray(columns[name]) for name in sorted(columns) if columns[name] is not None]
    return np.concatenate([c.ravel() for c in columns if c.dtype.kind in "fi"])


RULES = {
    "uniform": "uniform",
    "align": "align",
    "alignf": "alignf",
    "alignf-linear": "alignf-linear",
    "align-lq": "align-lq",
    "consensus": "consensus",
    "max-entropy": "max-entropy",
    "structure": "structure",
    "lkrr": "lkrr",
    "l1-svm": "l1-svm",
    "aligned-krr": "aligned-krr",
    "lq 1.5": al.AlignLq(1.5),
    "alignf l2": al.AlignF(normalize="l2"),
    "alignf of two": al.AlignF(max_kernels=2),
    "alignf-linear ridge": al.AlignLinear(alpha=0.1),
    "structure of three": al.Structure(n_neighbors=3),
    "lkrr norm 1": one_stage.LKRR(Lambda=2.0, norm=1),
    "l1-svm norm 2": one_stage.L1SVM(C=0.5, norm=2),
    "aligned-krr gamma": one_stage.AlignedKRR(gamma=0.5),
}


def _by_rule():
    for name, rule in RULES.items():
        yield (
            f"classifier {name}",
            Fit(lambda rule=rule: al.MKLClassifier(KERNELS, weighting=rule), "two"),
        )
        if isinstance(rule, one_stage.L1SVM):
            rule = one_stage.L1SVM(C=0.5, norm=2, loss="epsilon-insensitive")
        yield (
            f"regressor {name}",
            Fit(lambda rule=rule: al.MKLRegressor(KERNELS, weighting=rule, alpha=10.0), "y"),
        )
    for name in ("alignf", "align", "consensus", "structure"):
        yield (
            f"three classes {name}",
            Fit(lambda name=name: al.MKLClassifier(KERNELS, weighting=name), "three"),
        )
    for name in ("uniform", "alignf", "align-lq"):
        yield (
            f"sparse {name}",
            Fit(
                lambda name=name: al.MKLRegressor(["linear", "rbf"], weighting=name), "y", "sparse"
            ),
        )
        yield (
            f"given matrices {name}",
            Fit(
                lambda name=name: al.MKLClassifier("precomputed", weighting=name), "three", "grams"
            ),
        )


def _plain(kind, y, rest):
    """(name, fit) of parameters that classifiers and regressors share."""
    weight = DATA["weight"]
    options = {
        "default": {},
        "given kernels": {"kernels": KERNELS},
        "no normalization": {"kernels": KERNELS, "normalize": None},
        "unbiased": {"kernels": KERNELS, "unbiased": True},
        "one kernel": {"kernels": [al.Gaussian(0.5)]},
        "mixed kernels": {
            "kernels": ["rbf", 0.5 * al.Linear() + 1.0, al.Gaussian(0.1) * al.Cosine()]
        },
        "overlap kernels": {"kernels": [al.Gower(), al.Hamming(), al.TL1()]},
        "rank one": {"kernels": al.RankOneKernels()},
        "linear kernels": {"kernels": LINEAR},
        "Nystrom": {"kernels": KERNELS, "machine": "nystrom", "n_centers": 20},
        "without the matrix": {"kernels": KERNELS, "memory": 50_000},
    }
    for name, given in options.items():
        yield f"{rest} {name}", Fit(lambda given=given: kind(**given), y)
    for name in ("single", "sparse", "tables"):
        kernels = BY_TABLE if name == "tables" else ["rbf", "linear"]
        yield f"{rest} {name}", Fit(lambda kernels=kernels: kind(kernels), y, name)
    yield f"{rest} gaps", Fit(lambda: kind(BY_TABLE, missing="tables"), y, "gaps")
    yield f"{rest} given", Fit(lambda: kind("precomputed"), y, "grams")
    yield f"{rest} weights", Fit(lambda: kind(KERNELS), y, sample_weight=weight)
    yield (
        f"{rest} weights, gaps",
        Fit(lambda: kind(BY_TABLE, missing="tables"), y, "gaps", sample_weight=weight),
    )
    yield (
        f"{rest} weights, sparse",
        Fit(lambda: kind(["linear", "rbf"]), y, "sparse", sample_weight=weight),
    )
    yield f"{rest} strings", Fit(lambda: kind([al.StringSpectrum(2)]), y, "words")


def _classifiers():
    make = al.MKLClassifier
    yield from _plain(make, "two", "MKLClassifier")
    for name, given in {
        "one against the rest": {"multiclass": "ovr"},
        "balanced": {"class_weight": "balanced", "C": 3.0},
        "class weights": {"class_weight": {0: 2.0, 1: 1.0, 2: 0.5}},
        "coordinate descent": {"kernels": LINEAR, "machine": "dual-cd"},
        "three Nystrom": {"machine": "nystrom", "n_centers": 15},
        "three rank one": {"kernels": al.RankOneKernels()},
    }.items():
        given = {"kernels": KERNELS, **given}
        yield f"MKLClassifier {name}", Fit(lambda given=given: make(**given), "three")
    for y in ("two", "three"):
        for how in ("sigmoid", "isotonic"):
            yield (
                f"MKLClassifier {how} {y}",
                Fit(lambda how=how: make(KERNELS, probability=how), y, more=_sets),
            )
    yield "MKLClassifier bounds", Fit(lambda: make(KERNELS), "two", more=_bounds)


def _regressors():
    make = al.MKLRegressor
    yield from _plain(make, "y", "MKLRegressor")
    for y in ("y", "Y"):
        yield f"MKLRegressor ridge {y}", Fit(lambda: make(KERNELS, machine="krr", alpha=0.3), y)
    svr = {"machine": "svr", "C": 2.0, "epsilon": 0.05}
    yield "MKLRegressor svr", Fit(lambda: make(KERNELS, **svr), "y")
    yield (
        "MKLRegressor svr weights",
        Fit(lambda: make(KERNELS, **svr), "y", sample_weight=DATA["weight"]),
    )
    yield "MKLRegressor deviations", Fit(lambda: make(KERNELS, alpha=0.1), "y", more=_deviations)
    yield "MKLRegressor intervals", Fit(lambda: make(KERNELS, alpha=0.1), "y", more=_intervals)
    yield "MKLRegressor bounds", Fit(lambda: make(KERNELS, alpha=0.1), "y", more=_bounds)


def _searches():
    grids = {
        "grid": {"kernels": KERNELS},
        "grid of rules": {"kernels": KERNELS, "weighting": ["alignf", "uniform", al.AlignLq(1.5)]},
        "one-stage rules": {"kernels": KERNELS[:2], "weighting": ["lkrr", "l1-svm"]},
        "structure": {"kernels": KERNELS, "weighting": "structure"},
        "unbiased": {"kernels": KERNELS, "unbiased": True},
        "no normalization": {"kernels": KERNELS, "normalize": None},
        "linear": {"kernels": LINEAR},
        "rank one": {"kernels": al.RankOneKernels()},
        "auto": {"cv": 3},
        "best": {"cv": 3, "strategy": "best"},
        "thorough": {"cv": 3, "strategy": "thorough"},
        "auto of given kernels": {"kernels": KERNELS, "weighting": "auto", "cv": 3},
        "one machine": {"cv": 3, "ensemble": False},
        "other seed": {"cv": 3, "random_state": 5},
    }
    weight, folds = DATA["weight"], DATA["groups"]
    for make, y, values in (
        (al.MKLClassifierCV, "two", {"Cs": [0.1, 1.0, 10.0]}),
        (al.MKLClassifierCV, "three", {"Cs": [0.1, 1.0, 10.0]}),
        (al.MKLRegressorCV, "y", {"alphas": [1e-3, 0.1, 1.0]}),
    ):
        rest = f"{make.__name__} {y}"
        for name, given in grids.items():
            given = {**values, **given}
            if y != "two" and name == "one-stage rules":
                given["weighting"] = ["lkrr", "aligned-krr"]
            if y == "three" and name in ("one-stage rules", "unbiased", "linear", "rank one"):
                continue
            yield f"{rest} {name}", Fit(lambda make=make, given=given: make(**given), y)
        yield (
            f"{rest} labels of folds",
            Fit(lambda make=make, values=values: make(KERNELS, cv=folds, **values), y),
        )
        yield (
            f"{rest} weights",
            Fit(lambda make=make, values=values: make(KERNELS, **values), y, sample_weight=weight),
        )
        yield (
            f"{rest} auto, weights",
            Fit(lambda make=make, values=values: make(cv=3, **values), y, sample_weight=weight),
        )
        yield (
            f"{rest} given",
            Fit(lambda make=make, values=values: make("precomputed", **values), y, "grams"),
        )
        yield (
            f"{rest} auto, given",
            Fit(
                lambda make=make, values=values: make(
                    "precomputed", strategy="auto", cv=3, **values
                ),
                y,
                "grams",
            ),
        )
        yield (
            f"{rest} single",
            Fit(lambda make=make, values=values: make(cv=3, **values), y, "single"),
        )
        yield (
            f"{rest} sparse",
            Fit(lambda make=make, values=values: make(cv=3, **values), y, "sparse"),
        )
        yield (
            f"{rest} tables",
            Fit(lambda make=make, values=values: make(BY_TABLE, cv=3, **values), y, "tables"),
        )
        yield (
            f"{rest} auto, tables",
            Fit(lambda make=make, values=values: make(cv=3, **values), y, "tables"),
        )
        yield (
            f"{rest} gaps",
            Fit(
                lambda make=make, values=values: make(BY_TABLE, missing="tables", cv=3, **values),
                y,
                "gaps",
            ),
        )


def _more_classifications():
    make, few = al.MKLClassifierCV, {"Cs": [0.1, 10.0], "cv": 4}
    for name, given in {
        "one against the rest": {"kernels": KERNELS, "multiclass": "ovr"},
        "auto, one against the rest": {"multiclass": "ovr"},
        "balanced": {"kernels": KERNELS, "class_weight": "balanced"},
        "balanced accuracy": {"kernels": KERNELS, "scoring": "balanced_accuracy"},
        "auto, balanced accuracy": {"scoring": "balanced_accuracy"},
    }.items():
        given = {**few, **given}
        yield f"MKLClassifierCV {name}", Fit(lambda given=given: make(**given), "three")
    for how in ("sigmoid", "isotonic"):
        for name, kernels in (("grid", KERNELS), ("auto", None)):
            yield (
                f"MKLClassifierCV {how} {name}",
                Fit(
                    lambda how=how, kernels=kernels: make(kernels, probability=how, **few),
                    "three",
                    more=_sets,
                ),
            )
    yield "MKLClassifierCV bounds", Fit(lambda: make(KERNELS, **few), "two", more=_bounds)
    yield "MKLClassifierCV auto bounds", Fit(lambda: make(**few), "two", more=_bounds)


def _more_regressions():
    make, few = al.MKLRegressorCV, {"alphas": [1e-3, 0.1, 1.0]}
    regressions = {
        "leave-one-out": {"cv": "loo"},
        "five folds": {"cv": 5},
        "absolute error": {"cv": 4, "scoring": "neg_mean_absolute_error"},
        "loo of rules": {"weighting": ["alignf", "uniform"]},
        "svr": {"machine": "svr", "Cs": [0.1, 1.0, 10.0], "cv": 4, "alphas": None},
    }
    for name, given in regressions.items():
        given = {"kernels": KERNELS, **few, **given}
        yield f"MKLRegressorCV {name}", Fit(lambda given=given: make(**given), "y")
    yield (
        "MKLRegressorCV auto svr",
        Fit(lambda: make(machine="svr", Cs=[0.1, 1.0, 10.0], cv=3), "y"),
    )
    for name, given in {
        "targets": {},
        "targets, three folds": {"cv": 3},
        "auto, targets": {"kernels": None, "cv": 3},
        "per target": {"per_target": True},
        "per target, three folds": {"per_target": True, "cv": 3},
        "per target, uniform": {"per_target": True, "weighting": "uniform"},
        "per target, default kernels": {"per_target": True, "kernels": None},
        "per target, linear": {"per_target": True, "kernels": LINEAR},
    }.items():
        given = {"kernels": KERNELS, **few, **given}
        yield f"MKLRegressorCV {name}", Fit(lambda given=given: make(**given), "Y")
    yield (
        "MKLRegressorCV per target, weights",
        Fit(lambda: make(KERNELS, per_target=True, **few), "Y", sample_weight=DATA["weight"]),
    )
    yield (
        "MKLRegressorCV per target, single",
        Fit(lambda: make(KERNELS, per_target=True, **few), "Y", "single"),
    )
    yield "MKLRegressorCV deviations", Fit(lambda: make(KERNELS, **few), "y", more=_deviations)
    yield "MKLRegressorCV intervals", Fit(lambda: make(KERNELS, **few), "y", more=_intervals)
    yield "MKLRegressorCV auto intervals", Fit(lambda: make(cv=3, **few), "y", more=_intervals)
    yield "MKLRegressorCV bounds", Fit(lambda: make(KERNELS, **few), "y", more=_bounds)


def _learners():
    scales = {
        "two classes": ("two", {}),
        "three classes": ("three", {}),
        "regression": ("y", {}),
        "matrix": ("y", {"full": True}),
        "Matern": ("y", {"kernel": al.Matern(0.5)}),
        "few samples": ("y", {"max_samples": 40, "search_samples": 30}),
    }
    for name, (y, given) in scales.items():
        yield f"FeatureScales {name}", Fit(lambda given=given: al.FeatureScales(**given), y)
    for weighting in ("alignf", "uniform", "consensus"):
        given = {"weighting": weighting}
        yield (
            f"KernelCombiner {weighting}",
            Fit(lambda given=given: al.KernelCombiner(KERNELS, **given), "y"),
        )
        yield (
            f"OneClassMKL {weighting}",
            Fit(
                lambda given=given: al.OneClassMKL(
                    KERNELS,
                    **given if given["weighting"] != "alignf" else {"weighting": "structure"},
                ),
                None,
            ),
        )
    yield (
        "KernelCombiner gaps",
        Fit(lambda: al.KernelCombiner(BY_TABLE, missing="tables"), "y", "gaps"),
    )
    yield "OneClassMKL default", Fit(lambda: al.OneClassMKL(nu=0.2), None)
    yield (
        "OneClassMKL gaps",
        Fit(lambda: al.OneClassMKL(BY_TABLE, missing="tables", nu=0.3), None, "gaps"),
    )
    yield "OneClassMKL rank one", Fit(lambda: al.OneClassMKL(al.RankOneKernels()), None)
    yield (
        "BayesianMKLClassifier",
        Fit(lambda: al.BayesianMKLClassifier(KERNELS, max_iter=30, tol=1e-12), "two"),
    )
    for given in ({}, {"offsets": True, "rho": 2.0}, {"kernel": "laplacian"}):
        name = " ".join(map(str, given.values()))
        yield (
            f"AlignedRandomFeatures {name}",
            Fit(lambda given=given: al.AlignedRandomFeatures(n_features=100, **given), "y"),
        )
        yield (
            f"AlignedRandomFeaturesClassifier {name}",
            Fit(
                lambda given=given: al.AlignedRandomFeaturesClassifier(n_features=100, **given),
                "three",
            ),
        )


def _wings():
    for name in ("NystromRidge", "NystromRidgeClassifier", "NystromSVC"):
        y = "y" if name == "NystromRidge" else "three"
        for centers in ("uniform", "leverage"):
            yield (
                f"{name} {centers}",
                Fit(
                    lambda name=name, centers=centers: getattr(al, name)(
                        "rbf", n_centers=20, centers=centers
                    ),
                    y,
                ),
            )
    for loss in ("hinge", "logistic", "squared"):
        yield (
            f"KernelSGDClassifier {loss}",
            Fit(lambda loss=loss: al.KernelSGDClassifier(loss=loss, random_state=0), "three"),
        )
    for loss in ("squared", "epsilon-insensitive"):
        yield (
            f"KernelSGDRegressor {loss}",
            Fit(lambda loss=loss: al.KernelSGDRegressor(loss=loss, budget=30), "y"),
        )
    views = {"X": "tables"}
    for measure in ("max", "min"):
        yield (
            f"KernelCCA {measure}",
            Fit(lambda measure=measure: cca.KernelCCA(2, measure=measure), None, **views),
        )
    yield (
        "KernelCCA kernels",
        Fit(
            lambda: cca.KernelCCA(2, kernels=[al.Gaussian(0.3), "linear", "rbf"], kappa=0.1),
            None,
            **views,
        ),
    )
    yield from _tasks()
    yield from _hyper()


class _Tasks(Fit):
    """A fit of several tasks, the number of which follows the samples."""

    def __call__(self):
        X, y = _rows(DATA["X"], True), _rows(DATA[self.y], True)
        task, model = np.arange(M) % 3, self.make()
        model.fit(X, y, task)
        return {
            **dict(_attributes(model)),
            "predict": model.predict(_rows(DATA["X"], False), np.arange(NEW) % 3),
        }


def _tasks():
    for method in ("onmkl", "independent", "uniform", "mkl", "kta", "rpkl", "onjkl"):
        yield (
            f"MultiTaskMKLClassifier {method}",
            _Tasks(lambda method=method: al.MultiTaskMKLClassifier(KERNELS, method=method), "two"),
        )
        yield (
            f"MultiTaskMKLRegressor {method}",
            _Tasks(lambda method=method: al.MultiTaskMKLRegressor(KERNELS, method=method), "y"),
        )
    yield (
        "MultiTaskMKLClassifier three",
        _Tasks(lambda: al.MultiTaskMKLClassifier(KERNELS, multiclass="ovr"), "three"),
    )
    yield (
        "MultiTaskMKLRegressor ridge",
        _Tasks(lambda: al.MultiTaskMKLRegressor(KERNELS, coupling="ridge", ridge=0.5), "y"),
    )


class _Similarities(Fit):
    """A kernel learned from a matrix of similarities of 24 samples."""

    def __call__(self):
        X, new = DATA["X"][:24], DATA["X"][M:]
        K = 2.0 * (DATA["two"][:24, None] == DATA["two"][:24]) - 1.0
        model = self.make().fit(X, K)
        return {**dict(_attributes(model)), "predict": model.predict(new, X)}


def _hyper():
    for name in ("HyperKRR", "HyperNNLS", "HyperSVR", "HyperKRRCV"):
        for hyper_kernel in (None, al.WishartHyperKernel(), hyper.hyper_kernels((0.5, 2.0))):
            kind = type(hyper_kernel).__name__ if hyper_kernel is not None else "default"
            yield (
                f"{name} {kind}",
                _Similarities(lambda name=name, given=hyper_kernel: getattr(al, name)(given), "y"),
            )
    for machine in ("krein", "svm", "clip"):
        yield (
            f"HyperKernelClassifier {machine}",
            Fit(lambda machine=machine: al.HyperKernelClassifier(machine=machine), "three"),
        )
    yield (
        "HyperKernelClassifier svr",
        Fit(lambda: al.HyperKernelClassifier("ladder", regression="svr"), "two"),
    )
    yield (
        "HyperKernelClassifierCV",
        Fit(
            lambda: al.HyperKernelClassifierCV(
                cv=2, multiples=[1.0], alphas=[10.0], Cs=[1.0, 10.0]
            ),
            "two",
        ),
    )


class _OnMatrix(Fit):
    """A machine on one Gram matrix, or on rows of features."""

    def __init__(self, make, y, indefinite=False, rows=False, **given):
        super().__init__(make, y, **given)
        self.indefinite, self.rows = indefinite, rows

    def __call__(self):
        K = DATA["grams"][1] - 0.4 * self.indefinite * DATA["grams"][0]
        K = DATA["X"] if self.rows else K[:, :M]
        return self.seen(self.make().fit(K[:M], DATA[self.y][:M], **self.given), K[M:], None)


def _machines():
    weight = {"sample_weight": DATA["weight"]}
    for given in ({}, weight):
        name = " weights" if given else ""
        for y in ("y", "Y"):
            yield f"KernelRidge {y}{name}", _OnMatrix(lambda: machines.KernelRidge(0.3), y, **given)
        yield (
            f"SupportVectorRegressor{name}",
            _OnMatrix(lambda: machines.SupportVectorRegressor(2.0), "y", **given),
        )
        for how in ("ovo", "ovr"):
            yield (
                f"SupportVectorClassifier {how}{name}",
                _OnMatrix(
                    lambda how=how: machines.SupportVectorClassifier(2.0, multiclass=how),
                    "three",
                    **given,
                ),
            )
            yield (
                f"LinearSVM {how}{name}",
                _OnMatrix(
                    lambda how=how: machines.LinearSVM(2.0, multiclass=how),
                    "three",
                    rows=True,
                    **given,
                ),
            )
        yield (
            f"LinearSVM squared{name}",
            _OnMatrix(lambda: machines.LinearSVM(loss="squared-hinge"), "two", rows=True, **given),
        )
        yield f"KreinSVC{name}", _OnMatrix(machines.KreinSVC, "two", indefinite=True, **given)
        yield (
            f"KreinRidge{name}",
            _OnMatrix(lambda: machines.KreinRidge(0.5), "y", indefinite=True, **given),
        )


def _ensembles():
    for machine, y in (("krr", "y"), ("svc", "two")):
        yield f"Ensemble {machine} linear", Fit(lambda m=machine: Ensemble(m, 1.0), y, "grams")


def cases():
    """All fits, {name: callable}."""
    makers = (
        _by_rule,
        _classifiers,
        _regressors,
        _searches,
        _more_classifications,
        _more_regressions,
        _learners,
        _wings,
        _machines,
        _ensembles,
    )
    return {name: fit for make in makers for name, fit in make()}


def recorded(fit):
    """What one fit gives, {name: array of numbers or of texts}; an error's text if it fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = _tried(fit)
    if not isinstance(found, dict):
        return {"error": np.array(str(found))}
    arrays = {}
    for name, value in found.items():
        arrays.update(_arrays(name, value))
    return arrays


def _arrays(name, value):
    """A value as arrays of numbers or texts: nothing for an object, several for a tuple of them."""
    if value is None:
        return
    if sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, (list, tuple)):
        try:
            value = np.asarray(value)
        except ValueError:  # arrays of several shapes
            for place, part in enumerate(value):
                yield from _arrays(f"{name}[{place}]", part)
            return
    value = np.asarray(value)
    if value.dtype.kind in "biufcU":
        yield name, value
    elif value.dtype == object and all(isinstance(part, str) for part in value.ravel()):
        yield name, value.astype(str)
