"""The fuzz: a short run passes, and an error in the library or in the oracle is caught."""

import importlib
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import alignlearn as al

SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"

pytestmark = [
    pytest.mark.skipif(not SCRIPTS.is_dir(), reason="needs the source tree"),
    pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs extended precision"),
]


@pytest.fixture
def fuzz(monkeypatch):
    """The script as a module, with one thread as in a run by itself."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    script = importlib.import_module("fuzz")
    monkeypatch.setattr(script.resource, "setrlimit", lambda *limits: None)
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield script
    numba.set_num_threads(threads)


def found(fuzz, family, cases, seed=0):
    """Signatures of the failures among the first cases of a seed."""
    counts, failures = fuzz.run([family], np.inf, seed, cases)
    assert sum(counts.values()) == cases
    return {signature: failure for (_, signature), failure in failures.items()}


@pytest.mark.parametrize(
    ("family", "cases"), [("statistics", 150), ("estimators", 40), ("arguments", 400)]
)
def test_a_short_run_finds_nothing(fuzz, family, cases):
    failures = found(fuzz, family, cases)
    assert {signature: failure.details for signature, failure in failures.items()} == {}


def test_cases_are_repeatable(fuzz):
    first, second = (fuzz.run(["statistics"], np.inf, 3, 40) for _ in range(2))
    assert first[0] == second[0]
    assert {k: f.seeds for k, f in first[1].items()} == {k: f.seeds for k, f in second[1].items()}


def test_a_wrong_oracle_is_caught(fuzz, monkeypatch):
    monkeypatch.setattr(sys.modules["_fuzz_truth"], "centre", lambda K: K - K.mean(axis=0))
    failures = found(fuzz, "statistics", 25)
    assert any("M differs" in signature for signature in failures)


@pytest.mark.parametrize("factor", [1.0 + 1e-9, 0.0])
def test_a_wrong_statistic_is_caught(fuzz, monkeypatch, factor):
    right = al.alignment_statistics

    def wrong(*args, **kwargs):
        result = right(*args, **kwargs)
        for part in result if isinstance(result, list) else [result]:
            part.a[:] *= factor
        return result

    monkeypatch.setattr(al, "alignment_statistics", wrong)
    failures = found(fuzz, "statistics", 40)
    assert any("a differs" in signature for signature in failures)


@pytest.mark.parametrize(
    ("estimator", "method", "change", "signature"),
    [
        (al.MKLClassifier, "decision_function", lambda f: f + 1e-3, "decision_function"),
        (al.MKLRegressor, "predict", lambda f: f * (1 + 1e-4), "ridge"),
        (al.KernelCombiner, "transform", lambda K: K + 1e-4, "KernelCombiner.transform"),
    ],
)
def test_a_wrong_estimator_is_caught(fuzz, monkeypatch, estimator, method, change, signature):
    right = getattr(estimator, method)
    monkeypatch.setattr(estimator, method, lambda self, X: change(right(self, X)))
    machines = sys.modules["_fuzz_estimators"], sys.modules["_fuzz_invariances"]
    cases = {"decision_function": machines[0].classifier, "ridge": machines[0].ridge}
    monkeypatch.setitem(fuzz.FAMILIES, "estimators", cases.get(signature, machines[1].combiner))
    assert signature in found(fuzz, "estimators", 12)


def test_coefficients_that_are_not_optimal_are_caught(fuzz, monkeypatch):
    right = al.MKLClassifier.fit

    def wrong(self, X, y):
        right(self, X, y)
        self.dual_coef_ = 0.9 * self.dual_coef_
        return self

    monkeypatch.setattr(al.MKLClassifier, "fit", wrong)
    monkeypatch.setitem(fuzz.FAMILIES, "estimators", sys.modules["_fuzz_estimators"].classifier)
    assert "SVC: optimality" in found(fuzz, "estimators", 12)


def only(fuzz, monkeypatch, function):
    """Make the calls of the family "arguments" one function of a number."""
    calls, pool = sys.modules["_fuzz_calls"], sys.modules["_fuzz_values"]
    call = calls.Call("f", function, {"number": (pool.numbers, 1.0)})
    monkeypatch.setattr(calls, "all_calls", lambda: [call])
    return found(fuzz, "arguments", 60)


def raising(error):
    def function(number):
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "signature", "inner"),
    [
        (lambda number: 1.0, "f(number): accepted", False),
        (lambda number: np.nan, "f(number): the result is not finite", False),
        (raising(IndexError("number")), "IndexError at", True),
        (raising(ValueError("it is wrong")), "does not name the argument", True),
        (raising(np.linalg.LinAlgError("number")), "LinAlgError at", True),
        (lambda number: np.float64(1.0) / np.zeros(1), "RuntimeWarning at", True),
    ],
)
def test_undocumented_outcomes_are_caught(fuzz, monkeypatch, function, signature, inner):
    failures = only(fuzz, monkeypatch, function)
    assert any(signature in s and failure.inner is inner for s, failure in failures.items())


def test_documented_errors_pass(fuzz, monkeypatch):
    assert only(fuzz, monkeypatch, raising(ValueError("number=... is wrong"))) == {}


def test_slow_cases_are_caught(fuzz, monkeypatch):
    monkeypatch.setattr(fuzz, "SLOW", 0.0)
    assert any("takes more than" in signature for signature in found(fuzz, "statistics", 2))


def test_exit_codes_and_counts(fuzz, monkeypatch, capsys):
    monkeypatch.setitem(fuzz.FAMILIES, "arguments", lambda rng: "fine")
    assert fuzz.main(["--seconds", "0.05", "--only", "arguments"]) == 0
    assert "0 wrong answers, 0 inner errors" in capsys.readouterr().out
    monkeypatch.setitem(fuzz.FAMILIES, "arguments", raising(KeyError("x")))
    assert fuzz.main(["--seconds", "0.05", "--only", "arguments", "--seed", "2"]) == 1
    assert "--case arguments:20000000" in capsys.readouterr().out
    with pytest.raises(KeyError):
        fuzz.main(["--case", "arguments:20000000"])
    for wrong in (["--only", "nothing"], ["--case", "arguments"], ["--seed", "-1"]):
        with pytest.raises(SystemExit):
            fuzz.main(wrong)
