"""The scripts: executable, sound shell, clear messages; and the arguments of .ci/run."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = [
    "scripts/demo",
    "scripts/docs",
    "scripts/release",
    "scripts/test",
    "scripts/test_gpu",
    "scripts/bench/peers",
    ".ci/run",
]

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not (ROOT / "scripts").is_dir(),
    reason="needs a POSIX shell and the source tree",
)


def run(command, **environment):
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=600)


def programs():
    """The commands, and every Python file in the folder that is a script."""
    modules = (ROOT / "scripts").glob("**/[!_]*.py")
    run = [path for path in modules if '__name__ == "__main__"' in path.read_text()]
    return [*COMMANDS, *(str(path.relative_to(ROOT)) for path in sorted(run))]


def test_commands_are_executable_and_sound():
    for name in programs():
        assert (ROOT / name).stat().st_mode & stat.S_IXUSR, name
        assert (ROOT / name).read_text().startswith("#!"), name
    for name in (*COMMANDS, "scripts/_env.sh"):
        done = run(["bash" if name.startswith(".ci") else "sh", "-n", str(ROOT / name)])
        assert (done.returncode, done.stderr) == (0, ""), name


@pytest.fixture
def tree(tmp_path):
    """A copy of the files that the scripts need; nothing is created in the real tree."""
    lists = ["tests/quick.txt", "tests/full.txt"]
    for name in [*COMMANDS, *lists, "scripts/_env.sh", "scripts/_imports.py", "setup.cfg"]:
        (tmp_path / "main" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "main" / name)
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "main")
    return tmp_path / "main"


def stub(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", ["demo", "docs", "release", "test", "test_gpu"])
def test_a_python_that_is_too_old_is_named(tree, tmp_path, name):
    old = stub(tmp_path / "old", '[ "$1" = -V ] && echo "Python 3.8.1" && exit 0; exit 1')
    done = run([str(tree / "scripts" / name)], PYTHON=old)
    assert done.returncode == 1
    assert "is Python 3.8.1; Python 3.10 or newer is needed" in done.stderr


def python_stub(tmp_path, pip=0):
    """A Python whose venv holds another stub that logs its arguments and imitates pip."""
    inner = tmp_path / "inner"
    stub(
        inner,
        f'printf "%s\\n" "$*" >>{tmp_path}/log; [ "$2" = pip ] && exit {pip}\n'
        'case "$*" in *"${FAILS-no command has this}"*) exit 1;; esac; exit 0',
    )
    return stub(
        tmp_path / "python",
        f'case "$1$2" in -mvenv) mkdir -p "$3/bin"; cp {inner} "$3/bin/python"; '
        f'cp {inner} "$3/bin/pytest"; cp {inner} "$3/bin/lint-imports";; -c*) echo stub;; esac',
    )


@pytest.fixture
def suite(tree, tmp_path):
    """``suite(*arguments, fails="")``: scripts/test with commands that only log their arguments.

    Those whose arguments contain ``fails`` fail. Returns the finished process and the logged lines.
    """
    for name in ("alignlearn", "theory"):
        (tree / name).mkdir()
    scratch = tmp_path / "scratch"
    scratch.mkdir()

    def start(*arguments, fails="no command has this"):
        log = tmp_path / "log"
        log.unlink(missing_ok=True)
        given = {"CI": "1", "NUMBA_CACHE_DIR": "", "TMPDIR": str(scratch), "FAILS": fails}
        command = [str(tree / "scripts" / "test"), *arguments]
        done = run(command, PYTHON=python_stub(tmp_path), **given)
        assert not list(scratch.iterdir())  # nothing is left behind
        lines = log.read_text().splitlines()
        return done, [line for line in lines if "pip install" not in line]

    return start


PARTS = {
    "ruff check": "ruff check",
    "ruff format": "format --check",
    "layers": "--config",
    "types": "-m mypy",
    "simulator tests": "-k cuda",
    "main suite": "--ignore-glob",
}


@pytest.mark.parametrize("fails", PARTS)
def test_every_part_runs_and_those_that_fail_are_named(suite, fails):
    done, log = suite(fails=PARTS[fails])
    assert [part for line, part in zip(log, PARTS) if PARTS[part] in line] == list(PARTS)
    assert len(log) == len(PARTS)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"test: failed: {fails}"


def listed(name):
    """What scripts/test makes of a list of tests."""
    lines = (ROOT / "tests" / name).read_text().splitlines()
    lines = [line.replace("not ", "--deselect=") for line in lines if line[0] != "#"]
    return [line.split()[0] for line in lines]


def test_lists_of_tests_name_what_is_there():
    for name in ("quick.txt", "full.txt"):
        assert listed(name)
        for entry in listed(name):
            file, *rest = entry.removeprefix("--deselect=").split("::")
            assert (ROOT / file).is_file(), entry
            assert all(f"def {part}(" in (ROOT / file).read_text() for part in rest), entry


def test_full_runs_also_what_checks_no_code_of_users(suite):
    _, log = suite()
    assert log[-1].count("--ignore=") == len(listed("full.txt"))
    assert all(f"--ignore={file}" in log[-1].split() for file in listed("full.txt"))
    done, log = suite("--full")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(log) == len(PARTS)
    assert "--ignore=" not in log[-1]


def test_quick_runs_its_list(suite):
    done, log = suite("--quick", "-x", fails="worksteal")
    assert done.stderr == "test: failed: quick tests\n"
    assert len(log) == 5
    assert log[-1].split()[-1] == "-x"
    assert set(listed("quick.txt")) < set(log[-1].split())


def test_changed_runs_what_the_imports_decide(suite, tmp_path):
    done, log = suite("--changed=some-base")
    assert (done.returncode, done.stderr) == (0, "")
    assert log[-1] == "scripts/_imports.py some-base"
    assert "No test is concerned" in done.stdout  # the stub prints no file
    done, _ = suite("--changed", fails="_imports")
    assert done.stderr == "test: failed: tests of the change\n"


@pytest.fixture
def of(script):
    """``of(file, ...)``: the names of the test files that depend on these."""
    module = script("_imports")
    return lambda *files: {Path(file).name for file in module.concerned(files)}


def test_imports_lead_to_the_tests_of_a_file(of):
    found = of("alignlearn/cca/kernel_cca.py")
    assert {"test_kernel_cca.py", "test_sklearn_checks.py", "test_package.py"} <= found
    assert not {"test_nnqp.py", "test_multitask_weights.py", "test_machines.py"} & found
    # Through two packages that re-export names, and through imports of others.
    assert {"test_nnqp.py", "test_two_stage.py", "test_tuned.py"} <= of(
        "alignlearn/solvers/nnqp.py"
    )
    assert "test_sparse.py" in of("tests/oracle.py")
    assert of("tests/validation/test_arguments.py") == {"test_arguments.py"}
    assert "test_bench_peers.py" in of("scripts/bench/bench_peers.py")
    assert "test_bench_run.py" in of("scripts/bench/rows/hyper.py")
    assert of("LICENSE") == set()
    assert len(of("tests/conftest.py")) == len(list((ROOT / "tests").rglob("test_*.py")))


def test_a_mutant_is_one_change(script, tmp_path):
    mutate = script("lab/mutate")
    source = "def f(x):\n    if x < 0:\n        raise ValueError(1)\n    return x + 2 * max(x, 1)\n"
    (tmp_path / "code.py").write_text(source)
    found = []
    for _, _, _, what, tree in mutate.mutants(tmp_path / "code.py"):
        space = {}
        exec(compile(tree, "", "exec"), space)
        found.append((what, space["f"](3)))
    assert found == [
        ("Add -> Sub", -3), ("right term left out", 3), ("left term left out", 6),
        ("Mult -> Div", 3 + 2 / 3), ("2 doubled", 15), ("max -> min", 5), ("1 doubled", 9),
    ]  # fmt: skip
    assert len(list(mutate.mutants(tmp_path / "code.py", checks=True))) > len(found)


def test_spare_tests_leave_every_mutant_a_test_that_finds_it(script, capsys):
    mutate = script("lab/mutate")
    found = [["t.py::a[1]", "t.py::b"], ["t.py::b", "t.py::a"], ["t.py::c"], []]
    mutants = {
        str(i): {"killers": killers, "untried": ["t.py::d"]} for i, killers in enumerate(found)
    }
    seconds = {"t.py::a[1]": 1.0, "t.py::b": 3.0, "t.py::c": 9.0, "t.py::d": 9.0, "t.py::e": 0.5}
    mutate.spare({"mutants": mutants, "baseline": {"m.py": seconds}}, [])
    printed = capsys.readouterr().out
    assert [line.split("::")[1] for line in printed.splitlines()] == ["e", "b"]
