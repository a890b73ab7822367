"""Training rows are rejected by guarantees, and copies of training rows give a warning."""

import pickle
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse
from refusals import raises

import alignlearn as al
from alignlearn.estimators.seen_rows import SeenRows, chance_of_repeats, seen_rows
from alignlearn.validation import DoubtfulResultWarning
from alignlearn.validation.row_hashes import row_hashes

LADDER = [al.Gaussian(0.1), al.Gaussian(1.0)]


def noise(m=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, 3)), rng.integers(0, 2, m)


@pytest.fixture(scope="module")
def fitted():
    return al.MKLClassifier(LADDER, C=10.0).fit(*noise())


ROWS = {
    "as they are": np.arange(60),
    "in another order": np.random.default_rng(1).permutation(60),
    "a subset": np.arange(0, 60, 2),
    "a few of them": np.array([3, 17, 21, 40, 52]),
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=list(ROWS))
def test_training_rows_are_not_held_out(fitted, rows):
    """Labels are noise; the risk is 1/2, and the errors on these rows are few."""
    X, y = noise()
    new, labels = noise(200, 1)
    assert fitted.bound(new, labels, held_out=True).value > 0.5
    message = f"{len(rows)} of the {len(rows)} rows of X are training"
    for given in (X[rows], X[rows].astype(np.float32), X[rows] + 0.0):
        raises(ValueError, message, fitted.bound, given, y[rows], held_out=True)
    mixed = np.r_[new, X[rows]], np.r_[labels, y[rows]]
    message = f"{len(rows)} of the {200 + len(rows)} rows of X are training samples"
    for method in (fitted.bound, fitted.alignment_interval):
        raises(ValueError, message, method, *mixed, held_out=True)


def test_rows_of_every_kind_are_known_again(fitted, tmp_path):
    X, y = noise()
    reg = al.MKLRegressor(LADDER).fit(X, X[:, 0])
    grams = [k(X) for k in LADDER]
    given = al.MKLClassifier("precomputed").fit(grams, y)
    words = [
        "".join("ab"[v] for v in row) for row in np.random.default_rng(0).integers(0, 2, (60, 9))
    ]
    strings = al.MKLClassifier([al.StringSpectrum(2)]).fit(words, y)
    column = np.array(words)[:, None]
    of_column = al.MKLClassifier([al.StringSpectrum(2)]).fit(column, y)
    np.testing.assert_array_equal(of_column.predict(column), strings.predict(words))
    al.save(fitted, tmp_path / "model")
    cases = [
        (reg, X[3:10], X[3:10, 0], "7 of the 7 rows", {"label_range": (-9, 9)}),
        (given, [K[:20] for K in grams], y[:20], "20 of the 20 rows", {}),
        (strings, words[:30], y[:30], "rows of X are training", {}),
        (of_column, column[:30], y[:30], "rows of X are training", {}),
        (pickle.loads(pickle.dumps(fitted)), X[:5], y[:5], "5 of the 5 rows of X are training", {}),
        (al.load(tmp_path / "model"), X[:5], y[:5], "5 of the 5 rows of X are training", {}),
    ]
    for sparse in (
        scipy.sparse.csr_matrix((X > 0.8) * X + np.eye(60, 3)),
        scipy.sparse.csr_matrix(X),
    ):
        columns = al.MKLClassifier(al.RankOneKernels()).fit(sparse, y)
        cases.append((columns, sparse[10:40], y[10:40], "rows of X are training", {}))
    for model, rows, labels, message, options in cases:
        raises(ValueError, message, model.bound, rows, labels, held_out=True, **options)
    how = {"held_out": True, "radius2": 1.0}
    raises(ValueError, "60 of the 60 rows", given.alignment_interval, grams, y, **how)


def test_samples_of_weight_zero_are_not_seen():
    X, y = noise()
    weight = np.r_[np.ones(40), np.zeros(20)]
    clf = al.MKLClassifier(LADDER).fit(X, y, sample_weight=weight)
    assert clf.bound(X[40:], y[40:], held_out=True).n_samples == 20
    raises(ValueError, "1 of the 21 rows", clf.bound, X[39:], y[39:], held_out=True)


