"""Fuzz cases of the other models: invariances, and their certificates."""

import copy
import pickle
import warnings

import numpy as np
from draws import fuzz, require
from fuzz_data import CONTAINERS, benign
from fuzz_setup import classes, real_target

import alignlearn as al
from alignlearn.machines import KreinRidge, KreinSVC, LinearSVM


def _similar(make):
    """Similarities from a matrix K; predictions are a matrix again."""

    def build(draws, X, y):
        K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1))
        if draws.chance(0.5):
            hidden = np.triu(draws.numbers.random(K.shape) < 0.3, 1)
            K[hidden | hidden.T] = np.nan
        return make(), (X, K)

    return build


def _labeled(make, **options):
    return lambda draws, X, y: (make(**options), (X, classes(draws, len(X))))


def _real(make, **options):
    return lambda draws, X, y: (make(**options), (X, y))


def _tasks(make, target=None):
    def build(draws, X, y):
        task = np.arange(len(X)) % draws.whole(1, 3)
        coupling = draws.pick("none", "ridge")
        y = np.arange(len(X)) // 3 % 2 if target == "labels" else y
        return make(["rbf", "linear"], coupling=coupling, task_column=-1), (
            np.column_stack([X, task]),
            y,
        )

    return build


def _on_gram(make, target=None):
    """A model on an indefinite matrix; its samples are rows of it."""

    def build(draws, X, y):
        K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1)) - draws.real(0.0, 0.5) * np.eye(len(X))
        return make(), (K, classes(draws, len(X)) if target == "labels" else y)

    return build


MODELS = {
    "NystromSVC": _labeled(al.NystromSVC, n_centers=5, random_state=0),
    "NystromRidge": _real(al.NystromRidge, n_centers=5, random_state=0),
    "NystromRidgeClassifier": _labeled(al.NystromRidgeClassifier, n_centers=5, random_state=0),
    "KernelSGDClassifier": _labeled(al.KernelSGDClassifier, random_state=0),
    "KernelSGDRegressor": _real(al.KernelSGDRegressor, random_state=0),
    "LinearSVM": _labeled(LinearSVM, random_state=0),
    "AlignedRandomFeaturesClassifier": _labeled(
        al.AlignedRandomFeaturesClassifier, n_features=60, random_state=0
    ),
    "BayesianMKLClassifier": _labeled(al.BayesianMKLClassifier, kernels=["rbf", "linear"]),
    "HyperKRR": _similar(al.HyperKRR),
    "HyperSVR": _similar(al.HyperSVR),
    "HyperNNLS": _similar(al.HyperNNLS),
    "HyperKernelClassifier": _labeled(al.HyperKernelClassifier),
    "MultiTaskMKLClassifier": _tasks(al.MultiTaskMKLClassifier, "labels"),
    "MultiTaskMKLRegressor": _tasks(al.MultiTaskMKLRegressor),
    "KreinSVC": _on_gram(KreinSVC, "labels"),
    "KreinRidge": _on_gram(KreinRidge),
}
CERTIFICATES = ("duality_gap_", "kkt_violation_", "residual_", "kkt_residual_", "violation_")


def _drawn(draws, *names):
    """(name, model, its training data, new samples) of one of the models."""
    name = draws.pick(*(names or MODELS))
    m = draws.size(12, 40)
    X = benign(draws, m + 4, draws.size(1, 5))
    y = real_target(draws, m)
    model, given = MODELS[name](draws, X[:m], y)
    new = given[0][:4]
    if new.shape[1] != m:
        new[:, : X.shape[1]] = X[m:]
    return name, model, given, new


def _outputs(model, new):
    """All outputs of a model for new samples."""
    found = [model.predict(new)]
    if hasattr(model, "decision_function"):
        found.append(model.decision_function(new))
    finite = all(np.all(np.isfinite(A)) for A in found if A.dtype.kind == "f")
    require(finite, f"{type(model).__name__}: not finite")
    return found


