"""Displays: the values of the model are drawn, in scikit-learn's conventions."""

import numpy as np
import pandas as pd
import pytest
from refusals import raises
from scipy.sparse import csr_matrix
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import alignlearn as al

M = 60
KERNELS = [
    al.Columns(al.Gaussian(0.1), slice(0, 3)),
    al.Columns(al.Linear(), slice(3, 6)),
    al.Columns(al.Linear(), slice(0, 6)),
]


def design(q=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M + 30, 6))
    Y = X @ rng.normal(size=(6, q or 1)) + 0.5 * rng.normal(size=(M + 30, q or 1))
    Y = Y[:, 0] if q is None else Y
    return X[:M], Y[:M], X[M:], Y[M:]


@pytest.fixture(scope="module")
def model():
    X, y, _, _ = design()
    return al.MKLRegressor(KERNELS).fit(X, y)


def per_target(q):
    X, Y, new, Y_new = design(q)
    fitted = al.MKLRegressorCV(KERNELS, per_target=True, alphas=[1.0, 10.0]).fit(X, Y)
    return fitted, new, Y_new


def widths(bars):
    return [bar.get_width() for bar in bars]


def test_weights_are_bars_with_their_spread(model):
    X, y, _, _ = design()
    display = al.KernelWeightsDisplay.from_estimator(model, X, y, folds=5)
    np.testing.assert_allclose(widths(display.bars_), model.weights_)
    (lines,) = display.bars_.errorbar[2]
    ends = np.array([segment[:, 0] for segment in lines.get_segments()])
    spread = model.kernel_table(X, y, folds=5)["spread"]
    np.testing.assert_allclose(ends[:, 1], model.weights_ + spread)
    np.testing.assert_allclose(ends[:, 0], np.maximum(model.weights_ - spread, 0.0), atol=1e-12)
    (points,) = [line for line in display.ax_.lines if line.get_marker() == "D"]
    np.testing.assert_allclose(points.get_xdata(), model.kernel_alignments_)
    labels = [t.get_text() for t in display.ax_.get_yticklabels()]
    assert labels == list(map(str, KERNELS))
    assert display.figure_ is display.ax_.figure
    display.figure_.draw_without_rendering()
    again = display.plot(ax=display.figure_.add_subplot(), max_kernels=2)
    assert again is display
    assert len(display.bars_) == 2
    assert "2 of 3 kernels" in display.ax_.get_xlabel()


@pytest.mark.parametrize("method", ["product", "leave-out", "permutation"])
def test_contributions_of_one_target_are_bars(model, method, tmp_path):
    _, _, new, y_new = design()
    display = al.ContributionsDisplay.from_estimator(model, new, y_new, method=method)
    found = model.contributions(new, y_new, method=method)
    np.testing.assert_allclose(widths(display.ax_.patches), found.values[:, 0])
    assert f"{found.total[0]:.3f}" in display.ax_.get_title()
    display.figure_.savefig(tmp_path / "bars.svg")
    # Many kernels, most of them of weight zero.
    X, y, _, _ = design()
    many = al.MKLRegressor(al.gaussian_kernels(2.0 ** np.arange(-30, 15))).fit(X, y)
    display = al.ContributionsDisplay.from_estimator(many, new, y_new, max_groups=4, method=method)
    assert len(display.ax_.patches) == 4
    assert len(al.KernelWeightsDisplay.from_estimator(many).bars_) == 30


def test_contributions_of_targets():
    few, new, Y_new = per_target(3)
    display = al.ContributionsDisplay.from_estimator(few, new, Y_new)
    values = few.contributions(new, Y_new).values
    np.testing.assert_allclose(widths(display.ax_.patches), values.T.ravel())
    many, new, Y_new = per_target(9)
    values = many.contributions(new, Y_new).values
    display = al.ContributionsDisplay.from_estimator(many, new, Y_new)
    drawn = np.asarray(display.image_.get_array())
    np.testing.assert_allclose(drawn, values[:, display.order_])
    largest = drawn.argmax(axis=0)
    assert np.all(np.diff(largest) >= 0)
    assert all(np.all(np.diff(drawn[k, largest == k]) <= 0) for k in range(3))
    display.figure_.draw_without_rendering()
    violins = al.ContributionsDisplay.from_estimator(many, new, Y_new, kind="violins")
    violins.figure_.draw_without_rendering()
    assert len(violins.ax_.get_xticks()) == 3
    for kind, words in (("bars", "is for up to 6 targets, got 9"), ("pie", "is not known")):
        with pytest.raises(ValueError, match=f"kind='{kind}' {words}"):
            display.plot(kind=kind)
    weights = al.KernelWeightsDisplay.from_estimator(many)
    drawn = sorted(points.get_xdata().tolist() for points in weights.distributions_)
    assert drawn == sorted(many.weights_.tolist())


