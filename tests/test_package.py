"""The package as installed: its list of folders, the cost of importing it, its public names."""

import configparser
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import alignlearn

ROOT = Path(__file__).resolve().parents[1]


def test_package_list_equals_the_folders():
    """An unlisted subpackage works in an editable install and is missing from a wheel."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    listed = config["options"]["packages"].split()
    expected = []
    for top, prefix in (("alignlearn", ()), ("theory", ("alignlearn",))):
        folders = [path.parent for path in (ROOT / top).rglob("__init__.py")]
        expected += [".".join((*prefix, *folder.relative_to(ROOT).parts)) for folder in folders]
    assert sorted(listed) == sorted(expected)
    # A folder without an __init__.py would be importable in place and missing from the wheel too.
    modules = [path.parent for path in (ROOT / "theory").rglob("*.py")]
    assert all((folder / "__init__.py").exists() for folder in modules)


_PROBE = """
import json, sys
from numba.core import event

class Listener(event.Listener):
    compiled = []
    def on_start(self, e):
        self.compiled.append(str(e.data.get("dispatcher")))
    def on_end(self, e):
        pass

event.register("numba:compile", Listener())
import alignlearn
early = [name for name in WATCHED if name in sys.modules]
before = set(sys.modules)
import alignlearn.datasets
heavy = {"sklearn", "scipy.sparse", "urllib.request", "scipy.io", "http.client"}
assert not (set(sys.modules) - before) & heavy
import alignlearn.estimators
assert "alignlearn.theory" not in sys.modules
for name in alignlearn.__all__:
    getattr(alignlearn, name)
import alignlearn.sources
compiled, late = list(Listener.compiled), [name for name in WATCHED if name in sys.modules]
import numba
numba.njit(lambda x: x)(1)  # a compilation is seen
print(json.dumps({"early": early, "compiled": compiled, "late": late,
                  "seen": len(Listener.compiled) - len(compiled)}))
"""
_NEVER = ["matplotlib", "sklearn", "dask"]
_NOT_AT_ONCE = ["scipy.stats", "scipy.optimize", "urllib.request", "concurrent.futures.process"]


def test_import_compiles_nothing_and_stays_light():
    probe = _PROBE.replace("WATCHED", repr(_NEVER + _NOT_AT_ONCE))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", probe], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["early"] == []
    assert seen["compiled"] == []
    assert seen["seen"] > 0
    assert not set(seen["late"]) & set(_NEVER)


def test_public_names_resolve_whatever_was_imported_before():
    importlib.import_module("alignlearn.sources")
    for name in alignlearn.__all__:
        value = getattr(alignlearn, name)
        assert inspect.ismodule(value) == (name in ("datasets", "theory")), name
        assert name in dir(alignlearn)
        assert inspect.getdoc(value), name


def public_objects():
    """Public classes and functions, and the methods the classes define, of every module."""
    for info in pkgutil.walk_packages(alignlearn.__path__, "alignlearn."):
        if any(part.startswith("_") for part in info.name.split(".")[1:]):
            continue
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if name.startswith("_") or getattr(value, "__module__", None) != info.name:
                continue
            if inspect.isclass(value) or inspect.isfunction(value):
                yield f"{info.name}.{name}", value
            for method, function in vars(value).items() if inspect.isclass(value) else ():
                if not method.startswith("_") and inspect.isfunction(function):
                    yield f"{info.name}.{name}.{method}", getattr(value, method)


def test_public_functions_have_docstrings():
    # inspect.getdoc looks in base classes too: an override may inherit its docstring.
    assert [name for name, value in public_objects() if not inspect.getdoc(value)] == []


def test_errors_that_users_catch_are_at_the_top():
    raised = {
        value
        for _, value in public_objects()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert {"KernelRuleError", "HypothesisNotMet", "NotFittedError"} <= {e.__name__ for e in raised}
    of_theory = {e for e in raised if e.__module__.startswith("alignlearn.theory")}
    for error in raised - of_theory:
        assert error.__name__ in alignlearn.__all__
        assert getattr(alignlearn, error.__name__) is error


def test_version_is_that_of_the_metadata_and_of_the_citation():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    assert alignlearn.__version__ == config["metadata"]["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {alignlearn.__version__}\n" in citation
    released = re.search(r'^date-released: "(.*)"$', citation, re.MULTILINE)[1]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{alignlearn.__version__}] - {released}\n" in changes
