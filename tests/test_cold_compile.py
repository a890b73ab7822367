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
WARM_UP = f"""
import json, sys
from numba.core import event
class Listener(event.Listener):
    names = []
    def on_start(self, event):
        function = event.data["dispatcher"].py_func
        self.names.append(f"{{function.__module__}}.{{function.__qualname__}}")
    def on_end(self, event):
        pass
event.register("numba:compile", Listener())
from alignlearn import _warmup, cli
_warmup.PARTS = {{name: _warmup.PARTS[name] for name in {OF_ESTIMATORS}}}
assert cli.main(["warmup"]) == 0
"""
FITS = f"""
sys.path.insert(0, {str(ROOT / "scripts" / "bench")!r})
import bench_cold
names = bench_cold.ESTIMATORS.values()
print(json.dumps([bench_cold.first_calls(name)["compiled"] for name in names]))
"""


def test_warmup_compiles_few_functions_and_a_first_fit_after_it_none(tmp_path):
    cache = str(tmp_path)
    *_, line, names = output(WARM_UP + "print(json.dumps(Listener.names))", NUMBA_CACHE_DIR=cache)
    pattern = rf"(\d+) functions compiled in [\d.]+ s, kept in {re.escape(cache)}"
    assert int(re.fullmatch(pattern, line)[1]) > 30
    names = json.loads(names)
    assert 30 < len(names) <= MOST_COMPILED, Counter(names)
    *_, line, compiled = output(WARM_UP + FITS, NUMBA_CACHE_DIR=cache)
    assert line.startswith("0 functions compiled")
    assert json.loads(compiled) == 4 * [[]]
