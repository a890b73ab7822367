"""The choice between machines on the Gram matrix, without it, and on features."""

from __future__ import annotations

from alignlearn.machines.choice import MOST_DOUBLE, Sizes, choose, matrix_fits
from alignlearn.machines.copies import find_copies
from alignlearn.machines.feature_space import WeightedFeatures, fit_ridge
from alignlearn.machines.gram_rows import row_cache
from alignlearn.machines.iterative_ridge import ridge_on_matrix, ridge_without_matrix
from alignlearn.machines.linear import LinearSVM
from alignlearn.machines.nystrom import NystromFeatures, centers_count, choose_centers
from alignlearn.machines.nystrom_machines import NystromHinge, NystromKernelRidge
from alignlearn.solvers.smo_rows import check_cache_memory
from alignlearn.validation import check_count, check_memory, check_seed, check_weights

# Bytes of features that are stored without a ``memory``: a fit on a million samples then takes 1.9
# GB instead of 4.4, and 1.5 times as long. At least 100 KB for each feature, more than one block.
_STORED, _LEAST_STORED = 7e8, 1e5


def held_matrices(machine, paired, source, memory):
    """Number of Gram matrices of a machine; raises an error if its memory exceeds ``memory``."""
    room, sizes = check_memory("memory", memory), Sizes.of_source(source)
    chosen, held = choose(paired, sizes, room, asked=machine), matrix_fits(sizes, room)
    if source.has_gaps:
        return _completed_matrices(machine, paired, source, memory)
    if chosen.on == "rows" and not source.is_linear:
        check_cache_memory(source.n_samples, room)
    return int(held and chosen.on not in ("centers", "features"))


def _completed_matrices(machine, paired, source, memory):
    """Number of matrices for missing tables; raises an error if they do not fit into memory."""
    if machine in ("nystrom", "dual-cd"):
        raise ValueError(
            f"machine={machine!r} is not available for missing tables, because the "
            f"completed kernel is stored as a Gram matrix; accepted: machine={paired!r} "
            "or 'auto'."
        )
    need = float(source.n_matrices * source.dtype.itemsize) * source.n_samples**2
    if memory is not None and need > check_memory("memory", memory):
        raise ValueError(
            f"memory={memory!r}: missing tables need {source.n_matrices} matrices of "
            f"{source.n_samples} x {source.n_samples}, {need:.3g} bytes; accepted: at least this "
            "size, or fewer samples."
        )
    return source.n_matrices


def train_ridge(ridge, y, weight, on, combination, memory):
    """Fit a `KernelRidge` on the input of `choose`; return coefficients of linear features.

    Parameters
    ----------
    ridge : KernelRidge
    y : ndarray of shape (m,) or (m, c)
    weight : ndarray of shape (m,), or None
    on : {"features", "iterations", "matrix", "products"}
    combination : Combination
    memory : int

    Returns
    -------
    ndarray of shape (n_features, c), or None
        For "features".
    """
    if on == "features":
        return fit_ridge(ridge, combination, y, weight)
    copies = find_copies(combination.source, None, weight) if ridge.alpha > 0.0 else None
    if copies is None:
        _train_on_pairs(ridge, on, combination, y, memory, weight)
        return None
    part, means = combination.part(copies.first), copies.means(y)
    on = choose("krr", Sizes.of(part), memory, asked="krr", alpha=ridge.alpha).on
    _train_on_pairs(ridge, on, part, means, memory, copies.weight)
    # A dual coefficient is the weight times the residual of its sample, divided by alpha.
    apart = (y - means[copies.group]).T * check_weights(weight, len(y)) / ridge.alpha
    ridge.dual_coef_ = copies.divide(ridge.dual_coef_) + apart.T
    return None


def _train_on_pairs(ridge, on, combination, y, memory, weight):
    if on == "iterations":
        ridge_on_matrix(ridge, combination, y, weight=weight)
    elif on == "matrix":
        ridge.fit(combination.gram(), y, weight, check=False, overwrite=True)
    else:
        ridge_without_matrix(ridge, combination, y, memory, weight=weight)


