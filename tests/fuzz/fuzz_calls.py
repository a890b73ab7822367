"""The public functions and estimators, as calls with valid arguments of known kinds."""

from dataclasses import dataclass
from functools import cache
from inspect import signature

import fuzz_values as pool
import numpy as np

import alignlearn as al
from alignlearn import dependence, machines, significance
from alignlearn.comparison import Protocol
from alignlearn.estimators import cross_validate_kernels
from alignlearn.kernels import FeatureWeighted
from alignlearn.weights import sparse_path

_RNG = np.random.default_rng(7)
M, D = 12, 3
X = _RNG.normal(size=(M, D))
TEST = _RNG.normal(size=(4, D))
LABELS = np.arange(M) % 2
REAL = X @ np.arange(1.0, D + 1) + 0.1 * _RNG.normal(size=M)
GRAM = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1))
AGAINST = np.exp(-0.3 * ((TEST[:, None] - X) ** 2).sum(-1))
OTHER = X @ X.T
KERNELS = ["rbf", "linear", al.Polynomial(degree=2)]


@dataclass
class Call:
    """A function of keyword arguments, and ``(pool, valid value)`` of each argument."""

    name: str
    function: object
    arguments: dict


N, CHOICE, FLAG, COUNT = pool.numbers, pool.choices, pool.flags, pool.counts
_WEIGHTS = {"normalize": (CHOICE, "l1")}
_SVM = {"C": (N, 1.0), "tol": (N, 1e-3), "max_iter": (COUNT, None)}
_CLASSES = {"multiclass": (CHOICE, "ovo"), "class_weight": (CHOICE, None)}
_CALIBRATED = {**_CLASSES, "probability": (CHOICE, "sigmoid")}
_LEARN = {"kernels": (pool.kernel_lists, KERNELS), "weighting": (pool.rules, "alignf"),
          "normalize": (CHOICE, "trace")}  # fmt: skip
_X = (pool.matrices, X)
_Y = (pool.one_class_labels, LABELS)
_T = (pool.targets, REAL)
_K = (pool.grams, GRAM)
_P = (pool.lists_of(pool.grams), [GRAM, OTHER])
_W = {"sample_weight": (pool.optional(pool.vectors), 1.0 + np.arange(M) % 3)}


def _statistics():
    return al.alignment_statistics(X, REAL, KERNELS)


def _rule(make, parameters):
    """A call that constructs a rule and solves."""

    def call(**given):
        return make(**given).solve(_statistics())

    return Call(make.__name__, call, parameters)


def _one_stage(make, parameters, y):
    def call(grams, y, **given):
        return make(**given).solve_grams(grams, y)

    kind = pool.labels if y is LABELS else pool.targets
    return Call(make.__name__, call, {**parameters, "grams": _P, "y": (kind, y)})


def _kernel(make, **parameters):
    """A kernel evaluated on valid samples."""

    def call(**given):
        kernel = make(**given)
        return kernel(X / 10, TEST / 10), kernel.diag(X / 10), hash(kernel), str(kernel)

    return Call(make.__name__, call, parameters)


def _estimator(make, parameters, y, method="predict"):
    """An estimator that is fitted and then predicts."""

    weights = _W if "sample_weight" in signature(make.fit).parameters else {}

    def call(X, y, T, sample_weight=None, **given):
        weight = {"sample_weight": sample_weight} if weights else {}
        model = make(**given).fit(X, y, **weight)
        return getattr(model, method)(T), model.summary(), model.alignment_

    kind = _Y if y is LABELS else _T
    arguments = {**parameters, "X": _X, "y": kind, "T": (pool.matrices, TEST), **weights}
    return Call(make.__name__, call, arguments)


def _machine(make, parameters, y):
    """A model on a Gram matrix that is fitted and then predicts."""

    def call(K, y, K_test, sample_weight, **given):
        return make(**given).fit(K, y, sample_weight).predict(K_test)

    arguments = {"K": _K, "y": _Y if y is LABELS else _T, "K_test": (pool.matrices, AGAINST)}
    return Call(make.__name__, call, {**parameters, **arguments, **_W})


