#!/usr/bin/env python3
"""Find the tests that a change affects, by the imports of their files.

    scripts/_imports.py [BASE]            of what changed since BASE, a commit or branch
    scripts/_imports.py --of FILE ...     the tests of these files

Sources are read and not run. A name is followed to the module that defines it, through packages
that only re-export it: `al.KernelCCA` leads to `alignlearn/cca/kernel_cca.py` and its imports, not
to the whole library. Tests that look up names at run time, and those of the whole tree (its style,
its layers, its examples), are always printed.
"""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WHOLE = re.compile(r"__all__|walk_packages|iter_modules|getattr\((?:al|alignlearn),|__path__")
# Tested without being imported: the start of a changed path, and its tests.
OTHER = {
    "docs/": ("test_docs", "test_docs_site", "test_style", "test_readme"),
    "paper/": ("test_docs", "test_style"),
    "README.md": ("test_readme", "test_style", "test_docs"),
    "CHANGELOG.md": ("test_docs", "test_style", "test_release"),
    "scripts/": ("test_scripts", "test_release", "test_docs", "test_reproduce"),
    "scripts/bench/rows/": ("test_bench_run",),
    ".ci/": ("test_scripts",),
    ".github/": ("test_release",),
    "tests/quick.txt": ("test_scripts",),
    "tests/full.txt": ("test_scripts",),
    "setup.cfg": ("test_package", "test_release", "test_scripts"),
    "pyproject.toml": ("test_package", "test_release"),
    "recipe/": ("test_release",),
    "constraints": ("test_release",),
    "CITATION.cff": ("test_release",),
    "theory/": ("test_machine_checked", "test_theory_page"),
}


def library():
    """{dotted name: file} of the library, of scripts and of test modules that tests import."""
    found = {}
    for path in (ROOT / "alignlearn").rglob("*.py"):
        found[_dotted(path.relative_to(ROOT))] = path
    for path in (ROOT / "theory").rglob("*.py"):
        found["alignlearn." + _dotted(path.relative_to(ROOT))] = path
    for part in ("scripts", "tests"):
        for path in (ROOT / part).rglob("*.py"):
            found.setdefault(path.stem, path)
    return found


def _dotted(path):
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _modules():
    return library()


@cache
def _late_names():
    """{name: module} that `alignlearn` loads on first use; its file does not import the rest."""
    space = {"__name__": "alignlearn"}
    exec(compile(_modules()["alignlearn"].read_text(encoding="utf-8"), "", "exec"), space)
    return {name: f"alignlearn.{module}" for name, module in space["_NAMES"].items()}


def _absolute(name, node):
    """The module of `from ... import`, as seen from the module of this name."""
    if not node.level:
        return node.module
    is_package = _modules()[name].name == "__init__.py"
    parts = name.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, *([node.module] if node.module else [])])


@cache
def _handed_on(package):
    """{name: (module, name there)} of the imports of a package's file."""
    return {
        alias.asname or alias.name: (_absolute(package, node), alias.name)
        for node in _nodes(package)[0]
        for alias in node.names
    }


@cache
def _nodes(name):
    """The nodes of a module's tree that refer to modules: imports, attributes, strings."""
    tree = ast.parse(_modules()[name].read_text(encoding="utf-8"))
    kinds = ast.ImportFrom, ast.Import, ast.Attribute, ast.Constant
    found, left = {kind: [] for kind in kinds}, [tree]
    while left:
        node = left.pop()
        if type(node) in found:
            found[type(node)].append(node)
        for field in node._fields:
            value = getattr(node, field)
            if isinstance(value, ast.AST):
                left.append(value)
            elif isinstance(value, list):
                left += [part for part in value if isinstance(part, ast.AST)]
    strings = [node.value for node in found[ast.Constant] if isinstance(node.value, str)]
    return found[ast.ImportFrom], found[ast.Import], found[ast.Attribute], strings


@cache
def _defined_in(package, attribute):
    """The module that defines an attribute of a module."""
    if f"{package}.{attribute}" in _modules():
        return f"{package}.{attribute}"
    if package == "alignlearn" and attribute in _late_names():
        return _defined_in(_late_names()[attribute], attribute)
    if package in _modules() and _modules()[package].name == "__init__.py":
        source, name = _handed_on(package).get(attribute, (package, attribute))
        return package if source == package else _defined_in(source, name)
    return package


