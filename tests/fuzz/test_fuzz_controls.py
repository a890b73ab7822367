"""Controls of the fuzz cases: an error in the library or in an oracle is caught."""

import draws as drawing
import fuzz_calls
import fuzz_values
import numpy as np
import pytest
import test_fuzz_arguments
import test_fuzz_estimators
import test_fuzz_statistics
from draws import Draws, Inner, Wrong, attempt
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from refusals import raises

import alignlearn as al


def run(test, examples):
    """The first examples of a test, always the same; raises the error of the first failure."""

    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
        database=None,
    )
    @given(st.data())
    def cases(data):
        attempt(test.case, Draws(data.draw))

    cases()


@pytest.mark.parametrize("factor", [1.0 + 1e-9, 0.0])
def test_a_wrong_statistic_is_caught(monkeypatch, factor):
    right = al.alignment_statistics

    def wrong(*args, **kwargs):
        result = right(*args, **kwargs)
        for part in result if isinstance(result, list) else [result]:
            part.a[:] *= factor
        return result

    monkeypatch.setattr(al, "alignment_statistics", wrong)
    raises(Wrong, "a differs", run, test_fuzz_statistics.test_whole, 40)


def test_coefficients_that_are_not_optimal_are_caught(monkeypatch):
    right = al.MKLClassifier.fit

    def wrong(self, X, y):
        right(self, X, y)
        self.dual_coef_ = 0.9 * self.dual_coef_
        return self

    monkeypatch.setattr(al.MKLClassifier, "fit", wrong)
    raises(Wrong, "SVC: optimality", run, test_fuzz_estimators.test_classifier, 12)


def only(monkeypatch, function):
    """Run the case of wrong arguments on one function of a number."""
    call = fuzz_calls.Call("f", function, {"number": (fuzz_values.numbers, 1.0)})
    monkeypatch.setattr(fuzz_calls, "all_calls", lambda: [call])
    run(test_fuzz_arguments.test_wrong_arguments, 60)


def raising(error):
    def function(number):
        raise error

    return function


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda number: 1.0, Wrong, r"f\(number\): accepted"),
        (raising(IndexError("number")), IndexError, "number"),
        (raising(ValueError("it is wrong")), Inner, "does not name the argument"),
        (raising(np.linalg.LinAlgError("number")), np.linalg.LinAlgError, "number"),
        (lambda number: np.float64(1.0) / np.zeros(1), RuntimeWarning, "divide by zero"),
    ],
)
def test_undocumented_outcomes_are_caught(monkeypatch, function, error, message):
    raises(error, message, only, monkeypatch, function)


def test_a_result_that_is_not_finite_is_caught(monkeypatch):
    """A value that may be accepted, so that only the result can be wrong."""
    monkeypatch.setattr(fuzz_values, "numbers", lambda valid: [(1.0, fuzz_values.MAY)])
    raises(Wrong, "the result is not finite", only, monkeypatch, lambda number: np.nan)


def test_documented_errors_pass(monkeypatch):
    only(monkeypatch, raising(ValueError("number=... is wrong")))


def test_cases_that_do_not_come_back_are_interrupted(monkeypatch):
    monkeypatch.setattr(drawing, "STUCK", 0.2)

    def endless(draws):
        while True:
            pass

    endless.case = endless
    raises(TimeoutError, r"no answer after 0\.2 s", run, endless, 1)