def _algebra():
    k = al.Gaussian(0.5)
    operations = {
        "k + v": lambda v: k + v, "v + k": lambda v: v + k, "k * v": lambda v: k * v,
        "k / v": lambda v: k / v, "k ** v": lambda v: k**v, "k - v": lambda v: k - v,
        "shifted": k.shifted, "weighted": k.weighted,
    }  # fmt: skip
    for name, operation in operations.items():
        # An operator that does not support the other side raises Python's own TypeError.
        yield Call(name, lambda v, operation=operation: _value(operation(v)), {"v": (N, 2.0)})


def _value(kernel):
    return kernel(X) if isinstance(kernel, al.Kernel) else kernel


def _kernels():
    gamma, multiple = (N, 0.5), (N, 1.0)
    for make in (al.Gaussian, al.Laplacian, al.Exponential, al.ExponentialDot):
        yield _kernel(make, gamma=gamma, multiple=multiple)
    yield _kernel(al.Polynomial, gamma=gamma, coef0=(N, 1.0), degree=(N, 3))
    yield _kernel(al.Sigmoid, gamma=gamma, coef0=(N, 1.0))
    yield _kernel(al.Binomial, gamma=gamma, alpha=(N, 1.0))
    yield _kernel(al.TL1, tau=(N, 1.0))
    yield _kernel(al.Log, sigma=(N, 1.0))
    yield _kernel(al.Periodic, length_scale=(N, 1.0), period=(N, 1.0))
    yield _kernel(
        al.Gower,
        categorical=(pool.perhaps_empty(pool.grids), [0]),
        ranges=(pool.vectors, np.ones(D)),
    )
    yield Call("gaussian_kernels", lambda gammas: [k(X) for k in al.gaussian_kernels(gammas)],
               {"gammas": (pool.grids, [0.5])})  # fmt: skip
    yield Call(
        "Precomputed", lambda gram: al.Precomputed(gram)(np.arange(3)[:, None]), {"gram": _K}
    )
    yield Call("FromFunction", lambda function: al.FromFunction(function)(X),
               {"function": (pool.strings, lambda x, z: float(x @ z))})  # fmt: skip
    yield Call("Columns", lambda kernel, columns: al.Columns(kernel, columns)(X),
               {"kernel": (CHOICE, al.Gaussian()), "columns": (pool.grids, [0, 1])})  # fmt: skip
    yield Call("FeatureWeighted", lambda weights, X: FeatureWeighted(weights)(X),
               {"weights": (pool.vectors, np.ones(D)), "X": _X})  # fmt: skip
    for make in (
        al.Gaussian,
        al.Linear,
        al.Cosine,
        al.Polynomial,
        al.Tanimoto,
        al.MinMax,
        al.Gower,
    ):
        yield Call("kernel(X, Y)", lambda X, Y, make=make: make()(X, Y),
                   {"X": _X, "Y": (pool.optional(pool.matrices), TEST)})  # fmt: skip
        yield Call("diag", lambda X, make=make: make().diag(X), {"X": _X})
    yield from _algebra()


def _measures():
    K, L = _K, (pool.grams, OTHER)
    yield Call("alignment", al.alignment, {"K": K, "L": L, "kind": (CHOICE, "centered"), **_W})
    yield Call("hsic", al.hsic, {"K": K, "L": L, "unbiased": (FLAG, False), **_W})
    yield Call("cka", al.cka, {"K": K, "L": L, "unbiased": (FLAG, False)})
    yield Call("alignment", al.alignment, {"K": K, "L": (pool.labels, LABELS), **_W})
    yield Call("center_kernel", al.center_kernel,
               {"K": (pool.matrices, AGAINST), "K_train": _K, **_W})  # fmt: skip
    arguments = {"X": _X, "y": (pool.labels, LABELS), "kernels": (pool.kernel_lists, KERNELS),
                 "task": (CHOICE, "auto"), "unbiased": (FLAG, False)}  # fmt: skip
    yield Call("alignment_statistics", al.alignment_statistics, arguments)
    yield Call("alignment_statistics", al.alignment_statistics, {**arguments, **_W})
    yield Call("alignment_statistics", al.alignment_statistics,
               {**arguments, "folds": (pool.folds, np.arange(M) % 3)})  # fmt: skip

    def accumulate(X, y, kernels, task):
        return al.AlignmentAccumulator(kernels, task=task).update(X, y).statistics()

    yield Call("AlignmentAccumulator", accumulate,
               {n: arguments[n] for n in ("X", "y", "kernels", "task")})  # fmt: skip
    yield Call("RankOneKernels", lambda X, y: al.alignment_statistics(X, y, al.RankOneKernels()),
               {"X": _X, "y": (pool.labels, LABELS)})  # fmt: skip
    yield Call("precomputed", lambda X, y: al.alignment_statistics(X, y, "precomputed"),
               {"X": _P, "y": (pool.labels, LABELS)})  # fmt: skip
    yield Call("AlignmentStatistics.alignment", lambda weights: _statistics().alignment(weights),
               {"weights": (pool.vectors, np.ones(3))})  # fmt: skip


