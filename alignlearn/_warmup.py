"""Compile the code of the estimators ahead of time, by small fits and predictions of each kind."""

from __future__ import annotations

import sys
import time
import warnings
from os.path import commonpath
from typing import NamedTuple

import numpy as np
from numba.core import config, event
from numba.core.dispatcher import Dispatcher

import alignlearn as al
from alignlearn import _jit

_N = 60  # samples


def _data(dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(_N, 3))
    return X.astype(dtype), X[:, 0] + 0.5 * np.sin(3.0 * X[:, 1])


def _gaussians():
    return al.gaussian_kernels([0.1, 1.0])


def _kernels():
    return [*_gaussians(), "linear", "poly", "laplacian"]  # of rarer operations, too


def _fit(estimator, y, *args, dtype=np.float64):
    """Fit on the samples and predict; return the fitted estimator."""
    X = _data(dtype)[0]
    estimator.fit(X, y, *args)
    estimator.predict(X, *args)
    return estimator


def _classes(n_classes=2):
    y = _data()[1]
    return np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)


def _classifier():
    _fit(al.MKLClassifier(_gaussians()), _classes())
    for n_classes in (2, 3):
        _fit(al.MKLClassifier(_kernels()), _classes(n_classes))
    _fit(al.MKLClassifier(_kernels(), memory=20_000), _classes())  # rows of the Gram matrix


def _regressor():
    y = _data()[1]
    al.MKLRegressor(["rbf"]).fit(np.eye(20)[np.arange(_N) % 20], y)  # levels of a category
    _fit(al.MKLRegressor(_kernels()), y)
    _fit(al.MKLRegressor(_kernels(), machine="svr"), y)


def _tuned():
    _fit(al.MKLClassifierCV(), _classes())
    _fit(al.MKLRegressorCV(), _data()[1])
    _fit(al.MKLClassifierCV(_kernels(), Cs=[0.1, 1.0], cv=2), _classes())
    _fit(al.MKLRegressorCV(_kernels(), alphas=[0.1, 1.0]), _data()[1])
    _fit(al.MKLRegressorCV(_kernels(), alphas=[0.1, 1.0], cv=2), _data()[1])


def _float32():
    for kernels in (_gaussians(), _kernels()):
        _fit(al.MKLClassifier(kernels), _classes(), dtype=np.float32)
    _fit(al.MKLRegressor(_kernels()), _data()[1], dtype=np.float32)
    _fit(al.NystromRidge(n_centers=10), _data()[1], dtype=np.float32)


def _linear():
    _fit(al.MKLClassifier(["linear"], machine="dual-cd"), _classes())
    _fit(al.AlignedRandomFeaturesClassifier(n_features=20, random_state=0), _classes())


def _many_kernels():
    gammas = 2.0 ** np.linspace(-4.0, 4.0, 80)  # more than what is solved without compiled code
    statistics = al.alignment_statistics(*_data(), al.gaussian_kernels(gammas))
    al.AlignF().solve(statistics)
    al.AlignF(max_kernels=3).solve(statistics)


def _one_stage():
    for weighting in (al.LKRR(), al.L1SVM(), al.AlignedKRR()):
        _fit(al.MKLClassifier(_kernels(), weighting=weighting), _classes())


def _multitask():
    task = np.arange(_N) % 2
    _fit(al.MultiTaskMKLClassifier(_kernels()), _classes(), task)
    _fit(al.MultiTaskMKLRegressor(_kernels()), _data()[1], task)


def _nystrom():
    _fit(al.NystromRidge(n_centers=10), _data()[1])
    _fit(al.NystromRidgeClassifier(n_centers=10), _classes(3))
    _fit(al.NystromSVC(n_centers=10), _classes())


def _online():
    _fit(al.KernelSGDClassifier(random_state=0), _classes())
    _fit(al.KernelSGDClassifier(budget=10, random_state=0), _classes(3))
    _fit(al.KernelSGDRegressor(random_state=0), _data()[1])


