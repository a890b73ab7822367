"""The choice between machines on the Gram matrix, without it, on features, and on Nystrom's."""

from __future__ import annotations

from alignlearn.machines.feature_space import WeightedFeatures
from alignlearn.machines.gram_rows import matrix_fits
from alignlearn.machines.iterative_ridge import ridge_without_matrix
from alignlearn.machines.linear import LinearSVM
from alignlearn.machines.nystrom import NystromFeatures, centers_count, choose_centers
from alignlearn.machines.nystrom_machines import NystromHinge, NystromKernelRidge
from alignlearn.solvers.smo_rows import check_cache_memory
from alignlearn.validation import check_count, check_memory, check_seed

# Samples up to which "auto" trains on all pairs without asking what it costs. Where they are more,
# the matrix has 3 GB and a factorisation takes minutes on one core.
MOST_PAIRED = 20_000


class MachineChoice:
    """Mixin for ``machine``, ``n_centers`` and ``memory``, and what was chosen by them."""

    def _chosen(self, source, affordable=None):
        """Which machine "auto" stands for, else what was asked for.

        For given matrices, and kernels that are linear in the features, which have machines of
        their own, "auto" is the machine on all pairs; for many samples where ``affordable()``,
        which a pilot of the support vector machine tells.
        """
        if self.machine != "auto":
            return self.machine
        many = source.is_paired and source.n_samples > MOST_PAIRED
        if many and (affordable is None or not affordable()):
            return "nystrom"
        return self._paired_machine

    def _matrices(self, source):
        memory, chosen = check_memory("memory", self.memory), self._chosen(source)
        if source.has_gaps:
            return self._completed_matrices(source, memory)
        held = matrix_fits(source, memory)
        if not held and chosen in ("svm", "svr") and not source.is_linear:
            check_cache_memory(source.n_samples, memory)
        return int(held and chosen not in ("nystrom", "dual-cd"))

    def _completed_matrices(self, source, memory):
        """Matrices that are held where samples lack tables; an error where these do not fit."""
        if self.machine in ("nystrom", "dual-cd"):
            raise ValueError(
                f"machine={self.machine!r} does not go with samples that lack a table, whose "
                f"completed kernel is a matrix; accepted: machine={self._paired_machine!r} or "
                "'auto'."
            )
        need = float(source.n_matrices * source.dtype.itemsize) * source.n_samples**2
        if self.memory is not None and need > memory:
            raise ValueError(
                f"memory={self.memory!r}: samples that lack a table need {source.n_matrices} "
                f"matrices of {source.n_samples} x {source.n_samples}, {need:.3g} bytes; accepted: "
                "at least so many, or fewer samples."
            )
        return source.n_matrices

    def _machine_note(self):
        where = "on all pairs of samples"
        if self.chosen_machine_ == "nystrom":
            m = self.statistics_.n_samples
            where = f"in the span of the kernel at {len(self.support_)} of {m} samples"
        if self.chosen_machine_ == "dual-cd":
            where = "on the features, without an intercept"
        yield f"machine: {self.chosen_machine_}, {where}"


def _features(estimator, combination, rng):
    """Nystrom features at centres drawn alike."""
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
    options = {"memory": memory, "rng": rng, "verbose": combination.source.progress}
    features = _features(estimator, combination, rng)
    return machine.fit(features, labels, combination.weight, **options)


def nystrom_ridge(estimator, combination, y):
    """A `NystromKernelRidge` machine with the estimator's alpha, fitted."""
    machine = NystromKernelRidge(estimator.alpha, **_most_steps(estimator))
    rng = check_seed("random_state", estimator.random_state)
    options = {"rng": rng, "verbose": combination.source.progress}
    features = _features(estimator, combination, rng)
    memory = check_memory("memory", estimator.memory)
    if not combination.source.is_paired and 8 * features.n_samples * features.rank <= memory:
        features.hold()  # each step needs them again
    return machine.fit(features, y, combination.weight, **options)


def ridge_on_pairs(machine, combination, y, memory):
    """Fit a `KernelRidge` on the Gram matrix, or without it where it does not fit the memory."""
    weight = combination.weight
    if combination.source.is_linear or matrix_fits(combination.source, memory):
        machine.fit(combination.gram(), y, weight, check=False, overwrite=True)
    else:
        ridge_without_matrix(machine, combination, y, memory, weight=weight)
