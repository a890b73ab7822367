"""Requests for metadata, and ``groups`` passed through scikit-learn's meta-estimators."""

import inspect

import numpy as np
import pytest
import sklearn
from refusals import raises
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GroupKFold, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.metadata_routing import get_routing_for_object

import alignlearn as al

KERNELS = [al.Gaussian(0.1), al.Linear()]
CS = [0.1, 10.0]
TUNED = [
    al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=CS, cv=GroupKFold(3)),
    al.MKLRegressorCV(KERNELS, weighting="alignf", alphas=[0.1, 10.0], cv=GroupKFold(3)),
    al.MKLRegressorCV(KERNELS, weighting="alignf", machine="svr", Cs=CS, cv=GroupKFold(3)),
]


class Reference(BaseEstimator):
    """The requests that scikit-learn itself derives from the same signatures."""

    def fit(self, X, y, groups=None, sample_weight=None):
        return self

    def score(self, X, y, sample_weight=None):
        return 0.0


@pytest.fixture(autouse=True)
def _routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def _data(estimator, m=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(m, 3))
    # Samples of a group are similar, so the assignment of groups matters.
    groups = np.repeat(np.arange(m // 5), 5)
    X += 2.0 * rng.normal(size=(m // 5, 3))[groups]
    y = X[:, 0] + rng.normal(size=m // 5)[groups]
    return X, y > 0 if estimator._estimator_type == "classifier" else y, groups


def _requests(estimator):
    routing = get_routing_for_object(estimator)
    return {name: dict(getattr(routing, name).requests) for name in ("fit", "score", "predict")}


def test_requests_are_those_of_a_scikit_learn_estimator_of_this_signature():
    ours, theirs = al.MKLClassifierCV(KERNELS, weighting="alignf"), Reference()
    assert _requests(ours) == _requests(theirs)
    for request in (True, False, None, "subject"):
        assert ours.set_fit_request(groups=request) is ours
        theirs.set_fit_request(groups=request)
        assert _requests(ours) == _requests(theirs) == _requests(clone(ours))
    for one in (ours, theirs):
        one.set_score_request(sample_weight="weight").set_score_request()
    assert _requests(ours) == _requests(theirs)
    unchanged = inspect.signature(theirs.set_fit_request).parameters["groups"].default
    assert _requests(ours.set_fit_request(groups=unchanged)) == _requests(theirs)
    # Estimators without such arguments have nothing to request.
    assert _requests(al.MKLRegressor())["fit"] == {"sample_weight": None}
    assert not hasattr(al.KernelCombiner(), "set_fit_request")
    assert not hasattr(al.KernelCombiner(), "set_score_request")
    assert _requests(al.KernelCombiner()) == {"fit": {}, "score": {}, "predict": {}}


@pytest.mark.parametrize("estimator", [TUNED[0], Reference()], ids=["ours", "scikit-learn's"])
def test_wrong_requests_are_refused(estimator):
    estimator = clone(estimator)
    raises(TypeError, r"weights[\s\S]*[Aa]ccepted.*groups", estimator.set_fit_request, weights=True)
    raises(ValueError, r"groups.*3", estimator.set_fit_request, groups=3)
    with (
        sklearn.config_context(enable_metadata_routing=False),
        pytest.raises(RuntimeError, match=r"enabled[\s\S]*enable_metadata_routing=True"),
    ):
        estimator.set_fit_request(groups=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("estimator", TUNED, ids=str)
def test_groups_and_weights_reach_every_fit(estimator, weighted):
    """Both in nested cross-validation, weights under another name; against loops by hand."""
    X, y, groups = _data(estimator)
    weight = np.random.default_rng(1).random(len(y))
    model, params, outer = clone(estimator), {"groups": groups}, GroupKFold(4)
    if weighted:
        model.set_fit_request(sample_weight="weight").set_score_request(sample_weight=False)
        params["weight"] = weight
    run = cross_validate(model, X, y, params=params, cv=outer, return_estimator=True)
    for t, (train, test) in enumerate(outer.split(X, y, groups)):
        given = {"sample_weight": weight[train]} if weighted else {}
        by_hand = clone(estimator).fit(X[train], y[train], groups=groups[train], **given)
        found = run["estimator"][t]
        np.testing.assert_array_equal(found.dual_coef_, by_hand.dual_coef_)
        assert run["test_score"][t] == by_hand.score(X[test], y[test])
        for key in ("split0_test_score", "split1_test_score", "mean_test_score"):
            np.testing.assert_array_equal(found.cv_results_[key], by_hand.cv_results_[key])
    # Negative control: other inner folds or weights do not give these results.
    other = clone(estimator).set_params(cv=KFold(3)).fit(X[train], y[train], **given)
    assert list(other.cv_results_[key]) != list(found.cv_results_[key])
    other = clone(estimator).fit(
        X[train], y[train], sample_weight=weight[train] ** 2, groups=groups[train]
    )
    assert not np.array_equal(other.dual_coef_, by_hand.dual_coef_)


def test_other_names_and_explicit_requests():
    X, y, groups = _data(TUNED[0])
    expected = clone(TUNED[0]).fit(X, y, groups=groups).cv_results_["mean_test_score"]
    splitter = GroupKFold(3).set_split_request(groups="subject")
    for estimator in (
        clone(TUNED[0]).set_params(cv=splitter),
        clone(TUNED[0]).set_fit_request(groups="subject"),
    ):
        pipeline = make_pipeline(estimator).fit(X, y, subject=groups)
        np.testing.assert_array_equal(pipeline[-1].cv_results_["mean_test_score"], expected)
    never = make_pipeline(clone(TUNED[0]).set_fit_request(groups=False))
    raises(TypeError, "unexpected argument", never.fit, X, y, groups=groups)
    late = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=CS)
    unasked = make_pipeline(clone(late))
    raises(ValueError, r"groups[\s\S]*MKLClassifierCV.fit", unasked.fit, X, y, groups=groups)
    # The request of the splitter counts if present, also after another request.
    late.set_score_request(sample_weight=True)
    assert _requests(late)["fit"]["groups"] is None
    assert _requests(late.set_params(cv=GroupKFold(3)))["fit"]["groups"] is True


@pytest.mark.parametrize(
    ("estimator", "cv"),
    [(TUNED[0], 3), (TUNED[0], [0, 1, 2] * 20), (TUNED[1], "loo"), (TUNED[1], None), (TUNED[2], 3)],
)
def test_groups_that_no_splitter_looks_at_are_named(estimator, cv):
    X, y, groups = _data(estimator)
    estimator = clone(estimator).set_params(cv=cv)
    with pytest.warns(UserWarning, match="groups are given, but cv=.* does not use them"):
        estimator.fit(X, y, groups=groups)
