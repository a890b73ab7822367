"""Fuzz cases of wrong arguments: a documented error that names the argument, or a right result."""

import re
import traceback
import warnings
from pathlib import Path

import fuzz_calls as calls
import numpy as np
from alignlearn.theory import HypothesisNotMet
from draws import Inner, fuzz, require
from hypothesis import strategies as st

import alignlearn as al
from alignlearn.kernels.base import KernelRuleError

# Alternative names of an argument in errors, for instance of the object that contains it.
ALSO = {
    "X": "y precomputed Gram kernels Columns columns feature sample samples dimensions "
    "Z table",
    "X_": "X y Gram sample_weight", "T": "X Z Gram view", "T_task": "task",
    "Y": "X Gram view", "views": "view X", "features": "samples", "multiple": "gamma",
    "multiples": "multiple",
    "y": "X K L n_samples labels cv sample_weight", "K": "y L K_train K_test sample_weight",
    "L": "y K",
    "K_test": "K", "K_train": "K sample_weight", "grams": "y precomputed kernel matrices",
    "grams_test": "matrices", "v": "k",
    "kernels": "kernel X Columns function f names gamma RankOneKernels", "gram": "Gram precomputed",
    "weighting": "normalize q alpha max_kernels AlignF", "function": "a function FromFunction",
    "kernel": "Columns", "gammas": "gamma", "folds": "cv", "n_train": "n_test", "scale": "X",
    "max_kernels": "n_kernels", "Cs": "C", "alphas": "alpha", "results": "ranks",
    "errors": "errors_a", "columns": "Columns", "statistics": "a M", "name_or_path": "path",
}  # fmt: skip


def names(argument, message):
    """Whether a message names the argument."""
    words = [argument, *ALSO.get(argument, "").split()]
    return any(re.search(rf"(?<![A-Za-z_]){re.escape(w)}(?![A-Za-z_])", message) for w in words)


def _finite(value, infinite, depth=0):
    """Whether no number in a result is NaN, or infinite where that is wrong."""
    good = (lambda a: not np.any(np.isnan(a))) if infinite else (lambda a: np.all(np.isfinite(a)))
    if isinstance(value, (float, np.floating)):
        return bool(good(value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind != "f" or bool(good(value))
    if isinstance(value, (list, tuple)) and depth < 3:
        return all(_finite(v, infinite, depth + 1) for v in value)
    if isinstance(value, al.AlignmentStatistics):
        return _finite([value.a, value.M, value.trace, value.target_norm], infinite)
    return _finite(value.weights, infinite) if hasattr(value, "weights") else True


def _short(value):
    shape = f"{getattr(value, 'dtype', '')} {value.shape} " if hasattr(value, "shape") else ""
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**30 else "a huge integer"
    return re.sub(r"\s+", " ", f"{type(value).__name__} {shape}{text}")[:160]


@fuzz(3)
def test_wrong_arguments(draws):
    """One call with one or two wrong arguments; returns the outcome."""
    call = draws.pick(*calls.all_calls())
    given = {name: valid for name, (_, valid) in call.arguments.items()}
    number = min(2 if draws.chance(0.1) else 1, len(given))
    changed = draws.of(st.permutations(list(given)))[:number]
    for name in changed:
        kind, valid = call.arguments[name]
        values = kind(valid)
        given[name], wrong = draws.pick(*values)
        must = wrong and number == 1  # two wrongs may make a right
    where = "bounds" if call.name.startswith("bounds") else f"{call.name}({', '.join(changed)})"
    text = "; ".join(f"{call.name}, {name}={_short(given[name])}" for name in changed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found = call.function(**given)
    except (ValueError, TypeError) as error:
        return _judge_error(error, where, text, changed)
    except (FileNotFoundError, al.datasets.DatasetError):
        require(call.name == "load", f"{where}: an error of files", text)
        return "documented error"
    except Exception as error:
        if where == "bounds":
            what = f"bounds: {type(error).__name__}"
            raise Inner(what, f"{text}: {error}") from error
        error.args = (f"{text}: {error}",)
        raise
    require(not must, f"{where}: accepted", text)
    require(_finite(found, where == "bounds"), f"{where}: the result is not finite", text)
    return "answer"


def _judge_error(error, where, text, changed):
    message = str(error)
    if isinstance(error, (np.linalg.LinAlgError, UnicodeError)):
        raise error
    # Those of an operator state the expression, those of a bound the hypothesis.
    documented = isinstance(error, (KernelRuleError, HypothesisNotMet)) or where.endswith("(v)")
    if documented or any(names(name, message) for name in changed):
        return "documented error"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if Path(al.__file__).parent in Path(f.filename).parents] or frames
    place = where if where == "bounds" else f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    what = f"{type(error).__name__} at {place} does not name the argument"
    raise Inner(what, f"{text}: {message[:150]}") from error
