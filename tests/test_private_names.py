"""Private names of the library that tests import: each with its reason."""

import ast
import re
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


def found():
    for path in sorted(TESTS.rglob("*.py")):
        if PRIVATE_IMPORT.search(path.read_text(encoding="utf-8")):
            yield from imported(parsed(path))


def test_private_imports_have_a_reason():
    assert [
        f"{module}.{name}"
        for module, name in sorted(set(found()))
        if name not in NAMES and not {module, f"{module}.{name}"} & set(TESTED)
    ] == []


def test_an_import_is_found():
    code = "from alignlearn.a import _b\nfrom os import _exit\n"
    assert PRIVATE_IMPORT.search("from alignlearn.a import (\n    b,\n    _c,\n)")
    assert PRIVATE_IMPORT.search("from alignlearn.a._b import c")
    assert not PRIVATE_IMPORT.search("from alignlearn.a import b\nfrom os import _exit")
    assert list(imported(ast.parse(code))) == [("alignlearn.a", "_b")]
