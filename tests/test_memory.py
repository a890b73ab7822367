"""Memory of fitting: peaks as stated in the docstrings, and errors before the work."""

import subprocess
import sys

import numpy as np
import pytest
from cases import each
from refusals import raises

import alignlearn as al
from alignlearn.validation import memory

WORKS = {  # samples, those of a fit before it that loads the functions, and the fit
    # Three kernels, and five more matrices as documented; blocks of 16 MB count as six. They come
    # first, because such small matrices would be in memory that is kept.
    "targets": (600, 300, "al.MKLRegressorCV(kernels, per_target=True, random_state=0).fit(X, y)"),
    "ridge": (3000, 300, "al.MKLRegressor(kernels).fit(X, y)"),
    "svr": (3000, 300, "al.MKLRegressor(kernels, machine='svr').fit(X, y)"),
    "ridge-loo": (2400, 300, "al.MKLRegressorCV(kernels, alphas=[0.1, 1.0]).fit(X, y)"),
    # Searches with the memory of 1.5 matrices hold one fold at a time. Conjugate gradients, with
    # functions of their own, start at 2001 samples.
    "ridge-folds": (
        3000,
        2001,
        "al.MKLRegressorCV(kernels, cv=5, alphas=[0.1, 1.0], memory=12 * m**2).fit(X, y)",
    ),
    "svc-folds": (
        3000,
        300,
        "al.MKLClassifierCV(kernels, Cs=[0.1, 1.0], memory=12 * m**2).fit(X, y > 0)",
    ),
}
# Prints the growth of the largest resident size over that before each fit, in matrices of float64.
PEAKS = f"""
import numpy as np, alignlearn as al
kernels = al.gaussian_kernels([0.05, 0.1, 0.2])
def peak():
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line[:5] == "VmHWM")
def work(m, call):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, 5))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(m)
    eval(call, globals() | {{"X": X, "y": y, "m": m}})
for m, warm, call in {list(WORKS.values())}:
    work(warm, call)
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")  # the peak becomes the memory of now
    before = peak()
    work(m, call)
    print((peak() - before) / (8 * m**2))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_fitting_holds_one_matrix():
    """One matrix is needed; the rest are blocks, and small ones that the allocator keeps."""
    command = [sys.executable, "-W", "ignore", "-c", PEAKS]
    for _ in range(2):  # functions may be compiled within; a second process loads them
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found = dict(zip(WORKS, map(float, done.stdout.split()), strict=True))
        high = [found.pop("targets") >= 3 + 5 + 6, *(peak >= 1.3 for peak in found.values())]
        if not any(high):
            break
    assert not any(high), found
    assert min(found.values()) > 0.9


@pytest.fixture
def small(monkeypatch):
    """One MiB: the matrix of 362 samples."""
    monkeypatch.setattr(memory, "free_memory", lambda: 2.0**20)


def _forbidden(X, Y):
    raise AssertionError("a kernel was evaluated")


M = 600
X = np.random.default_rng(0).standard_normal((M, 3))
Y = X @ [1.0, -1.0, 0.5]
KERNEL = al.FromFunction(_forbidden, vectorized=True)


@each("kind", ["MKLRegressor", "MKLRegressorCV", "MKLClassifier", "MKLClassifierCV"])
def test_a_matrix_that_does_not_fit_is_refused_before_stage_1(small, kind):
    model, target = getattr(al, kind)([KERNEL], memory="1GB"), Y > 0 if "Class" in kind else Y
    message = "X: 1 kernel matrix of 600 x 600 needs about 0.0 GiB, .* at most 360 samples, or"
    raises(MemoryError, message, model.fit, X, target)
    with pytest.raises(AssertionError):
        model.fit(X[:350], target[:350])


def test_others_that_do_not_fit_are_refused(small):
    raises(MemoryError, "at most 360 samples", al.KernelCombiner([KERNEL]).fit, X, Y)
    per_kernel = al.MKLRegressor([KERNEL, KERNEL], weighting="lkrr", memory="1GB")
    message = r"3 kernel matrices of 350 x 350 .* at most 200 samples"
    raises(MemoryError, message, per_kernel.fit, X[:350], Y[:350])
    message = r"matrices of 600 rows.* accepted: at most \d+ samples"
    raises(MemoryError, message, al.compare, X, Y, [KERNEL])


def test_what_needs_no_matrix_is_not_refused(small):
    al.alignment_statistics(X, Y, al.gaussian_kernels([0.1, 0.2]))
    gaussian = [al.Gaussian(0.1)]
    for model in (
        al.MKLRegressor(al.RankOneKernels()),
        al.MKLRegressorCV(["linear"]),
        # Too few samples for the interior point method, and no memory for the matrix.
        al.MKLClassifier(al.RankOneKernels()),
        al.MKLClassifier(gaussian),
        al.MKLRegressor(gaussian),
        al.MKLRegressor(gaussian, machine="svr"),
        al.MKLRegressorCV(gaussian, alphas=[0.1, 1.0]),
        al.MKLClassifierCV(gaussian, Cs=[1.0]),
    ):
        target = Y > 0 if "Classifier" in type(model).__name__ else Y
        assert model.fit(X, target).score(X, target) > 0.9


def test_single_precision_needs_half(small):
    with pytest.raises(AssertionError):
        al.MKLClassifier([KERNEL]).fit(X[:500].astype(np.float32), Y[:500] > 0)


VERSION_1 = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
VERSION_2 = "memory.max", "memory.current", "inactive_file"


@pytest.mark.parametrize(
    ("line", "folder", "files"),
    [
        ("0::/a/b", "a", VERSION_2),
        ("0::/", "", VERSION_2),
        ("4:cpu,memory:/job", "memory/job", VERSION_1),
    ],
)
def test_control_groups_limit_what_is_free(tmp_path, line, folder, files):
    root, groups = tmp_path / "root", tmp_path / "groups"
    (root / folder).mkdir(parents=True)
    groups.write_text(f"7:pids:/other\n{line}\n")
    assert memory.group_memory(root, groups) == float("inf")
    limit, used, name = files
    (root / folder / limit).write_text("1000\n")
    (root / folder / used).write_text("700\n")
    (root / folder / "memory.stat").write_text(f"anon 600\n{name} 50\n")
    assert memory.group_memory(root, groups) == 350
    for unlimited in ("9223372036854771712", "max"):  # of versions 1 and 2
        (root / folder / limit).write_text(unlimited + "\n")
        assert memory.group_memory(root, groups) == float("inf")
    assert memory.group_memory(root, tmp_path / "missing") == float("inf")
