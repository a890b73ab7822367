"""Searches on several levels of samples: drawn samples, tried candidates, results, invariances."""

import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits
from usage import threads

import alignlearn as al
from alignlearn._threads import on_threads, one_blas_thread, thread_count
from alignlearn.estimators.average import noise_blocks
from alignlearn.estimators.plans import Way, reserves
from alignlearn.estimators.schedule import FINER, blocks_of, levels_of, refined
from alignlearn.estimators.ways import Known
from alignlearn.folds import make_folds
from alignlearn.machines.choice import block_sizes


def problem(m=2100, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, np.sin(2.0 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=m)


@pytest.fixture(scope="module")
def regressor():
    X, y = problem()
    return al.MKLRegressorCV(cv=3).fit(X, y), X, y


@pytest.fixture(scope="module")
def classifier():
    X, y = problem(1100)
    labels = np.array(["low", "mid", "top"])[np.digitize(y, [-0.4, 0.4])]
    return al.MKLClassifierCV(probability="sigmoid", cv=3).fit(X, labels), X, labels


# Levels


def last_tested(levels):
    """Test samples of the last level."""
    return levels[-1].of_all()[0][1]


@given(st.integers(1001, 40_000), st.integers(1, 12), st.integers(0, 5), st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_levels_are_honest_and_hold_every_class(m, rare, seed, n_folds):
    """Nothing learned on the second level depends on the test samples of the last one."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [m - m // 3 - rare, m // 3, rare]))
    folds = make_folds(n_folds, y, True, None) if rare >= 2 else make_folds(n_folds, y, False, None)
    levels = levels_of(y, folds, True, np.random.default_rng(seed))
    first, second, last = levels
    if n_folds == 2:  # one fold is left for the first level, which has two of its own quarters
        quarter = len(first.rows) / 4
        assert all(abs(len(test) - quarter) <= 3 for _, test in first.folds)
    assert not set(last_tested(levels)) & set(first.rows)
    assert len(first.rows) < 520 + 15
    assert len(second.rows) < 2015
    assert len(last.rows) < min(m, 8000) + 15
    [(train, test)] = last.of_all()
    assert not set(test) & set(second.rows)
    assert not set(test) & set(train)
    trained = np.bincount(y[folds[0][0]], minlength=3)
    for level in levels:
        assert (np.bincount(y[level.rows], minlength=3) >= np.minimum(trained, 5)).all()
        for fold in level.folds:
            assert all(part.size for part in fold)
            assert max(part.max() for part in fold) < len(level.rows)


@given(st.integers(3000, 9000), st.integers(1, 6), st.integers(0, 10**6))
@settings(max_examples=30)
def test_blocks_have_every_sample_and_every_class_in_random_order(m, rare, seed):
    y = np.sort(np.random.default_rng(seed).integers(0, 2, size=m))
    y[-rare:] = 2
    blocks = blocks_of(y, True, 2e7)
    assert blocks_of(y, True, np.inf) == [None]
    assert np.array_equal(np.unique(np.concatenate(blocks)), np.arange(m))
    for block in blocks:
        assert len(np.unique(block)) == len(block)
        assert set(y[block]) == {0, 1, 2}
        assert np.count_nonzero(y[block] == 2) >= min(rare, 5)
        # Weights are learned on the first samples of a block.
        assert set(y[block[:200]]) >= {0, 1}


def test_groups_stay_together_on_every_level_and_few_samples_have_one():
    few = make_folds(3, np.zeros(1000), False, None)
    [level] = levels_of(np.zeros(1000), few, False, np.random.default_rng(0))
    assert level.rows is None
    assert level.of_all() is few
    groups = np.random.default_rng(0).integers(0, 40, 5000)
    folds = make_folds(groups, np.zeros(5000), False, None)
    for level in levels_of(np.zeros(5000), folds, False, np.random.default_rng(0)):
        for train, test in level.of_all():
            assert not set(groups[train]) & set(groups[test])


@given(st.integers(2000, 40_000), st.sampled_from([4e6, 3e7, np.inf]), st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_a_fourth_level_trains_nearly_as_many_samples_as_a_final_model(m, memory, seed):
    """Its test samples are those of the third level, so that no level before it learned on them."""
    folds = make_folds(4, np.zeros(m), False, np.random.default_rng(seed))
    asked = np.zeros(m), folds, False
    three = levels_of(*asked, np.random.default_rng(seed), memory)
    four = levels_of(*asked, np.random.default_rng(seed), memory, True)
    for level, other in zip(three, four):
        np.testing.assert_array_equal(level.rows, other.rows)
    least = 1.5 * len(three[-1].folds[0][0])
    size = min(block_sizes(m, memory)[1], len(folds[0][0]))
    assert len(four) - len(three) == (len(three) == 3 and size >= least)
    if len(four) > len(three):
        [(train, test)] = four[-1].of_all()
        assert len(train) == size
        assert set(train) <= set(folds[0][0])
        np.testing.assert_array_equal(test, last_tested(three))


def test_values_between_those_of_the_default_grid():
    values, at = refined([1.0, 0.01, 0.1], fine=True)
    np.testing.assert_allclose(values, np.logspace(-2, 0.5, 6))
    assert [values[k] for k in at] == [0.01, 0.1, 1.0]
    assert refined([3.0, 1.0], fine=False) == ([1.0, 3.0], [0, 1])


# The fit


def test_the_table_has_a_row_for_each_candidate_value_and_rung(regressor):
    table = regressor[0].cv_results_
    n, rung, method = table["n_samples"], table["rung"], table["param_method"]
    assert sorted(set(n)) == [500, 1400, 2100]
    assert np.isfinite(table["mean_test_score"]).all()
    assert (n[rung == -1] == 2100).all()
    first, second, last = (set(method[n == size]) for size in (500, 1400, 2100))
    assert second < first
    assert {name.partition("*")[0] for name in last} <= {name.partition("*")[0] for name in second}
    assert len(table["params"]) == len(n)
    best = regressor[0].best_index_
    assert table["rank_test_score"][best] == 1
    assert n[best] == 2100
    assert table["mean_test_score"][best] == table["mean_test_score"][n == 2100].max()
    assert regressor[0].best_params_ == table["params"][best]


def effects_of(n_units, m):
    """Places of units that were drawn with replacement, and their effects with noise."""
    rng = np.random.default_rng(0)
    units, effects = rng.uniform(size=(n_units, 2)), rng.normal(size=n_units)
    unit = rng.integers(0, n_units, m)
    return units[unit], effects[unit] + 0.3 * rng.normal(size=m)


def test_the_penalty_is_tuned_on_as_many_samples_as_the_final_model_has():
    """Five samples of each of 1000 units: few of a unit are in a level, so that alpha is large."""
    model = al.MKLRegressorCV(memory=5.3e7, strategy="best").fit(*effects_of(1000, 4500))
    table = model.cv_results_
    n, alpha, mean = table["n_samples"], table["param_alpha"], table["mean_test_score"]
    method, last, third = table["param_method"], n == n[-1], n == sorted(set(n))[2]
    assert len(set(n)) == 4
    # Four times the gamma is tried as long as it, or a smaller alpha, is better.
    tried = sorted(set(method[last]), key=lambda name: float(name.partition("*")[2] or 1.0))
    assert tried == [tried[0], *(way.finer().name for way in map(way_named, tried[:-1]))]
    assert tried.index(model.method_) >= min(len(tried) - 2, FINER)
    first = third & (method == tried[0])
    before = alpha[first][mean[first].argmax()]
    grid = np.logspace(-4, 2, 13)
    k = np.abs(np.log(grid / before)).argmin()
    np.testing.assert_allclose(alpha[last & (method == tried[0])], grid[max(0, k - 3) : k + 1])
    assert model.alpha_ < before
    assert model.best_score_ == mean[last].max()


def test_the_third_level_tries_narrow_kernels_if_it_is_the_last_one():
    """Effects of 600 units, five samples each; the second level has two samples of each."""
    model = al.MKLRegressorCV(strategy="best").fit(*effects_of(600, 3000))
    table = model.cv_results_
    last = table["n_samples"] == 3000
    assert len(set(table["n_samples"])) == 3
    multiples = [float(name.partition("*")[2] or 1.0) for name in table["param_method"][last]]
    assert max(multiples) >= 32.0  # without such candidates it is 8
    assert float(model.method_.partition("*")[2]) >= 32.0
    assert model.best_score_ == table["mean_test_score"][last].max()


def test_a_search_on_one_level_tries_all_values_on_every_fold():
    """900 training samples and large penalties are solved in iterations, which may omit values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 4))
    y = 0.05 * np.sin(X[:, 0]) + rng.normal(size=1000)
    table = al.MKLRegressorCV(cv=10, alphas=[1.0, 10.0, 100.0, 1000.0]).fit(X, y).cv_results_
    method, n = table["param_method"], table["n_splits"]
    assert n.max() == 10
    assert all(len(set(n[method == name])) == 1 for name in set(method))


