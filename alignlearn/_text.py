"""Strings of bounded length: lists of names, representations of objects, tables."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

MOST = 20  # names in a message, items of a list, rows of a table
_LONGEST = 2000  # characters of a representation
_WORD = 200  # of a single value in it
_NAME = 100  # of a name at the start of a line of a table


def listed(items, most=MOST, *, show=repr, separator=", "):
    """List the first ``most`` items, and the number of further ones.

    Parameters
    ----------
    items : sequence
    most : int, default 20
    show : callable, default repr
        Function from an item to its string.
    separator : str, default ", "
    """
    text = separator.join(show(item) for item in items[:most])
    return f"{text} and {len(items) - most} more" if len(items) > most else text


def short(value) -> str:
    """``repr`` with at most 2000 characters, unchanged for small objects.

    Long lists are shortened to their first items, arrays of more than 20 numbers to shape and
    dtype.
    """
    for most in (MOST, 5, 1):
        text = _text(value, most)
        if len(text) <= _LONGEST:
            break
    return cut(text, _LONGEST)


def cut(text, length=_WORD):
    """A string cut to ``length`` characters."""
    return text if len(text) <= length else f"{text[: length - 3]}..."


def _text(value, most):
    kind = type(value)
    if kind in (list, tuple, set, frozenset, dict):
        return _container(value, most)
    if isinstance(value, np.ndarray):
        return _array(value)
    if kind is str and len(value) > _WORD:
        return repr(value[: _WORD - 3]) + "..."
    text = repr(value)
    # Objects of `Described` limit their own length.
    return text if isinstance(value, Described) else cut(text, _LONGEST)


def _container(value, most):
    if isinstance(value, dict):
        shown = [f"{_text(k, most)}: {_text(v, most)}" for k, v in _first(value.items(), most)]
    else:
        shown = [_text(item, most) for item in _first(value, most)]
    if len(value) > len(shown):
        shown.append(f"... {len(value) - len(shown)} more")
    if isinstance(value, tuple):
        return f"({', '.join(shown)}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(shown)}]"
    if isinstance(value, dict) or value:
        inner = "{" + ", ".join(shown) + "}"
        return f"frozenset({inner})" if isinstance(value, frozenset) else inner
    return repr(value)


def _first(items, most):
    return [item for _, item in zip(range(most), items)]


def _array(value):
    if value.size <= MOST and value.dtype != object:
        return " ".join(repr(value).split())
    return f"<{' x '.join(map(str, value.shape))} {value.dtype}>"


class Described:
    """Mixin of dataclasses: ``repr`` on one line of bounded length, for any fields."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        # `dataclass` writes its own where the class itself has none.
        if "__repr__" not in vars(cls):
            cls.__repr__ = cls.__repr__

    def __repr__(self):
        shown = ((f.name, self._shown(f.name)) for f in fields(self) if f.repr)
        text = ", ".join(f"{name}={value}" for name, value in shown)
        return cut(f"{type(self).__qualname__}({text})", _LONGEST)

    def _shown(self, name):
        """The string of a field."""
        return short(getattr(self, name))


class Result(Described):
    """Mixin of results: ``print`` shows a table with one line per field by default."""

    def __str__(self):
        rows = [(f.name, _cell(getattr(self, f.name))) for f in fields(self) if f.repr]
        return table(rows, (type(self).__name__, ""), align="<<")


def _cell(value):
    """A value of a field in a table."""
    if isinstance(value, np.ndarray) and value.size > 5:
        size = " x ".join(map(str, value.shape))
        if value.dtype.kind in "iuf" and np.all(np.isfinite(value)):
            return f"{size}, from {value.min():.4g} to {value.max():.4g}"
        return f"{size} {value.dtype}"
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return f"{value:.6g}"
    return cut(short(value), 100)


def largest(sizes, most):
    """Numbers of the ``most`` largest sizes, in row order; of all sizes if there are no more."""
    if len(sizes) <= most:
        return np.arange(len(sizes))
    return np.sort(np.argsort(-sizes, kind="stable")[:most])


def table(rows, header, *, total=None, align=None, most=MOST, more="", below=()):
    """Lines of aligned columns, the first of names and the others of numbers.

    Parameters
    ----------
    rows : sequence of tuple of str
        The first ``most`` are shown.
    header : tuple of str
    total : int, optional
        Number of rows. Default: that of ``rows``.
    align : str, optional
        "<" or ">" for each column; default the first one to the left.
    most : int, default 20
    more : str, default ""
        A description of the rows that are not shown.
    below : sequence of tuple of str
        Rows after all others.
    """
    align = align or "<" + ">" * (len(header) - 1)
    total = len(rows) if total is None else total
    # A name has its own line, and numbers are in the next columns.
    shown = [(cut(row[0], _NAME), *row[1:]) for row in [*rows[:most], *below]]
    widths = [max(map(len, column)) for column in zip(header, *shown)]
    lines = [
        "  ".join(f"{cell:{a}{w}}" for cell, a, w in zip(row, align, widths)).rstrip()
        for row in (header, *shown)
    ]
    hidden = total - len(rows[:most])
    if hidden > 0:
        lines.insert(len(lines) - len(below), f"... and {hidden} more{more}")
    return "\n".join(lines)
