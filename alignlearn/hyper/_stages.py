"""The two stages of classification with a learned kernel: its regression, and an SVM.

Shared by the classifier, its search by cross-validation and the comparison of methods.
"""

from __future__ import annotations

import numpy as np

from alignlearn.machines import KreinSVC, SpectrumFix, SupportVectorClassifier, krein_spectrum
from alignlearn.validation import check_choice, check_number

from ._fit import HyperRegressor
from .algebra import HyperKernel
from .hyperkernels import GaussianHyperKernel, WishartHyperKernel, hyper_kernels
from .regression import HyperKRR, HyperNNLS, HyperSVR

HYPER_KERNELS = {
    "gaussian": GaussianHyperKernel,
    "wishart": WishartHyperKernel,
    "ladder": hyper_kernels,
}
# Each with its parameters and their names in the classifier, the regularization first.
REGRESSIONS = {
    "krr": (HyperKRR, {"alpha": "alpha"}),
    "svr": (HyperSVR, {"C": "kernel_C"} | {n: n for n in ("epsilon", "tol", "max_iter")}),
    "nnls": (HyperNNLS, {"alpha": "alpha"}),
}
STRENGTHS = {name: next(iter(names.values())) for name, (_, names) in REGRESSIONS.items()}
MACHINES = ("krein", "svm", "clip", "flip", "shift")


# Stage 1


def make_hyper_kernel(given, multiple):
    """The hyper-kernel of a name or an object, with its scales multiplied by ``multiple``."""
    multiple = check_number("multiple", multiple, low=1e-100, high=1e100)
    if isinstance(given, str):
        named = HYPER_KERNELS[check_choice("hyper_kernel", given, HYPER_KERNELS)]
        return named()._further(multiple)
    if not isinstance(given, HyperKernel):
        raise TypeError(
            f"hyper_kernel must be one of {', '.join(map(repr, HYPER_KERNELS))}, or a "
            f"hyper-kernel such as GaussianHyperKernel(), got {given!r:.80}."
        )
    return given._further(multiple)


def make_regressor(given, hyper_kernel, parameter):
    """A regression, not fitted.

    Parameters
    ----------
    given : {"krr", "svr", "nnls"} or HyperRegressor
        An object is copied, and keeps its own parameters except the hyper-kernel.
    hyper_kernel : HyperKernel
    parameter : callable
        ``parameter(name)``: value of a parameter of the classifier, for a regression given by name.
    """
    if isinstance(given, str):
        kind, names = REGRESSIONS[check_choice("regression", given, REGRESSIONS)]
        shared = {name: parameter(name) for name in ("solver", "random_state")}
        made = kind(hyper_kernel, **{n: parameter(own) for n, own in names.items()}, **shared)
        made.check_strength(STRENGTHS[given])
        return made
    if not isinstance(given, HyperRegressor):
        raise TypeError(
            f"regression must be one of {', '.join(map(repr, REGRESSIONS))}, a HyperKRR, a "
            f"HyperSVR or a HyperNNLS, got {given!r:.80}."
        )
    copy = type(given)(**given.get_params(deep=False))
    return copy.set_params(hyper_kernel=hyper_kernel)


def kernel_path(regressors, X, labels):
    """The kernels that regressions learn from labels; they differ only in their regularization.

    The landmark pairs and the factor of a low-rank solver are computed once.

    Parameters
    ----------
    regressors : list of HyperRegressor
        Not fitted.
    X : ndarray of shape (m, d), float64
    labels : ndarray of shape (m,)

    Yields
    ------
    Kernel
    """
    landmarks = {}
    for regressor in regressors:
        # A generator would continue from fit to fit, with other pairs.
        drawn = isinstance(regressor.random_state, np.random.Generator)
        yield regressor._fit(X, labels, None if drawn else landmarks).kernel_


# Stage 2


class GramMachine:
    """The training input of a machine, made once from a learned Gram matrix for all values of C.

    Parameters
    ----------
    kind : {"krein", "svm", "clip", "flip", "shift"}
    K : ndarray of shape (m, m), float64
        Symmetric up to rounding; overwritten.
    """

    def __init__(self, kind, K):
        self.kind, self._fix = check_choice("machine", kind, MACHINES), None
        K += K.T.copy()
        K *= 0.5
        if kind == "krein":
            self.given = krein_spectrum(K, check=False)
        elif kind == "svm":
            self.given = K
        else:
            self._fix = SpectrumFix(kind)
            self.given = self._fix.fit_transform(K)
        self._K = K

    @property
    def eigenvalue_range(self):
        """Smallest and largest eigenvalue of K."""
        if self.kind == "krein":
            return self.given.eigenvalue_range
        if self._fix is not None:
            return self._fix.eigenvalue_range_
        return krein_spectrum(self._K, vectors=False, check=False).eigenvalue_range

    def make(self, C, **options):
        """The unfitted machine for one C, whose training input is ``given``."""
        kind = KreinSVC if self.kind == "krein" else SupportVectorClassifier
        return kind(C, **options)

    def test(self, K_test):
        """The machine's input for predictions, from kernel values (n, m) of new samples."""
        return K_test if self._fix is None else self._fix.transform(K_test)

    def in_learned_kernel(self, coef):
        """Coefficients (m, c) that give the machine's decisions in the learned kernel itself."""
        # The map that the fix applies to a row of kernel values is symmetric.
        return coef if self._fix is None else self._fix.transform(coef.T).T
