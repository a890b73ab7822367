"""Fuzz cases of wrong arguments: a documented error that names the argument, or a right result."""

import re
import warnings

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


def name_pattern(argument):
    """A pattern of the messages that name the argument."""
    words = "|".join((argument, *ALSO.get(argument, "").split()))
    return rf"(?<![A-Za-z_])({words})(?![A-Za-z_])"


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


@fuzz(3)
def test_wrong_arguments(draws):
    """One call with one or two wrong arguments; returns the outcome."""
    call = draws.pick(*calls.all_calls())
    given = {name: valid for name, (_, valid) in call.arguments.items()}
    number = min(2 if draws.chance(0.1) else 1, len(given))
    changed = draws.of(st.permutations(list(given)))[:number]
    for name in changed:
        kind, valid = call.arguments[name]
        given[name], wrong = draws.pick(*kind(valid))
        must = wrong and number == 1  # two wrongs may make a right
    where = "bounds" if call.name.startswith("bounds") else f"{call.name}({', '.join(changed)})"
    values = (f"{name}={type(given[name]).__name__} {given[name]!r:.160}" for name in changed)
    text = f"{call.name}, {'; '.join(values)}"
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
    if documented or any(re.search(name_pattern(name), message) for name in changed):
        return "documented error"
    what = f"{where}: {type(error).__name__} does not name the argument"
    raise Inner(what, f"{text}: {message[:150]}") from error
