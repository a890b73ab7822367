"""The table of kernels: against fits without each fold, and the model's own attributes."""

import numpy as np
import pytest
from refusals import raises

import alignlearn as al
from alignlearn.estimators.kernel_table import table_text
from alignlearn.folds import make_folds

KERNELS = [al.Gaussian(0.01), al.Gaussian(0.1), al.Columns(al.Linear(), 0), al.Gaussian(0.1)]


def design(q=None):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + 0.5 * np.square(X[:, 1]) + 0.3 * rng.normal(size=60)
    return X, y if q is None else y[:, None] * rng.normal(size=q) + rng.normal(size=(60, q))


def test_columns_are_those_of_the_fit():
    X, y = design()
    model = al.MKLRegressor(KERNELS).fit(X, y)
    table = model.kernel_table()
    assert list(table) == ["kernel", "alignment", "weight", "share", "unidentified"]
    assert table["kernel"].tolist() == list(model.statistics_.names)
    np.testing.assert_array_equal(table["alignment"], model.kernel_alignments_)
    np.testing.assert_array_equal(table["weight"], model.weights_)
    products = model.weights_ * model.statistics_.a
    np.testing.assert_allclose(table["share"], products / products.sum())
    twins = [k for k in (1, 3) if model.weights_[k] > 0.0]
    assert np.flatnonzero(table["unidentified"]).tolist() == twins == [1, 3]


@pytest.mark.parametrize("weighting", ["alignf", "lkrr"])
@pytest.mark.parametrize("weighted", [False, True])
def test_spread_is_that_of_fits_without_each_fold(weighting, weighted):
    X, y = design()
    weight = np.random.default_rng(1).integers(0, 3, 60).astype(float) if weighted else None
    kept = slice(None) if weight is None else weight > 0.0
    model = al.MKLRegressor(KERNELS[:3], weighting=weighting).fit(X, y, weight)
    table = model.kernel_table(X, y, sample_weight=weight, folds=5)
    W = []
    own = None if weight is None else weight[kept]
    for train, _ in make_folds(5, y[kept], False):
        part = None if own is None else own[train]
        again = al.MKLRegressor(KERNELS[:3], weighting=weighting)
        W.append(again.fit(X[kept][train], y[kept][train], part).weights_)
    W = np.array(W)
    spread = np.sqrt(4 / 5 * np.square(W - W.mean(axis=0)).sum(axis=0))
    np.testing.assert_allclose(table["spread"], spread, atol=1e-7)
    np.testing.assert_array_equal(table["zero"], np.mean(W == 0.0, axis=0))
    assert table["spread"].max() > 0.01


def test_per_target_is_over_the_targets():
    X, Y = design(q=6)
    model = al.MKLRegressorCV(KERNELS, per_target=True, alphas=[1.0]).fit(X, Y)
    table = model.kernel_table()
    W = model.weights_
    np.testing.assert_allclose(table["weight"], W.mean(axis=1))
    np.testing.assert_allclose(table["spread"], W.std(axis=1))
    np.testing.assert_allclose(table["zero"], np.mean(W == 0.0, axis=1))
    with pytest.raises(ValueError, match="over the targets"):
        model.kernel_table(X, Y)


def test_frame_and_text():
    X, y = design()
    model = al.MKLRegressor(KERNELS).fit(X, y)
    frame = model.kernel_table(X, y, frame="pandas")
    assert frame.shape == (4, 7)
    assert frame["weight"].tolist() == model.weights_.tolist()
    lines = table_text(model.kernel_table(X, y)).splitlines()
    assert lines[0].split() == list(frame.columns)
    assert len(lines) == 5
    assert "2 more" in table_text(model.kernel_table(), max_rows=2).splitlines()[-1]


def test_bad_input():
    X, y = design()
    model = al.MKLRegressor(KERNELS).fit(X, y)
    for arguments, options, message in (
        ((X,), {}, "X and y must be given together"),
        ((X[:-1], y[:-1]), {}, "X has 59 samples of 4 features; accepted: .* 60 of 4"),
        ((X, np.c_[y, y]), {}, "accepted: 1 targets"),
        ((), {"frame": "polars"}, "frame='polars' is not known"),
        ((X, y), {"folds": 1}, "cv"),
    ):
        raises(ValueError, message, model.kernel_table, *arguments, **options)
