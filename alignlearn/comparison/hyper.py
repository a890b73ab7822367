"""Hyper-kernels in a comparison: a kernel fitted to the labels, and an SVM on its Gram matrix.

The validation fold selects the scale of the hyper-kernel, the regularization of its regression and
C: 81 candidates with the usual grid of C, from 9 learned kernels. The machine is `KreinSVC`,
because a learned kernel may be indefinite. C refers to a matrix whose absolute eigenvalues have
mean 1, so that one grid suits all data.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from alignlearn.hyper import GaussianHyperKernel
from alignlearn.hyper._stages import REGRESSIONS, GramMachine, kernel_path
from alignlearn.machines.paths import svm_path
from alignlearn.validation import is_sparse

# Multiples of sigma2: every second one of the five in Liu et al.
MULTIPLES = (0.25, 1.0, 4.0)
# Regularization of stage 1, the strongest first.
STRENGTHS = {"krr": (100.0, 10.0, 1.0), "svr": (0.01, 0.1, 1.0), "nnls": (100.0, 10.0, 1.0)}
# If there are more pairs (from 362 samples), this many are drawn, so that the cost of a fold is
# bounded.
MAX_PAIRS = 2**16
MAX_RANK = 300


def learned_machines(trial, regression):
    """Kernels learned on the training folds, with an SVM on each.

    Parameters
    ----------
    trial : Trial
    regression : {"krr", "svr", "nnls"}

    Yields
    ------
    kernel : Kernel
        On the columns as ``trial.columns`` scales them; kernels that are 0 on the training folds
        are omitted.
    K : ndarray of shape (m, m)
    predictions : list of ndarray
        On the held-out rows for each C of ``trial.grid``.
    """
    train, held_out = trial.columns
    if is_sparse(train):
        raise ValueError(
            f"methods: 'hyper-{regression}' is for dense X, got a sparse matrix; accepted: "
            "X.toarray(), or other methods."
        )
    for multiple in MULTIPLES:
        for kernel in kernel_path(_regressors(trial, regression, multiple), train, trial.y):
            K, K_held_out = kernel(train), kernel(held_out, train)
            machine = GramMachine("krein", K.copy())
            unit = float(np.abs(machine.given.eigenvalues).mean())
            if unit > 0.0:
                costs = [C / unit for C in trial.grid]
                fitted = svm_path(machine.make, machine.given, trial.y, K_held_out, costs)
                yield kernel, K, fitted


def _regressors(trial, regression, multiple):
    kind, names = REGRESSIONS[regression]
    make = partial(
        kind,
        GaussianHyperKernel(multiple=multiple),
        max_pairs=MAX_PAIRS,
        max_rank=MAX_RANK,
        random_state=trial.protocol.random_state,
    )
    return [make(**{next(iter(names)): value}) for value in STRENGTHS[regression]]