def way_named(name):
    """A method of a single kernel with this name."""
    multiple = float(name.partition("*")[2] or 1.0)
    return Way(name, None, False, rough="laplacian" in name, multiple=multiple)


@pytest.mark.parametrize(
    ("way", "finer"),
    [
        (Way("uniform", "uniform", False), ["laplacian*16", "laplacian*64", "laplacian*256"]),
        (Way("single*2", None, False, multiple=2.0), ["laplacian*16"]),
        (Way("rotated-single", None, True, True), ["scaled-laplacian*16"]),
        (Way("scaled-alignf", "alignf", True), ["scaled-laplacian*16", "scaled-laplacian*64"]),
        (Way("laplacian*2", None, False, rough=True, multiple=2.0), ["laplacian*8"]),
        (Way("pairs", "alignf", False, columns="pairs"), []),
    ],
)
def test_a_finer_method_is_a_laplacian_on_the_same_features(way, finer):
    found = reserves((way,), len(finer) or 3)
    assert [one.name for one in found] == finer
    assert all(one.rough and one.reserve and one.scaled == way.scaled for one in found)
    assert all(one.name.endswith(f"*{one.multiple:g}") for one in found)


def test_both_groups_reach_the_second_level_and_the_last_if_near_the_best(regressor):
    """The Laplacian is much worse on a smooth function, and much better on a step function."""
    X = regressor[1]
    steps = al.MKLRegressorCV(cv=3).fit(X, np.sign(np.sin(4.0 * X)).sum(axis=1))
    for model, smooth in ((regressor[0], True), (steps, False)):
        table = model.cv_results_
        second = {"laplacian" in name for name in table["param_method"][table["rung"] == 1]}
        last = {"laplacian" in name for name in table["param_method"][table["rung"] == -1]}
        assert second | last == {True, False}
        assert last == {not smooth}