def test_scores_of_a_strategy_have_a_line_for_each_method():
    X, y, _, _ = design()
    search = al.MKLClassifierCV(cv=3).fit(X, y > 0.0)
    display = al.CVScoreDisplay.from_estimator(search)
    results, best = search.cv_results_, search.best_index_
    labels = [line.get_label() for line in display.lines_]
    assert set(labels) == set(results["param_method"])
    assert display.best == (search.method_, search.C_)
    for line in display.lines_:
        heights = line.get_ydata()
        assert len(heights) > 0
        assert np.isfinite(heights).all()
        mine = (results["param_method"] == line.get_label()) & (results["n_splits"] > 0)
        np.testing.assert_allclose(heights, results["mean_test_score"][mine])
    assert display.ax_.lines[-1].get_ydata()[0] == pytest.approx(results["mean_test_score"][best])


def test_scores_of_a_search_against_its_parameter():
    X, y, _, _ = design()
    rules = ["uniform", "alignf", al.AlignLq(2.0), al.AlignLq(4.0)]
    kernels = [al.Gaussian(0.1), al.Gaussian(1.0)]  # of full rank, so that alpha may be 0
    search = al.MKLRegressorCV(kernels, weighting=rules, alphas=[1.0, 0.0, 0.1], cv=3).fit(X, y)
    display = al.CVScoreDisplay.from_estimator(search)
    assert display.parameter == "alpha"
    np.testing.assert_array_equal(display.values, [0.0, 0.1, 1.0])
    assert [line.get_label() for line in display.lines_][:2] == ["uniform", "alignf"]
    results = search.cv_results_
    for line, rule in zip(display.lines_, rules):
        mine = np.array([r is rule for r in results["param_weighting"]])
        mine |= np.array([isinstance(rule, str) and r == rule for r in results["param_weighting"]])
        order = np.argsort(results["param_alpha"][mine])
        np.testing.assert_allclose(line.get_ydata(), results["mean_test_score"][mine][order])
    assert display.best[1] == search.alpha_
    chosen = display.ax_.lines[-1]
    assert chosen.get_ydata()[0] == pytest.approx(search.best_score_)
    assert f"alpha = {search.alpha_:.3g}" in chosen.get_label()
    display.figure_.draw_without_rendering()
    labels = y > 0.0
    hard = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=[np.inf, 1.0, 1.0], cv=3)
    hard.fit(X + 10.0 * np.where(labels, 1.0, -1.0)[:, None], labels)
    display = al.CVScoreDisplay.from_estimator(hard)
    assert display.ax_.get_ylabel() == "accuracy"
    assert [t.get_text() for t in display.ax_.get_xticklabels()][-1] == r"$\infty$"
    display.figure_.draw_without_rendering()


def test_what_has_no_scores(model):
    raises(ValueError, "MKLRegressor has no cv_results_", al.CVScoreDisplay.from_estimator, model)
    raises(ValueError, "per_target=False", al.CVScoreDisplay.from_estimator, per_target(2)[0])
    words = "MKLRegressorCV has no statistics_"
    raises(ValueError, words, al.CKADisplay.from_estimator, per_target(2)[0])
    for display in (al.CVScoreDisplay, al.CKADisplay, al.KernelWeightsDisplay):
        with pytest.raises(al.NotFittedError):
            display.from_estimator(al.MKLRegressorCV(KERNELS))


DISPLAYS = {
    al.KernelWeightsDisplay: (),
    al.ContributionsDisplay: (np.zeros((4, 6)), np.zeros(4)),
    al.CKADisplay: (),
    al.CVScoreDisplay: (),
}


@pytest.mark.parametrize("display", DISPLAYS)
def test_other_models_are_named_and_unfitted_ones_not_fitted(display):
    X, y, _, _ = design()
    labels = (y > 0).astype(int)
    step = al.MKLRegressor(KERNELS)
    others = [
        *(None, X, al.Gaussian(0.5), al.MKLRegressor, SVC(), al.FeatureScales().fit(X, y)),
        al.NystromRidge(al.Gaussian(0.1), n_centers=5).fit(X, y),
        al.KernelCCA().fit(X, X[:, :2]),
        make_pipeline(al.MKLRegressor(KERNELS)).fit(X, y),
        GridSearchCV(SVC(), {"C": [0.1, 1.0]}).fit(X, labels),
    ]
    for other in others:
        with pytest.raises(ValueError, match=r" has no .*; accepted: a fitted "):
            display.from_estimator(other, *DISPLAYS[display])
    for model in (step, al.MKLClassifierCV(), al.FeatureScales(), al.KernelCCA(), al.OneClassMKL()):
        with pytest.raises(al.NotFittedError):
            display.from_estimator(model, *DISPLAYS[display])


