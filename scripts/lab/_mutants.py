"""Mutants for `mutate.py`: changes of a syntax tree, and of the functions of a module."""

import ast
import copy
import gc
import os
import sys
import types
from functools import cache
from pathlib import Path

SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
         ast.Pow: ast.Mult}  # fmt: skip
TURNED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
LOGIC = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
         ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip
ENDS = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum",
        "any": "all", "all": "any"}  # fmt: skip


def changes(node, logic=True):
    """Functions that change a node in place, with a description of the change.

    Without ``logic`` only formulas are changed: numbers, operators and order.
    """
    if isinstance(node, ast.BinOp) and type(node.op) in SWAPS:
        swap = SWAPS[type(node.op)]
        yield f"{type(node.op).__name__} -> {swap.__name__}", lambda n: setattr(n, "op", swap())
        if isinstance(node.op, (ast.Add, ast.Sub)):
            yield "right term left out", _left_only
            if isinstance(node.op, ast.Add):
                yield "left term left out", _right_only
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield f"{node.value} doubled", lambda n: setattr(n, "value", 2 * n.value or 1)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign dropped", lambda n: setattr(n, "op", ast.UAdd())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in TURNED | (LOGIC if logic else {}):
        turned = (TURNED | LOGIC)[type(node.ops[0])]
        yield (
            f"{type(node.ops[0]).__name__} -> {turned.__name__}",
            lambda n: n.ops.__setitem__(0, turned()),
        )
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", None))
        if name in ENDS and (logic or name not in ("any", "all")):
            yield (
                f"{name} -> {ENDS[name]}",
                lambda n: setattr(n.func, "id" if hasattr(n.func, "id") else "attr", ENDS[name]),
            )
    elif logic:
        yield from _changes_of_logic(node)


def _changes_of_logic(node):
    if isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield f"{type(node.op).__name__} -> {other.__name__}", lambda n: setattr(n, "op", other())
    elif isinstance(node, (ast.If, ast.IfExp)):
        yield "condition negated", lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    elif isinstance(node, ast.Constant) and type(node.value) is bool:
        yield f"not {node.value}", lambda n: setattr(n, "value", not n.value)


def _left_only(node):
    node.right, node.op = ast.Constant(0), ast.Add()


def _right_only(node):
    node.left = ast.Constant(0)


def places(tree, checks=False):
    """Nodes that may be changed: not in strings, annotations, and errors.

    Conditions of errors and checks of arguments are left out too, unless ``checks``.
    """

    def walk(node):
        if isinstance(node, (ast.Raise, ast.JoinedStr, ast.ImportFrom, ast.Import)):
            return
        name = getattr(getattr(node, "func", None), "id", "")
        if not checks and (name.lstrip("_").startswith("check") or _refuses(node)):
            return
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "defaults", "kw_defaults"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walk(child)

    return list(walk(tree))


def _refuses(node):
    """Whether a node is a condition under which an error is raised, and nothing else."""
    return isinstance(node, ast.If) and all(isinstance(part, ast.Raise) for part in node.body)


def mutants(path, logic=True, checks=False, chosen=None):
    """(number, line number, line, what was changed, tree) of each mutant of a source file.

    ``chosen`` shortens the list of their indices before their trees are made.
    """
    source = Path(path).read_text(encoding="utf-8")
    tree, lines = ast.parse(source), source.splitlines()
    before = compile(tree, "", "exec")
    nodes = places(tree, checks)
    each = [
        (i, j, text)
        for i, node in enumerate(nodes)
        for j, (text, _) in enumerate(changes(node, logic))
    ]
    for k in chosen(len(each)) if chosen else range(len(each)):
        i, j, text = each[k]
        changed = copy.deepcopy(tree)
        target = places(changed, checks)[i]
        list(changes(target, logic))[j][1](target)
        if compile(ast.fix_missing_locations(changed), "", "exec") == before:
            continue  # the same code
        yield k, nodes[i].lineno, lines[nodes[i].lineno - 1].strip(), text, changed


# Code in place of code


def functions_of(files):
    """{file: {(qualified name, first line): function objects}}, also of wrapped functions."""
    gc.unfreeze()  # conftest.py freezes all objects after the collection
    by_name, found = {os.path.realpath(file): file for file in files}, {}
    file_of = cache(lambda name: by_name.get(os.path.realpath(name)))
    for one in gc.get_objects():
        if isinstance(one, types.FunctionType) and (file := file_of(one.__code__.co_filename)):
            key = one.__code__.co_qualname, one.__code__.co_firstlineno
            found.setdefault(file, {}).setdefault(key, []).append(one)
    return found


def _codes(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def put(file, functions, tree):
    """Give the functions of a file the code of a tree, and constants of its modules new values."""
    compiled = compile(ast.fix_missing_locations(tree), str(file), "exec")
    for code in _codes(compiled):
        for function in functions.get((code.co_qualname, code.co_firstlineno), ()):
            if function.__code__ != code and function.__code__.co_freevars == code.co_freevars:
                function.__code__ = code
    return compiled


def put_constants(file, compiled):
    """Values of the module that a change at its top level alters, wherever they were imported."""
    files = ((m, getattr(m, "__file__", None)) for m in list(sys.modules.values()))
    real = os.path.realpath(file)
    module = next(m for m, name in files if name and os.path.realpath(name) == real)
    fresh = {k: v for k, v in vars(module).items() if k.startswith("__")}
    exec(compiled, fresh)
    for name, new in fresh.items():
        old = vars(module).get(name)
        plain = (int, float, tuple, list, dict, frozenset, set)
        if name.startswith("__") or not isinstance(old, plain) or repr(old) == repr(new):
            continue
        for other in list(sys.modules.values()):
            if getattr(other, "__dict__", {}).get(name) is old:
                setattr(other, name, new)


class Marks(ast.NodeTransformer):
    """A call before each statement of a function, which records that its line is reached."""

    def __init__(self):
        self.depth = 0

    def visit_FunctionDef(self, node):
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    def visit(self, node):
        node = super().visit(node)
        for field in ("body", "orelse", "finalbody"):
            lines = getattr(node, field, None)
            if isinstance(lines, list) and (self.depth or isinstance(node, ast.FunctionDef)):
                setattr(node, field, [new for one in lines for new in self.marked(one)])
        return node

    @staticmethod
    def marked(statement):
        docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not docstring and not isinstance(statement, (ast.Nonlocal, ast.Global)):
            mark = ast.parse(f"__mark__({statement.lineno})").body[0]
            for part in ast.walk(mark):
                ast.copy_location(part, statement)
            yield mark
        yield statement


def statement_lines(tree):
    """{line of any node: lines of the statements that begin there or around it}"""
    found = {}

    def walk(node, line):
        if isinstance(node, ast.stmt):
            line = node.lineno
        if hasattr(node, "lineno"):
            found.setdefault(node.lineno, set()).add(line)
        for child in ast.iter_child_nodes(node):
            walk(child, line)

    walk(tree, 0)
    return found
