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
for each test its processor time and the lines of the module that it reaches. A mutant is tried with
the tests that reach its line, the fastest first, until one fails, each mutant in a forked process.
Tests that take longer than --slowest seconds are left out, and those of one mutant take at most
--budget seconds. Compiled loops run as Python in modules that have some.

Objects that are imported or computed during the collection of tests do not change, so a mutant that
only they would notice counts as alive. RESULT.json keeps every tried mutant; the same command
resumes there. --jobs modules run at once, each job with compiled code of its own; --seconds is the
limit of the whole run, which modules share. --matrix goes on after a test has failed, and records
all tests that find a mutant and those that --budget left out.

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
import importlib.util
import json
import os
import random
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from _mutants import Marks, functions_of, mutants, put, put_constants, statement_lines

ROOT = Path(__file__).resolve().parents[2]


class Trial:
    """The plugin that tries the mutants in place of running the tests."""

    def __init__(self, path, options, done):
        self.path, self.options, self.done = path, options, done
        self.file = ROOT / path

    def pytest_collectreport(self, report):
        if not report.passed:
            self.done.setdefault("not collected", {}).setdefault(self.path, []).append(
                report.nodeid
            )

    def pytest_runtestloop(self, session):
        tree = ast.parse(self.file.read_text(encoding="utf-8"))
        functions = functions_of(self.file)
        if not functions:
            print(f"{self.path}: no test imports it", flush=True)
            return True
        items = {item.nodeid: item for item in session.items}
        compiled = 1 if os.environ.get("NUMBA_DISABLE_JIT") else 6
        records = self.first_run(items, functions, tree, compiled * self.options.slowest)
        # Of what took long, the code is compiled now.
        slow = {name: items[name] for name, (seconds, _) in records.items() if seconds > 0.5}
        quick = {name: record for name, record in records.items() if name not in slow}
        records = quick | self.first_run(slow, functions, tree, self.options.slowest)
        self.done.setdefault("baseline", {})[self.path] = {
            name: seconds for name, (seconds, _) in records.items()
        }
        around = statement_lines(tree)
        rng = random.Random(f"{self.options.seed} {self.path}")

        def chosen(n):
            return rng.sample(range(n), min(n, self.options.sample or n))

        only = self.options.formulas
        for k, line, text, what, changed in mutants(
            self.file, not only, self.options.checks, chosen
        ):
            key = f"{self.path}:{line}:{k}{'f' * only}"
            if key in self.done["mutants"]:
                continue
            lines = around.get(line, {line})
            inside = any(lines & reached for _, reached in records.values())
            tests = sorted(
                (seconds, name)
                for name, (seconds, reached) in records.items()
                if not inside or lines & reached
            )
            at_top = not inside and self.is_top(tree, line)
            killers, untried = [], []
            if tests and (inside or at_top):
                taken = self.within(tests)
                killers, untried = self.killers(items, functions, changed, taken, at_top)
                untried += [name for _, name in tests[len(taken) :]]
            if time.time() > self.options.until:
                break  # a test that was cut short has not failed
            found = {"what": what, "line": text, "killer": killers[0] if killers else None,
                     "tests": len(tests) * inside}  # fmt: skip
            if self.options.matrix:
                found |= {"killers": killers, "untried": sorted(set(map(_function, untried)))}
            self.done["mutants"][key] = found
            self.save()
        return True

    def within(self, tests):
        """The quickest tests, of --budget seconds together."""
        total, taken = 0.0, []
        for seconds, name in tests:
            total += seconds
            if taken and total > self.options.budget:
                break
            taken.append((seconds, name))
        return taken

    @staticmethod
    def is_top(tree, line):
        """Whether a line belongs to a module's or class's own statements, outside of functions."""
        return not any(
            isinstance(node, ast.FunctionDef) and node.lineno <= line <= node.end_lineno
            for node in ast.walk(tree)
        )

    def save(self):
        new = self.options.result.with_suffix(".new")
        new.write_text(json.dumps(self.done, indent=0), encoding="utf-8")
        new.replace(self.options.result)

    def first_run(self, items, functions, tree, slowest):
        """{test: (seconds, lines reached)} of tests that pass, are quick and reach the module.

        With a limit of time, half of it is for these runs; later tests are left out.
        """
        half = (time.time() + self.options.until) / 2

        def run(send):
            signal.signal(signal.SIGALRM, _too_long)
            reached = set()
            marked = Marks().visit(copy.deepcopy(tree))
            for found in functions.values():
                for function in found:
                    function.__globals__["__mark__"] = reached.add
            put(self.file, functions, marked)
            put(self.file, functions_of(self.file), marked)
            for name, item in left.items():
                reached.clear()
                before = time.process_time()
                if time.time() > half:
                    return
                send(f"> {name}")
                signal.alarm(int(slowest) + 1)
                passed = _passes(item)
                signal.alarm(0)
                seconds = time.process_time() - before
                send(json.dumps([name, seconds, passed, sorted(reached)]))

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
                if passed and reached and seconds <= slowest:
                    found[name] = seconds, set(reached)
            if ended or stuck is None:
                break
            left.pop(stuck, None)
        return found

    def limit(self, seconds):
        """Seconds to wait for a test, at most until the end of the run."""
        return min(seconds, max(1.0, self.options.until - time.time()))

    def killers(self, items, functions, changed, tests, at_top):
        """The tests that fail with a changed tree, or only the first, and those not run."""
        matrix, names, found = self.options.matrix, [name for _, name in tests], []
        longest = max(seconds for seconds, _ in tests)

        def run(send):
            compiled = put(self.file, functions, changed)
            if at_top:
                put_constants(self.file, compiled)
            for name in names:
                send(f"> {name}")
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


