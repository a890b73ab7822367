#!/usr/bin/env python3
"""Find changes of the code that no test notices.

    scripts/lab/mutate.py RESULT.json --modules alignlearn/folds.py theory/draws.py ...
    scripts/lab/mutate.py RESULT.json --sample 60 --seed 0 [--tests FILE ...] [--seconds 600]
    scripts/lab/mutate.py RESULT.json --formulas --modules alignlearn/bounds/sample_price.py
    scripts/lab/mutate.py RESULT.json --matrix --jobs 16 --sample 40 --seconds 420
    scripts/lab/mutate.py RESULT.json --table | --alive | --spare [TEST FILE ...]

Each mutant is one change in the syntax tree of one module: a number doubled, a sign or an operator
exchanged, a term of a sum left out, min for max, a comparison inverted or its equality dropped, a
condition or a return value inverted. Strings and checks of arguments are not changed, except with
--checks; --formulas leaves conditions and logical values unchanged, too. --sample N takes N mutants
of each module, drawn with --seed.

The tests of a module are those in files that import it (`scripts/_imports.py`), or --tests. They
are collected once; files that cannot be imported are named. A first run without a change records
for each test its processor time and the lines of the module that it reaches, for at most --first
seconds. A mutant is tried with the tests that reach its line, those of the quick suite before the
others and the fastest first, until one fails, each mutant in a forked process. Tests that take
longer than --slowest seconds are left out, and those of one mutant take at most --budget seconds,
and as many in the quick suite. Compiled loops of the module run as Python, with those that call
them; below `engine`, all do. --quick tries the tests of `tests/quick.txt` alone; a later run
without it tries the others on what has survived.

Objects that are imported or computed during the collection of tests do not change, so a mutant that
only they would notice counts as alive. RESULT.json keeps every tried mutant; the same command
resumes there. Modules without compiled loops share --jobs processes, which collect the tests once.
--seconds is the limit of the whole run: what it does not reach is left out. --matrix goes on after
a test has failed, and records all tests that find a mutant and those that --budget left out.

--table prints seconds, lines and tests of each test file, and mutants by module. --alive prints the
living mutants with their reasons from `mutants.txt`, and exits with 1 if one has none. --spare
prints, from a matrix, the test functions without which the others still find every mutant, most
costly first, and how many mutants each finds; of the given files only, if there are any.
"""

import argparse
import ast
import collections
import contextlib
import copy
import importlib.machinery
import importlib.util
import itertools
import json
import math
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from _mutants import Marks, functions_of, mutants, put, put_constants, statement_lines

ROOT = Path(__file__).resolve().parents[2]


class Module:
    """A module that is changed: its file, syntax tree and functions."""

    def __init__(self, path, functions):
        self.path, self.file = path, ROOT / path
        self.tree = ast.parse(self.file.read_text(encoding="utf-8"))
        self.functions, self.around = functions, statement_lines(self.tree)

    def is_top(self, line):
        """Whether a line belongs to a module's or class's own statements, outside of functions."""
        return not any(
            isinstance(node, ast.FunctionDef) and node.lineno <= line <= node.end_lineno
            for node in ast.walk(self.tree)
        )