def test_the_member_is_the_plain_model_of_the_chosen_values(regressor):
    """Fitted by hand: a kernel with the scales and the width of the search, on all samples."""
    model, X, y = regressor
    member = model.members_[0]
    new = problem(50, seed=1)[0]
    own, own_new = (A if member.factors is None else member.of(A) for A in (X, new))
    K, H = member.model.kernel_(own), np.eye(len(X)) - 1.0 / len(X)
    ridge = member.model.alpha * np.eye(len(X))
    coef = H @ np.linalg.solve(H @ K @ H + ridge, y - y.mean())
    expected = member.model.kernel_(own_new, own) @ coef
    expected += y.mean() - (K @ coef).mean()
    np.testing.assert_allclose(member.model.predict(own_new), expected, atol=1e-4)


def test_results_do_not_depend_on_the_number_of_threads(classifier, regressor):
    for model, X, y in (classifier, regressor):
        with threads(1):
            again = type(model)(**model.get_params()).fit(X, y)
        for name in ("mean_test_score", "rung", "n_samples"):
            np.testing.assert_array_equal(again.cv_results_[name], model.cv_results_[name])
        read = "predict_proba" if hasattr(model, "classes_") else "predict"
        np.testing.assert_array_equal(getattr(again, read)(X[:99]), getattr(model, read)(X[:99]))
    model, X, labels = classifier
    assert model.score(X[:200], labels[:200]) > 0.7
    assert all(f" {n} " in model.summary() for n in (500, 733, 1100))


