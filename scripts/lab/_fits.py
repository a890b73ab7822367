"""Small fits of every kind of estimator, and the recorded results of each (see record_fits.py)."""

from __future__ import annotations

import sys
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

import alignlearn as al
from alignlearn.weights import one_stage

M, NEW = 72, 24

# The recorded attributes of a fitted estimator, if it has them. Strings and objects are left out.
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
    """A fit that runs when called, and returns its recorded results: {name: array}.

    Parameters
    ----------
    make : callable
        The class of the estimator, of which ``options`` are parameters.
    y : str or None
        Name of the target in `DATA`.
    X : str
        Name of the samples in `DATA`.
    more : callable, optional
        ``more(model, X_new, y_new)``: further results, {name: array}.
    given : dict, optional
        Further arguments of ``fit``.
    """

    def __init__(self, make, y, X="X", more=None, given=None, **options):
        self.make, self.y, self.X, self.more = partial(make, **options), y, X, more
        self.given = given or {}

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
    """The value of a call, or the text of its error; None for a missing method."""
    try:
        return call()
    except AttributeError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _attributes(model):
    """(name, value) of the attributes; for a search also its results and its members."""
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


_NAMED = (
    *("uniform", "align", "alignf", "alignf-linear", "align-lq", "consensus", "max-entropy"),
    *("structure", "lkrr", "l1-svm", "aligned-krr"),
)
RULES = {
    **{name: name for name in _NAMED},
    "lq 1.5": al.AlignLq(1.5),
    "alignf l2": al.AlignF(normalize="l2"),
    "alignf of two": al.AlignF(max_kernels=2),
    "alignf-linear ridge": al.AlignLinear(alpha=0.1),
    "structure of three": al.Structure(n_neighbors=3),
    "lkrr norm 1": one_stage.LKRR(Lambda=2.0, norm=1),
    "l1-svm norm 2": one_stage.L1SVM(C=0.5, norm=2),
    "aligned-krr gamma": one_stage.AlignedKRR(gamma=0.5),
}


WEIGHTED = {"given": {"sample_weight": DATA["weight"]}}
GAPS = {"X": "gaps", "kernels": BY_TABLE, "missing": "tables"}
FIXED = {"kernels": KERNELS}
TWO, THREE, REAL = "two", "three", "y"


def _by_rule():
    classifier, regressor = partial(al.MKLClassifier, KERNELS), partial(al.MKLRegressor, KERNELS)
    for name, rule in RULES.items():
        yield f"classifier {name}", Fit(classifier, TWO, weighting=rule)
        if isinstance(rule, one_stage.L1SVM):
            rule = one_stage.L1SVM(C=0.5, norm=2, loss="epsilon-insensitive")
        yield f"regressor {name}", Fit(regressor, REAL, weighting=rule, alpha=10.0)
    for name in ("alignf", "align", "consensus", "structure"):
        yield f"three classes {name}", Fit(classifier, THREE, weighting=name)
    for name in ("uniform", "alignf", "align-lq"):
        sparse_fit = {"kernels": ["linear", "rbf"], "weighting": name}
        yield f"sparse {name}", Fit(al.MKLRegressor, REAL, "sparse", **sparse_fit)
        given = {"kernels": "precomputed", "weighting": name}
        yield f"given matrices {name}", Fit(al.MKLClassifier, THREE, "grams", **given)