class Trial:
    """The plugin that tries the mutants of some modules in place of running the tests."""

    def __init__(self, paths, options, done):
        self.paths, self.options, self.done = paths, options, done

    def pytest_collectreport(self, report):
        if not report.passed:
            lost = self.done.setdefault("not collected", {})
            lost.setdefault(self.paths[0], []).append(report.nodeid)

    def pytest_runtestloop(self, session):
        found = functions_of([ROOT / path for path in self.paths])
        modules = [Module(path, found.get(ROOT / path, {})) for path in self.paths]
        items, quick = {item.nodeid: item for item in session.items}, in_quick()
        chosen = filter(quick, items) if self.options.quick else items
        items = {name: items[name] for name in sorted(chosen, key=lambda name: not quick(name))}
        compiled = 1 if os.environ.get("NUMBA_DISABLE_JIT") else 6
        records = self.first_run(items, modules, compiled * self.options.slowest)
        # Of what took long, the code is compiled now.
        most = self.options.slowest
        slow = {name: items[name] for name, (seconds, _) in records.items() if seconds > most}
        fast = {name: record for name, record in records.items() if name not in slow}
        records = fast | self.first_run(slow, modules, most)
        for module in modules:
            own = {
                name: (seconds, set(reached[module.path]))
                for name, (seconds, reached) in records.items()
                if module.path in reached
            }
            if own:
                self.try_module(module, items, own, quick)
            else:
                print(f"{module.path}: no test reaches it", flush=True)
        return True

    def try_module(self, module, items, records, quick):
        baseline = self.done.setdefault("baseline", {}).setdefault(module.path, {})
        baseline.update((name, seconds) for name, (seconds, _) in records.items())
        rng = random.Random(f"{self.options.seed} {module.path}")

        def chosen(n):
            return rng.sample(range(n), min(n, self.options.sample or n))

        only = self.options.formulas
        for k, line, text, what, changed in mutants(
            module.file, not only, self.options.checks, chosen
        ):
            key = f"{module.path}:{line}:{k}{'f' * only}"
            before = self.done["mutants"].get(key)
            if before and not (before.get("quick") and not self.options.quick):
                continue
            lines = module.around.get(line, {line})
            inside = any(lines & reached for _, reached in records.values())
            tests = sorted(
                (not quick(name), seconds, name)
                for name, (seconds, reached) in records.items()
                if not inside or lines & reached
            )
            at_top = not inside and module.is_top(line)
            killers, untried = [], []
            if tests and (inside or at_top):
                taken = self.within(tests)
                killers, untried = self.killers(items, module, changed, taken, at_top)
                untried += [test[-1] for test in tests if test not in taken]
            if time.time() > self.options.until:
                break  # a test that was cut short has not failed
            found = {"what": what, "line": text, "killer": killers[0] if killers else None,
                     "tests": len(tests) * inside}  # fmt: skip
            if self.options.quick and not killers:
                found["quick"] = True
            if self.options.matrix:
                found |= {"killers": killers, "untried": sorted(set(map(_function, untried)))}
            self.done["mutants"][key] = found
            self.save()

    def within(self, tests):
        """The fastest tests of the quick suite and of the others, of --budget seconds each."""
        total, taken = collections.Counter(), []
        for other, seconds, name in tests:
            total[other] += seconds
            if total[other] <= self.options.budget or total[other] == seconds:
                taken.append((other, seconds, name))
        return taken

    def save(self):
        new = self.options.result.with_suffix(".new")
        new.write_text(json.dumps(self.done, indent=0), encoding="utf-8")
        new.replace(self.options.result)

    def first_run(self, items, modules, slowest):
        """{test: (seconds, {module: lines reached})} of tests that pass and are quick.

        Tests after --first seconds for each module, or half of a limit of time, are left out.
        """
        half = (time.time() + self.options.until) / 2
        most, spent = self.options.first * len(modules), 0.0

        def run(send):
            signal.signal(signal.SIGPROF, _too_long)
            started, reached = time.process_time(), {}
            for module in modules:
                lines = reached[module.path] = set()
                marked = Marks().visit(copy.deepcopy(module.tree))
                for function in itertools.chain(*module.functions.values()):
                    function.__globals__["__mark__"] = lines.add
                put(module.file, module.functions, marked)
            again = functions_of([module.file for module in modules])
            for module in modules:  # functions inside functions have other lines now
                marked = Marks().visit(copy.deepcopy(module.tree))
                put(module.file, again.get(module.file, {}), marked)
            for name, item in left.items():
                for lines in reached.values():
                    lines.clear()
                before = time.process_time()
                if time.time() > half or spent + before - started > most:
                    return
                send(f"> {name}")
                signal.setitimer(signal.ITIMER_PROF, slowest + 1)
                passed = _passes(item)
                signal.setitimer(signal.ITIMER_PROF, 0)
                seconds = time.process_time() - before
                inside = {path: sorted(lines) for path, lines in reached.items() if lines}
                send(json.dumps([name, seconds, passed, inside]))

        found, left, stuck = {}, dict(items), None
        for _ in range(6):  # a test that hangs is left out, but only a few
            lines, ended = _forked(run, self.limit(4 * self.options.slowest + 25))
            for line in lines:
                if line.startswith("> "):
                    stuck = line[2:]
                    continue
                name, seconds, passed, reached = json.loads(line)
                stuck = None
                left.pop(name)
                spent += seconds
                if passed and reached and seconds <= slowest:
                    found[name] = seconds, reached
            if ended or stuck is None:
                break
            left.pop(stuck, None)
        return found

    def limit(self, seconds):
        """Seconds to wait for a test, at most until the end of the run."""
        return min(seconds, max(1.0, self.options.until - time.time()))

    def killers(self, items, module, changed, tests, at_top):
        """The tests that fail with a changed tree, or only the first, and those not run."""
        matrix, found = self.options.matrix, []
        expected = {name: seconds for _, seconds, name in tests}
        names, longest = list(expected), max(expected.values())

        def run(send):
            compiled = put(module.file, module.functions, changed)
            if at_top:
                put_constants(module.file, compiled)
            for name in names:
                send(f"> {name}")
                # An endless loop ends the process, by its own time: others may slow it down.
                signal.setitimer(signal.ITIMER_PROF, 5 * expected[name] + 5)
                if not _passes(items[name]):
                    send(f"! {name}")
                    if not matrix:
                        break

        for _ in range(4 if matrix else 1):  # a test that hangs ends a run
            quiet = 5 * longest + 10 if matrix else 30 * longest + 30
            lines, ended = _forked(run, self.limit(quiet))
            found += [line[2:] for line in lines if line.startswith("! ")]
            if ended:
                return found, []
            if not lines:
                return ["not importable"], []
            stuck = lines[-1][2:]
            found += [stuck] * (stuck not in found)
            names = names[names.index(stuck) + 1 :]
        return found, names


