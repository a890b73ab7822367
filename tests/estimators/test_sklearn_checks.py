"""scikit-learn's own checks of estimators, without expected failures."""

from sklearn.base import clone
from sklearn_checks import assert_checks, each_estimator, run_checks

import alignlearn as al

ESTIMATORS = [
    al.MKLClassifier(),
    al.MKLClassifier(multiclass="ovr", weighting="align"),
    al.MKLClassifier(["rbf"], probability="sigmoid"),
    al.MKLRegressor(),
    al.MKLRegressor(machine="svr"),
    al.KernelCombiner(),
    al.KernelCombiner(weighting="structure"),
    al.OneClassMKL(weighting="consensus"),
    al.MKLClassifier(kernels=al.RankOneKernels()),
    al.MKLRegressor(kernels=["linear"]),
    al.AlignedRandomFeatures(n_features=50),
    al.AlignedRandomFeatures("laplacian", n_features=50, offsets=True, n_components=30),
    al.AlignedRandomFeaturesClassifier(n_features=50),
    al.FeatureScales(),
    al.TablePreparer(),
    al.BayesianMKLClassifier(["rbf", "linear"], tol=1e-2),
    al.NystromRidge(al.Gaussian(0.2)),
    al.NystromRidgeClassifier(al.Gaussian(0.2)),
    al.NystromSVC(al.Gaussian(0.2), tol=1e-5),
    al.MKLRegressor(machine="nystrom"),
    al.HyperKernelClassifier(),
    al.HyperKernelClassifierCV(multiples=[1.0], alphas=[1e3], Cs=[10.0], cv=2, machine="svm"),
    # The first search of a class gets all checks: the fastest one.
    al.MKLClassifierCV(kernels=al.RankOneKernels(), weighting="alignf", Cs=[1.0], cv=2),
    al.MKLClassifierCV(Cs=[0.1, 1.0], cv=2),
    al.MKLRegressorCV(kernels=al.RankOneKernels(), weighting="alignf", alphas=[1.0], cv=2),
    al.MKLRegressorCV(weighting=["align", "alignf"], alphas=[0.1, 1.0], cv=3),
    al.MKLRegressorCV(),
    al.MKLRegressorCV(machine="svr", Cs=[1.0, 10.0], cv=2),
    al.KernelCCA(),
    al.KernelCCA(solver="low-rank", regularization="gram", kappa=1.0),
    al.MultiTaskMKLClassifier(["rbf", "linear"], tol=1e-4),
    al.MultiTaskMKLRegressor(["rbf", "linear"], tol=1e-4, coupling="ridge"),
    al.KernelSGDClassifier(),
    al.KernelSGDClassifier(loss="logistic", budget=30, learning_rate="invscaling"),
    al.KernelSGDRegressor(),
    al.KernelSGDRegressor("linear", loss="epsilon-insensitive"),
]


@each_estimator(ESTIMATORS)
def test_scikit_learn_checks(estimator, chosen):
    params, left_out = estimator.get_params(), ()
    searched = isinstance(estimator, (al.MKLClassifierCV, al.MKLRegressorCV))
    searched = searched and params["kernels"] is None and params["weighting"] is None
    if searched or params.get("probability") or "search_samples" in params:
        # Calibration folds consist of samples: a repeated sample may be in two of them. Leaving a
        # sample out in a search removes its whole weight.
        left_out = ("sample_weight_equivalence",)
    if not isinstance(estimator, al.MKLClassifier):
        # All classes turn sparse matrices into sparse arrays by one function of validation.
        left_out += ("estimator_sparse_matrix",)
    assert_checks(estimator, chosen, left_out=left_out, prepare=exact_where_compared)


def exact_where_compared(estimator, check):
    """The estimator, with exact solvers for checks that compare two fits digit by digit."""
    if "sample_weight_equivalence" in check and "tol" in estimator.get_params():
        return clone(estimator).set_params(tol=1e-10)
    return estimator


def test_the_checks_can_fail():
    class Broken(al.MKLRegressor):
        def predict(self, X):
            return super().predict(X)[:1]

    failed, count = run_checks(Broken(), chosen=["regressors_train"])
    assert failed.count("Traceback") >= count > 0
    assert "check_regressors_train:\n" in failed
