"""A first fit where nothing is in the cache: how much is compiled, and doing so ahead of time.

The number of functions is bounded, not the time: it does not depend on the machine.
"""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import alignlearn as al

ROOT = Path(__file__).resolve().parents[1]

# Functions compiled by the first fit and prediction, Numba's own included: 42 were counted. Every
# one costs 0.1 to 3 s, so a new one must be worth it.
MOST_COMPILED = 48
# Numba's overloads that write messages: array assignments whose shapes might differ, and text.
MESSAGES = re.compile(r"numba\.cpython\.unicode|ol_str_|ol_repr_|ol_raise_with_shape|integer_str")


def bench(*args, cache=None):
    """What scripts/bench/bench_cold.py measures."""
    command = [sys.executable, str(ROOT / "scripts/bench/bench_cold.py"), "--json", *args]
    env = dict(os.environ) if cache is None else {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, env=env).stdout)


def test_a_first_fit_compiles_few_functions_and_none_that_write_messages():
    """One test, as it compiles for long."""
    compiled = [name for name, *_ in bench()["compiled"]]
    assert 10 < len(compiled) <= MOST_COMPILED, Counter(compiled)
    assert [name for name in compiled if MESSAGES.search(name)] == []


def test_the_pattern_knows_the_overloads_it_is_about():
    """An assignment to a slice compiles them: if Numba renames them the test above sees nothing."""
    code = """
import numpy as np
from numba import njit
from numba.core import event
class Listener(event.Listener):
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        print(f"{function.__module__}.{function.__qualname__}")
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
@njit
def assign(x, y):
    x[1:] = y
assign(np.zeros(3), np.ones(2))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert any(MESSAGES.search(line) for line in done.stdout.splitlines())


OF_ESTIMATORS = ("classifier", "regressor", "cross-validation")


def warmed(folder=None, parts=None):
    """The last line of ``alignlearn warmup`` for these parts, or all, in a cache of its own."""
    code = "from alignlearn import _warmup, cli; parts = _warmup.PARTS\n"
    if parts is not None:
        code += f"_warmup.PARTS = {{name: parts[name] for name in {parts!r}}}\n"
    code += "raise SystemExit(cli.main(['warmup']))"
    env = dict(os.environ) if folder is None else {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    assert done.stderr == ""
    return done.stdout.splitlines()[-1]


def test_after_warmup_a_first_fit_compiles_nothing(tmp_path):
    pattern = rf"(\d+) functions compiled in [\d.]+ s, kept in {re.escape(str(tmp_path))}"
    assert int(re.fullmatch(pattern, warmed(tmp_path, OF_ESTIMATORS))[1]) > 30
    for estimator in ("classifier", "regressor", "classifier-cv", "regressor-cv"):
        assert bench(estimator, "--warm", cache=tmp_path)["compiled"] == []
    assert warmed(tmp_path, OF_ESTIMATORS).startswith("0 functions compiled")


def test_every_part_of_warmup_runs():
    """In the cache of the tests, which compile most of it anyway."""
    assert re.match(r"\d+ functions compiled in [\d.]+ s, kept in ", warmed())


NO_FOLDER = """
from numba.core.caching import FunctionCache
FunctionCache._impl_class._locator_classes = []
"""


def without_folder(code):
    command = [sys.executable, "-c", NO_FOLDER + code]
    return subprocess.run(command, capture_output=True, text=True)


def test_where_no_folder_can_be_written_warmup_says_so_on_one_line():
    done = without_folder("from alignlearn.cli import main; raise SystemExit(main(['warmup']))")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr
    raised = without_folder("import alignlearn as al; al.warmup()")
    assert "\nOSError: compiled code cannot be cached" in raised.stderr
    assert "RuntimeWarning" not in raised.stderr


def test_progress_is_told_of_every_part(monkeypatch):
    monkeypatch.setattr("alignlearn._warmup.PARTS", {"nothing": lambda: None})
    told = []
    done = al.warmup(progress=lambda *part: told.append(part))
    assert [(name, n) for name, n, _ in told] == [("nothing", 0)]
    assert (done.n_compiled, os.path.isdir(done.folder)) == (0, True)
