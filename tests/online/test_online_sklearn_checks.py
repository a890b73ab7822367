"""scikit-learn's own checks of the online estimators."""

from sklearn_checks import assert_checks, each_estimator

from alignlearn.online import KernelSGDClassifier, KernelSGDRegressor


@each_estimator(
    [
        KernelSGDClassifier(),
        KernelSGDClassifier(loss="logistic", budget=30, learning_rate="invscaling"),
        KernelSGDRegressor(),
        KernelSGDRegressor("linear", loss="epsilon-insensitive"),
    ]
)
def test_scikit_learn_checks(estimator, chosen):
    assert_checks(estimator, chosen)