def _rules():
    for make in (al.Uniform, al.Align):
        yield _rule(make, _WEIGHTS)
    yield _rule(al.AlignF, {**_WEIGHTS, "tol": (N, 1e-12), "max_iter": (COUNT, None),
                            "max_kernels": (COUNT, 2)})  # fmt: skip
    yield _rule(al.AlignLinear, {**_WEIGHTS, "alpha": (N, 0.0), "singular": (CHOICE, "pinv")})
    yield _rule(al.AlignLq, {**_WEIGHTS, "q": (N, 2.0), "Lambda": (N, 1.0)})
    yield Call("sparse_path", lambda max_kernels, tol, n_kernels, normalize: sparse_path(
        _statistics(), max_kernels, tol=tol).weights(n_kernels, normalize),
        {**_WEIGHTS, "max_kernels": (COUNT, 2), "tol": (N, 1e-12),
         "n_kernels": (N, 1)})  # fmt: skip
    for make in (al.Align, al.AlignF, al.AlignLinear, al.AlignLq, al.Uniform):
        yield Call("solve", lambda statistics, make=make: make().solve(statistics),
                   {"statistics": (CHOICE, _statistics())})  # fmt: skip
    shared = {"alpha": (N, 1.0), "tol": (N, 1e-6), "max_iter": (COUNT, None)}
    yield _one_stage(al.LKRR, {**shared, "Lambda": (N, 1.0), "mu0": (N, 1.0), "norm": (CHOICE, 2),
                               "solver": (CHOICE, "subspace"), "eta": (N, 0.5)}, REAL)  # fmt: skip
    gammas = {"gamma": (N, 1.0), "gamma1": (N, 1.0), "gamma2": (N, 1.0)}
    yield _one_stage(al.AlignedKRR, {**shared, **gammas}, REAL)
    del shared["alpha"]
    yield _one_stage(al.L1SVM, {**shared, "C": (N, 1.0), "norm": (N, 1), "Lambda": (N, 1.0),
                                "loss": (CHOICE, "hinge"), "epsilon": (N, 0.1),
                                "multiclass": (CHOICE, "ovo")}, LABELS)  # fmt: skip


