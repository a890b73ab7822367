"""Integers that encode categories become levels; real-valued columns do not."""

import warnings
from dataclasses import replace

import cases
import numpy as np
import pytest
from refusals import raises

import alignlearn as al
from alignlearn.estimators.integer_codes import jumps, with_codes
from alignlearn.validation.frames import read_to_fit

pd = pytest.importorskip("pandas")


def _codes(frame, y, task="regression", weight=None):
    """The columns of a frame whose numbers are levels."""
    found = with_codes(read_to_fit("X", frame), y, task, weight)
    return [frame.columns[c] for c in found.codes]


def _stores(m, seed=0, n_stores=30, noise=0.5):
    """A frame with store numbers, each with its own effect, an age and a real value."""
    rng = np.random.default_rng(seed)
    effects = np.random.default_rng(1).standard_normal(n_stores)
    store, age = rng.integers(0, n_stores, m), rng.integers(18, 80, m)
    frame = pd.DataFrame({"store": 100 + store, "age": age, "amount": rng.exponential(1.0, m)})
    f = effects[store] + np.sin(age / 15.0) + frame["amount"].to_numpy()
    return frame, f + noise * rng.standard_normal(m)


def test_jumps_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    x = rng.choice([1, 2, 4, 5, 9, 10, 11, 12, 20, 21, 22, 30], 400)
    Y = np.column_stack([rng.standard_normal(400) + (x % 3), rng.exponential(1.0, 400)])
    values, place, count = np.unique(x, return_inverse=True, return_counts=True)
    found = jumps(values.astype(float), place, count, Y)
    means = np.array([Y[x == v].mean(axis=0) for v in values])
    squares = [((Y[i] - means[place[i]]) ** 2).sum() for i in range(400)]
    noise = sum(squares) / (400 - 12)
    total, variance, between = 0.0, 0.0, 0.0
    tails = max(np.mean(np.square(squares)) / np.mean(squares) ** 2 - 3.0, 0.0)
    for k in range(1, 11):
        line = np.interp(values[k], values[[k - 1, k + 1]], [0.0, 1.0])  # the share of the next
        d = means[k] - (1 - line) * means[k - 1] - line * means[k + 1]
        spread = (1 - line) ** 2 / count[k - 1] + 1 / count[k] + line**2 / count[k + 1]
        total += (d**2).sum() / (noise * spread) - 1.0
        variance += 1.95 * (2.0 + tails / count[k])
        size = 1.0 + (1 - line) ** 2 + line**2
        between += count[k] * ((d**2).sum() - noise * spread) / size
    share = between / count[1:-1].sum() / Y.var(axis=0).sum()
    np.testing.assert_allclose(found, [total / np.sqrt(variance), share], rtol=1e-10)