def one_module(options, done):
    import pytest

    import alignlearn

    if importlib.util.find_spec("alignlearn.theory") is None:
        alignlearn.__path__.append(str(ROOT))  # the theory is installed as a part of it
    path = options.modules[0]
    if not options.tests:
        sys.path.insert(0, str(ROOT / "scripts"))
        import _imports

        options.tests = _imports.direct_tests(path, most=options.files)
    if not options.tests:
        print(f"{path}: no test imports it", flush=True)
        return
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--capture=no",
             "--hypothesis-profile=unshrunk", *options.tests]  # fmt: skip
    pytest.main(words, plugins=[Trial(path, options, done)])


def is_compiled(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    return "_jit import" in text


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
    parser.add_argument("--seconds", type=float, default=1e9, help="time limit of the run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--matrix", action="store_true")
    parser.add_argument("--slowest", type=float, default=5.0)
    parser.add_argument("--budget", type=float, default=10.0, help="seconds per mutant")
    parser.add_argument("--files", type=int, default=10, help="most test files per module")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--formulas", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--alive", action="store_true")
    parser.add_argument("--spare", nargs="*", metavar="TEST FILE")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=1e12, help=argparse.SUPPRESS)
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
        one_module(options, done)
    else:
        run_modules(words, options, done)
    return 0


def run_modules(words, options, done):
    """Try the mutants of each module in a process of its own, --jobs at once."""
    modules = options.modules or sorted(
        str(path.relative_to(ROOT))
        for part in ("alignlearn", "theory")
        for path in (ROOT / part).rglob("*.py")
        if path.name not in ("__init__.py", "__main__.py")
    )
    rest = [word for word in words if word not in (*options.modules, str(options.result))]
    end, left, slots = time.time() + options.seconds, len(modules), list(range(options.jobs))
    lock = threading.Lock()

    def run(path):
        nonlocal left
        part = options.result.with_name(f"{options.result.stem}.{path.replace('/', '.')}.json")
        with lock:
            slot, now = slots.pop(), time.time()
            until = min(end, now + (end - now) * options.jobs / left)
            left -= 1
            part.write_text(json.dumps(_of_module(done, path)), encoding="utf-8")
        if until - now < 5:
            log = "no time left"
        else:
            env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
            if is_compiled(path):
                env["NUMBA_DISABLE_JIT"] = "1"
            if options.jobs > 1:
                env["NUMBA_CACHE_DIR"] = f"{compiled}/{slot}"
            command = [sys.executable, __file__, str(part.resolve()),
                       *(word for word in rest if word != "--modules"),
                       "--one", "--until", str(until), "--modules", path]  # fmt: skip
            log = _output_of(command, env, until + 20 - now)
        with lock:
            slots.append(slot)
            now = json.loads(part.read_text(encoding="utf-8"))
            part.unlink()
            for kind, found in now.items():
                done.setdefault(kind, {}).update(found)
            options.result.write_text(json.dumps(done), encoding="utf-8")
        alive = sum(found["killer"] is None for found in now["mutants"].values())
        lost = "".join(f", not collected: {file}" for file in now["not collected"].get(path, []))
        print(f"{path}: {len(now['mutants'])} mutants, {alive} alive{lost}", flush=True)
        if not now["mutants"]:
            print(log[-1200:], flush=True)

    with tempfile.TemporaryDirectory() as compiled, ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(run, modules))


def _of_module(done, path):
    mutants = {k: v for k, v in done["mutants"].items() if k.startswith(f"{path}:")}
    baseline = {k: v for k, v in done.get("baseline", {}).items() if k == path}
    return {"mutants": mutants, "baseline": baseline, "not collected": {}}


def _output_of(command, env, seconds):
    """What a command prints; it and what it started are killed after some seconds."""
    with subprocess.Popen(
        command, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        try:
            return process.communicate(timeout=min(seconds, 1e7))[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