def _estimators():
    classify = {**_LEARN, **_SVM, **_CALIBRATED}
    ridge = {**_LEARN, "machine": (CHOICE, "krr")}
    svr = {**_LEARN, "machine": (CHOICE, "svr"), **_SVM, "epsilon": (N, 0.1)}
    tune = {"cv": (pool.splitters, 3), "random_state": (pool.seeds, None)}
    tune["weighting"] = (pool.optional(pool.rules), "alignf")
    yield _estimator(al.MKLClassifier, classify, LABELS)
    yield _estimator(al.MKLRegressor, {**ridge, "alpha": (N, 1.0)}, REAL)
    yield _estimator(al.MKLRegressor, svr, REAL)
    combine = {**_LEARN, "center": (FLAG, True), "task": (CHOICE, "regression")}
    yield _estimator(al.KernelCombiner, combine, REAL, "transform")
    del classify["C"], svr["C"]
    grid, accuracy = (pool.grids, [0.1, 1.0]), (pool.strings, "accuracy")
    tuned = {**classify, **tune, "Cs": grid, "scoring": accuracy}
    yield _estimator(al.MKLClassifierCV, tuned, LABELS)
    tune["scoring"] = (pool.strings, "r2")
    yield _estimator(al.MKLRegressorCV, {**ridge, **tune, "alphas": grid}, REAL)
    yield _estimator(al.MKLRegressorCV, {**svr, **tune, "Cs": grid}, REAL)
    del tune["scoring"], tune["weighting"]

    def bound(**given):
        return al.MKLRegressor(KERNELS).fit(X, REAL).bound(**given)

    yield Call("bound", bound, {"delta": (N, 0.05), "label_range": (pool.grids, (-20.0, 20.0)),
                                "radius2": (N, 1e4), "fixed": (FLAG, None)})  # fmt: skip

    def held_out(X_, y, **given):
        real = "label_range" in given
        model = al.MKLRegressor(KERNELS) if real else al.MKLClassifier(KERNELS)
        return model.fit(X, REAL if real else LABELS).bound(X_, y, **given)

    new = {"X_": (pool.matrices, X + 1.0), "delta": (N, 0.05), "held_out": (FLAG, True)}
    yield Call("held_out", held_out, {**new, "y": (pool.labels, LABELS)})
    real = {"y": (pool.targets, REAL), "label_range": (pool.grids, (-20.0, 20.0))}
    yield Call("held_out", held_out, {**new, **real})
    for make, y in ((al.MKLClassifier, LABELS), (al.MKLRegressor, REAL)):
        yield Call("score", lambda X_, y, sample_weight, make=make, fitted=y: make(KERNELS).fit(
            X, fitted).score(X_, y, sample_weight),
            {"X_": _X, "y": (pool.targets if y is REAL else pool.labels, y), **_W})  # fmt: skip
    yield Call("precomputed", lambda X, y: al.MKLClassifier("precomputed").fit(X, y).predict(
        [AGAINST, TEST @ globals()["X"].T]), {"X": _P, "y": _Y})  # fmt: skip
    grams = {"grams": _P, "y": _Y, **tune}

    def validate(grams, y, estimator, **given):
        return cross_validate_kernels(estimator, grams, y, **given)["test_score"]

    estimator = (CHOICE, al.MKLClassifier("precomputed"))
    yield Call("cross_validate_kernels", validate, {**grams, "estimator": estimator})


def _machines():
    svc = {**_SVM, **_CLASSES}
    yield _machine(machines.SupportVectorClassifier, svc, LABELS)
    yield _machine(machines.SupportVectorRegressor, {**_SVM, "epsilon": (N, 0.1)}, REAL)
    yield _machine(machines.KernelRidge, {"alpha": (N, 1.0)}, REAL)
    yield Call("ridge_loo_path", lambda K, y, alphas: machines.ridge_loo_path(K, y, alphas),
               {"K": _K, "y": _T, "alphas": (pool.grids, [0.1, 1.0])})  # fmt: skip


def _significance():
    errors = _RNG.random((6, 3))
    a, b = (pool.vectors, errors[:, 0]), (pool.vectors, errors[:, 1])
    side = {"alternative": (CHOICE, "less")}
    yield Call("paired_t_test", significance.paired_t_test, {"errors_a": a, "errors_b": b, **side})
    yield Call("corrected_resampled_t_test", significance.corrected_resampled_t_test,
               {"errors_a": a, "errors_b": b, **side, "n_train": (N, 8),
                "n_test": (N, 2)})  # fmt: skip
    table = (pool.matrices, errors)
    yield Call("pairwise_t_tests", significance.pairwise_t_tests, {"errors": table})
    yield Call("friedman_test", significance.friedman_test, {"results": table})
    ranks = {"ranks": (pool.vectors, np.array([1.2, 2.0, 2.8])), "n_datasets": (N, 6)}
    yield Call("holm", significance.holm, {**ranks, "control": (pool.positions, 0)})
    yield Call("nemenyi", significance.nemenyi, {**ranks, "level": (N, 0.05)})
    yield Call("holm_adjusted", significance.holm_adjusted, {"p_values": (pool.grids, [0.1, 0.2])})
    protocol = {"n_folds": (COUNT, 3), "scale": (CHOICE, "none"), "random_state": (pool.seeds, 0)}

    def compare(X, y, kernels, methods, task, **given):
        return al.compare(X, y, kernels, methods=methods, task=task,
                          protocol=Protocol(**given)).error  # fmt: skip

    yield Call("compare", compare, {**protocol, "X": _X, "y": _T, "task": (CHOICE, "regression"),
               "kernels": (pool.kernel_lists, ["rbf", "linear"]),
               "methods": (CHOICE, ("uniform", "alignf"))})  # fmt: skip
    yield Call("load", lambda **given: al.datasets.load(download=False, **given),
               {"name_or_path": (CHOICE, "iris"), "task": (CHOICE, None),
                "missing": (CHOICE, None), "timeout": (N, 1.0)})  # fmt: skip


