"""Compiled code: a cache that cannot be written or read, no compiler, and notes on a terminal.

Each case needs a process of its own, because decorators act at import.
"""

import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from alignlearn._jit import cuda_kernel

ROOT = Path(__file__).resolve().parents[1]

# A module with small functions that takes itself for a part of the library.
SMALL = """
import sys
sys.modules["alignlearn.small"] = sys.modules[__name__]
__name__ = "alignlearn.small"
from alignlearn._jit import jit
@jit
def first(x):
    return x + 1.0
@jit
def second(x):
    return x + 2.0
@jit
def third(x):
    return x + 3.0
"""
# Calls them, and prints how often each was compiled.
CHECK = """
import small
for function in small.first, small.second, small.third:
    assert function(1.0) - function(0.0) == 1.0
    print(sum(function.stats.cache_misses.values()), end="")
"""
NO_FOLDER = """
from numba.core.caching import FunctionCache
FunctionCache._impl_class._locator_classes = []
"""


def run(code, **environment):
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """Environment of a process that imports the module above, with a cache that holds its code."""
    folder = tmp_path_factory.mktemp("cache")
    (folder / "small.py").write_text(SMALL)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    environment = {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": path}
    assert run(CHECK, **environment).stdout == "111"
    return environment


def test_where_no_folder_can_be_written_one_warning_says_so(filled):
    done = run(NO_FOLDER + CHECK, **filled)
    assert (done.returncode, done.stdout) == (0, "111")
    assert done.stderr.count("RuntimeWarning") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_a_folder_that_goes_away_while_computing_is_no_error(filled, tmp_path):
    """The folder is found at import; functions compiled later find a file in its place."""
    folder = tmp_path / "cache"
    lost = f"""
import shutil, small
shutil.rmtree({str(folder)!r})
open({str(folder)!r}, "w").close()
"""
    done = run(lost + CHECK, **filled | {"NUMBA_CACHE_DIR": str(folder)})
    assert (done.returncode, done.stdout) == (0, "111")
    assert done.stderr.count("RuntimeWarning") == 1


def truncate(content):
    return content[: len(content) // 2]


def change(content):
    """Other instructions: an ELF file has them after its header."""
    first = max(content.find(b"\x7fELF"), 0) + 64
    changed = bytes(255 - byte for byte in content[first : first + 32])
    return content[:first] + changed + content[first + 32 :]


def test_a_damaged_file_is_compiled_again(filled):
    damages = ("first", "nbi", truncate), ("second", "nbc", truncate), ("third", "nbc", change)
    for name, ending, damage in damages:
        [path] = Path(filled["NUMBA_CACHE_DIR"]).rglob(f"small.{name}-*.{ending}")
        path.write_bytes(damage(path.read_bytes()))
    for compiled in "111", "000":
        done = run(CHECK, **filled)
        assert (done.returncode, done.stderr, done.stdout) == (0, "", compiled)


FIT = """
import numpy as np, alignlearn as al
X = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
M = al.alignment_statistics(X, X[:, 1], ["rbf", "laplacian", "poly"]).M
print((M / M.max()).tolist())
"""


def test_without_the_compiler_results_are_the_same():
    python, compiled = (json.loads(run(FIT, NUMBA_DISABLE_JIT=off).stdout) for off in "10")
    np.testing.assert_allclose(python, compiled, rtol=1e-5)


# The keys of the cached files, for kernels with these gammas; needs no device.
KEYS = """
import hashlib, sys
import numpy as np
import alignlearn as al
from alignlearn.engine.program import program_of
from alignlearn.engine.cuda import gram, hyper, memory_sums, register_sums
from alignlearn.engine.cuda.program import pair_functions
from alignlearn.engine.program import Mode
X = np.ones((3, 2))
class Codegen:
    magic_tuple = lambda self: ()
for gammas in ([0.1], [0.7], [0.1, 0.3], [0.1, 0.2]):
    kernels = [k.resolve(X) for k in al.gaussian_kernels(gammas)]
    program = program_of(kernels, X, X, mode=Mode.CENTERED, n_targets=1)
    pair = pair_functions(program, np.float32, target=True)
    wide = pair_functions(program, np.float32, target=True, rows=2, columns=2)
    for kernel in (
        gram._gram_kernel(wide, 2, 2, 2), gram._times_kernel(wide, 2, 2, 2, 1),
        memory_sums.values_kernel(pair, False), register_sums.tile_kernel(wide, 1, 32, False),
        register_sums.diagonal_kernel(pair, True), hyper._times(0, "float32"),
    ):
        key = kernel._cache._index_key(None, Codegen())
        print(hashlib.sha256(repr(key).encode()).hexdigest(), end=" ")
    print()
"""


def test_cuda_kernels_are_found_by_what_they_compute():
    first, second = (run(KEYS, PYTHONHASHSEED=seed, NUMBA_ENABLE_CUDASIM="0") for seed in "12")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == second.stdout
    one, other, two, ladder = (line.split() for line in first.stdout.splitlines())
    assert one == other  # gammas are arguments
    assert len({*one, *two, *ladder}) == 3 * len(one) - 2  # the last has no program


def test_one_thread_at_a_time_starts_cuda_kernels(monkeypatch):
    """Numba loads a cached kernel at its first start; two at once are an AssertionError."""
    running, most = [], []

    class Kernel:
        def __getitem__(self, configuration):
            return self.start

        def start(self, value):
            running.append(value)
            most.append(len(running))
            time.sleep(0.002)
            running.remove(value)

    monkeypatch.setattr("numba.cuda.jit", lambda function, **options: Kernel())
    kernels = [cuda_kernel(run), cuda_kernel(run, cached=False)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: kernels[k % 2][1, 1](k), range(8)))
    assert most == [1] * 8


# The events of compilations of these durations, nested, of the user's functions or of the
# library's.
ANNOUNCE = """
import sys, time
from numba.core import event
from alignlearn import _jit
_jit.ANNOUNCED_AFTER = 0.5
from alignlearn.validation import grams
class theirs:
    py_func = lambda: 0
class ours:
    py_func = grams.check_gram
def compiled(dispatcher, seconds, *inner):
    with event.trigger_event("numba:compile", data={"dispatcher": dispatcher}):
        time.sleep(seconds)
        for function in inner:
            compiled(function, seconds)
"""
SHORT = ANNOUNCE + "compiled(theirs, 0.6); compiled(ours, 0.05, ours, theirs); time.sleep(0.6)"
LONG = "for _ in range(4): compiled(ours, 0.1, ours, theirs)"
LINE = "alignlearn: compiling, once per machine, about 10 s\r\n"


def on_terminal(code, **environment):
    """The output of a program whose stderr is a terminal."""
    pty = pytest.importorskip("pty")
    mine, theirs = pty.openpty()
    try:
        command, env = [sys.executable, "-c", code], {**os.environ, **environment}
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=theirs, check=True, env=env)
        os.write(theirs, b"end")
        return os.read(mine, 10_000).decode().removesuffix("end")
    finally:
        os.close(theirs)
        os.close(mine)