def _too_long(number, frame):
    raise TimeoutError


def _passes(item):
    """Whether a test passes or is skipped, with warnings as errors; its reports are dropped."""
    # No public name of pytest runs a single test, or has its filters of warnings.
    from _pytest.runner import runtestprotocol
    from _pytest.warnings import catch_warnings_for_item

    with catch_warnings_for_item(item.config, item.ihook, when="runtest", item=item):
        reports = runtestprotocol(item, log=False, nextitem=None)
    return all(report.outcome != "failed" for report in reports)


def _forked(run, limit):
    """Lines that ``run(send)`` sent in a process of its own, and whether it finished.

    It is killed if no line arrives for ``limit`` seconds.
    """
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.setpgid(0, 0)
        os.close(read)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        code = 1
        with contextlib.suppress(BaseException):
            run(lambda line: os.write(write, f"{line}\n".encode()))
            code = 0
        os._exit(code)
    os.close(write)
    text, quiet = b"", False
    with os.fdopen(read, "rb", buffering=0) as pipe:
        while True:
            if not select.select([pipe], [], [], limit)[0]:
                quiet = True
                break
            part = pipe.read(1 << 16)
            if not part:
                break
            text += part
    if quiet:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)  # workers that a test left
    ended = not quiet and os.waitstatus_to_exitcode(status) == 0
    return text.decode().split("\n")[:-1], ended