def _plain(kind, y):
    """(name, fit) of parameters that classifiers and regressors share."""
    some = ["rbf", "linear"]
    mixed = ["rbf", 0.5 * al.Linear() + 1.0, al.Gaussian(0.1) * al.Cosine()]
    for name, options in {
        "default": {},
        "given kernels": FIXED,
        "no normalization": {**FIXED, "normalize": None},
        "unbiased": {**FIXED, "unbiased": True},
        "one kernel": {"kernels": [al.Gaussian(0.5)]},
        "mixed kernels": {"kernels": mixed},
        "overlap kernels": {"kernels": [al.Gower(), al.Hamming(), al.TL1()]},
        "rank one": {"kernels": al.RankOneKernels()},
        "linear kernels": {"kernels": LINEAR},
        "Nystrom": {**FIXED, "machine": "nystrom", "n_centers": 20},
        "without the matrix": {**FIXED, "memory": 50_000},
        "single": {"kernels": some, "X": "single"},
        "sparse": {"kernels": some, "X": "sparse"},
        "tables": {"kernels": BY_TABLE, "X": "tables"},
        "gaps": GAPS,
        "given": {"kernels": "precomputed", "X": "grams"},
        "weights": {**FIXED, **WEIGHTED},
        "weights, gaps": {**GAPS, **WEIGHTED},
        "weights, sparse": {"kernels": ["linear", "rbf"], "X": "sparse", **WEIGHTED},
        "strings": {"kernels": [al.StringSpectrum(2)], "X": "words"},
    }.items():
        yield f"{kind.__name__} {name}", Fit(kind, y, **options)


def _classifiers():
    make = al.MKLClassifier
    yield from _plain(make, TWO)
    for name, options in {
        "one against the rest": {"multiclass": "ovr"},
        "balanced": {"class_weight": "balanced", "C": 3.0},
        "class weights": {"class_weight": {0: 2.0, 1: 1.0, 2: 0.5}},
        "coordinate descent": {"kernels": LINEAR, "machine": "dual-cd"},
        "three Nystrom": {"machine": "nystrom", "n_centers": 15},
        "three rank one": {"kernels": al.RankOneKernels()},
    }.items():
        yield f"MKLClassifier {name}", Fit(make, THREE, **FIXED | options)
    for y, how in product((TWO, THREE), ("sigmoid", "isotonic")):
        yield f"MKLClassifier {how} {y}", Fit(make, y, more=_sets, probability=how, **FIXED)
    yield "MKLClassifier bounds", Fit(make, TWO, more=_bounds, **FIXED)


def _regressors():
    make = partial(al.MKLRegressor, KERNELS)
    yield from _plain(al.MKLRegressor, REAL)
    for y in ("y", "Y"):
        yield f"MKLRegressor ridge {y}", Fit(make, y, machine="krr", alpha=0.3)
    svr = {"machine": "svr", "C": 2.0, "epsilon": 0.05}
    yield "MKLRegressor svr", Fit(make, REAL, **svr)
    yield "MKLRegressor svr weights", Fit(make, REAL, **svr, **WEIGHTED)
    for name, more in (("deviations", _deviations), ("intervals", _intervals), ("bounds", _bounds)):
        yield f"MKLRegressor {name}", Fit(make, REAL, more=more, alpha=0.1)


def _searches():
    rules = {
        "grid": FIXED,
        "grid of rules": {**FIXED, "weighting": ["alignf", "uniform", al.AlignLq(1.5)]},
        "one-stage rules": {"kernels": KERNELS[:2], "weighting": ["lkrr", "l1-svm"]},
        "structure": {**FIXED, "weighting": "structure"},
        "unbiased": {**FIXED, "unbiased": True},
        "no normalization": {**FIXED, "normalize": None},
        "linear": {"kernels": LINEAR},
        "rank one": {"kernels": al.RankOneKernels()},
        "auto": {"cv": 3},
        "best": {"cv": 3, "strategy": "best"},
        "thorough": {"cv": 3, "strategy": "thorough"},
        "auto of given kernels": {**FIXED, "weighting": "auto", "cv": 3},
        "one machine": {"cv": 3, "ensemble": False},
        "other seed": {"cv": 3, "random_state": 5},
        "labels of folds": {**FIXED, "cv": DATA["groups"]},
        "weights": {**FIXED, **WEIGHTED},
        "auto, weights": {"cv": 3, **WEIGHTED},
        "given": {"kernels": "precomputed", "X": "grams"},
        "auto, given": {"kernels": "precomputed", "X": "grams", "strategy": "auto", "cv": 3},
        "single": {"cv": 3, "X": "single"},
        "sparse": {"cv": 3, "X": "sparse"},
        "tables": {"kernels": BY_TABLE, "cv": 3, "X": "tables"},
        "auto, tables": {"cv": 3, "X": "tables"},
        "gaps": {**GAPS, "cv": 3},
    }
    few = ("one-stage rules", "unbiased", "linear", "rank one")
    for make, y, values in (
        (al.MKLClassifierCV, TWO, {"Cs": [0.1, 1.0, 10.0]}),
        (al.MKLClassifierCV, THREE, {"Cs": [0.1, 1.0, 10.0]}),
        (al.MKLRegressorCV, REAL, {"alphas": [1e-3, 0.1, 1.0]}),
    ):
        for name, options in rules.items():
            if y == REAL and name == "one-stage rules":
                options = {**options, "weighting": ["lkrr", "aligned-krr"]}
            if y != THREE or name not in few:
                yield f"{make.__name__} {y} {name}", Fit(make, y, **values, **options)