def _wing(make, parameters, y, method="predict", kind=None):
    """A model without a combination of kernels, fitted on samples; it then predicts."""

    def call(X, y, T, **given):
        return getattr(make(**given).fit(X, y), method)(T)

    arguments = {"X": _X, "T": (pool.matrices, TEST)}
    arguments["y"] = (kind, y) if kind else _Y if y is LABELS else _T
    return Call(make.__name__, call, {**parameters, **arguments})


def _large():
    shared = {"kernel": (CHOICE, "rbf"), "n_centers": (COUNT, 5), "centers": (CHOICE, "uniform"),
              "random_state": (pool.seeds, 0)}  # fmt: skip
    ridge = {**shared, "alpha": (N, 1.0), "tol": (N, 1e-6), "max_iter": (COUNT, 50)}
    yield _wing(al.NystromRidge, ridge, REAL)
    yield _wing(al.NystromRidgeClassifier, ridge, LABELS)
    yield _wing(al.NystromSVC, {
        **shared, **_CLASSES, "C": (N, 1.0), "tol": (N, 1e-2),
        "max_iter": (COUNT, 1000), "memory": (pool.moderate, None)}, LABELS)  # fmt: skip
    steps = {"kernel": (CHOICE, "rbf"), "alpha": (N, 1e-2), "eta0": (N, None),
             "learning_rate": (CHOICE, "auto"), "budget": (COUNT, 6), "n_passes": (COUNT, 2),
             "random_state": (pool.seeds, 0)}  # fmt: skip
    yield _wing(al.KernelSGDClassifier, {**steps, "loss": (CHOICE, "hinge")}, LABELS)
    yield _wing(al.KernelSGDRegressor,
                {**steps, "loss": (CHOICE, "squared"), "epsilon": (N, 0.1)}, REAL)  # fmt: skip
    linear = {**_CLASSES, "C": (N, 1.0), "loss": (CHOICE, "hinge"), "tol": (N, 1e-3),
              "max_iter": (COUNT, 1000), "random_state": (pool.seeds, 0)}  # fmt: skip
    yield _wing(machines.LinearSVM, linear, LABELS)


def _bayesian_and_random_features():
    priors = {f"{k}_{n}": (N, 1.0) for k in ("alpha", "beta") for n in ("lambda", "gamma", "omega")}
    bayesian = {**priors, "sigma_g": (N, 1.0), "margin": (N, 0.0), "tol": (N, 1e-3),
                "max_iter": (COUNT, 20), "kernels": (pool.kernel_lists, KERNELS)}  # fmt: skip
    yield _wing(al.BayesianMKLClassifier, bayesian, LABELS, "predict_proba")
    drawn = {"n_features": (COUNT, 50), "rho": (N, 3.0), "n_components": (COUNT, 5),
             "offsets": (FLAG, False), "center": (FLAG, True), "kernel": (CHOICE, "rbf"),
             "random_state": (pool.seeds, 0)}  # fmt: skip
    yield _wing(al.AlignedRandomFeatures, drawn, REAL, "transform", pool.labels)
    yield _wing(al.AlignedRandomFeaturesClassifier, drawn, LABELS)


def _may_be_one(kind):
    """The same where one label for all, and a column of labels, are accepted."""
    return lambda valid: [(v, must and np.shape(v) not in {(len(valid),), (len(valid), 1)})
                          for v, must in kind(valid)]  # fmt: skip


def _unknown(kind):
    """The same, where NaN and None mark an unknown value."""

    def known(v, must):
        if not must or getattr(v, "shape", None) != GRAM.shape:
            return must
        return not any(x is None or x != x for row in np.asarray(v) for x in row)

    return lambda valid: [(v, known(v, must)) for v, must in kind(valid)]


