"""The examples of the docstrings: every public name has one, and each prints its stated output."""

import doctest
import importlib
import inspect
import sys
import warnings

import pytest

import alignlearn

# Packages of which users import every name; of the others those of `alignlearn.__all__` count.
PACKAGES = (
    "cca",
    "comparison",
    "datasets",
    "dependence",
    "estimators",
    "hyper",
    "inspection",
    "large",
    "machines",
    "multitask",
    "online",
    "persistence",
    "significance",
    "theory",
    "weights",
    "weights.one_stage",
)
WITHOUT = {
    "alignlearn.comparison.own_kernel_candidates": "its trial is made by `compare`",
}
NOT_RUN = {
    "alignlearn.warmup": "compiles everything; test_cold_start.py runs it",
}
NEEDS = {"alignlearn.CKARecorder": "torch"}


def public():
    """The names that users import, in their shortest form, without constants."""
    named = {f"alignlearn.{name}": getattr(alignlearn, name) for name in alignlearn.__all__}
    for package in PACKAGES:
        module = importlib.import_module(f"alignlearn.{package}")
        named |= {f"alignlearn.{package}.{name}": getattr(module, name) for name in module.__all__}
    shortest = {}
    for name, value in named.items():
        if inspect.isclass(value) or inspect.isroutine(value):
            shortest.setdefault(id(value), (name, value))
    return dict(shortest.values())


def documented():
    """Public names, and other objects with examples: modules, kernels, methods."""
    found = public()
    known = {id(value) for value in found.values()}
    for package in ("datasets", "kernels"):
        module = importlib.import_module(f"alignlearn.{package}")
        found[f"alignlearn.{package}"] = module
        for name in module.__all__:
            if id(value := getattr(module, name)) not in known:
                found[f"alignlearn.{package}.{name}"] = value
    return found


PUBLIC = public()
EXAMPLES = {
    name: test
    for name, value in documented().items()
    for test in doctest.DocTestFinder(recurse=False).find(value, name, globs={})
    if test.examples
}


def test_every_public_name_has_an_example():
    assert sorted(set(PUBLIC) - set(EXAMPLES)) == sorted(WITHOUT)
    assert set(NOT_RUN) | set(NEEDS) <= set(EXAMPLES)
    skipped = {
        name
        for name, test in EXAMPLES.items()
        if any(doctest.SKIP in example.options for example in test.examples)
    }
    assert skipped == set(NOT_RUN)


def run(test):
    """The failures of an example, as text; a warning is one."""
    lines = []
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner.run(test, out=lines.append)
    return "".join(lines)


@pytest.mark.parametrize("name", sorted(set(EXAMPLES) - set(NOT_RUN)))
def test_example_prints_what_it_says(name, monkeypatch, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.chdir(tmp_path)  # an example that writes a file writes there
    assert run(EXAMPLES[name]) == ""
    assert list(tmp_path.iterdir()) == []
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.mark.parametrize(
    "text", [">>> 1 + 1\n3\n", ">>> 1 / 0\n", ">>> import warnings\n>>> warnings.warn('doubt')\n"]
)
def test_an_example_that_fails_is_seen(text):
    test = doctest.DocTestParser().get_doctest(text, {}, "wrong", None, 0)
    assert "wrong" in run(test)
