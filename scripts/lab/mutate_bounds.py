#!/usr/bin/env python3
"""Which changes of a formula in the bounds do the tests not notice?

    scripts/lab/mutate_bounds.py [MODULE ...] [--list] [--every N]

Each mutant is one change in the syntax tree of one module: a number doubled, a sign or an operator
exchanged, a term of a sum left out, min for max, a comparison turned or its equality dropped. Texts
and checks of arguments are left alone. A mutant dies if a test of tests/bounds that belongs to the
module fails; survivors are printed with their line, and those listed below with the reason why no
test can or need notice. Exits with 1 if there are others.

Each runs in a process of its own, forked after NumPy, SciPy and pytest were imported; compiled
loops run as Python. Only tests that enter the module are run, the quickest first, up to the first
that fails; a change that compiles to the same code is no mutant. --every N takes each N-th mutant
only.
"""

import ast
import contextlib
import importlib.abc
import importlib.util
import os
import signal
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import mutate

ROOT = Path(__file__).resolve().parents[2]
BOUNDS = {"alignlearn.bounds": ROOT / "alignlearn/bounds"}
BOUNDS["alignlearn.theory.bounds"] = ROOT / "theory/bounds"
FILES = {f.stem: (package, f) for package, folder in BOUNDS.items() for f in folder.glob("*.py")}
TESTS = ROOT / "tests" / "bounds"
TIMES, SECONDS = 10, 10  # of what the tests take as it is, and more: then a mutant is noticed
# Tests beside test_formulas.py that are quick and of one module.
MORE = {
    "class_betting": ["test_class_intervals.py::test_projections_are_those_of_explicit_features"],
    "class_intervals": ["test_class_intervals.py::test_statistics_are_those_of_explicit_features",
                        "test_class_intervals.py::test_refusals_name_the_hypothesis"],
    "conformal": ["test_conformal.py"],
    "hyper_rates": ["test_hyper_rates.py"],
    "neighbourhood": ["test_neighbourhood.py"],
    "ratio_betting": ["test_ratio_betting.py"],
    "own_sample": ["test_own_sample.py"],
    "sample_price": ["test_sample_price.py"],
    "ladder": ["test_ladder.py"],
    "price": ["test_price.py::test_weights_are_those_of_a_general_solver",
              "test_price.py::test_the_price_by_hand_and_its_inequality",
              "test_price.py::test_weights_of_singular_and_of_small_matrices",
              "test_price.py::test_moments_by_hand", "test_price.py::test_the_deviation_by_hand",
              "test_price.py::test_what_is_refused"],
    "rademacher": ["test_rademacher.py::test_kernels_that_are_zero",
                   "test_rademacher.py::test_bad_input"],
    "learned": ["test_rademacher.py::test_rounded_shares", "test_rademacher.py::test_bad_input",
                "test_rademacher.py::test_samples_without_variance_count_as_errors"],
    "u_statistics": ["test_u_statistics.py::test_the_kernel_is_the_symmetrised_one",
                     "test_u_statistics.py::test_the_mean_over_quadruples_is_the_statistic",
                     "test_u_statistics.py::test_refusals"],
    "held_out": ["test_held_out.py::test_the_binomial_bound_solves_its_equation",
                 "test_held_out.py::test_bad_losses", "test_held_out.py::test_bad_counts"],
}  # fmt: skip
LEFT_OUT = {"checks", "guarantee", "__init__"}  # no formulas
# Part of a mutated line, with the module in front where it matters: why it may live.
REASONS = {
    "ladder: if step < 0.05": "both forms agree to 1e-9 from far above to far below it",
    "ladder: k = np.arange(1.0, 42.0 / step, 2.0)": "factors that are 1 to rounding",
    "price: return nnls(root": "a limit of steps that no problem reaches",
    "price: if eta < 0.5": "at 1/2 the second form is infinite",
    "price: used = values >": "a matrix of zeros has no values in use",
    "betting: return np.sqrt(2 * log_inverse": "1e-12 only keeps a variance of 0 from the quotient",
    "betting: low, high = 1e-12, 1.0": "ends of a bisection: any that hold the root between them",
    "betting: if function(low) < 0": "at v = 1e-12 the function is 0 for no sample",
    "betting: if function(high) >= 0": "at v = 1 no factor exceeds 1: not reached for delta < 1",
    "betting: return 1.0": "as the line before",
    "intervals: if tau < A and tau < B": "a tie divides by 0, and the smallest end is 1 either way",
    "intervals: if da < min(a, a_prime)": "a tie divides by 0",
    "intervals: floor =": "what rounding leaves of a constant kernel, to some powers of ten",
    "intervals: values = [v if v > f": "a tie with what rounding leaves",
    "bool(low <= 0 and high >= 1)": "ends are cut to [0, 1] before",
    "bool(low <= 0 and high >= r * s)": "ends are cut to [0, R^2 R'^2] before",
    "asymptotic: return K / (np.abs(K)": "units, which cancel in the ratio",
    "asymptotic: return (products": "m (m - 3) cancels in the ratio",
    "asymptotic: if min(first": "a variance that one sample alone makes positive",
    "class_intervals: if x <= shift": "a tie gives 0 either way",
    "class_intervals: return learned_class_interval": "a multiple of the one weight cancels",
    "class_intervals: return float(norm) if": "what rounding leaves of a constant kernel",
    "class_intervals: return min(ends), 0.25": "a tie: s (1 - s) is 1/4 at either end, too",
    "class_intervals: low, high = min(max(": "the lower end is cut to the upper one after",
    "class_intervals: means = K.mean(0)": "a Gram matrix is symmetric",
    "class_intervals: covariance = np.sqrt(max(": "a form that rounding made negative",
    "intervals: return K - K.sum(0)": "a Gram matrix is symmetric: its sums are those of rows",
    "class_betting: return learned_betting_interval([K], [1.0]": "the one weight cancels",
    "class_betting: L1 = np.log(2 * p": "the first two shares are equal",
    "class_betting: target_statistics(K, y)[0], len(y), L1": "as the line before",
    "class_betting: return interval(low / (np.sqrt": "a tie divides by 0: infinite, cut to 1",
    "class_betting: inner = 0.0": "factors of a block sum to 0",
    "class_betting: used = k // 2": "past the last pair of blocks there is nothing, if k is even",
    "class_betting: Z = np.zeros": "orders and coefficients have one length",
    "class_betting: return max(low, 0.0) ** 2": "shares are at most 1: nothing to cut from above",
    "class_betting: if len(small) > ": "of classes of one size either may be the smaller",
    "class_betting: return order.reshape": "NumPy takes any negative length for the rest",
    "class_betting: order = random_groups": "NumPy takes any negative length for the rest",
    "ratio_betting: _ROUNDING = 4": "what rounding adds, to some powers of ten",
    "ratio_betting: rounded = ": "as the line before",
    "ratio_betting: scatter = np.sqrt": "what rounding adds or takes",
    "ratio_betting: given, K = K": "features are centered after: what is subtracted cancels",
    "ratio_betting: norm = np.clip": "an upper end that only rounding exceeds",
    "ratio_betting: _ORDERS = 6": "a number of orders: any keeps the level",
    "ratio_betting: _PAIRS = 250": "as the line before",
    "ratio_betting: n = int(np.clip(_ORDERS": "as the line before",
    "ratio_betting: _ROUNDS = 4": "towards a point to bound around: any does",
    "ratio_betting: _SPARE = 0.1": "saves work: cells are decided by the level",
    "ratio_betting: _STEPS = 1": "where an end is tried: it holds where it is rejected",
    "ratio_betting: _WIDE = ": "any cells that cover the line",
    "ratio_betting: cells = [(center": "as the line before",
    "ratio_betting: K, y = K / features": "a shift of the targets cancels",
    "ratio_betting: if k < 2": "of two pairs the ends are 0 and 1 either way",
    "ratio_betting: return interval(0.0, 1.0)": "cut to [0, 1]",
    "ratio_betting: return 0.0": "cut to [0, 1]",
    "ratio_betting: return 1.0": "cut to [0, 1]",
    "ratio_betting: parts = [_before": "powers that are not used",
    "ratio_betting: n = np.maximum(2.0": "before the first pair there is nothing",
    "ratio_betting: shrunk = _quotient(np.clip": "moves the length, not the validity",
    "ratio_betting: guess = np.where": "moves the length, not the validity",
    "ratio_betting: e = np.sqrt(max": "keeps 0 from the quotient",
    "ratio_betting: return np.divide": "what rounding leaves of 0",
    "ratio_betting: near = _bisected": "where a bisection begins: ends are cut to [0, 1]",
    "ratio_betting: if r <= p.most": "a tie",
    "ratio_betting: if i % 8 == 0": "when curves are made anew: they move the length",
    "ratio_betting: _curves_at(p.products": "as the line before",
    "ratio_betting: return [curve_of": "as the line before",
    "ratio_betting: for points in (1, 2)": "the order in which bounds are tried",
    "ratio_betting: if r >= 1.0": "cut to [0, 1]",
    "ratio_betting: if log_mean(r, center": "saves work: cells are decided by the level",
    "ratio_betting: if function(least, most) <": "a tie",
    "ratio_betting: if most - least < _NARROW": "a tie",
    "ratio_betting: return _log_mean(found, len(pairs)) <": "a tie",
    "ratio_betting: return _log_mean(found, len(pairs)) >=": "a tie",
    "ratio_betting: if _log_mean(found": "a tie",
    "ratio_betting: if (value := _log_mean": "a tie",
    "ratio_betting: for _ in range(9)": "steps towards an end that is then proved",
    "ratio_betting: top = max(logs)": "keeps exp from overflow",
    "ratio_betting: inner, weights = np.zeros": "towards a point to bound around: any does",
    "ratio_betting: weights = bets / (1 + gains - bets": "as the line before",
    "ratio_betting: if length <= 1e-12": "keeps 0 from the quotient",
    "ratio_betting: values = more * curve.values": "what rounding may add",
    "ratio_betting: start = max(_root": "some mu are tried: any above the eigenvalues holds",
    "ratio_betting: mus = values[-1]": "as the line before",
    "ratio_betting: f = np.maximum(fall": "rounding",
    "ratio_betting: least = 2 * size": "sizes are at most 2: the bet is only less",
    "ratio_betting: return np.r_[0.0, sums": "known before the first pair; the last is left out",
    "ratio_betting: return np.r_[0.0, np.diagonal": "as the line before",
    "ratio_betting: return np.r_[0.0, np.cumsum": "as the line before",
    "ratio_betting: length2 = np.maximum": "what rounding adds",
    "ratio_betting: np.log1p(stationary_point": "about where an end is: it is proved after",
    "u_statistics: if not (found[1] < a": "a tie divides by 0: infinite, cut to 1",
    "u_statistics: index = rng": "NumPy takes any negative length for the rest",
    "learned: steps = max(0": "what rounding takes from a whole number",
    "learned: if best is None": "a tie",
    "learned: if empirical < best": "leaves out what cannot be less; more is tried otherwise",
    "learned: if value < best": "a tie",
    "learned: gain = np.where": "-1 is below every gain",
    "learned: for _ in range(52)": "a bisection is done at 52 halves",
    "learned: low, high = (middle": "a tie in a bisection",
    "learned: second = (1 - q)": "p < 1 in a bisection, and q = 1 is its upper end",
    "learned: return np.inf if p >= 1": "as the line before",
    "own_sample: if empirical < best": "leaves out what cannot be less; more is tried otherwise",
    "own_sample: if value < best": "a tie",
    "own_sample: centered = K": "the constant direction gets a negative eigenvalue: not used",
    "own_sample: used = values": "what rounding leaves of a constant kernel",
    "own_sample: shrink = (values": "a unit, which cancels in the scale",
    "sample_price: EPS = (": "among which the first part chooses: any keeps the level",
    "sample_price: parts = (rng": "NumPy takes any negative length for the rest",
    "sample_price: second = pair_sums": "as the line before",
    "sample_price: means, p = _means": "of a forecast: whichever eps is chosen, the bound holds",
    "sample_price: weights, least = quadratic": "as the line before",
    "sample_price: least = min(least, (found": "as the line before",
    "sample_price: if np.any(largest > 8 / 3": "a tie, and what rounding adds",
    "sample_price: if least > 0 and length2": "a tie divides by 0; without eps no share is used",
    "sample_price: far = np.sqrt(weights": "multiplied by eps, which is 0 there",
    "sample_price: return _deviation(n, level, second, min": "second is at most largest^2",
    "neighbourhood: _RANK = 1e-10": "what rounding leaves of an eigenvalue, to some powers of ten",
    "neighbourhood: scale = np.where(size": "units, which cancel; 0 where a kernel is 0",
    "neighbourhood: kept = values": "what rounding leaves of an eigenvalue",
    "neighbourhood: max(task.square - along": "a squared distance that rounding made negative",
    "neighbourhood: nothing = np.zeros": "zeros beyond the kernels of a task",
    "neighbourhood: return max(float(_at": "a squared distance that rounding made negative",
    "neighbourhood: room = max(4 * (rho": "a class that is not empty has room, but for rounding",
    "neighbourhood: return float(front": "linear + inside is not negative, but for rounding",
    "neighbourhood: root(np.sqrt(max(exact": "a variance, negative by rounding only",
    "neighbourhood: each = [quadratic_forms(K, sign_vectors(np.shape": "kernels are square",
    "neighbourhood: [quadratic_forms(K, rng": "kernels are square",
    "neighbourhood: values = np.sqrt(radius": "a form that rounding made negative",
    "neighbourhood: error = 0.0 if draws": "ddof of many draws, within the error's own error",
    "neighbourhood: inverses = np.zeros": "room that is not used",
    "neighbourhood: room = max(rho - distance": "where a search begins: any start finds the root",
    "neighbourhood: enter = ": "where a search begins: any start finds the root",
    "neighbourhood: open_ = ": "when a search ends, and a tie",
    "neighbourhood: s = np.where(moving": "where a search begins: any start finds the root",
    "neighbourhood: low = np.where": "a tie in a bracket",
    "neighbourhood: high = np.where": "a tie in a bracket",
    "neighbourhood: new = ": "a step of a search, which a bracket keeps",
    "neighbourhood: inside = np.isfinite": "a tie in a bracket",
    "neighbourhood: return value + np.where": "what is left at the root found, near 0",
    "neighbourhood: better = (theta": "a tie",
    "hyper_rates: fitted = cross": "how far a singular system is cut off",
    "conformal: _ROUNDING": "what rounding adds to a rank, to some powers of ten",
    "conformal: _ROWS": "how many rows are looked at together",
    "conformal: low, high = shifts.min": "what is subtracted is added again; a choice of speed",
    "conformal: found, order =": "as the line before",
    "conformal: low, high = radii": "a lower end of the values: smaller, more values are looked at",
    "conformal: first, last =": "an earlier first: more values are looked at",
    "conformal: for j in range": "all folds have as many classes",
    "rademacher: MOST_SIGNS": "a limit of memory",
    "rademacher: return KernelSizes": "a Gram matrix is square",
    "rademacher: for j in range(2": "a cumulant more than is used",
    "rademacher: share, top = 1 - 1 / q, traces.max()": "a unit, which cancels",
    "rademacher: most = _POWERS if q == 1": "what rounding takes from a whole number, doubled",
    "rademacher: top = np.where": "keeps 0/0 from what is 0 either way",
    "concentration: low, high = start - 1": "any number below the start begins the search",
    "betting: top = gains.max()": "keeps exp from overflow",
    "betting: for _ in range(60)": "a bisection ends at 1e-9 before",
    "betting: if function(middle) >= 0": "a tie in a bisection",
    "betting: if high - low < 1e-9": "ends a bisection early, below what is promised of the root",
}