@cache
def imports(name):
    """The modules of the library that a module refers to."""
    found, bound = set(), {}
    from_nodes, import_nodes, attributes, strings = _nodes(name)
    for node in from_nodes:
        source = _absolute(name, node)
        for alias in node.names:
            module = _defined_in(source, alias.name)
            found.add(module)
            if module == f"{source}.{alias.name}":
                bound[alias.asname or alias.name] = module
    for node in import_nodes:
        for alias in node.names:
            first = alias.name.split(".")[0]
            bound[alias.asname or first] = alias.name if alias.asname else first
            if alias.name != "alignlearn":
                found.add(alias.name)
    if _modules()[name].is_relative_to(ROOT / "tests"):
        for text in strings:
            for dotted in re.findall(r"\balignlearn(?:\.\w+)+", text):
                found.add(_of_dotted(dotted))
            if re.fullmatch(r"\w+(/\w+)+", text):
                found.add(text.rpartition("/")[2])  # a script
    for node in attributes:
        parts = [node.attr]
        while isinstance(node := node.value, ast.Attribute):
            parts.append(node.attr)
        if isinstance(node, ast.Name) and node.id in bound:
            found.add(_of_dotted(".".join([bound[node.id], *reversed(parts)])))
    return (found & set(_modules())) - {name}


@cache
def _of_dotted(dotted):
    """The module that defines the name at the end of a dotted name."""
    package, *rest = dotted.split(".")
    for attribute in rest:
        further = _defined_in(package, attribute)
        if further == package:
            break
        package = further
    return package


@cache
def reached(name):
    """All modules that a module depends on, including itself."""
    found, left = {name}, [name]
    while left:
        module = left.pop()
        # A package re-exports names: whoever needs one of them refers to its module.
        if module != name and _modules()[module].name == "__init__.py":
            continue
        new = imports(module) - found
        found |= new
        left += new
    return found


def test_files():
    return sorted(path for path in (ROOT / "tests").rglob("test_*.py"))


@cache
def _folder_helpers(path):
    """The conftest files of a test's folders, which it does not import."""
    files = [folder / "conftest.py" for folder in path.parents if folder.is_relative_to(ROOT)]
    return {str(file.relative_to(ROOT)) for file in files if file.is_file()}


def concerned(changed):
    """Test files that changed paths (relative to the root) affect, and those of the whole tree."""
    names = {str(path.relative_to(ROOT)): name for name, path in _modules().items()}
    touched = {names[path] for path in changed if path in names}
    more = {stem for path in changed for start, stems in OTHER.items() if path.startswith(start)
            for stem in stems}  # fmt: skip
    in_library = any(path.startswith(("alignlearn/", "theory/")) for path in changed)
    found = []
    for path in test_files():
        name = path.stem
        whole = in_library and WHOLE.search(path.read_text(encoding="utf-8"))
        behind = {*_folder_helpers(path)} & set(changed)
        if whole or behind or name in more or touched & reached(name):
            found.append(str(path.relative_to(ROOT)))
    return found


def direct_tests(changed, enough=6, most=10):
    """The few test files nearest to a module: by imports, then by their names."""
    target = next(name for name, path in _modules().items() if path == ROOT / changed)
    folder, stem = Path(changed).parent.parts[1:], Path(changed).stem.strip("_")
    level, known, found = {target}, {target}, []
    importers = {name: imports(name) for name in _modules()}
    for _ in range(3):
        level = {name for name, found in importers.items() if found & level} - known
        known |= level
        paths = [_modules()[name] for name in level]
        tests = [p for p in paths if p.name.startswith("test_")]

        def near(path):
            own = path.relative_to(ROOT / "tests").parent.parts == folder
            return stem not in path.stem, not own, path.name

        found += sorted(tests, key=near)
        if len(found) >= enough:
            break
    return [str(path.relative_to(ROOT)) for path in found[:most]]


def changed_files(base):
    def lines(*words):
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"git {' '.join(words)} failed: {done.stderr.strip()}")
        return done.stdout.splitlines()

    if base is None:
        for base in ("main", "origin/main", "master", "HEAD"):
            command = ["git", "rev-parse", "-q", "--verify", base]
            if not subprocess.run(command, cwd=ROOT, capture_output=True).returncode:
                break
    start = lines("merge-base", base, "HEAD")[0]
    return lines("diff", "--name-only", start) + lines("ls-files", "-o", "--exclude-standard")


def main(words):
    of = words[:1] == ["--of"]
    changed = words[1:] if of else changed_files(words[0] if words else None)
    print("\n".join(concerned(changed)))


if __name__ == "__main__":
    main(sys.argv[1:])
