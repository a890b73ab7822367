"""The choice between machines on the Gram matrix, without it, and on Nystrom features."""

from __future__ import annotations

from alignlearn.machines.iterative_ridge import ridge_without_matrix
from alignlearn.machines.nystrom import NystromFeatures, choose_centres
from alignlearn.machines.nystrom_machines import NystromKernelRidge, NystromSVC
from alignlearn.sources import FeatureSource, GramSource
from alignlearn.validation import check_count, check_memory, check_seed

# Samples up to which "auto" trains on all pairs: SMO takes minutes on one core here (measured), and
# a Cholesky factorisation as long.
MOST_PAIRED = 20_000
MOST_CENTRES = 1000


def choose(machine, exact, source):
    """Which machine "auto" stands for, else what was asked for.

    Parameters
    ----------
    machine : str
    exact : str
        The machine on all pairs.
    source : PairSource, FeatureSource or GramSource
        With weights. For given matrices, and kernels that are linear in the features, which have
        machines of their own, "auto" is ``exact``.
    """
    if machine != "auto":
        return machine
    paired = not isinstance(source, (FeatureSource, GramSource))
    return "nystrom" if paired and source.n_samples > MOST_PAIRED else exact


def centres_count(n_centres, n_samples):
    """Centres to use, at most the samples."""
    n = check_count("n_centres", n_centres)
    if n is not None and n > n_samples:
        raise ValueError(
            f"n_centres={n} is more than the {n_samples} samples of X; accepted: 1 to {n_samples}, "
            f"or None for at most {MOST_CENTRES}."
        )
    return min(n_samples, MOST_CENTRES) if n is None else n


def check_nystrom(source):
    """Refuse sources that Nystrom features are not for."""
    if isinstance(source, (FeatureSource, GramSource)):
        what = "given matrices" if isinstance(source, GramSource) else "kernels linear in features"
        raise ValueError(
            f"machine='nystrom' is for kernels on pairs of samples; {what} have machines of their "
            "own: leave machine='auto'."
        )


def fit_nystrom_classifier(estimator, source, labels, weight=None):
    """A `NystromSVC` machine with the estimator's C, multiclass and class_weight."""
    check_nystrom(source)
    rng, options = check_seed("random_state", None), {"class_weight": estimator.class_weight}
    machine = NystromSVC(estimator.C, multiclass=estimator.multiclass, **options)
    machine.check()
    n = centres_count(estimator.n_centres, source.n_samples)
    features = NystromFeatures(source, choose_centres(source, n, "uniform", 1.0, rng))
    options = {"memory": check_memory("memory", None), "rng": rng, "verbose": source.verbose}
    return machine.fit(features, labels, weight, stacklevel=5, **options)


def fit_nystrom_ridge(estimator, source, y, weight=None):
    """A `NystromKernelRidge` machine with the estimator's alpha."""
    check_nystrom(source)
    rng, machine = check_seed("random_state", None), NystromKernelRidge(estimator.alpha)
    n = centres_count(estimator.n_centres, source.n_samples)
    features = NystromFeatures(source, choose_centres(source, n, "uniform", 1.0, rng))
    return machine.fit(features, y, weight, rng=rng, verbose=source.verbose, stacklevel=5)


def fit_ridge(machine, source, y, memory, weight=None):
    """Fit a `KernelRidge` on the Gram matrix, or without it where it does not fit the memory."""
    size = 8 * source.n_samples**2
    if isinstance(source, GramSource) or size <= memory:
        return machine.fit(source.gram(), y, weight, check=False, overwrite=True)
    ridge_without_matrix(machine, source, y, memory, weight=weight)
    return machine