def _multitask():
    shared = {"kernels": (pool.kernel_lists, ["rbf", "linear"]), "method": (CHOICE, "onmkl"),
              "C": (N, 1.0), "beta": (N, 0.1), "coupling": (CHOICE, "none"), "ridge": (N, 1.0),
              "discount": (N, None), "norm": (N, 1.0),
              "center": (FLAG, True), "normalize": (CHOICE, "trace"), "tol": (N, 1e-4),
              "max_iter": (COUNT, 30)}  # fmt: skip
    tasks = np.arange(M) // 6
    labels = (_may_be_one(pool.folds), tasks)

    def learn(make):
        def call(X, y, T, task, T_task, **given):
            return make(**given).fit(X, y, task).predict(T, T_task)

        return call

    task = {"task": labels, "T_task": (_may_be_one(pool.folds), tasks[:4]),
            "X": _X, "T": (pool.matrices, TEST)}  # fmt: skip
    yield Call("MultiTaskMKLClassifier", learn(al.MultiTaskMKLClassifier), {
        **shared, **task, "multiclass": (CHOICE, "ovo"), "y": _Y})  # fmt: skip
    yield Call("MultiTaskMKLRegressor", learn(al.MultiTaskMKLRegressor), {
        **shared, **task, "epsilon": (N, 0.1), "y": _T})  # fmt: skip


def _hyper():
    shared = {"hyper_kernel": (CHOICE, None), "rank_tol": (N, 1e-6), "max_rank": (COUNT, 20),
              "max_pairs": (COUNT, 10**4), "decomposition": (COUNT, None),
              "cross": (CHOICE, "block"), "solver": (CHOICE, "auto"),
              "random_state": (pool.seeds, 0), "X": _X, "T": (pool.matrices, TEST)}  # fmt: skip

    similar_pairs = (_unknown(pool.grams), GRAM)

    def similar(make):
        return lambda X, K, T, **given: make(**given).fit(X, K).predict(T)

    alpha, tol, steps = {"alpha": (N, 1.0)}, {"tol": (N, 1e-6)}, {"max_iter": (COUNT, 100)}
    learners = {
        al.HyperKRR: alpha | tol | steps,
        al.HyperNNLS: alpha,
        al.HyperSVR: {"C": (N, 1.0), "epsilon": (N, 0.1)} | tol | steps,
    }
    for make, own in learners.items():
        yield Call(make.__name__, similar(make), {**shared, **own, "K": similar_pairs})
    machine = {**_CLASSES, "hyper_kernel": (CHOICE, "gaussian"), "tol": (N, 1e-3),
               "solver": (CHOICE, "auto"), "machine": (CHOICE, "krein"),
               "random_state": (pool.seeds, 0)}  # fmt: skip
    single = {"multiple": (N, 1.0), "C": (N, 10.0)}
    ridge = {"regression": (CHOICE, "krr"), "alpha": (N, 10.0)}
    tube = {"regression": (CHOICE, "svr"), "epsilon": (N, 0.1), "kernel_C": (N, 0.1)}
    for own in (ridge, tube):
        yield _wing(al.HyperKernelClassifier, {**machine, **single, **own}, LABELS)
    grid = (pool.grids, [1.0])
    grids = {"cv": (pool.splitters, 2), "alphas": grid, "multiples": grid, "Cs": grid}
    yield _wing(al.HyperKernelClassifierCV, {**machine, **grids}, LABELS)
    for make, own in ((al.GaussianHyperKernel, {"sigma2": (N, 1.0), "sigma_h2": (N, 1.0)}),
                      (al.WishartHyperKernel, {"C": (N, 1.0), "r": (N, 3.0)})):  # fmt: skip
        arguments = {**own, "multiple": (N, 1.0), "X": _X, "K": similar_pairs}
        yield Call(make.__name__, lambda X, K, make=make, **given: al.HyperKRR(make(**given)).fit(
            X, K).predict(X), arguments)  # fmt: skip


def _new_views(valid):
    """Matrices of new samples, whose views stand alone: None for one that is not known."""
    values = pool.lists_of(pool.matrices)(valid)
    return [(v, must and not (isinstance(v, list) and _stands(v[-1:]))) for v, must in values]


def _stands(last):
    return last and (last[0] is None or np.array_equal(last[0], TEST[:3]))


