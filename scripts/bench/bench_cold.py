#!/usr/bin/env python
"""Measure a first fit with an empty cache: processor time, and functions compiled.

    scripts/bench/bench_cold.py                     # MKLClassifier, breast_cancer, three Gaussians
    scripts/bench/bench_cold.py regressor           # MKLRegressor
    scripts/bench/bench_cold.py classifier-cv       # MKLClassifierCV(); regressor-cv likewise
    scripts/bench/bench_cold.py --write             # into docs/_data

A process of its own imports, fits and predicts with an empty cache. Times are processor seconds, so
other work on the machine has little effect; repeat the run on a busy machine. The seconds of a
function contain those of all functions that were compiled for it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ESTIMATORS = {
    "classifier": "MKLClassifier",
    "regressor": "MKLRegressor",
    "classifier-cv": "MKLClassifierCV",
    "regressor-cv": "MKLRegressorCV",
}
HEAVIEST = 10


def main(argv=None):
    """Print the tables."""
    sys.path.append(str(HERE.parent / "lab"))
    from _studies import publish, study

    args = study(__doc__, ESTIMATORS, argv)
    for name in args.rows if args.named else ["classifier"]:
        found, args.run = measured(name), {"estimator": name}
        print(table(found))
        seconds = sum(found["seconds"].values())
        publish(args, "compilation", {"first": f"{seconds:.0f}"})


def measured(estimator):
    """:func:`first_calls` in a process of its own, with an empty cache."""
    from _bench import output

    path = f"import json, sys\nsys.path.insert(0, {str(HERE)!r})\nimport bench_cold\n"
    with tempfile.TemporaryDirectory() as folder:
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ, "NUMBA_CACHE_DIR": folder}
        code = f"{path}print(json.dumps(bench_cold.first_calls({ESTIMATORS[estimator]!r})))"
        return json.loads(output(code, **environment))


def first_calls(name):
    """Seconds of import, fit and predict, and every function compiled on the way."""
    start = time.process_time()
    import alignlearn as al

    kernels = None if name.endswith("CV") else al.gaussian_kernels([1e-3, 1e-2, 1e-1])
    estimator = getattr(al, name)(kernels)
    seconds = {"import": time.process_time() - start}
    from numba.core import event
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    listener = _listener(event)
    with event.install_listener("numba:compile", listener):
        for method, *data in (("fit", X, y), ("predict", X)):
            start = time.process_time()
            getattr(estimator, method)(*data)
            seconds[method] = time.process_time() - start
    return {"estimator": name, "seconds": seconds, "compiled": listener.done}


def _listener(event):
    class Compilations(event.Listener):
        """Names with seconds, in the order of completion."""

        def __init__(self):
            self.open, self.done = [], []

        def on_start(self, event):
            self.open.append(time.thread_time())

        def on_end(self, event):
            spent = time.thread_time() - self.open.pop()
            function = event.data["dispatcher"].py_func
            self.done.append([f"{function.__module__}.{function.__qualname__}", spent])

    return Compilations()


def table(found):
    """The report for a person."""
    compiled, seconds = found["compiled"], found["seconds"]
    lines = [f"{found['estimator']} on breast_cancer, seconds of the processor"]
    lines += [f"  {name:8} {value:7.2f}" for name, value in seconds.items()]
    ours = sum(name.startswith("alignlearn.") for name, *_ in compiled)
    lines += [f"{len(compiled)} functions compiled, {ours} of them of the library"]
    heaviest = sorted(compiled, key=lambda row: -row[1])[:HEAVIEST]
    return "\n".join([*lines, *(f"  {spent:7.2f}  {name}" for name, spent in heaviest)])


if __name__ == "__main__":
    main()