def test_sample_weights_of_zero_and_a_rare_class():
    X, y = problem(1150)
    labels = (y > 0).astype(int)
    labels[:3] = 2
    weight = np.ones(1150)
    weight[-100:] = 0.0
    model = al.MKLClassifierCV(cv=3).fit(X, labels, sample_weight=weight)
    first, second, last = np.unique(model.cv_results_["n_samples"])
    assert 500 <= first <= 503
    assert second == len(model.model_.members[0].model._learned_on)
    assert last == 1050
    assert model.score(X, labels) > 0.7


# Threads


def blas_threads():
    """Numbers of threads that the BLAS libraries of this process use."""
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.mark.parametrize(
    ("scoring", "n_rare"), [("neg_log_loss", 8), ("roc_auc", 40), ("recall", 8)]
)
def test_scores_that_need_every_class_are_asked_for_parts_that_have_it(scoring, n_rare):
    """Parts of the test samples without the rare class had no such score."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1], [1010 - n_rare, n_rare]))
    X = rng.normal(size=(1010, 3)) + 2.0 * y[:, None]
    model = al.MKLClassifierCV(scoring=scoring, Cs=[1.0], cv=3, random_state=0).fit(X, y)
    assert np.isfinite(model.best_score_)


def test_parts_of_test_samples_have_every_class():
    tested = np.repeat([0, 1, 2], [50, 4, 9])
    parts = noise_blocks(tested, by_class=True, every_class=True)
    assert len(parts) == 4
    assert all(len(np.unique(tested[part])) == 3 for part in parts)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(63))


def test_blas_has_one_thread_inside_and_the_callers_after():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert blas_threads() == {1}
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == before
        for error in (ValueError, KeyboardInterrupt):
            with pytest.raises(error), one_blas_thread():
                raise error
            assert blas_threads() == before


def test_a_fit_leaves_the_callers_threads_alone():
    X, y = problem(120)
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        seen = []

        def score(truth, predicted):
            seen.append(blas_threads())
            return -float(np.abs(truth - predicted).mean())

        al.MKLRegressorCV(alphas=[1.0], cv=3, scoring=score).fit(X, y)
        assert {1} in seen
        assert blas_threads() == before
        with pytest.raises(TypeError):
            al.MKLRegressorCV(cv=3, scoring=lambda truth, predicted: None + 1).fit(X, y)
        assert blas_threads() == before


def test_two_fits_at_once_are_those_one_after_the_other():
    X, y = problem(150)

    def fit(seed):
        return al.MKLRegressorCV(cv=3, random_state=seed).fit(X, y).predict(X)

    alone = [fit(0), fit(1)]

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(2) as pool:
            np.testing.assert_array_equal(list(pool.map(fit, (0, 1))), alone)
        assert blas_threads() == before


def test_a_thread_that_did_not_set_the_first_limit_sets_its_own():
    """From threadpoolctl 3.8 on, its own functions have no effect there."""

    def work():
        with one_blas_thread():
            return blas_threads()

    with threadpool_limits(2, user_api="blas"):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(work).result() == {1}
        assert blas_threads() == {2}


def test_work_inside_threads_takes_one_thread_each_until_others_end():
    together, counts = threading.Barrier(3), []

    def work(thread):
        counts.append(thread_count())
        together.wait(10.0)
        if thread[0] == 0:
            # The others end as soon as they run; the rest of the work then has all threads.
            deadline = time.monotonic() + 10.0
            while thread_count() < 3 and time.monotonic() < deadline:
                time.sleep(0.001)
            counts.append(thread_count())

    on_threads(work, count=3)
    assert counts == [1, 1, 1, 3]
    assert thread_count() == numba.get_num_threads()


def test_what_is_known_is_waited_for_by_key():
    known, made, go_on = Known(), [], threading.Event()

    def learned(key, wait):
        with known.lock(key):
            if key not in known:
                made.append(key)
                assert go_on.wait(wait)
                known[key] = len(made)
            return known[key]

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(learned, "slow", 10.0) for _ in range(2)]
        while not made:
            time.sleep(0.001)
        with known.lock("quick"):  # while the other is computed
            known["quick"] = 7
        go_on.set()
    assert [one.result() for one in both] == [1, 1]
    assert made == ["slow"]
    assert known == {"slow": 1, "quick": 7}
    again = pickle.loads(pickle.dumps(known))
    assert again == known
    with again.lock("slow"):
        assert "slow" in again
