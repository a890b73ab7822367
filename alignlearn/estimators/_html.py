"""HTML of an estimator for notebooks: its parameters, and the weights of its kernels as bars.

The HTML has no scripts, links or images. It uses the colors of the page, or colors that are
readable on light and dark pages. Parameters may be arbitrary objects: those that cannot be shown
are marked, and long strings are cut.
"""

from __future__ import annotations

from html import escape

import numpy as np

from alignlearn._text import MOST, largest

from .kernel_groups import named_groups

_VALUE, _NAME = 200, 80  # characters of a parameter's value; of a name
_STYLE = """\
.alignlearn-box {font-family: sans-serif; font-size: 13px; line-height: 1.5; color: inherit;
  border: 1px solid rgba(128, 128, 128, .5); border-radius: 4px; padding: 6px 10px;
  display: inline-block; max-width: 100%; overflow-x: auto; box-sizing: border-box;}
.alignlearn-box .alignlearn-title {font-weight: bold;}
.alignlearn-box .alignlearn-faint {opacity: .7; font-weight: normal;}
.alignlearn-box table.alignlearn-table {border-collapse: collapse; border: 0; margin: 2px 0 6px;
  width: auto; table-layout: auto; color: inherit; background: none;}
.alignlearn-box table.alignlearn-table tbody tr {background: none;}
.alignlearn-box .alignlearn-table td {border: 0; padding: 0 10px 0 0; text-align: left;
  vertical-align: top; font-family: monospace; font-size: 12px; white-space: nowrap;
  color: inherit;}
.alignlearn-box .alignlearn-table td.alignlearn-value {white-space: normal;
  overflow-wrap: anywhere;}
.alignlearn-box .alignlearn-table td.alignlearn-number {text-align: right;}
.alignlearn-box .alignlearn-changed td {font-weight: bold;}
.alignlearn-box .alignlearn-track {display: inline-block; width: 120px; height: 9px;
  background: rgba(128, 128, 128, .2);}
.alignlearn-box .alignlearn-bar {display: block; height: 9px; background: #3b82c4;}
.alignlearn-box .alignlearn-minus {background: #d9702b;}
.alignlearn-box summary {cursor: pointer;}
"""


def estimator_html(estimator):
    """The HTML of an estimator, of bounded length; for any parameters."""
    fitted = _tried(estimator.__sklearn_is_fitted__, False)
    state = "fitted" if fitted else "not fitted"
    title = f"{_text(type(estimator).__name__)} <span class='alignlearn-faint'>{state}</span>"
    parts = [f"<div class='alignlearn-title'>{title}</div>", _parameters(estimator)]
    if fitted:
        parts.append(_tried(lambda: _weights(estimator), ""))
    return f"<style>{_STYLE}</style><div class='alignlearn-box'>{''.join(parts)}</div>"


def _tried(function, otherwise):
    """The result of a function, or a substitute if it fails, because it may run foreign code."""
    try:
        return function()
    except Exception:
        return otherwise


def _text(value, most=_NAME):
    """A string, escaped and cut to a maximum length; characters that cannot be encoded become ?."""
    text = str(value)
    text = text if len(text) <= most else f"{text[: most - 3]}..."
    return escape(text.encode("utf-8", "replace").decode("utf-8"))


# Parameters


def _parameters(estimator):
    rows, n_changed = [], 0
    for name, parameter in estimator._parameters().items():
        value, changed = _described(estimator, name, parameter.default)
        value = f"<td class='alignlearn-value'>{value}</td>"
        kind, mark = (" class='alignlearn-changed'", "*") if changed else ("", "")
        rows.append(f"<tr{kind}><td>{mark}</td><td>{_text(name)}</td>{value}</tr>")
        n_changed += changed
    head = f"parameters <span class='alignlearn-faint'>{n_changed} of {len(rows)} changed *</span>"
    opened = " open" if n_changed else ""
    return f"<details{opened}><summary>{head}</summary>{_table(rows)}</details>"


def _described(estimator, name, default):
    """The HTML of a parameter's value, and whether it differs from the default."""
    try:
        text, changed = estimator._described(name, default)
        return _text(text, _VALUE), changed
    except Exception as error:
        unset = isinstance(error, AttributeError) and name not in vars(estimator)
        why = "not set" if unset else f"cannot be shown: {type(error).__name__}"
        return f"<span class='alignlearn-faint'>{_text(why)}</span>", True


def _table(rows):
    return f"<table class='alignlearn-table'><tbody>{''.join(rows)}</tbody></table>"


# Weights


def _weights(estimator):
    """Bars of the largest kernel weights, in the order of the kernels; "" without weights."""
    if len(estimator._members) > 1:
        parts = (f"<div>{_text(m.name)}</div>{_weights(m.model)}" for m in estimator._members)
        return "".join(parts)
    if not hasattr(estimator, "kernels_"):
        return ""
    weights, of = estimator._kernel_weights()
    kernels = _bars(weights, lambda k: _kernel_name(estimator, k))
    groups = _tried(lambda: named_groups(estimator), None)
    if groups is None:
        return f"<div>weights of the kernels{of}</div>{kernels}"
    sums = np.array([weights[index].sum() for index in groups[1]])
    tables = _bars(sums, lambda k: _text(groups[0][k]))
    return (
        f"<div>sums of weights{of}</div>{tables}"
        f"<details><summary>weights of the kernels</summary>{kernels}</details>"
    )


def _bars(weights, name):
    """A table of the largest weights, with names by number."""
    size = np.where(np.isfinite(weights), np.abs(weights), 0.0)
    most = size.max(initial=0.0)
    rows = [_bar(name(k), weights[k], size[k] / most if most else 0.0) for k in largest(size, MOST)]
    if weights.size > MOST:
        rows.append(f"<tr><td colspan='3'>and {weights.size - MOST} more</td></tr>")
    return _table(rows)


def _kernel_name(estimator, k):
    # Deferred statistics stay deferred.
    statistics = vars(estimator._kernel_model()).get("statistics_")
    names = estimator.kernels_ if statistics is None else statistics.names
    known = isinstance(names, (list, tuple))
    return _tried(lambda: _text(names[k]), f"kernel {k}") if known else f"kernel {k}"


def _bar(name, weight, share):
    minus = " alignlearn-minus" if weight < 0.0 else ""
    bar = f"<span class='alignlearn-bar{minus}' style='width: {100.0 * share:.1f}%'></span>"
    return (
        f"<tr><td>{name}</td><td class='alignlearn-number'>{weight:.4g}</td>"
        f"<td><span class='alignlearn-track'>{bar}</span></td></tr>"
    )
