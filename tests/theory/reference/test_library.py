"""The claims test the library's solvers: a slightly wrong solver is noticed."""

from dataclasses import replace
from functools import partial, wraps

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, check
from alignlearn.theory.draws import RandomDraw
from alignlearn.theory.reference import library

from alignlearn.machines import KernelRidge
from alignlearn.weights import AlignF, AlignLinear, AlignLq
from alignlearn.weights.one_stage import LKRR, AlignedKRR

SKEW = 1e-2


def _skewed(weights):
    """Every other weight a little larger, so that the direction changes too."""
    return weights * (1 + SKEW * (np.arange(len(weights)) % 2 == 0))


def _changed(change, solve):
    """The solver, its result changed."""
    return wraps(solve)(lambda *args, **options: change(solve(*args, **options)))


_wrong_weights = partial(_changed, lambda found: (_skewed(found[0]), found[1]))
_wrong_prediction = partial(_changed, lambda found: (1 + SKEW) * found)
_wrong_program = partial(_changed, lambda found: replace(found, v=_skewed(found.v)))
_wrong_iterate = partial(_changed, lambda state: replace(state, alpha=(1 + SKEW) * state.alpha))


SOLVERS = [
    ("p1-prop-7", AlignLq, "_solve", _wrong_weights),
    ("p1-prop-8", AlignLinear, "_solve", _wrong_weights),
    ("p1-prop-9", AlignF, "_solve", _wrong_weights),
    ("p1-prop-9-svm", library, "nonnegative_qp", _wrong_program),
    ("p1-eq-9", AlignedKRR, "_solve", _wrong_weights),
    ("p1-eq-9-iteration", AlignedKRR, "_solve", _wrong_weights),
    ("p2-theorem-1", LKRR, "_solve", _wrong_weights),
    ("p2-algorithm-1", library, "interpolated", _wrong_iterate),
]


def _holds(claim, case):
    return check(claim, case).outcome in ("holds", "inconclusive")


@pytest.mark.parametrize(("name", "owner", "method", "wrong"), SOLVERS, ids=[s[0] for s in SOLVERS])
def test_a_wrong_solver_is_noticed(monkeypatch, name, owner, method, wrong):
    claim = CLAIMS[name].corrected or CLAIMS[name]
    cases = [claim.cases(RandomDraw(seed)) for seed in range(20)]
    assert all(_holds(claim, case) for case in cases)
    monkeypatch.setattr(owner, method, wrong(getattr(owner, method)))
    assert not all(_holds(claim, case) for case in cases)


def test_the_learners_of_the_stability_claims_are_the_librarys(monkeypatch):
    """Their bounds are too loose to detect a small error: the measured quantity must change."""
    theorem_16, prop_3 = CLAIMS.module("p1-theorem-16"), CLAIMS.module("p2-prop-3")

    case, lkrr_case = theorem_16.counterexample(), prop_3.counterexample()
    change, predictions = theorem_16.measure(case), prop_3.predictions(lkrr_case)
    with monkeypatch.context() as patch:
        patch.setattr(KernelRidge, "predict", _wrong_prediction(KernelRidge.predict))
        np.testing.assert_allclose(theorem_16.measure(case), (1 + SKEW) * change)
    monkeypatch.setattr(LKRR, "_solve", _wrong_weights(LKRR._solve))
    assert not np.allclose(prop_3.predictions(lkrr_case), predictions, rtol=1e-6)