class PlainImports:
    """A finder of modules whose compiled functions run as Python."""

    def __init__(self, plain):
        self.plain = plain

    def find_spec(self, name, path=None, target=None):
        if not name.startswith("alignlearn."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if not spec or not hasattr(spec.loader, "exec_module"):
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            from numba import config

            before = config.DISABLE_JIT
            config.DISABLE_JIT = name in self.plain
            try:
                run(module)
            finally:
                config.DISABLE_JIT = before

        spec.loader.exec_module = exec_module
        return spec


def some_modules(options, done):
    """Try the mutants of modules in this process."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import _imports

    plain = callers_of_compiled(options.modules[0], _imports)
    if any(name.startswith("alignlearn.engine.") for name in plain):
        os.environ["NUMBA_DISABLE_JIT"] = "1"  # before Numba is imported
    elif plain:
        sys.meta_path.insert(0, PlainImports(plain))
    import pytest

    import alignlearn

    if importlib.util.find_spec("alignlearn.theory") is None:
        alignlearn.__path__.append(str(ROOT))  # the theory is installed as a part of it
    quick, tests = in_quick(), list(options.tests)
    for path in options.modules if not tests else ():
        files = _imports.direct_tests(path, most=1000)
        tests += [
            file
            for k, file in enumerate(files)
            if quick(file) or (k < options.files and not options.quick)
        ]
    if not tests:
        print(f"{options.modules}: no test imports them", flush=True)
        return
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--capture=no",
             "--hypothesis-profile=unshrunk", *dict.fromkeys(tests)]  # fmt: skip
    pytest.main(words, plugins=[Trial(options.modules, options, done)])


def callers_of_compiled(path, graph):
    """Names of the modules with compiled functions that import a module which has some."""
    names = {
        name: file.read_text(encoding="utf-8")
        for name, file in graph.library().items()
        if name.startswith("alignlearn.")
    }
    compiled = {name for name, text in names.items() if "_jit import" in text}
    own = next(name for name, file in graph.library().items() if file == ROOT / path)
    found = {own} & compiled
    while new := {name for name in compiled - found if graph.imports(name) & found}:
        found |= new
    return found


def in_quick():
    """A function of a test's name: whether tests/quick.txt has it."""
    lines = (ROOT / "tests" / "quick.txt").read_text(encoding="utf-8").splitlines()
    out = {line[4:] for line in lines if line.startswith("not ")}
    files = {line for line in lines if line.startswith("tests/")}
    return lambda name: name.partition("::")[0] in files and name.partition("[")[0] not in out


def table(done):
    counts, quick = collections.defaultdict(lambda: [0] * 4), in_quick()
    seconds, tests, kills = (collections.Counter() for _ in range(3))
    for key, found in done["mutants"].items():
        killer = found["killer"]
        if killer is not None:
            kills[killer.partition("::")[0]] += 1
        alone = killer is None and not found["tests"]
        what = 1, killer is not None, alone, killer is not None and quick(killer)
        path = key.split(":")[0]
        counts[path] = [a + b for a, b in zip(counts[path], what)]
    print("| module | mutants | killed | reached by no test | first killed by the quick suite |")
    print("|---|---|---|---|---|")
    total = [sum(column) for column in zip(*counts.values())] or [0] * 4
    for name, row in (*sorted(counts.items()), (f"{len(counts)} modules", total)):
        print(f"| {name} | {' | '.join(map(str, row))} |")
    records = done.get("baseline", {}).values()
    for name, value in {k: v for record in records for k, v in record.items()}.items():
        seconds[name.partition("::")[0]] += value
        tests[name.partition("::")[0]] += 1
    print("\n| test file | lines | tests | seconds | mutants that it kills first |")
    print("|---|---|---|---|---|")
    for file, spent in seconds.most_common():
        lines = len((ROOT / file).read_text().splitlines()) if (ROOT / file).is_file() else 0
        print(f"| {file} | {lines} | {tests[file]} | {spent:.1f} | {kills[file]} |")


def print_alive(done):
    """Print the living mutants, with their reasons; return whether one has none."""
    lines = (ROOT / "scripts/lab/mutants.txt").read_text(encoding="utf-8").splitlines()
    reasons = [line.split(" => ") for line in lines if " => " in line]
    unexplained = 0
    for key, found in done["mutants"].items():
        if found["killer"] is None:
            place = f"{Path(key.split(':')[0]).stem}: {found['line']}"
            why = next((reason for part, reason in reasons if part in place), "")
            unexplained += not why
            print(f"{key}: {found['what']}: {found['line']}\n    {why or 'NOT EXPLAINED'}")
    print(f"{len(done['mutants'])} mutants, {unexplained} live without a reason")
    return unexplained > 0


def _function(name):
    return name.partition("[")[0]


def spare(done, files):
    """Print the test functions that can go one after the other, without a mutant that survives.

    A test that found a mutant alone stays, as do those that no run tried on some mutant of a module
    that they reach.
    """
    seconds, untried = collections.Counter(), set()
    for records in done["baseline"].values():
        for name, value in records.items():
            seconds[_function(name)] += value
    kills, left = collections.Counter(), []
    for found in done["mutants"].values():
        untried |= set(found.get("untried", ()))
        if found.get("killers"):
            left.append(set(map(_function, found["killers"])))
            kills.update(left[-1])
    for name in sorted(seconds, key=lambda name: (kills[name] > 0, -seconds[name])):
        asked = not files or name.partition("::")[0] in files
        if asked and name not in untried and all(found != {name} for found in left):
            print(f"{seconds[name]:7.2f} s {kills[name]:4} mutants  {name}")
            for found in left:
                found.discard(name)


def read_words(words):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("result", type=Path)
    parser.add_argument("--modules", nargs="*", default=[])
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=math.inf, help="of the run; no limit")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--matrix", action="store_true")
    parser.add_argument("--slowest", type=float, default=5.0)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds per mutant")
    parser.add_argument("--first", type=float, default=60.0, help="seconds of the first run")
    parser.add_argument("--files", type=int, default=10, help="most test files per module")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--formulas", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--alive", action="store_true")
    parser.add_argument("--spare", nargs="*", metavar="TEST FILE")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=math.inf, help=argparse.SUPPRESS)
    return parser.parse_args(words)