def test_similarity_of_kernels_and_of_representations(model):
    display = al.CKADisplay.from_estimator(model, title="kernels")
    X = design()[0]
    grams = [al.center_kernel(kernel(X)) for kernel in KERNELS]
    np.testing.assert_allclose(display.values, [[al.cka(K, L) for L in grams] for K in grams])
    assert display.ax_.get_title() == "kernels"
    display.figure_.draw_without_rendering()
    layers = [X[:, :2], X[:, 1:5]]
    display = al.CKADisplay.from_representations(layers, names=["one", "two"], unbiased=True)
    np.testing.assert_allclose(display.values, al.cka_matrix(layers, unbiased=True))
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["one", "two"]


def test_an_average_has_a_panel_for_each_model():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.linalg.norm(X, axis=1) < 1.5
    model = al.MKLClassifierCV(cv=3).fit(X, y)
    assert len(model.members_) > 1
    display = al.KernelWeightsDisplay.from_estimator(model)
    assert len(display.panels_) == len(model.members_)
    for panel, member in zip(display.panels_, model.members_):
        np.testing.assert_allclose(np.sort(widths(panel.bars_)), np.sort(member.model.weights_))
        assert panel.ax_.get_title().startswith(member.name)
    display.figure_.draw_without_rendering()
    draw = al.KernelWeightsDisplay.from_estimator
    raises(ValueError, "X and y are for a single model", draw, model, X, y)
    raises(ValueError, "one per model", draw, model, ax=[display.ax_])


def labels_of(c):
    X = np.random.default_rng(0).normal(size=(80, 6))
    noise = np.random.default_rng(1).normal(size=(80, c))
    Y = (X[:, np.arange(c) % 6] + 0.5 * noise > 0).astype(int)
    return X, Y


def test_a_model_per_label_has_a_panel_for_each():
    X, Y = labels_of(3)
    Y = np.c_[Y, np.ones(80, int)]  # a constant label has no model
    model = al.MKLClassifier(KERNELS, per_label=True).fit(X, Y)
    display = al.KernelWeightsDisplay.from_estimator(model, X, Y, folds=4)
    assert len(display.panels_) == 3
    for k, panel in enumerate(display.panels_):
        np.testing.assert_allclose(widths(panel.bars_), model.weights_[:, k])
        assert panel.bars_.errorbar is not None
        assert panel.ax_.get_title() == f"label {k}"
        expected = model.models_[k].kernel_table(X, Y[:, k], folds=4)["spread"]
        np.testing.assert_allclose(panel.table["spread"], expected)
    display.figure_.draw_without_rendering()
    for labels in (pd.DataFrame(Y), csr_matrix(Y), Y.tolist()):
        again = al.KernelWeightsDisplay.from_estimator(model, X, labels, folds=4)
        np.testing.assert_allclose(again.table["spread"], display.table["spread"])
    plain = al.KernelWeightsDisplay.from_estimator(model)
    assert plain.bars_.errorbar is None
    draw = al.KernelWeightsDisplay.from_estimator
    raises(ValueError, "one per label that varies", draw, model, ax=[display.ax_])
    one = al.MKLClassifier(KERNELS, per_label=True).fit(X, Y[:, [0, 3]])
    assert len(al.KernelWeightsDisplay.from_estimator(one, ax=display.ax_).panels_) == 1


def test_models_of_many_labels_are_a_distribution():
    X, Y = labels_of(20)
    model = al.MKLClassifierCV(KERNELS, per_label=True, Cs=[1.0], cv=3).fit(X, Y)
    display = al.KernelWeightsDisplay.from_estimator(model)
    assert display.ax_.get_xlabel() == "weight, over 20 labels (line: median)"
    assert len(display.distributions_) == 3
    assert display.target_weights.shape == (3, 20)
    display.figure_.draw_without_rendering()
    draw = al.KernelWeightsDisplay.from_estimator
    raises(ValueError, r"at most 6 labels, got 20.*models_\[j\]", draw, model, X, Y)
    default = al.MKLClassifierCV(per_label=True, Cs=[1.0, 10.0], cv=2).fit(X, Y[:, :2])
    assert any(len(m.members_) > 1 for m in default.models_)
    raises(ValueError, "average of several", draw, default)


def test_scores_of_a_search_on_several_levels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1050, 3))
    y = X[:, 0] * X[:, 1] > 0
    model = al.MKLClassifierCV(Cs=[0.1, 1.0, 10.0, 100.0]).fit(X, y)
    results = model.cv_results_
    assert (results["rung"] >= 0).any()  # some candidates were dropped
    display = al.CVScoreDisplay.from_estimator(model)
    assert set(display.scores) == set(results["param_method"])
    (chosen,) = (line for line in display.ax_.get_lines() if "chosen" in line.get_label())
    assert chosen.get_ydata()[0] == pytest.approx(model.best_score_)
    for line, scores in zip(display.lines_, display.scores.values()):
        tried = np.isfinite(scores).any(axis=0)
        assert np.array_equal(line.get_ydata(), np.nanmean(scores[:, tried], axis=0))
