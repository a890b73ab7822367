"""Private names of the library that tests import or replace: each with its reason."""

import ast
import re
from functools import cache
from pathlib import Path

from trees import parsed, statements

TESTS = Path(__file__).resolve().parent

# Modules that are tested themselves: foundations of all packages, and readers of files. Their users
# are too many, or too far from the fault, to test them indirectly.
TESTED = {
    "alignlearn._jit": "the decorators of compiled code",
    "alignlearn._lapack": "LAPACK without the lock of the interpreter",
    "alignlearn._limits": "limits of what is read, lowered so that small files exceed them",
    "alignlearn._pairs": "the limit of classes, raised to compare with matrices of all pairs",
    "alignlearn._params": "the mixin of all parameters",
    "alignlearn._progress": "printed lines, with intervals of no length",
    "alignlearn._text": "lists, representations and tables",
    "alignlearn._threads": "work on several threads, which helps, stops and waits",
    "alignlearn._versions": "versions of data, files and other packages",
    "alignlearn.datasets._data": "the digest of a data set that a download is compared with",
    "alignlearn.estimators._machines": "the limit of stored features, with small data",
    "alignlearn.datasets._dates": "forms of dates, each against the calendar",
    "alignlearn.datasets._download": "downloads, from a server of the test",
    "alignlearn.datasets._files": "readers of files",
    "alignlearn.datasets._parsers": "readers of archives",
    "alignlearn.datasets._raw": "the reader of files of the command line",
    "alignlearn.datasets._registry": "every registered data set",
    "alignlearn.datasets._table": "the reader of tables",
    "alignlearn.hyper._fit": "the base of the regressions, which is in no table of public classes",
    "alignlearn.hyper._pairs": "the system of all pairs, which an oracle solves in another way",
    "alignlearn.hyper._stages": "the path of kernels, compared with one fit for each",
    "alignlearn.persistence._files": "the format of files, against hostile ones",
    "alignlearn.persistence._registry": "every class that can be saved",
    "alignlearn.persistence._writing": "the format of files, against hostile ones",
}
# Single names of public modules.
NAMES = {
    "_by_fives": "a loop of the engine that must equal the plain one",
    "_by_pairs": "a loop of the engine that must equal the plain one",
    "_linear_products": "a shortcut that must equal the matrices of pairs",
    "ridge_leave_one_out": "the closed form, compared with refits",
}
# Sizes of blocks and of stored data, lowered so that few samples need several blocks; waiting
# times.
SIZES = {
    "_BLOCK", "_BLOCK_ENTRIES", "_BYTES", "_DENSE_LIMIT", "_DIAGONALS", "_DIVIDED", "_ENTRIES",
    "_EVERY", "_FLOPS", "_LEAST", "_LEAST_ROWS", "_LEAST_STORED", "_LOOK", "_MANY_MATRICES",
    "_MANY_VALUES", "_OFTEN", "_POLL", "_SMALL", "_STORED", "_VALUES", "_WAIT",
}  # fmt: skip
REPLACED = {
    "_GRACE": "a machine so busy that threads take long to end",
    "_CHEAP": "the exact method is chosen for few samples",
    "_FIT_STEPS": "iterations on few samples, where a factorization costs less",
    "_LEAST_STEPS": "the same",
    "_MAX_STEPS": "a solver that stops early has to say so",
    "_RENAMED": "no name of the library has been renamed so far",
    "_TERMS": "an expansion with more terms, which is exact to rounding",
    "_call": "a call of LAPACK that is slow, or counted",
    "_copy": "an interrupt at a certain place of a download",
    "_cuda": "a device that is not there",
    "_iterate": "the steps of a solver are counted",
    "_parsed": "a file that changes while it is read",
    "_solve": "a wrong solver, which the check must notice",
    "_wait": "a thread that fails",
    "_write": "a disk that is full",
    "__version__": "files of other versions",
    "_warmup": "parts that compile nothing",
}


# Much quicker than parsing: an import that may have a private name.
PRIVATE_IMPORT = re.compile(r"from alignlearn(?:[\w.]*\._|[\w.]* import (?:\([^)]*|.*)\b_\w)")


def is_private(dotted):
    return any(part.startswith("_") for part in dotted.split("."))


def imported(tree):
    """(module, name) of each import of a private name of the library."""
    for node in statements(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("alignlearn"):
            for alias in node.names:
                if is_private(f"{node.module}.{alias.name}"):
                    yield node.module, alias.name


def replaced(tree):
    """The private name in each call of ``monkeypatch.setattr``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "setattr":
            words = [arg.value for arg in node.args[:2] if isinstance(arg, ast.Constant)]
            for word in words[:1]:
                if isinstance(word, str) and is_private(word):
                    yield next(part for part in word.split(".") if part.startswith("_"))


@cache
def found():
    imports, patches = set(), set()
    for path in sorted(TESTS.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if PRIVATE_IMPORT.search(text):
            imports |= set(imported(parsed(path)))
        if "setattr(" in text:
            patches |= set(replaced(parsed(path)))
    return imports, patches


def test_private_names_have_a_reason():
    imports, patches = found()
    assert [
        f"{module}.{name}"
        for module, name in sorted(imports)
        if name not in NAMES and not {module, f"{module}.{name}"} & set(TESTED)
    ] == []
    assert sorted(patches - set(REPLACED) - SIZES) == []


def test_reasons_are_of_names_in_use():
    imports, patches = found()
    used = {name for _, name in imports} | {m for m, _ in imports} | {".".join(i) for i in imports}
    assert sorted((set(TESTED) | set(NAMES)) - used) == []
    assert sorted((set(REPLACED) | SIZES) - patches) == []


def test_an_import_and_a_patch_are_found():
    code = "from alignlearn.a import _b\nmonkeypatch.setattr('alignlearn.c._D', 1)\n"
    assert PRIVATE_IMPORT.search(code)
    assert PRIVATE_IMPORT.search("from alignlearn.a import (\n    b,\n    _c,\n)")
    assert PRIVATE_IMPORT.search("from alignlearn.a._b import c")
    assert not PRIVATE_IMPORT.search("from alignlearn.a import b\nfrom os import _exit")
    tree = ast.parse(code + "monkeypatch.setattr(module, '_E', 2)\nfrom os import _exit\n")
    assert list(imported(tree)) == [("alignlearn.a", "_b")]
    assert list(replaced(tree)) == ["_D", "_E"]