@cases.each("m", [400, 3000])
def test_stores_are_codes_and_amounts_are_not(m):
    frame, y = _stores(m)
    assert _codes(frame, y) == ["store"]
    for unit in (1e6, 1e-200, 1e200):
        assert _codes(frame, unit * (y - 5.0)) == ["store"]
    classes = np.array(["yes", "no"])[(y > np.median(y)).astype(int)]
    if m > 400:
        assert _codes(frame, classes, "classification") == ["store"]
    order = np.random.default_rng(0).permutation(m)
    assert _codes(frame.iloc[order], y[order]) == ["store"]
    gaps = frame.assign(store=frame["store"].where(frame.index % 7 > 0))
    assert _codes(gaps, y) == ["store"]
    assert _codes(frame, np.column_stack([y, -y])) == ["store"]
    weight = np.where(np.arange(m) < m // 2, 1.0, 0.0)
    wrong = np.where(weight > 0.0, frame["age"], y)  # without weight the stores do not matter
    assert _codes(frame, wrong, weight=weight) == []
    assert _codes(frame.assign(store=frame["store"] + 0.5), y) == []


def test_codes_with_few_samples_each():
    """As 46 states in 400 rows; no levels if there are many or most samples have a rare value."""
    for seed in range(5):
        frame, y = _stores(400, seed, n_stores=45)
        assert _codes(frame, y) == ["store"]
        for m, n_stores in ((400, 200), (200, 90), (1500, 200)):
            frame, y = _stores(m, seed, n_stores, noise=0.01)
            assert _codes(frame, y) == []
    frame, y = _stores(400, n_stores=45)
    new, truth = _stores(600, seed=5, n_stores=45, noise=0.0)
    assert al.MKLRegressorCV(random_state=0).fit(frame, y).score(new, truth) > 0.8


def test_smooth_functions_and_noise_have_no_codes():
    rng = np.random.default_rng(0)
    for seed in range(20):
        m = int(rng.choice([300, 2000]))
        x = rng.integers(0, int(rng.choice([12, 30, m // 10, m // 6])), m)
        t = x / x.max()
        noise = rng.standard_t(3, m) if seed % 2 else rng.standard_normal(m)
        for f in (0.0, 5.0 * t, 5.0 * t**2, 3.0 * np.sin(3.0 * t), 4.0 * (t > 0.5) * (t - 0.5)):
            assert _codes(pd.DataFrame({"x": x}), f + noise) == [], seed


def test_rare_classes_and_long_tails_are_not_taken_for_codes():
    """In 100 draws; means of few samples of such targets have heavy tails."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame({"x": rng.integers(0, (100, 300)[seed % 2], 2000)})
        rare = np.where(rng.random(2000) < 0.005, "yes", "no")
        assert _codes(frame, rare, "classification") == []
        assert _codes(frame, rng.lognormal(0.0, 2.0, 2000)) == []
        shares = [0.9, 0.05, 0.02, 0.01, 0.01, 0.005, 0.004, 0.001]
        classes = rng.choice(list("abcdefgh"), 2000, p=shares)
        assert _codes(frame, classes, "classification") == []


def test_targets_that_a_fit_refuses_have_no_codes():
    frame, y = _stores(400)
    many = np.full(400, np.nan), np.array(["a"] * 400), y[:, None, None]
    for wrong in (None, 1.0, y[:50], [], *many):
        assert _codes(frame, wrong) == []
    assert _codes(frame, np.zeros(400)) == []
    assert _codes(frame, np.arange(400), "classification") == []  # a class for each sample
    raises(ValueError, "y", al.MKLRegressorCV().fit, frame, y[:50])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        raises(ValueError, "real numbers", al.MKLRegressorCV().fit, frame, y * 1j)


def test_a_search_with_codes_is_better_and_knows_its_columns():
    frame, y = _stores(900)
    new, truth = _stores(600, seed=5, noise=0.0)
    model = al.MKLRegressorCV(random_state=0).fit(frame, y)
    plain = al.MKLRegressorCV(random_state=0).fit(al.TablePreparer().fit_transform(frame), y)
    of_plain = al.TablePreparer().fit(frame).transform(new)
    assert model.score(new, truth) > plain.score(of_plain, truth) + 0.02
    preparation = model.preparation_
    assert preparation.codes == (0,)
    assert preparation.labels == ("store", "age", "amount", "levels of store")
    assert model.feature_names_in_.tolist() == ["store", "age", "amount"]
    names = preparation.names()
    assert names[:4] == ["store", "age", "amount", "store=100"]
    assert len(set(names)) == len(names) == 3 + 30
    assert preparation.groups.tolist() == [0, 1, 2] + [0] * 30
    # Columns in another order, as text of the same numbers, an unknown and a missing store.
    found = model.predict(new)
    np.testing.assert_array_equal(model.predict(new[["amount", "store", "age"]]), found)
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(model.predict(new.to_numpy()), found)
    assert np.isfinite(model.predict(new.head(2).assign(store=[999.0, np.nan]))).all()


def test_codes_of_a_saved_model(tmp_path):
    frame, y = _stores(400)
    model = al.MKLRegressorCV(random_state=0).fit(frame, y)
    al.save(model, tmp_path / "model.npz")
    again = al.load(tmp_path / "model.npz")
    assert again.preparation_.codes == (0,)
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    for codes in ((9,), (-1,), (0.0,), ("store",), (0, 1), ()):
        wrong = replace(model.preparation_, codes=codes)
        with pytest.raises(ValueError, match=r"of a preparation|a preparation has"):
            wrong.check_loaded()
