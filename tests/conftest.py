"""Hypothesis profiles, and no window for figures.

Its folder is on the import path of the tests, which is how they find ``oracle`` and ``strategies``.
"""

import gc
import importlib
import os
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import Phase, settings

os.environ.setdefault("MPLBACKEND", "Agg")
# scikit-learn checks array-API input only where SciPy was imported with this.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# The same examples in every run, on any machine. `scripts/test --explore` draws others, and more.
# Hours of them, for instance of the fuzz cases, are drawn by scripts/test --explore tests/fuzz
# --hypothesis-profile=long
settings.register_profile(
    "same", max_examples=25, deadline=None, print_blob=True, derandomize=True, database=None
)
for name, examples in (("explore", 100), ("long", 5000)):
    settings.register_profile(
        name, max_examples=examples, deadline=None, print_blob=True, derandomize=False
    )
# For mutants: which test fails is asked, not the smallest example.
settings.register_profile(
    "unshrunk", settings.get_profile("same"), phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("same")

# Modules and tests live until the end: garbage collection over them takes a tenth of a collection.
gc.disable()


def pytest_collection_finish():
    gc.enable()
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Reject test names with an address: each process of the tests must collect the same names."""
    named = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if named:
        raise pytest.UsageError(f"the name of a test holds an address: {named[0]}")


SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"


@pytest.fixture
def script(monkeypatch):
    """``script("bench/_run")``: a script as a module; skips without a source tree."""

    def load(name):
        if not SCRIPTS.is_dir():
            pytest.skip("needs the source tree")
        path = SCRIPTS / name
        for folder in ("reproduce", "lab", "bench"):
            monkeypatch.syspath_prepend(str(SCRIPTS / folder))
        monkeypatch.syspath_prepend(str(path.parent))
        return importlib.import_module(path.name)

    return load


@pytest.fixture(scope="session")
def dask_workers():
    """``with dask_workers(n) as client``: n local processes of one thread each."""
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    import dask

    addresses = dict.fromkeys(("dashboard_address", "worker_dashboard_address"), "127.0.0.1:0")
    options = {"threads_per_worker": 1, "host": "127.0.0.1", **addresses}

    config = {
        # After this time a cluster gives up a worker that is being replaced.
        "distributed.deploy.lost-worker-timeout": "1h",
        # Two idle workers take 0.01 of a core with these, and 0.07 without, until the tests end.
        "distributed.worker.profile.enabled": False,
        "distributed.worker.memory.monitor-interval": "2s",
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.system-monitor.interval": "5s",
    }

    @contextmanager
    def start(n):
        with (
            dask.config.set(config),
            distributed.LocalCluster(n_workers=n, **options) as cluster,
            distributed.Client(cluster, set_as_default=False) as client,
        ):
            yield client

    return start


@pytest.fixture(scope="session")
def dask_client(dask_workers):
    """A client of two workers, for all tests of a process."""
    with dask_workers(2) as client:
        yield client


@pytest.fixture
def survivors(dask_client):
    """``survivors(most)``: how many of two workers survived, once there are two again.

    It waits until at most this many survive.
    """

    def processes():
        return set(dask_client.run(os.getpid, on_error="ignore").values())

    def count(most):
        end = time.monotonic() + 300.0
        while len(now := processes()) != 2 or len(before & now) > most:
            assert time.monotonic() < end, "a worker that was killed is not replaced"
            time.sleep(0.05)
        return len(before & now)

    before = processes()
    return count
