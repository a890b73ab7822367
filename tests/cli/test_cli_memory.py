"""Memory of a comparison: estimated before the work, with advice that the command accepts."""

import re
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from alignlearn.cli import main
from alignlearn.comparison.memory import needed_memory
from alignlearn.validation import memory

PEAK = """
import ctypes, numpy as np, scipy.sparse as sp, alignlearn as al
from alignlearn.comparison import Protocol, compare

def peak():
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line[:5] == "VmHWM")

def work(task, methods, shape, features):
    m, d = shape
    rng = np.random.default_rng(0)
    X, kernels = rng.normal(size=(m, d)), [al.Gaussian(0.1 * k) for k in range(1, 5)]
    if features:
        X, kernels = sp.random(m, d, 0.01, format="csr", random_state=rng), al.RankOneKernels()
    y = np.asarray(X[:, : d // 2].sum(axis=1)).ravel() + 0.1 * rng.normal(size=m)
    y = y > np.median(y) if task == "classification" else y
    protocol = Protocol(n_folds=4, grid=(1.0,))
    compare(X, y, kernels, methods=methods, task=task, protocol=protocol)

for task, methods, shape, features in {cases}:
    work(task, methods, (shape[0] // 2, shape[1]), features)  # compiles and loads its code
    ctypes.CDLL(None).malloc_trim(0)  # memory that is free goes back to the system
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak is that of now
    before = peak()
    work(task, methods, shape, features)
    print(peak() - before)
"""


CASES = [
    ("classification", ("uniform", "alignf"), (2000, 3), False),
    ("regression", ("uniform", "lkrr"), (1400, 3), False),
    ("regression", ("ensemble",), (1400, 3), False),
    ("classification", ("uniform", "alignf"), (400, 2000), True),
    ("regression", ("lkrr",), (400, 2000), True),
]


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak of memory from /proc")
def test_the_estimate_is_what_a_comparison_takes():
    """One process for all cases, since every process has to load the compiled code."""
    code = PEAK.format(cases=CASES)
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for case, taken in zip(CASES, map(float, done.stdout.split()), strict=True):
        task, methods, shape, features = case
        sizes = {"n_folds": 4, "n_kernels": 4, "features": features}
        estimate = needed_memory(shape, methods, task, **sizes)
        assert 0.7 * taken < estimate < 1.6 * taken, case


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Sparse columns and dense rows, more than the memory of these tests holds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(memory, "free_memory", lambda: 2.0**24)
    rng = np.random.default_rng(0)
    X = sparse.random(60, 5000, 0.01, format="csr", random_state=rng)
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez("wide.npz", **parts, y=np.arange(60) % 2)
    X = rng.normal(size=(4000, 2))
    np.savez("long.npz", X=X, y=1 * (X[:, 0] > 0.0))


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("wide.npz",), "--kernels rbf"),
        (("wide.npz", "--kernels", "linear"), "--kernels rbf"),
        (("long.npz", "--max-samples", "0"), r"--max-samples \d+"),
        (("long.npz", "--max-samples", "0", "--methods", "l1-svm"), r"--max-samples \d+"),
    ],
)
def test_what_does_not_fit_is_refused_and_the_advice_is_accepted(data, capsys, words, advice):
    assert main(["compare", *words, "--no-figure"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert re.search(r"needs about \d+\.\d GiB, but 0\.0 GiB are free", err)
    options = re.search(rf"accepted: ({advice})\.$", err)[1].split()
    # Later options replace earlier ones.
    fast = ["--methods", "uniform", "--no-figure", "--quiet"] if "l1-svm" not in words else []
    assert main(["compare", *words, *options, *fast, "--no-figure"]) == 0


def test_wide_sparse_data_is_not_made_dense_beyond_the_limit(data, capsys, monkeypatch):
    monkeypatch.setattr("alignlearn.cli.compare._DENSE_LIMIT", 8 * 5000 * 50)
    assert main(["compare", "wide.npz", "--kernels", "rbf", "--no-figure"]) == 2
    assert "accepted: fewer columns" in capsys.readouterr().err
    assert main(["compare", "wide.npz", "--no-figure"]) == 2
    assert "accepted: fewer columns or fewer methods" in capsys.readouterr().err


def test_free_memory_respects_the_limit_of_the_process():
    assert 2**20 < memory.free_memory() < 2**50
    resource = pytest.importorskip("resource")
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)); "
        "from alignlearn.validation.memory import free_memory; assert free_memory() <= 2**31"
    )
    assert resource.RLIM_INFINITY != 2**31
    environment = {"OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
