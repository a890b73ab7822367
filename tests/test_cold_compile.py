"""How much a first fit with an empty cache compiles, by ``scripts/bench/bench_cold.py``.

The number of functions is bounded, not the time: it does not depend on the machine.
"""

import json
import re
from collections import Counter

from test_cold_start import ROOT, output

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


FITS = f"""
import json, sys
sys.path.insert(0, {str(ROOT / "scripts" / "bench")!r})
import bench_cold
names = bench_cold.ESTIMATORS.values()
print(json.dumps([bench_cold.first_calls(name)["compiled"] for name in names]))
"""


WARM_UP = f"""
from alignlearn import _warmup, cli
_warmup.PARTS = {{name: _warmup.PARTS[name] for name in {OF_ESTIMATORS}}}
assert cli.main(["warmup"]) == 0
"""


def test_the_pattern_knows_the_overloads_it_is_about():
    """Assigning to a slice compiles them: if Numba renamed them, the test below could not fail."""
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