def _more_classifications():
    make = partial(al.MKLClassifierCV, Cs=[0.1, 10.0], cv=4)
    for name, options in {
        "one against the rest": {**FIXED, "multiclass": "ovr"},
        "auto, one against the rest": {"multiclass": "ovr"},
        "balanced": {**FIXED, "class_weight": "balanced"},
        "balanced accuracy": {**FIXED, "scoring": "balanced_accuracy"},
        "auto, balanced accuracy": {"scoring": "balanced_accuracy"},
        "sigmoid grid": {**FIXED, "probability": "sigmoid", "more": _sets},
        "sigmoid auto": {"probability": "sigmoid", "more": _sets},
        "isotonic grid": {**FIXED, "probability": "isotonic", "more": _sets},
        "isotonic auto": {"probability": "isotonic", "more": _sets},
    }.items():
        yield f"MKLClassifierCV {name}", Fit(make, THREE, **options)
    yield "MKLClassifierCV bounds", Fit(make, TWO, more=_bounds, **FIXED)
    yield "MKLClassifierCV auto bounds", Fit(make, TWO, more=_bounds)


def _more_regressions():
    make, few = al.MKLRegressorCV, {"alphas": [1e-3, 0.1, 1.0]}
    auto, svr = {"kernels": None, "cv": 3}, {"machine": "svr", "Cs": [0.1, 1.0, 10.0]}
    yield "MKLRegressorCV auto svr", Fit(make, REAL, cv=3, **svr)
    for name, options in {
        "leave-one-out": {"cv": "loo"},
        "five folds": {"cv": 5},
        "absolute error": {"cv": 4, "scoring": "neg_mean_absolute_error"},
        "loo of rules": {"weighting": ["alignf", "uniform"]},
        "svr": {**svr, "cv": 4, "alphas": None},
        "deviations": {"more": _deviations},
        "intervals": {"more": _intervals},
        "auto intervals": {**auto, "more": _intervals},
        "bounds": {"more": _bounds},
    }.items():
        yield f"MKLRegressorCV {name}", Fit(make, REAL, **FIXED | few | options)
    for name, options in {
        "targets": {},
        "targets, three folds": {"cv": 3},
        "auto, targets": auto,
        "per target": {"per_target": True},
        "per target, three folds": {"per_target": True, "cv": 3},
        "per target, uniform": {"per_target": True, "weighting": "uniform"},
        "per target, default kernels": {"per_target": True, "kernels": None},
        "per target, linear": {"per_target": True, "kernels": LINEAR},
        "per target, weights": {"per_target": True, **WEIGHTED},
        "per target, single": {"per_target": True, "X": "single"},
    }.items():
        yield f"MKLRegressorCV {name}", Fit(make, "Y", **FIXED | few | options)


