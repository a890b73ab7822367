"""Calls of models and functions without a combination of kernels on samples: see `fuzz_calls`."""

import fuzz_values as pool
import numpy as np
from fuzz_calls import (
    _CLASSES,
    _K,
    _SVM,
    _T,
    _W,
    _X,
    _Y,
    AGAINST,
    CHOICE,
    COUNT,
    FLAG,
    GRAM,
    KERNELS,
    LABELS,
    OTHER,
    REAL,
    TEST,
    Call,
    M,
    N,
    X,
)

import alignlearn as al
from alignlearn import dependence, machines


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


WINGS = (
    _large,
    _bayesian_and_random_features,
    _multitask,
    _hyper,
    _dependence,
    _indefinite,
)
"""Functions that give the calls."""