def mutants(module):
    """(line number, line, what was changed, tree) of each mutant of a module."""
    for _, *mutant in mutate.mutants(FILES[module][1], logic=False):
        yield tuple(mutant)


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module of the bounds from a changed tree."""

    def __init__(self, module, tree):
        package, self.file = FILES[module]
        self.name, self.tree = f"{package}.{module}", tree

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, str(self.file), loader=self)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        code = compile(ast.fix_missing_locations(self.tree), module.__file__, "exec")
        exec(code, module.__dict__)


def lives(module, tree, tests, limit):
    """Whether the tests pass with this tree in place of the module within ``limit`` seconds."""
    return _in_a_process(module, tree, lambda: _run(tests), limit)


def _in_a_process(module, tree, run, limit):
    """Whether ``run`` raises nothing with the changed module, in a process of its own."""
    child = os.fork()
    if child:
        return _waited(child, limit)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(1, 2)
    sys.meta_path.insert(0, _Mutated(module, tree))
    os.chdir(ROOT)
    code = 1
    with contextlib.suppress(BaseException):
        run()
        code = 0
    os._exit(code)


def _tests(module):
    """Names of the tests of test_formulas.py and of `MORE`."""
    found = []
    for entry in ["test_formulas.py", *MORE.get(module, ())]:
        file, _, only = entry.partition(".py")
        names = vars(_file(file))
        found += [f"{file}::{n}" for n in names if n.startswith("test_") and only in ("", f"::{n}")]
    return found


def _file(name):
    if str(TESTS) not in sys.path:
        sys.path.insert(0, str(TESTS))
    return importlib.import_module(name)


def _run(names):
    """Run tests, which need of pytest its parameters only; their files are imported one by one."""
    for name in names:
        file, _, test = name.partition("::")
        test = getattr(_file(file), test)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for arguments in _cases(test):
                test(**arguments)


def order_of(module, tree):
    """The tests that enter the module, the quickest first, and the seconds that a mutant has.

    Those of other files, which import more, come after those of test_formulas.py; values that are
    worked out when that is imported are compared first.
    """
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.chdir(ROOT)
        sys.meta_path.insert(0, _Mutated(module, tree))  # from this tree, whatever is installed
        found = [(_seconds_in(module, name), name) for name in _tests(module)]
        found.sort(key=lambda test: (not test[1].startswith("test_formulas"), test[0]))
        names = [name for seconds, name in found if seconds > 0]
        os.write(write, " ".join(["test_formulas::test_value", *names]).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        tests = pipe.read().split()
    os.waitpid(child, 0)
    start = time.monotonic()
    if not tests or not lives(module, tree, tests, 3600):
        sys.exit(f"the tests of {module} fail as it is.")
    return tests, TIMES * (time.monotonic() - start) + SECONDS


def _seconds_in(module, name):
    """The seconds of a test, 0 if it does not enter the module."""
    file, entered = str(FILES[module][1]), set()
    sys.setprofile(lambda frame, event, _: entered.add(frame.f_code.co_filename))
    start = time.monotonic()
    _run([name])
    sys.setprofile(None)
    return time.monotonic() - start if file in entered else 0.0


def _cases(test):
    """The arguments that ``parametrize`` gives a test, as pytest combines them."""
    lists = []
    for mark in getattr(test, "pytestmark", ()):
        names, values = mark.args
        names = names if isinstance(names, tuple) else (names,)
        rows = [row if len(names) > 1 else (row,) for row in values]
        lists.append([dict(zip(names, row)) for row in rows])
    return [{k: v for part in parts for k, v in part.items()} for parts in product(*lists)]


def _waited(child, limit):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def main(words):
    every = int(words[words.index("--every") + 1]) if "--every" in words else 1
    names = [w for w in words if not w.startswith("--") and not w.isdecimal()]
    modules = names or sorted(set(FILES) - LEFT_OUT)
    os.environ.update(NUMBA_DISABLE_JIT="1", OPENBLAS_NUM_THREADS="1")
    # What is imported here need not be imported by each process.
    heavy = "numpy scipy.optimize scipy.stats alignlearn._jit alignlearn.validation pytest"
    for name in heavy.split():
        importlib.import_module(name)
    assert not any(name.startswith(tuple(BOUNDS)) for name in sys.modules)
    total, unexplained = 0, 0
    for module in modules:
        found = list(mutants(module))[::every]
        total += len(found)
        source = FILES[module][1].read_text(encoding="utf-8")
        how = order_of(module, ast.parse(source))
        alive = [(n, line, text) for n, line, text, tree in found if lives(module, tree, *how)]
        print(f"{module}: {len(found)} mutants, {len(alive)} live", flush=True)
        for number, line, text in alive:
            place = f"{module}: {line}"
            reason = next((r for part, r in REASONS.items() if part in place), "")
            unexplained += not reason
            print(f"  {number}: {text}: {line}\n      {reason or 'NOT EXPLAINED'}", flush=True)
    print(f"{total} mutants, {unexplained} live without a reason")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