@pytest.mark.filterwarnings("ignore:.* rows .* equal another one")
def test_columns_of_few_values_repeat_by_chance():
    """Independent samples of 30 possible rows are held out; the training rows are not."""
    rng = np.random.default_rng(0)
    X, new = rng.integers(0, 3, (80, 3)) * 1.0, rng.integers(0, 3, (70, 3)) * 1.0
    y, labels = rng.integers(0, 2, (2, 80))
    rare = X.copy()
    rare[:40, 0] += rng.standard_normal(40)  # half of the rows repeat
    clf = al.MKLClassifier(LADDER).fit(rare, y)
    raises(ValueError, "rows of X are training", clf.bound, rare, y, held_out=True)
    new[:40, 0] += rng.standard_normal(40)
    assert clf.bound(new, labels[:70], held_out=True).n_samples == 70


def binary(m, rng, kind):
    """Six columns of 0 and 1, and a target that is noise."""
    y = {"classes": rng.integers(0, 2, m), "words": np.array(["no", "yes"])[rng.integers(0, 2, m)]}
    return rng.integers(0, 2, (m, 6)) * 1.0, y.get(kind, rng.integers(0, 9, m) * 1.0)


@pytest.mark.filterwarnings("ignore:.* rows .* equal another one")
@pytest.mark.parametrize("kind", ["classes", "words", "real"])
def test_repeated_training_rows_are_not_held_out_in_any_order(kind):
    """Fresh samples of the same 64 rows are held out; the training ones and parts are not."""
    make = al.MKLRegressor if kind == "real" else al.MKLClassifier
    options = {"held_out": True, **({"label_range": (0.0, 8.0)} if kind == "real" else {})}
    message = "rows of X are training samples"
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X, y = binary(300, rng, kind)
        model = make([al.Gaussian(1.0)]).fit(X, y)
        order = rng.permutation(300)
        fresh, target = binary(300, rng, kind)
        for rows in (np.arange(300), order, order[:200]):
            single = X[rows].astype(np.float32)
            raises(ValueError, message, model.bound, single, y[rows], **options)
            assert model.bound(fresh[rows], target[rows], **options).n_samples == len(rows)
        rows = order[:270]
        mixed = np.r_[X[rows], fresh[:30]], np.r_[y[rows], target[:30]]
        raises(ValueError, message, model.bound, *mixed, **options)
        if kind == "classes":
            given = X[order], y[order]
            raises(ValueError, message, model.alignment_interval, *given, held_out=True)
            assert model.alignment_interval(fresh, target, held_out=True).delta == 0.05


