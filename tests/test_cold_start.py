"""Compiling ahead of time: what a first fit uses, and a cache that cannot be written."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import alignlearn as al

ROOT = Path(__file__).resolve().parents[1]


def output(code, **environment):
    """Lines that a program writes in a process of its own."""
    env = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


# The functions in use, each with the types of its arguments, after warmup and first fits.
WARMUP_AND_FITS = f"""
import gc, json, sys
sys.path.insert(0, {str(ROOT / "scripts" / "bench")!r})
import bench_cold
from alignlearn import cli
from numba.core.dispatcher import Dispatcher
def used():
    functions = [used for used in gc.get_objects() if isinstance(used, Dispatcher)]
    return [
        f"{{used.py_func.__module__}} {{used.py_func.__qualname__}} {{types}}"
        for used in functions for types in used.overloads
    ]
assert cli.main(["warmup"]) == 0
print(json.dumps(used()))
for name in bench_cold.ESTIMATORS.values():
    bench_cold.first_calls(name)
print(json.dumps(used()))
"""


def test_a_first_fit_uses_what_warmup_compiles():
    """In the cache of the tests; test_cold_compile.py begins with an empty one."""
    *_, told, warm, used = output(WARMUP_AND_FITS)
    assert re.match(r"\d+ functions compiled in [\d.]+ s, kept in ", told)
    assert len(json.loads(warm)) >= 5
    assert set(json.loads(used)) - set(json.loads(warm)) == set()


NO_FOLDER = """
from numba.core.caching import FunctionCache
FunctionCache._impl_class._locator_classes = []
"""


BOTH = """
import warnings
warnings.simplefilter("error", RuntimeWarning)
import alignlearn as al
from alignlearn.cli import main
try:
    al.warmup()
except OSError as error:
    print(error)
raise SystemExit(main(["warmup"]))
"""


def test_where_no_folder_can_be_written_warmup_says_so_on_one_line():
    command = [sys.executable, "-c", NO_FOLDER + BOTH]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout.startswith("compiled code cannot be cached")
    assert done.stdout.count("\n") == done.stderr.count("\n") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_progress_is_told_of_every_part(monkeypatch):
    monkeypatch.setattr("alignlearn._warmup.PARTS", {"nothing": lambda: None})
    told = []
    done = al.warmup(progress=lambda *part: told.append(part))
    assert [(name, n) for name, n, _ in told] == [("nothing", 0)]
    assert (done.n_compiled, os.path.isdir(done.folder)) == (0, True)