def train_support_vectors(machine, on, combination, y, memory):
    """Fit a support vector machine to "rows" of the Gram matrix, or to the "matrix".

    Samples that equal another one, with its target, have their share of its coefficients.
    """
    copies = find_copies(combination.source, None, combination.weight, y)
    weight, part = combination.weight, combination
    if copies is not None:
        part, y, weight = combination.part(copies.first), y[copies.first], copies.weight
    rows = row_cache(part, memory) if on == "rows" else part.gram()
    machine.fit(rows, y, weight, check=False)
    if copies is not None:
        copies.divide_of(machine)


_NAMES = {
    "svm": "support vector machine",
    "svr": "support vector regression",
    "krr": "kernel ridge regression",
    "dual-cd": "linear support vector machine",
}


def machine_note(chosen, n_support):
    """The line of ``summary`` on the model of the second stage."""
    if chosen == "nystrom":
        return f"model: Nystrom approximation with {n_support} samples as centers"
    where = "features, without an intercept" if chosen == "dual-cd" else "all pairs of samples"
    return f"model: {_NAMES[chosen]} ({chosen}) on {where}"


def _features(estimator, combination, rng):
    """Nystrom features at uniformly drawn centers."""
    n = centers_count(estimator.n_centers, combination.n_samples)
    return NystromFeatures(combination, choose_centers(combination, n, "uniform", 1.0, rng))


def linear_classifier(estimator, combination, labels):
    """A `LinearSVM` with the estimator's parameters, fitted to the weighted features."""
    if not combination.source.is_linear or combination.kernel.weights.min() < 0.0:
        raise ValueError(
            "machine='dual-cd' is for kernels that are linear in the features, with weights >= 0, "
            f"such as RankOneKernels; the learned kernel is {combination.kernel}: accepted are "
            "machine='auto', 'svm' and 'nystrom'."
        )
    options = _most_steps(estimator)
    machine = LinearSVM(
        estimator.C,
        multiclass=estimator.multiclass,
        class_weight=estimator.class_weight,
        tol=estimator.tol,
        **options,
    )
    return machine.fit(WeightedFeatures(combination).Z, labels, combination.weight)


def _most_steps(estimator):
    """``max_iter`` for a machine that has its own default."""
    n_steps = check_count("max_iter", estimator.max_iter)
    return {} if n_steps is None else {"max_iter": n_steps}


def nystrom_classifier(estimator, combination, labels, memory):
    """A `NystromHinge` machine with the estimator's C, multiclass and class_weight, fitted."""
    machine = NystromHinge(
        estimator.C,
        multiclass=estimator.multiclass,
        class_weight=estimator.class_weight,
        **_most_steps(estimator),
    )
    machine.check()
    rng = check_seed("random_state", estimator.random_state)
    features = _features(estimator, combination, rng)
    if estimator.memory is None:
        memory = min(memory, int(max(_STORED, _LEAST_STORED * features.rank)))
    options = {"memory": memory, "rng": rng, "verbose": combination.source.progress}
    return machine.fit(features, labels, combination.weight, **options)


def nystrom_ridge(estimator, combination, y):
    """A `NystromKernelRidge` machine with the estimator's alpha, fitted."""
    machine = NystromKernelRidge(estimator.alpha, **_most_steps(estimator))
    rng = check_seed("random_state", estimator.random_state)
    options = {"rng": rng, "verbose": combination.source.progress}
    features = _features(estimator, combination, rng)
    memory = check_memory("memory", estimator.memory)
    source = combination.source
    few = not source.is_paired or (features.n_samples <= MOST_DOUBLE and source.engine.in_place)
    if few and 8 * features.n_samples * features.rank <= memory:
        features.hold()  # each step needs them again
    return machine.fit(features, y, combination.weight, **options)
