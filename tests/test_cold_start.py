"""A first fit with an empty cache: how much is compiled, and compiling ahead of time.

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

# Functions that the warmup of these parts compiles, including Numba's own: 80 were counted. Each
# costs 0.1 to 3 s, so a new one needs a reason.
OF_ESTIMATORS = ("classifier", "regressor", "cross-validation")
MOST_COMPILED = 88
# Numba's overloads that write messages: array assignments whose shapes might differ, and text.
MESSAGES = re.compile(r"numba\.cpython\.unicode|ol_str_|ol_repr_|ol_raise_with_shape|integer_str")


LISTENER = """
import json
from numba.core import event
class Listener(event.Listener):
    def __init__(self):
        self.names = []
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        self.names.append(f"{function.__module__}.{function.__qualname__}")
    def on_end(self, event):
        pass
listener = Listener()
event.register("numba:compile", listener)
"""


def output(code, **environment):
    """Lines that a program writes in a process of its own."""
    env = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_the_pattern_knows_the_overloads_it_is_about():
    """Assigning to a slice compiles them: if Numba renamed them, the test above could not fail."""
    code = """
import numpy as np
from numba import njit
@njit
def assign(x, y):
    x[1:] = y
assign(np.zeros(3), np.ones(2))
print(*listener.names)
"""
    assert MESSAGES.search(*output(LISTENER + code))


WARM_UP = f"""
from alignlearn import _warmup, cli
_warmup.PARTS = {{name: _warmup.PARTS[name] for name in {OF_ESTIMATORS}}}
assert cli.main(["warmup"]) == 0
"""
FITS = f"""
import sys
sys.path.insert(0, {str(ROOT / "scripts" / "bench")!r})
import bench_cold
names = bench_cold.ESTIMATORS.values()
print(json.dumps([bench_cold.first_calls(name)["compiled"] for name in names]))
"""


def test_warmup_compiles_few_functions_and_a_first_fit_after_it_none(tmp_path):
    """One test, because it compiles for so long."""
    cache = str(tmp_path)
    *_, line, names = output(
        LISTENER + WARM_UP + "print(json.dumps(listener.names))", NUMBA_CACHE_DIR=cache
    )
    pattern = rf"(\d+) functions compiled in [\d.]+ s, kept in {re.escape(cache)}"
    assert int(re.fullmatch(pattern, line)[1]) > 30
    names = json.loads(names)
    assert 30 < len(names) <= MOST_COMPILED, Counter(names)
    assert [name for name in names if MESSAGES.search(name)] == []
    *_, line, compiled = output(LISTENER + WARM_UP + FITS, NUMBA_CACHE_DIR=cache)
    assert line.startswith("0 functions compiled")
    assert json.loads(compiled) == 4 * [[]]


def test_every_part_of_warmup_runs():
    """In the cache of the tests, which already contains most of it."""
    line = output("from alignlearn import cli; raise SystemExit(cli.main(['warmup']))")[-1]
    assert re.match(r"\d+ functions compiled in [\d.]+ s, kept in ", line)


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
