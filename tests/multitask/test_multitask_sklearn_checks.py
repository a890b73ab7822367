"""scikit-learn's own checks on the multi-task estimators, with a single task."""

from sklearn_checks import assert_checks, each_estimator

import alignlearn as al


@each_estimator(
    [
        al.MultiTaskMKLClassifier(tol=1e-4),
        al.MultiTaskMKLRegressor(tol=1e-4, coupling="ridge"),
    ]
)
def test_scikit_learn_checks(estimator, chosen):
    assert_checks(estimator, chosen)
