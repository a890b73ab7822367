"""scikit-learn's own checks of the online estimators."""

import warnings

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from alignlearn.online import KernelSGDClassifier, KernelSGDRegressor

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="Estimator .* does not inherit from")
    _MARK = parametrize_with_checks(
        [
            KernelSGDClassifier(),
            KernelSGDClassifier(loss="logistic", budget=30, learning_rate="invscaling"),
            KernelSGDRegressor(),
            KernelSGDRegressor("linear", loss="epsilon-insensitive"),
        ]
    )
    CHECKS = pytest.mark.parametrize(_MARK.args[0], list(_MARK.args[1]), **_MARK.kwargs)


@CHECKS
def test_scikit_learn_check(estimator, check):
    check(estimator)