@pytest.mark.filterwarnings("ignore:.* rows .* equal another one")
def test_few_different_rows_are_refused_as_a_whole():
    """Two rows and two classes: subsets are no evidence, equal numbers of each in any order are."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (80, 1)) * 1.0, rng.integers(0, 2, 80)
    model = al.MKLClassifier([al.Gaussian(1.0)]).fit(X, y, np.r_[np.zeros(10), np.ones(70)])
    order = 10 + rng.permutation(70)
    message = "70 of the 70 rows of X are training"
    raises(ValueError, message, model.bound, X[order], y[order], held_out=True)
    other = np.r_[X[order[:-1]], 1.0 - X[order[-1:]]]
    assert model.bound(other, y[order], held_out=True).n_samples == 70


@pytest.mark.parametrize(("m", "n"), [(6, 6), (4, 7)])
def test_the_chance_of_repeats_bounds_that_of_new_samples(m, n):
    """Against all partitions of a pool: at most a share p of them has a bound up to p."""
    pool = np.array([0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7][: m + n], dtype=np.uint64)
    found = []
    for chosen in combinations(range(m + n), n):
        new = np.isin(np.arange(m + n), chosen)
        found.append(chance_of_repeats(pool[~new], pool[new]))
    values = np.sort(found)
    share = np.searchsorted(values, values, side="right") / len(values)
    assert (share <= values + 1e-12).all()


def test_copies_of_rows_are_doubted_with_their_share():
    """Noise labels, each sample five times: the interval excludes 0 for a true alignment of 0."""
    X, y = (np.repeat(a, 5, axis=0) for a in noise(30))
    clf, reg = al.MKLClassifier(LADDER).fit(X, y), al.MKLRegressor(LADDER).fit(X, X[:, 0])
    copies, labels = (np.repeat(a, 2, axis=0) for a in noise(20, 3))
    kernel, all_of_them = al.Gaussian(1.0), r"150 of 150 rows \(100%\) equal another one"
    for message, call in (
        (all_of_them, partial(al.alignment_interval, X, y, kernel)),
        (all_of_them, partial(al.alignment_interval, kernel(X), y, "precomputed", radius2=1.0)),
        (all_of_them, partial(clf.alignment_interval, X, y)),
        (all_of_them, partial(clf.bound, X, y, draws=20)),
        (all_of_them, partial(reg.bound, label_range=(-9, 9))),
        ("40 of 40 rows", partial(clf.bound, copies, labels, held_out=True)),
    ):
        with pytest.warns(DoubtfulResultWarning, match=message):
            call()


# Hashes


def test_hashes_are_the_same_in_every_process():
    """Fixed values: model files contain them."""
    X = np.array([[0.0, 1.5], [-0.0, 1.5], [1.5, 0.0], [0.0, 0.0]])
    first, other = 5414276438321485015, 3827890238133413329
    assert row_hashes(X).tolist() == [first, first, other, 0]
    for single in (True, False):
        sparse = row_hashes(scipy.sparse.csr_array(X), single)
        np.testing.assert_array_equal(sparse, row_hashes(X, single))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_differ_a_little_have_hashes_of_their_own(dtype):
    """All rows of a few round numbers, and one number that increases bit by bit."""
    X = np.stack(np.meshgrid(*4 * [np.arange(16.0)]), axis=-1).reshape(-1, 4).astype(dtype)
    single = dtype is np.float32
    assert len(np.unique(row_hashes(X, single))) == len(X)
    steps = np.full((20_000, 3), 1.0, dtype)
    steps[:, 1] += np.arange(20_000, dtype=dtype) * np.finfo(dtype).eps
    assert len(np.unique(row_hashes(steps, single))) == len(steps)


def test_single_precision_is_left_where_it_merges_rows():
    X = 1.7e9 + np.arange(50.0)[:, None]
    found = seen_rows(X)
    assert (found.single, found.repeated, found.count(X[:7])) == (False, 0, 7)
    assert found.count(X + 50) == 0
    assert seen_rows(X - 1.7e9).single


def test_objects_that_cannot_be_pickled_are_not_compared():
    assert seen_rows([lambda: 1, lambda: 2]) is None
    rows = [("a", 1), ("b", 2), ("a", 1)]
    assert (seen_rows(rows).repeated, seen_rows(rows).count([("b", 2), ("c", 3)])) == (2, 1)
    arrays = [np.arange(3), np.arange(3.0), np.arange(4)]
    assert (seen_rows(arrays).repeated, seen_rows(arrays).count([np.arange(4)])) == (0, 1)


def test_how_many_may_coincide():
    from scipy.stats import beta, binom

    rows = SeenRows(np.array([1, 1, 2, 3, 4, 5, 6, 7, 8, 9], dtype=np.uint64))
    assert rows.repeated == 2
    share = beta.isf(1e-3, 3, 8)
    most = rows.most_by_chance(20)
    assert binom.sf(most, 20, share) <= 1e-3 < binom.sf(most - 2, 20, share)
    assert SeenRows(np.arange(5, dtype=np.uint64)).most_by_chance(20) == 0
    assert SeenRows(np.zeros(5, dtype=np.uint64)).most_by_chance(20) == 20


def test_memory_maps_and_blocks_give_the_same_hashes(tmp_path):
    X = noise(50)[0]
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(row_hashes(mapped), row_hashes(X))
    np.testing.assert_array_equal(row_hashes(np.asfortranarray(X)), row_hashes(X))
    wide = scipy.sparse.csr_matrix(X)
    np.testing.assert_array_equal(row_hashes(wide[::-1]), row_hashes(wide)[::-1])


def test_one_copy_in_fifty_is_let_pass(fitted):
    """Two parts of real samples often share some rows, and one in fifty changes a bound little."""
    X, y = noise()
    new, labels = noise(99, 1)
    mixed = np.r_[new, X[:1]], np.r_[labels, y[:1]]
    assert 0.0 < fitted.bound(*mixed, held_out=True).value < 1.0
    raises(ValueError, "1 of the 1 rows", fitted.bound, X[:1], y[:1], held_out=True)
