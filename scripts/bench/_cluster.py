"""Common code of the scripts on engines: workers on this machine, and problems for engines."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np

from alignlearn.engine.grams import GramProducts
from alignlearn.engine.pair_sums import centered_sums
from alignlearn.hyper import WishartHyperKernel
from alignlearn.hyper._pairs import PairSystem
from alignlearn.kernels import gaussian_kernels

# Dask's own monitoring takes time of the workers if there are no more processors than workers: by
# default an idle cluster of two takes 0.13 of a core.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}


@contextmanager
def local_client(n_workers):
    """A client of this number of processes of one thread each, on this machine alone."""
    import dask
    from dask.distributed import Client, LocalCluster

    addresses = dict.fromkeys(("dashboard_address", "worker_dashboard_address"), "127.0.0.1:0")
    options = {"threads_per_worker": 1, "host": "127.0.0.1", **addresses}
    with (
        dask.config.set(QUIET),
        LocalCluster(n_workers=n_workers, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def statistics(m, d=20, p=10, dtype=np.float64):
    """Sums of p Gaussians over all pairs of m samples, as a function of an engine."""
    X, y = _samples(m, d, dtype)
    kernels = [k.resolve(X) for k in gaussian_kernels(2.0 ** np.arange(1 - p, 1.0))]
    Y = (y - y.mean())[:, None]
    return lambda engine: centered_sums(X, Y, kernels, engine=engine)


def product(m, d=20, dtype=np.float64):
    """A Gaussian Gram matrix times a vector: computed again each time, the samples sent once."""
    X, y = _samples(m, d, dtype)
    kernels, bound = [gaussian_kernels([0.02])[0].resolve(X)], {}

    def times(engine):
        if engine not in bound:
            bound[engine] = GramProducts(kernels, [1.0], X, engine=engine)
        return bound[engine].times(y)

    return times


def hyper_product(n_pairs, d=8):
    """The matrix of a Wishart hyper-kernel between pairs of points times a vector."""
    m = int(np.sqrt(2 * n_pairs))
    X = _samples(m, d)[0]
    hyper = WishartHyperKernel().resolve(X)
    coef = np.ones(m * (m + 1) // 2)
    return lambda engine: PairSystem(hyper, X, *np.triu_indices(m), engine=engine).times(coef)


def _samples(m, d, dtype=np.float64):
    X = np.random.default_rng(0).normal(size=(m, d)).astype(dtype)
    return X, np.where(X[:, 0] * X[:, 1] > 0.0, 1.0, -1.0)