def main(words):
    options = read_words(words)
    done = {"mutants": {}, "baseline": {}, "not collected": {}}
    if options.result.is_file():
        done = json.loads(options.result.read_text(encoding="utf-8"))
    if options.table:
        table(done)
    elif options.alive:
        return int(print_alive(done))
    elif options.spare is not None:
        spare(done, options.spare)
    elif options.one:
        some_modules(options, done)
    else:
        run_modules(words, options, done)
    return 0


def run_modules(words, options, done):
    """Try the mutants of the modules in processes, --jobs at once.

    Modules with compiled code have a process each, since parts of it run as Python there.
    """
    modules = options.modules or sorted(
        str(path.relative_to(ROOT))
        for part in ("alignlearn", "theory")
        for path in (ROOT / part).rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py")
    )
    alone = [path for path in modules if "_jit import" in (ROOT / path).read_text("utf-8")]
    rest = [path for path in modules if path not in alone]
    groups = [rest[k :: options.jobs] for k in range(options.jobs)] + [[path] for path in alone]
    groups = [group for group in groups if group]
    given = [word for word in words if word not in (*options.modules, str(options.result))]
    end, lock = time.time() + options.seconds, threading.Lock()

    def run(group):
        part = options.result.with_name(f"{options.result.stem}.{group[0].replace('/', '.')}.json")
        with lock:
            part.write_text(json.dumps(_of_modules(done, group)), encoding="utf-8")
        env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
        command = [sys.executable, __file__, str(part.resolve()),
                   *(word for word in given if word != "--modules"),
                   "--one", "--until", str(end), "--modules", *group]  # fmt: skip
        log = _output_of(command, env, max(1.0, end + 20 - time.time()))
        with lock:
            now = json.loads(part.read_text(encoding="utf-8"))
            part.unlink()
            for kind, found in now.items():
                done.setdefault(kind, {}).update(found)
            options.result.write_text(json.dumps(done), encoding="utf-8")
        for path in group:
            found = [one for k, one in now["mutants"].items() if k.startswith(f"{path}:")]
            alive = sum(one["killer"] is None for one in found)
            print(f"{path}: {len(found)} mutants, {alive} alive", flush=True)
        for file in itertools.chain(*now["not collected"].values()):
            print(f"not collected: {file}", flush=True)
        if not now["mutants"]:
            print(log[-1200:], flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run, groups))


def _of_modules(done, paths):
    mutants = {k: v for k, v in done["mutants"].items() if k.partition(":")[0] in paths}
    baseline = {k: v for k, v in done.get("baseline", {}).items() if k in paths}
    return {"mutants": mutants, "baseline": baseline, "not collected": {}}


def _output_of(command, env, seconds):
    """What a command prints; it and what it started are killed after some seconds."""
    with subprocess.Popen(
        command, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            # subprocess fails with limits of some weeks.
            return process.communicate(timeout=seconds if seconds < 1e6 else None)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