@fuzz(1)
def test_repeated(draws):
    """A fit again, a pickle and a copy give the same bits, and data is not modified."""
    name, model, given, new = _drawn(draws)
    before = [A.copy() for A in given]
    first = [A.tobytes() for A in _outputs(model.fit(*given), new)]
    require(all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(before, given)),
            f"{name}: input modified")  # fmt: skip
    others = {"pickle": pickle.loads(pickle.dumps(model)), "deep copy": copy.deepcopy(model),
              "copy": copy.copy(model), "second fit": copy.deepcopy(model).fit(*given)}  # fmt: skip
    for what, other in others.items():
        found = [A.tobytes() for A in _outputs(other, new)]
        require(found == first, f"{name}: another answer of a {what}")
    return name


# Models to which something does not matter: the order unless they draw at random, and the unit of
# the samples where widths follow their scale.
DO_NOT_MATTER = {
    "container": tuple(MODELS),
    "order": ("HyperKRR", "KreinRidge", "BayesianMKLClassifier"),
    "unit": ("NystromRidge", "NystromSVC", "MultiTaskMKLClassifier", "BayesianMKLClassifier",
             "HyperKernelClassifier", "KernelSGDClassifier"),
}  # fmt: skip


def _changed(draws, what, name, X, y, new):
    """The data in another container or order, or in units that are powers of 2."""
    if what == "container":
        kind = draws.pick(*(k for k in CONTAINERS if k != "polars" or not name.startswith("Krein")))
        return CONTAINERS[kind](X), y, CONTAINERS[kind](new)
    if what == "order":
        # On a matrix the samples are its columns as well, and those of the new samples.
        order = draws.numbers.permutation(len(X))
        y = y[np.ix_(order, order)] if name == "HyperKRR" else y[order]
        if name == "KreinRidge":
            return X[np.ix_(order, order)], y, new[:, order]
        return X[order], y, new
    units = np.full(X.shape[1], 2.0 ** draws.whole(-240, 300))
    if name.startswith("MultiTask"):
        units[-1] = 1.0  # the task
    return X * units, y, new * units


@fuzz(1.5)
def test_what_does_not_matter(draws):
    """Containers and memory layouts, the order of the samples, and their unit."""
    what = draws.pick(*DO_NOT_MATTER)
    name, model, (X, y), new = _drawn(draws, *DO_NOT_MATTER[what])
    first = _outputs(model.fit(X, y), new)[-1]
    X_again, y_again, new_again = _changed(draws, what, name, X, y, new)
    try:
        second = _outputs(model.fit(X_again, y_again), new_again)[-1]
    except ValueError as error:
        overflows = what == "unit" and np.abs(X_again).max() > 1e34 and "overflow" in str(error)
        require(overflows, f"{name}: refused", str(error))
        return "refused"
    wrong = np.abs(first - second).max() / max(np.abs(first).max(), 1e-300)
    by_tol = 1e-2 if name == "BayesianMKLClassifier" else 1e-5  # it stops by tol
    allowed = by_tol if what == "order" else 1e-6
    require(wrong < allowed, f"{name}: {what}", f"{wrong:.3g}")
    return f"{what} {name}"


@fuzz(1)
def test_certified(draws):
    """The stated accuracy of a model holds: finite, and below tol unless it warned."""
    name, model, given, _ = _drawn(draws)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*given)
    silent = not any(issubclass(w.category, al.ConvergenceWarning) for w in caught)
    found = [word for word in CERTIFICATES if hasattr(model, word)]
    for word in found:
        values = np.atleast_1d(getattr(model, word)).astype(float)
        require(np.all(np.isfinite(values)), f"{name}: {word} is not finite")
        require(np.all(values >= -1e-12), f"{name}: {word} is negative", str(values))
        if silent and word == "kkt_violation_":
            require(values.max() <= model.tol, f"{name}: {word} above tol", str(values))
    return f"{name} {found}"
