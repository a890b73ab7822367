"""Members of a class page, bars in docstrings, and links from source to reference pages."""

from __future__ import annotations

import inspect
import re
from functools import cached_property
from importlib import import_module

# Methods of every string and number are not the library's.
_BUILT_IN = (object, str, int, dict, tuple, BaseException)


_BACK = re.compile(r"(?<=/generated/)(alignlearn[\w.]*)\.html#([\w.]+)")
_MARKS = re.compile(r"\||(?<=\w)_(?=[-+])")


def _found(fullname):
    module, _, name = fullname.rpartition(".")
    return getattr(import_module(module), name)


def _public(fullname):
    """(name, attribute, defining class) of a class, its own attributes first."""
    seen = set()
    for base in _found(fullname).__mro__:
        if base in _BUILT_IN:
            continue
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in seen:
                seen.add(name)
                yield name, value


def properties(fullname):
    """The properties of a class that have a docstring."""
    return sorted(name for name, value in _public(fullname) if _is_property(value))


def _is_property(value):
    return isinstance(value, (property, cached_property)) and bool(value.__doc__)


def public_methods(fullname):
    """The methods of a class."""
    cls = _found(fullname)
    found = (name for name, value in _public(fullname) if not _is_property(value))
    return sorted(name for name in found if _is_method(getattr(cls, name, None)))


def _is_method(value):
    return inspect.isfunction(value) or inspect.ismethod(value)


def _set(app):
    app.config.autosummary_context = {"properties": properties, "public_methods": public_methods}


def _reset(app):
    app.config.autosummary_context = {}


def escaped(lines):
    """Lines of a docstring in which the bars of |x| and the subscript of m_+ are no markup."""
    inside, block = None, None  # the indent of the text before a literal block; of a doctest
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if block is not None and not line.strip():
            block = None
        elif line.lstrip().startswith(">>>"):
            block = indent
        if inside is not None and line.strip() and indent <= inside:
            inside = None
        if inside is None and block is None:
            parts = re.split(r"(``.*?``|\\\|)", line)
            line = "".join(p if i % 2 else _MARKS.sub(r"\\\g<0>", p) for i, p in enumerate(parts))
            inside = indent if line.rstrip().endswith("::") else None
        yield line


def _escape(app, what, name, obj, options, lines):
    lines[:] = list(escaped(lines))


def with_back_links(body):
    """A page of source code whose links lead to the names that the reference pages have.

    For a module documented under two names, ``al.Kernel`` and ``al.hyper.X``, viewcode uses the
    first of them for every link.
    """

    def named(match):
        page, place = match.groups()
        rest = re.search(rf"\.{page.rpartition('.')[2]}((?:\.\w+)*)$", place)
        return f"{page}.html#{page}{rest[1]}" if rest else match[0]

    return _BACK.sub(named, body)


def _back_links(app, pagename, templatename, context, doctree):
    if pagename.startswith("_modules/") and "body" in context:
        context["body"] = with_back_links(context["body"])


def setup(app):
    """Called by Sphinx."""
    # Functions in the configuration cannot be pickled for the next build: they exist only while
    # autosummary (priority 500) writes its pages.
    app.connect("builder-inited", _set, priority=400)
    app.connect("builder-inited", _reset, priority=600)
    app.connect("autodoc-process-docstring", _escape, priority=900)
    app.connect("html-page-context", _back_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
