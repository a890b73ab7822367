"""scikit-learn's own checks on the multi-task estimators, which are of one task there."""

import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import alignlearn as al

ESTIMATORS = [
    al.MultiTaskMKLClassifier(tol=1e-4),
    al.MultiTaskMKLRegressor(tol=1e-4, coupling="ridge"),
]


def _checks(estimators):
    """parametrize_with_checks, without the warning that an estimator is no BaseEstimator."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Estimator .* does not inherit from")
        mark = parametrize_with_checks(estimators)
        return pytest.mark.parametrize(mark.args[0], list(mark.args[1]), **mark.kwargs)


@_checks(ESTIMATORS)
def test_scikit_learn_check(estimator, check):
    check(estimator)
