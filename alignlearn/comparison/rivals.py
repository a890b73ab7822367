"""Methods of a comparison with their own kernel or model."""

from __future__ import annotations

import numpy as np

from alignlearn.estimators import BayesianMKLClassifier, MKLClassifierCV, MKLRegressorCV
from alignlearn.estimators.random_features import AlignedRandomFeatures
from alignlearn.kernels import Gaussian
from alignlearn.statistics import center_gram

from . import hyper
from .candidates import Candidate, Method, centered_alignment, own_kernel_candidates

# Gamma of svm-cv, as multiples of "scale"; wide kernels first.
GAMMA_MULTIPLES = tuple(4.0**k for k in range(-4, 5))
RADII = (1.0, 3.0, 10.0)  # rho of aligned-rf
WIDTHS = (0.25, 1.0, 4.0)  # gamma of its base kernel, as multiples of "scale"
N_FEATURES = 1000
NOISES = (3.0, 1.0, 0.3, 0.1)  # sigma_g of bayesian-mkl


def _svm_cv(trial):
    """Support vector machine on a Gaussian kernel: gamma and C from the validation fold."""
    scale = Gaussian().resolve(trial.columns[0]).gamma
    for multiple in GAMMA_MULTIPLES:
        yield from own_kernel_candidates(trial, Gaussian(scale * multiple))


def _by_folds(trial):
    """The default search of the CV estimators, with the average of the best candidates."""
    train, held_out = trial.columns
    nothing = np.full(trial.scale.size, np.nan)
    if trial.task == "regression":
        model = MKLRegressorCV(random_state=trial.protocol.random_state).fit(train, trial.y)
        yield Candidate(model.predict(held_out), nothing, np.nan, model.alpha_)
    else:
        model = MKLClassifierCV(random_state=trial.protocol.random_state).fit(train, trial.y)
        yield Candidate(model.predict(held_out), nothing, np.nan, model.C_)


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
    train, held_out = trial.columns
    for noise in NOISES:
        model = BayesianMKLClassifier(trial.kernels, sigma_g=noise).fit(train, trial.y)
        weights = model.weights_
        weights = weights if weights.ndim == 1 else np.abs(weights).mean(axis=1)
        weights = weights / (np.abs(weights).sum() or 1.0)
        aligned = centered_alignment(trial.grams(weights)[0], trial.y, trial.task)
        yield Candidate(model.predict(held_out), weights, aligned, noise)


def _hyper_kernel(regression, style):
    """Kernel fitted to the labels in the space of a hyper-kernel; see `comparison.hyper`."""

    def candidates(trial):
        nothing = np.full(trial.scale.size, np.nan)
        for kernel, K, fitted in hyper.learned_machines(trial, regression):
            aligned = centered_alignment(center_gram(K), trial.y, trial.task)
            for predictions, value in zip(fitted, trial.grid):
                yield Candidate(predictions, nothing, aligned, value, kernel)

    return Method(candidates, style, task="classification", holds={"own matrix", "pairs"})


METHODS = {
    "auto": Method(_by_folds, ("best two ways", "#A50026", (5, 1, 0)), holds={"own matrix"}),
    "svm-cv": Method(
        _svm_cv,
        ("SVM, Gaussian by validation", "#A6611A", "p"),
        task="classification",
        learns=False,
        holds={"own matrix"},
    ),
    "aligned-rf": Method(
        _aligned_random_features,
        ("aligned random features", "#1B7837", ">"),
        holds={"own matrix"},
    ),
    "bayesian-mkl": Method(
        _bayesian,
        ("Bayesian MKL", "#C51B7D", "d"),
        task="classification",
        holds={"own matrix", "matrices"},
        no_columns="of which it would hold a matrix for each column",
    ),
    "hyper-krr": _hyper_kernel("krr", ("hyper-kernel, ridge", "#01665E", "8")),
    "hyper-svr": _hyper_kernel("svr", ("hyper-kernel, SVR", "#8C510A", "H")),
    "hyper-nnls": _hyper_kernel("nnls", ("hyper-kernel, NNLS", "#762A83", (4, 1, 0))),
}
