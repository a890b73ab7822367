"""No module imports itself: imports, including those inside functions, form no cycle."""

import ast
from pathlib import Path

from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from trees import parsed, statements

ROOT = Path(__file__).resolve().parents[1]


def sources():
    """Module name -> (whether it is a package, tree); theory/ is installed in alignlearn/."""
    found = {}
    for top, prefix in (("alignlearn", ()), ("theory", ("alignlearn",))):
        for path in (ROOT / top).rglob("*.py"):
            parts = (*prefix, *path.relative_to(ROOT).with_suffix("").parts)
            package = parts[-1] == "__init__"
            name = ".".join(parts[:-1] if package else parts)
            found[name] = package, parsed(path)
    return found


def imported(name, package, tree, known):
    """The modules among ``known`` that a module imports anywhere."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = name.split(".")[: len(name.split(".")) - node.level + package]
            base = ".".join([*(above if node.level else ()), *filter(None, [node.module])])
            # A module of a package, or a name in a module.
            for place in (f"{base}.{alias.name}" for alias in node.names):
                yield from (m for m in [place if place in known else base] if m in known)


def circles(modules):
    """Sets of modules each of which imports all others of its set, directly or not."""
    names = list(modules)
    number = {name: n for n, name in enumerate(names)}
    edges = [
        (number[name], number[other])
        for name, (package, tree) in modules.items()
        for other in imported(name, package, tree, number)
        if other != name
    ]
    rows, columns = zip(*edges)
    graph = csr_array(([1] * len(edges), (rows, columns)), shape=(len(names),) * 2)
    count, label = connected_components(graph, connection="strong")
    groups = [{n for n, k in zip(names, label) if k == g} for g in range(count)]
    return [group for group in groups if len(group) > 1]


def test_modules_import_each_other_in_no_circle():
    modules = sources()
    assert len(modules) > 100
    assert [sorted(circle) for circle in circles(modules)] == []


def test_circles_are_found_in_functions_packages_and_relative_imports():
    made = {
        "p": (True, "from .a import f"),
        "p.a": (False, "import numpy\ndef f():\n    from . import b"),
        "p.b": (False, "from p.c import g as h"),
        "p.c": (False, "import p.a"),
        "p.d": (False, "from p import f"),
        "p.q": (True, "from .e import z"),
        "p.q.e": (False, "from ..q import z"),
    }
    made = {name: (package, ast.parse(text)) for name, (package, text) in made.items()}
    assert sorted(map(sorted, circles(made))) == [["p.a", "p.b", "p.c"], ["p.q", "p.q.e"]]