def _large():
    """Data and fits that pass the later levels of a search, {name: (kind, X, y)}.

    A search has a third level above 2000 samples and a fourth level above about 12,000. Many rows
    of the largest data are equal, so that its fit takes seconds.
    """
    rng = np.random.default_rng(1)
    cells = np.round(1.5 * rng.normal(size=(13_000, 3))) / 1.5
    cell = np.unique(cells, axis=0, return_inverse=True)[1].ravel()
    effect, noise = rng.normal(size=1 + cell.max())[cell], rng.normal(size=len(cells))
    amount = np.sin(2.0 * cells[:, 0]) + effect + 0.3 * noise
    some, letters = slice(2400), np.array(list("pqrst"))
    X, names = rng.normal(size=(2400, 4)), rng.integers(0, 5, 2400)
    X[:, 3] = np.round(5.0 * X[:, 3])
    frame = {"a": np.where(rng.random(2400) < 0.05, np.nan, X[:, 0]), "b": letters[names]}
    frame = pd.DataFrame({**frame, "c": X[:, 1], "d": X[:, 3].astype(int)})
    y = X[:, 0] * X[:, 1] + (names == 2) + 0.1 * X[:, 3] + 0.3 * noise[some]
    return {
        "three levels": (al.MKLClassifierCV, X, np.digitize(y, [-0.5, 1.0])),
        "three levels, columns": (al.MKLClassifierCV, frame, y > 0.5),
        "three levels, real-valued, columns": (al.MKLRegressorCV, frame, y),
        "four levels": (al.MKLRegressorCV, cells, amount),
    }


class _Large:
    """A default fit of one of `_large`, predicting its first samples."""

    def __init__(self, name):
        self.name = name

    def __call__(self):
        make, X, y = _large()[self.name]
        return Fit(make, None).seen(make().fit(X, y), X[:100], y[:100])


def _levels():
    for name in _large():
        yield f"default, {name}", _Large(name)


class _Tasks(Fit):
    """A fit of several tasks, the number of which follows the samples."""

    def __call__(self):
        X, y = _rows(DATA["X"], True), _rows(DATA[self.y], True)
        model = self.make().fit(X, y, np.arange(M) % 3)
        predicted = model.predict(_rows(DATA["X"], False), np.arange(NEW) % 3)
        return {**dict(_attributes(model)), "predict": predicted}


def _tasks():
    classifier, regressor = (
        partial(kind, KERNELS) for kind in (al.MultiTaskMKLClassifier, al.MultiTaskMKLRegressor)
    )
    for method in ("onmkl", "independent", "uniform", "mkl", "kta", "rpkl", "onjkl"):
        yield f"MultiTaskMKLClassifier {method}", _Tasks(classifier, TWO, method=method)
        yield f"MultiTaskMKLRegressor {method}", _Tasks(regressor, REAL, method=method)
    yield "MultiTaskMKLClassifier three", _Tasks(classifier, THREE, multiclass="ovr")
    yield "MultiTaskMKLRegressor ridge", _Tasks(regressor, REAL, coupling="ridge", ridge=0.5)


def _of_every_estimator():
    """Outputs and attributes of the models that tests write to files: one or more of each class."""
    sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "persistence"))
    import persistence_models

    found = {}
    for name, model, data in persistence_models.fitted():
        results = dict(_attributes(model)) | persistence_models.outputs(model, data)
        found |= {f"{name}.{part}": value for part, value in results.items()}
    return found


def cases():
    """All fits, {name: callable}."""
    makers = (_by_rule, _classifiers, _regressors, _searches, _more_classifications)
    makers += (_more_regressions, _levels, _tasks)
    found = {name: fit for make in makers for name, fit in make()}
    return {**found, "every estimator": _of_every_estimator}


def recorded(fit):
    """The results of a fit, {name: array of numbers or strings}, or the text of its error."""
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
    """A value as arrays of numbers or strings: nothing for an object, several for a tuple."""
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
