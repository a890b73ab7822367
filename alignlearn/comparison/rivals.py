"""Methods of a comparison that bring their own kernel or model: one entry of `RIVALS` each.

To add a method, write a function of a `Trial` that yields a `Candidate` for each setting that the
validation fold chooses from, and enter it in `RIVALS`: `compare`, the command line, the estimate of
memory, the table, the figure and the JSON output read everything from there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from alignlearn.estimators.random_features import AlignedRandomFeatures
from alignlearn.kernels import Gaussian, RankOneKernels
from alignlearn.machines.bayesian import BayesianCombination, Priors
from alignlearn.statistics import centre_gram, target_columns

from . import hyper

# Gamma of svm-cv, as multiples of "scale"; wide kernels first.
GAMMA_MULTIPLES = tuple(4.0**k for k in range(-4, 5))
RADII = (1.0, 3.0, 10.0)  # rho of aligned-rf
WIDTHS = (0.25, 1.0, 4.0)  # gamma of its base kernel, as multiples of "scale"
N_FEATURES = 1000
NOISES = (3.0, 1.0, 0.3, 0.1)  # sigma_g of bayesian-mkl


class Candidate(NamedTuple):
    """What a method makes of the training folds at one setting.

    Attributes
    ----------
    predictions : ndarray
        On the rows of the validation fold, then of the test fold.
    weights : ndarray of shape (p,)
        Of the kernels of equal trace, absolute values of sum 1; NaN where the kernel is not a
        combination of these.
    alignment : float
        Centred alignment of the kernel with the target on the training folds; NaN without a kernel.
    parameter : float
        That the validation fold chooses: C, alpha, or what the method's entry says.
    kernel : Kernel, optional
        Where it is not the combination of these weights. On the columns as `Trial.columns` scales
        them.
    """

    predictions: np.ndarray
    weights: np.ndarray
    alignment: float
    parameter: float
    kernel: object = None


@dataclass(frozen=True)
class Rival:
    """A method with a kernel or model of its own.

    Attributes
    ----------
    candidates : callable
        ``candidates(trial)`` yields a `Candidate` for each setting; of equal validation errors the
        first is taken.
    style : (str, str, str)
        Label, colour and marker in the figure.
    task : {"classification", "regression"}, optional
        The only one that it is for.
    learns : bool
        Whether the verdict counts it among the learned kernels.
    grams : bool
        Whether it holds a Gram matrix per kernel of the training folds; then it is not available
        for RankOneKernels.
    pairs : bool
        Whether it learns from pairs of samples, as many as `comparison.hyper` draws.
    """

    candidates: Callable
    style: tuple[str, str, str]
    task: str | None = None
    learns: bool = True
    grams: bool = False
    pairs: bool = False


def own_kernel_candidates(trial, kernel):
    """Candidates of a machine (SVM, or ridge for regression) on one kernel, along C or alpha.

    Parameters
    ----------
    trial : Trial
    kernel : Kernel
        On the columns as ``trial.columns`` scales them. Its centred Gram matrix is brought to trace
        m; a kernel that is constant on the training folds gives no candidate.
    """
    train, held_out = trial.columns
    K, K_held_out = kernel(train), kernel(held_out, train)
    centre_gram(K_held_out, K.mean(axis=0, dtype=np.float64))
    centre_gram(K)
    trace = np.trace(K)
    if not trace > 1e-12 * len(K):
        return
    K, K_held_out = K * (len(K) / trace), K_held_out * (len(K) / trace)
    nothing = np.full(trial.scale.size, np.nan)
    aligned = centred_alignment(K, trial.y, trial.task)
    for predictions, value in zip(trial.predictions(K, K_held_out), trial.grid):
        yield Candidate(predictions, nothing, aligned, value, kernel)


def centred_alignment(K, y, task):
    """Alignment of a centred Gram matrix with the target; 0 where one of them is 0."""
    Y = target_columns(y, task=task)
    norms = np.linalg.norm(K) * np.linalg.norm(Y.T @ Y)
    return float(np.vdot(Y, K @ Y) / norms) if norms > 0.0 else 0.0


def _svm_cv(trial):
    """Support vector machine on a Gaussian kernel: gamma and C from the validation fold."""
    scale = Gaussian().resolve(trial.columns[0]).gamma
    for multiple in GAMMA_MULTIPLES:
        yield from own_kernel_candidates(trial, Gaussian(scale * multiple))


def _aligned_random_features(trial):
    """Random features re-weighted by alignment: width, rho and C (alpha) from the fold."""
    train, _ = trial.columns
    for multiple in WIDTHS:
        for rho in RADII:
            learner = AlignedRandomFeatures(
                Gaussian(multiple=multiple),
                n_features=N_FEATURES,
                rho=rho,
                task=trial.task,
                random_state=trial.protocol.random_state,
            )
            yield from own_kernel_candidates(trial, learner.fit(train, trial.y).kernel_)


def _bayesian(trial):
    """Bayesian multiple kernel learning, each class against the rest; sigma_g from the fold."""
    used = np.flatnonzero(trial.scale > 0.0)
    if not used.size:
        raise ValueError("kernels: every kernel is constant on the training folds.")
    pairs = [trial.grams(np.arange(trial.scale.size) == k) for k in used]
    grams, held_out = (np.array(matrices) for matrices in zip(*pairs))
    del pairs
    classes, codes = np.unique(trial.y, return_inverse=True)
    signs = [np.where(codes == c, 1.0, -1.0) for c in range(len(classes))]
    signs = signs[1:] if len(classes) == 2 else signs
    shared = BayesianCombination(grams, Priors())
    for noise in NOISES:
        shared = shared.with_priors(replace(shared.priors, sigma_g=noise))
        found = [shared.fit(sign) for sign in signs]
        odds = np.array([q.log_odds(held_out @ q.a) for q in found])
        best = (odds[0] > 0.0).astype(np.intp) if len(found) == 1 else odds.argmax(axis=0)
        weights = np.zeros(trial.scale.size)
        one = found[0].be[1:]
        weights[used] = one if len(found) == 1 else np.mean([np.abs(q.be[1:]) for q in found], 0)
        weights /= np.abs(weights).sum() or 1.0
        combined = np.tensordot(weights[used], grams, 1)
        aligned = centred_alignment(combined, trial.y, trial.task)
        yield Candidate(classes[best], weights, aligned, noise)


def _hyper_kernel(regression, style):
    """Kernel fitted to the labels in the space of a hyper-kernel; see `comparison.hyper`."""

    def candidates(trial):
        nothing = np.full(trial.scale.size, np.nan)
        for kernel, K, fitted in hyper.learned_machines(trial, regression):
            aligned = centred_alignment(centre_gram(K), trial.y, trial.task)
            for predictions, value in zip(fitted, trial.grid):
                yield Candidate(predictions, nothing, aligned, value, kernel)

    return Rival(candidates, style, task="classification", pairs=True)


RIVALS = {
    "svm-cv": Rival(
        _svm_cv,
        ("SVM, Gaussian by validation", "#A6611A", "p"),
        task="classification",
        learns=False,
    ),
    "aligned-rf": Rival(_aligned_random_features, ("aligned random features", "#1B7837", ">")),
    "bayesian-mkl": Rival(
        _bayesian, ("Bayesian MKL", "#C51B7D", "d"), task="classification", grams=True
    ),
    "hyper-krr": _hyper_kernel("krr", ("hyper-kernel, ridge", "#01665E", "8")),
    "hyper-svr": _hyper_kernel("svr", ("hyper-kernel, SVR", "#8C510A", "H")),
    "hyper-nnls": _hyper_kernel("nnls", ("hyper-kernel, NNLS", "#762A83", (4, 1, 0))),
}


def check_rival(method, kernels, task, others):
    """Raise an error for a method that this task or these kernels do not go with.

    ``others`` are methods for the same task, to be named instead.
    """
    rival = RIVALS[method]
    if rival.task not in (None, task):
        raise ValueError(
            f"methods: {method!r} is for {rival.task}, but the task is {task}; accepted: "
            f"{', '.join(map(repr, others))}."
        )
    if rival.grams and isinstance(kernels, RankOneKernels):
        raise ValueError(
            f"methods: {method!r} is not available for RankOneKernels, of which it would hold a "
            "matrix for each column."
        )