def _dependence():
    views = (pool.lists_of(pool.matrices), [X, np.sin(X)])
    draws = {"n_permutations": (COUNT, 19), "random_state": (pool.seeds, 0)}

    def correlate(views, T, **given):
        return al.KernelCCA(**given).fit(views).transform(T)

    yield Call("KernelCCA", correlate, {
        "views": views, "T": (_new_views, [TEST, np.sin(TEST)]),
        "n_components": (COUNT, 1), "kappa": (N, 0.02), "regularization": (CHOICE, "norm"),
        "measure": (CHOICE, "max"), "solver": (CHOICE, "auto"), "tol": (N, 1e-6),
        "max_rank": (COUNT, 10), "kernels": (pool.optional(pool.kernel_lists), "rbf")})  # fmt: skip
    pair = {"X": _X, "Y": (pool.matrices, np.sin(X)), "unbiased": (FLAG, False)}
    yield Call("hsic_test", _tested(al.hsic_test), {
        **pair, **draws, "method": (CHOICE, "permutation"),
        "kernels": (pool.optional(pool.kernel_lists), "rbf")})  # fmt: skip
    del pair["unbiased"]
    yield Call("dhsic_test", _tested(lambda X, Y, **given: al.dhsic_test(X, Y, **given)), {
        **pair, **draws, "kernels": (pool.optional(pool.kernel_lists), "rbf")})  # fmt: skip
    yield Call("alignment_test", _tested(al.alignment_test), {
        **draws, "K": _K, "y": (pool.labels, LABELS), "task": (CHOICE, "auto")})  # fmt: skip
    # An array is a list of sets of features, and one with more axes is flattened.
    sets = (lambda valid: [(v, must and np.ndim(v) != 4) if isinstance(v, np.ndarray) else (v, must)
                           for v, must in views[0](valid)], views[1])  # fmt: skip
    features = {"features": sets, "unbiased": (FLAG, False),
                "kernels": (pool.kernel_lists, "linear")}  # fmt: skip
    yield Call("cka_matrix", al.cka_matrix, features)

    def accumulate(features, kernels):
        return al.CKAAccumulator(kernels).update(features).matrix()

    yield Call("CKAAccumulator", accumulate, {n: features[n] for n in ("features", "kernels")})
    yield Call("real_gram", dependence.real_gram, {"K": _K, "test": (FLAG, False)})


def _tested(test):
    def call(**given):
        found = test(**given)
        return [found.statistic, found.p_value]

    return call


def _indefinite():
    signed = (pool.grams, GRAM - 0.5 * OTHER)
    parts = {"K": signed, "K_test": (pool.matrices, AGAINST), **_W}
    for make, own, y in ((machines.KreinSVC, {**_SVM, **_CLASSES}, _Y),
                         (machines.KreinRidge, {"alpha": (N, 1.0)}, _T)):  # fmt: skip
        yield Call(make.__name__, lambda K, y, K_test, sample_weight, make=make, **given: (
            make(**given).fit(K, y, sample_weight).predict(K_test)),
            {**own, **parts, "y": y})  # fmt: skip
    yield Call("SpectrumFix", lambda K, K_test, method: machines.SpectrumFix(method).fit(
        K).transform(K_test), {"K": signed, "K_test": (pool.matrices, AGAINST),
                               "method": (CHOICE, "clip")})  # fmt: skip
    yield Call("krein_spectrum", lambda K, sample_weight: machines.krein_spectrum(
        K, sample_weight).eigenvalues, {"K": signed, **_W})  # fmt: skip


_BOUNDS = {"m": 50, "delta": 0.05, "a": 0.5, "a_prime": 0.5, "n_kernels": 3, "numerator": 0.2}


def _bounds():
    from alignlearn.theory.bounds import concentration, generalization, stability

    from alignlearn.bounds import fitted

    for module in (concentration, fitted, generalization, stability):
        for name, function in vars(module).items():
            own = getattr(function, "__module__", None) == module.__name__
            if not own or name.startswith(("_", "check_")) or not hasattr(function, "__code__"):
                continue
            parameters = signature(function).parameters
            if not {"bound", "M", "diagonals"} & set(parameters):
                given = {
                    n: (FLAG, False) if p.default is False else (N, _BOUNDS.get(n, 1.0))
                    for n, p in parameters.items()
                }
                yield Call(f"bounds.{name}", function, given)


@cache
def all_calls():
    """Every call."""
    groups = (
        *(_kernels, _measures, _rules, _estimators, _machines, _significance, _bounds, _large),
        *(_bayesian_and_random_features, _multitask, _hyper, _dependence, _indefinite),
    )
    return [call for group in groups for call in group()]