PRIVATE = [
    ("caching", "CompileResultCacheImpl"),
    ("caching.FunctionCache", "_index_key"),
    ("codegen.JITCodeLibrary", "_finalize_final_module"),
]
# Imports the module without each name in turn, and with all.
WITHOUT = f"""
import importlib
from numba.core import caching, codegen
for owner, name in {PRIVATE}:
    owner = eval(owner)
    kinds = [kind for kind in getattr(owner, "__mro__", [owner]) if name in vars(kind)]
    kept = [vars(kind)[name] for kind in kinds]
    for kind in kinds:
        delattr(kind, name)
    try:
        importlib.import_module("alignlearn._jit")
    except ImportError as error:
        print(error)
    for kind, value in zip(kinds, kept):
        setattr(kind, name, value)
importlib.import_module("alignlearn._jit")
"""


def test_a_numba_without_a_private_name_is_refused_by_name():
    done = run(WITHOUT)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    bound = re.search(r"^ +(numba>=.*)$", (ROOT / "setup.cfg").read_text(), re.MULTILINE)[1]
    for line, (_, name) in zip(lines, PRIVATE, strict=True):
        assert re.match(r"numba [\d.]+ has no private name", line), line
        assert name in line
        assert line.endswith(f"pip install '{bound}'.")


def test_a_terminal_is_told_once_that_compilations_last_long_together():
    assert on_terminal(f"{SHORT}; print(end='|', file=sys.stderr)\n{LONG}") == f"|{LINE}"
    assert run(ANNOUNCE + LONG).stderr == ""


def test_a_terminal_is_not_told_of_what_is_cached(filled):
    at_once = "from alignlearn import _jit; _jit.ANNOUNCED_AFTER = 0.0\n"
    assert on_terminal(at_once + CHECK, **filled) == ""


INTERRUPTED = """
from llvmlite.binding import executionengine
# No code is handed over, as when Ctrl-C comes in the callback, whose exception LLVM ignores.
executionengine.ExecutionEngine.set_object_cache = lambda self, *callbacks: None
import small
try:
    small.first(1.0)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_that_llvm_drops_is_raised_again(filled, tmp_path):
    done = run(INTERRUPTED, **filled | {"NUMBA_CACHE_DIR": str(tmp_path)})
    assert done.stdout == "interrupted\n", done.stderr