def _cca():
    X, y = _data()
    views = [X[:, :1], y[:, None]]
    al.KernelCCA().fit(views).transform(views)


def _hyper():
    _fit(al.HyperKernelClassifier(random_state=0), _classes())


def _dependence():
    X, y = _data()
    al.hsic_test(X, y, n_permutations=19, random_state=0)
    al.dhsic_test(X, y, n_permutations=19, random_state=0)
    al.kci_test(X[:, :1], y, X[:, 1:], n_draws=19, random_state=0)
    al.alignment_test(X @ X.T, y, n_permutations=19, random_state=0)
    al.cka_matrix([X, X[:, :2]], kernels="rbf")


PARTS = {
    "classifier": _classifier,
    "regressor": _regressor,
    "cross-validation": _tuned,
    "float32": _float32,
    "linear kernels": _linear,
    "many kernels": _many_kernels,
    "one-stage rules": _one_stage,
    "multi-task": _multitask,
    "Nystrom": _nystrom,
    "online": _online,
    "kernel CCA": _cca,
    "hyper-kernels": _hyper,
    "tests of dependence": _dependence,
}


class Warmup(NamedTuple):
    """The result of `warmup`.

    Attributes
    ----------
    n_compiled : int
        Number of functions that were compiled; 0 if all were in the cache.
    seconds : float
    folder : str
        The folder that contains all folders of the cache.
    """

    n_compiled: int
    seconds: float
    folder: str


class _Counter(event.Listener):
    def __init__(self):
        self.n = 0

    def on_start(self, event):
        self.n += _jit.is_ours(event)

    def on_end(self, event):
        pass


def warmup(progress=None) -> Warmup:
    """Compile the code of the estimators, so that later processes load it from the cache.

    Runs small fits and predictions of every kind with the public estimators. Cached code is not
    compiled again. Useful for container images, and for cluster nodes with a common home folder:
    the cache is next to the package or in ``NUMBA_CACHE_DIR``, and contains code for the processor
    on which it was compiled.

    Parameters
    ----------
    progress : callable, optional
        Called after each part as ``progress(name, n_compiled, seconds)``.

    Returns
    -------
    Warmup
        Its ``n_compiled``, ``seconds`` and ``folder``.

    Raises
    ------
    OSError
        No folder for compiled code is writable; set ``NUMBA_CACHE_DIR`` to a writable folder.
    ValueError
        ``NUMBA_DISABLE_JIT`` is set: nothing is compiled.

    Examples
    --------
    While building a container image, with ``NUMBA_CACHE_DIR`` set to a folder in the image:

    >>> import alignlearn
    >>> done = alignlearn.warmup()  # doctest: +SKIP
    >>> print(f"{done.n_compiled} functions in {done.folder}")  # doctest: +SKIP
    """
    if config.DISABLE_JIT:
        raise ValueError(
            "NUMBA_DISABLE_JIT is set, so nothing can be compiled or cached. Unset it."
        )
    _jit.announcement.said = True  # the time that it states is that of one fit
    counter, start = _Counter(), time.monotonic()
    with event.install_listener("numba:compile", counter), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits so small, and of the folder: raised below
        folder = _folder()
        for name, run in PARTS.items():
            before, began = counter.n, time.monotonic()
            run()
            if progress is not None:
                progress(name, counter.n - before, time.monotonic() - began)
        folder = _folder()
    return Warmup(counter.n, time.monotonic() - start, folder)


def _folder():
    """The folder of the cache, for the compiled functions of all modules imported so far."""
    from alignlearn.estimators import classifier  # noqa: F401

    modules = [module for name, module in sys.modules.items() if name.startswith("alignlearn.")]
    found = (value for module in modules for value in vars(module).values())
    folders = {f.stats.cache_path for f in found if isinstance(f, Dispatcher)}
    if None in folders or _jit.uncached():
        raise OSError(
            "compiled code cannot be cached, because no cache folder is writable: set "
            "NUMBA_CACHE_DIR to a writable folder."
        )
    return commonpath(folders)
