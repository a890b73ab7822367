"""A warning points at the line of the user's own code."""

import warnings

import numpy as np
import pytest
from cases import each

import alignlearn as al
from alignlearn.large import NystromRidge
from alignlearn.validation import ConvergenceWarning, warn_unconverged, wrap_methods

X = np.random.default_rng(0).standard_normal((40, 3))
Y = X[:, 0] + 0.1 * X[:, 1] ** 2
LABELS = (Y > 0).astype(int)
K = X @ X.T
GAUSSIANS = [al.Gaussian(0.3), al.Gaussian(3.0)]


class Frame:
    columns = ("a", "b", "c")

    def __array__(self, dtype=None, copy=None):
        return np.asarray(X, dtype=dtype)


def column_vector():
    al.MKLClassifier(GAUSSIANS).fit(X, LABELS[:, None])


def few_steps():
    al.MKLClassifier(GAUSSIANS, C=100.0, max_iter=1).fit(X, LABELS)


def few_steps_of_a_fold():
    al.MKLClassifierCV(GAUSSIANS, weighting="alignf", Cs=[100.0], cv=2, max_iter=1).fit(X, LABELS)


def few_steps_of_ridge():
    NystromRidge(al.Gaussian(0.3), alpha=1e-9, n_centers=30, max_iter=1, tol=1e-15).fit(X, Y)


def names_at_prediction_alone():
    al.MKLClassifier(GAUSSIANS).fit(X, LABELS).predict(Frame())


def constant_kernel():
    al.alignment(np.ones((40, 40)), K)


@each(
    "call",
    [
        column_vector,
        few_steps,
        few_steps_of_a_fold,
        few_steps_of_ridge,
        names_at_prediction_alone,
        constant_kernel,
    ],
)
def test_the_line_is_the_callers(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    code = call.__code__
    lines = range(code.co_firstlineno, code.co_firstlineno + 5)
    assert caught
    for warning in caught:
        assert warning.filename == __file__, warning
        assert warning.lineno in lines, warning


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "inside another fit"])
def test_a_fit_gives_one_convergence_warning_for_all_of_its_solves(inside):
    """Of every class whose methods are wrapped; not of other methods, whose warnings stay."""

    class Solver:
        def fit(self, X):
            for reached in X:
                warn_unconverged("a solver", "9 steps", "a gap of", reached, 1.0, "raise tol")
            return self

        def path(self, X):
            return self.fit(X) and self.fit(X)

    class Outer:
        def fit(self, X):
            return Solver().path(X)

    for cls in (Solver, Outer):
        wrap_methods(cls)
    call, n = (Outer().fit, 6) if inside else (Solver().fit, 3)
    with pytest.warns(ConvergenceWarning) as caught:
        call([2.0, 7.0, 3.0])
    (one,) = caught
    text = "solves in this fit did not converge; the worst: a solver stopped after 9 steps"
    assert str(one.message) == f"{n} {text} with a gap of 7 > tol=1; raise tol."
    assert (one.message.excess, one.filename) == (7.0, __file__)
    with pytest.warns(ConvergenceWarning, match="3 solves") as caught:
        Solver().path([2.0, 7.0, 3.0])
    assert len(caught) == 2
