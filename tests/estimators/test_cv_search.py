"""The search: schedules as data, ties, dropped candidates, and the state after a failed fit."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each

import alignlearn as al
from alignlearn.estimators import candidates, plans, ways
from alignlearn.estimators.results_table import weighting_table
from alignlearn.estimators.schedule import (
    Level,
    Rung,
    check_training_classes,
    grid,
    halving,
    schedule_of,
)
from alignlearn.estimators.search import Candidate, Fits, Made, Shared, search
from alignlearn.machines import paths
from alignlearn.sources import open_source, pairs

VALUES = [0.1, 1.0, 10.0, 100.0, 1000.0]


class Scores:
    """Fits and scores from a table (n_candidates, n_values, n_folds); it counts the calls."""

    def __init__(self, table):
        self.table, self.asked = np.asarray(table, dtype=float), []

    def __call__(self, fold, tries):
        for number, values in tries:
            self.asked.extend((number, VALUES.index(v), fold) for v in values)
        return [[self.table[number, VALUES.index(v), fold] for v in vs] for number, vs in tries]

    def search(self, schedule, given=None, **options):
        n, n_values, _ = self.table.shape
        found = given or [Candidate(f"way {k}", None) for k in range(n)]
        return searched(found, VALUES[:n_values], schedule, self, named=n > 1, **options)


def searched(found, values, schedule, fits, named=True, **options):
    """A search over candidates in which predictions are scores."""
    return search(
        found,
        values,
        schedule,
        lambda fold, score: (score, -score),
        fits,
        parameter="C",
        names={"method": [c.name for c in found]} if named else None,
        **options,
    )


def drawn(shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


# Schedules


@each("best, n_tried, chosen", [(0.0, 1, 0), (0.5, 2, 0), (1.5, 3, 2), (3.0, 3, 1)])
def test_finer_candidates_are_tried_while_the_best_one_changes(best, n_tried, chosen):
    """On the second fold way 0 has its best value below that of the first fold, or not."""
    table = np.full((3, 5, 2), -1.0)
    table[0, 3, 0] = 0.5
    table[0, 2 if best else 3, 1], table[1, 1, 1], table[2, 0, 1] = 1.0, best, 2.0
    given = [
        Candidate("way 0", None, finer="way 1"),
        Candidate("way 1", None, finer="way 2", reserve=True),
        Candidate("way 2", None, reserve=True),
    ]
    rungs = [Rung((0,), 1, range(5)), Rung((1,), 1, range(5), (2, 0), 1)]
    rungs += [rungs[-1]._replace(finer=True)] * 3
    scores = Scores(table)
    found = scores.search(rungs, given=given, members=1, sizes=[10, 20])
    assert sorted({w for w, _, t in scores.asked if t == 1}) == list(range(n_tried))
    assert {w for w, _, t in scores.asked if t == 0} == {0}
    assert found.chosen[0][0] == chosen
    assert found.folds == [1]  # once, however many rungs tried it
    assert found.table["n_splits"].max() == 1


def test_values_that_a_path_omits_have_no_row():
    """On the second level way 1 is tried with three values, of which its path omits one."""
    table = np.zeros((2, 5, 2))
    table[1, 3, 0], table[1, 2, 1] = 1.0, 2.0

    class Omitting(Scores):
        def __call__(self, fold, tries):
            found = super().__call__(fold, tries)
            return found if fold == 0 else [[None, *predictions[1:]] for predictions in found]

    scores = Omitting(table)
    rungs = Rung((0,), 1, range(5)), Rung((1,), None, range(5), (2, 0), 1)
    found = scores.search(rungs, keep=True, members=1, sizes=[10, 20])
    assert found.chosen == [(1, 2)]
    assert found.kept == [[2.0]]
    last = found.table["n_samples"] == 20
    assert found.table["param_C"][last].tolist() == [10.0, 100.0]
    assert np.isfinite(found.table["mean_test_score"]).all()
    assert found.table["params"][found.best] == {"method": "way 1", "C": 10.0}


@pytest.mark.parametrize("worth", [True, False])
def test_a_search_ends_before_a_rung_that_is_not_worth_it(worth):
    table = np.zeros((3, 5, 2))
    table[1, 2], table[2, 0, 1] = 1.0, 2.0
    asked = []

    def ask(number, value, predictions):
        asked.append((number, value, predictions))
        return worth

    scores = Scores(table)
    rungs = Rung((0,), 1, range(5)), Rung((1,), None, range(5), (1, 0), 1, worth=ask)
    found = scores.search(rungs, keep=True, members=1, sizes=[10, 20])
    assert asked == [(1, 10.0, 1.0)]
    assert found.chosen == [(1, 2)]
    assert found.folds == [int(worth)]
    assert len(scores.asked) == 15 + 2 * worth
    assert found.table["params"][found.best] == {"method": "way 1", "C": 10.0}
    assert len(found.table["params"]) == 15 + 2 * worth
    if worth:
        assert found.table["n_samples"].tolist() == [10] * 15 + [20] * 2


def test_grids_and_halving_as_data():
    assert grid(5, 3) == (Rung(range(5), None, range(3), widened=True),)
    assert halving((), 5, 3, True) == grid(5, 3)
    assert halving((6, 2), 2, 3, True) == grid(2, 3)
    assert halving((6, 2), 5, 6, True) == (
        Rung((0,), 6, range(1, 5), (1, 1)),
        Rung((1,), 2, range(1, 5), (1, 1)),
        Rung(range(2, 5), None, range(6), (1, 1), widened=True),
    )
    assert halving((6, 2), 5, 6, False)[0] == Rung((0,), 6, range(6), None)
    assert halving((2,), 3, 4, True)[0] == Rung((0,), 2, range(4), (1, 1))  # too few for ends


@pytest.mark.parametrize("by_columns", [False, True])
def test_the_schedule_of_levels_as_data(by_columns):
    """Grid values at the even positions of ten; the last level is one of final size."""
    values, everything = [0, 2, 4, 6, 8], range(10)
    levels = [Level(None, [None] * n) for n in (2, 1, 1)] + [Level(None, [None], final=True)]
    found = schedule_of(levels, (6, 2), values, 10, True, by_columns, worth=max)
    groups = [{False: n, True: n, "columns": (1, 2 * n)} for n in (2, 1)]
    last = Rung(range(4, 5), None, everything, (6, 0), 3, apart=True, worth=max)
    first, second = groups if by_columns else (4, 2)
    best = {False: (1, 1), True: (1, 1), "columns": (1, 1)}
    assert found == (
        Rung(range(2), first, [2, 4, 6], None, 0),
        Rung(range(2, 3), second, [2, 4, 6], (2, 2), 1, behind=4.0),
        Rung(range(3, 4), best, everything, (1, 2), 2, widened=True, apart=True),
        last,
        *[last._replace(reach=(0, 2), worth=None, finer=True)] * 3,
    )
    two = schedule_of(levels[:2], (6, 2), values, 10, False, by_columns)
    assert [(rung.keep, rung.values) for rung in two] == [(first, values), (None, values)]
    assert schedule_of(levels[:1], (1,), values, 5, False) == halving((1,), 2, 5, False)


def test_a_grid_tries_everything_in_the_order_of_scikit_learn():
    scores = Scores(drawn((2, 3, 4)))
    found = scores.search(grid(4, 3))
    assert sorted(scores.asked) == list(itertools.product(range(2), range(3), range(4)))
    table = found.table
    expected = [{"C": c, "method": m} for c in VALUES[:3] for m in ("way 0", "way 1")]
    assert table["params"] == expected
    mean = scores.table.mean(axis=2)
    for row, (k, w) in enumerate(itertools.product(range(3), range(2))):
        splits = [table[f"split{t}_test_score"][row] for t in range(4)]
        np.testing.assert_array_equal(splits, scores.table[w, k])
        assert table["mean_test_score"][row] == pytest.approx(mean[w, k])
        assert table["std_test_score"][row] == pytest.approx(scores.table[w, k].std())
    np.testing.assert_array_equal(table["rung"], -1)
    np.testing.assert_array_equal(table["n_splits"], 4)
    assert table["mean_test_score"][found.best] == pytest.approx(mean.max())
    assert found.chosen == [tuple(np.unravel_index(mean.argmax(), mean.shape))]


def test_what_was_dropped_is_named_by_its_rung():
    """A candidate with a larger number is better and stays longer; the middle value is best."""
    worth = 10.0 * np.arange(4)[:, None] - np.abs(np.arange(5) - 2)
    scores = Scores(worth[:, :, None] + 0.01 * drawn((4, 5, 6)))
    schedule = (
        Rung((0,), 3, range(1, 4), (1, 1)),
        Rung((1, 2), 2, range(1, 4), (1, 1)),
        Rung(range(3, 6), None, range(5), (1, 1)),
    )
    found = scores.search(schedule, members=2)
    rungs = found.table["rung"].reshape(5, 4).T  # (candidate, value)
    expected = [[0, 0, 0, 0, 0], [0, 1, 1, 1, 0], [0, -1, -1, -1, 0], [0, -1, -1, -1, 0]]
    np.testing.assert_array_equal(rungs, expected)
    missing = np.isnan([found.table[f"split{t}_test_score"] for t in range(6)]).any(axis=0)
    np.testing.assert_array_equal(missing, found.table["rung"] >= 0)
    assert found.chosen == [(3, 2), (2, 2)]
    assert found.params == {"C": 10.0, "method": "way 3"}
    table = found.table
    np.testing.assert_array_equal(table["mean_test_shown"], -table["mean_test_score"])
    assert len(scores.asked) == len(set(scores.asked))
    tried = found.table["n_splits"].reshape(5, 4).T
    np.testing.assert_array_equal(tried[:, 2], [1, 3, 6, 6])
    np.testing.assert_array_equal(found.table["rank_test_score"].reshape(5, 4).T[3, 2], 1)


def test_the_best_value_is_tried_on_the_folds_before_it():
    """The end of the grid is added on the last rung, and is tried on the first folds after it."""
    scores = np.zeros((1, 5, 4))
    scores[0] = np.arange(5)[:, None]
    scores = Scores(scores)
    found = scores.search(halving((1, 1), 4, 5, True), members=1, keep=True)
    assert found.params["C"] == 1000.0
    assert scores.asked[-2:] == [(0, 4, 0), (0, 4, 1)]
    assert found.table["rung"].tolist() == [0, 0, -1, -1, -1]
    assert found.kept == [[4.0] * 4]


# Ties


def test_ties_of_a_grid_go_to_its_first_row_and_else_to_the_first_candidate():
    scores = np.zeros((2, 2, 3))
    scores[0, 1] = scores[1, 0] = 1.0
    found = Scores(scores).search(grid(3, 2))
    assert found.params == {"C": 0.1, "method": "way 1"}
    found = Scores(scores).search(grid(3, 2), members=2)
    assert found.params == {"C": 1.0, "method": "way 0"}
    assert found.chosen == [(0, 1), (1, 0)]
    rounded = Scores(scores + 1e-15 * drawn(scores.shape)).search(grid(3, 2))
    assert rounded.params == {"C": 0.1, "method": "way 1"}


def test_scores_must_be_finite():
    scores = np.zeros((1, 2, 3))
    scores[0, 1, 2] = np.nan
    with pytest.raises(ValueError, match="scoring gave NaN"):
        Scores(scores).search(grid(3, 2))


# Candidates


def test_candidates_that_depend_on_the_value_are_made_for_each():
    made = []

    def make(fold, value):
        made.append((fold, value))
        return Made(value, None, None)

    found = [Candidate("own", make, by_value=True), Candidate("shared", make, job=1)]
    fits = Fits(found, lambda value, y, split, values: values)
    searched(found, [1.0, 2.0], grid(2, 2), fits)
    # Threads may change their order.
    assert sorted(made) == [(0, 1.0), (0, 1.0), (0, 2.0), (1, 1.0), (1, 1.0), (1, 2.0)]


WAYS = {way.name: way for way in plans.WAYS}


def _two_classes(kernels=None):
    """Kernels of a search over two classes, its three folds and the labels."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    source = open_source(X, kernels)
    made = ways.WayKernels(source, kernels and source.kernels, y, "classification", rng)
    return made, al.folds.make_folds(3, y, True, None), y


def _fold_weights(kernels, folds, y, held):
    """``weights(way, fold, C=1.0)`` as in a search, and the models that learn them."""
    learners = {rule: al.MKLClassifier(weighting=rule) for rule in ("alignf", "uniform")}
    levels = [Level(None, folds)]
    made = ways.FoldWays([kernels], levels, [kernels.source], [y], [held], learners)
    return lambda way, fold, C=1.0: made.make(way, fold, C).combination.weights, learners


def test_a_fold_that_is_tried_again_has_its_own_weights():
    """Statistics are held for one training set at a time, and the first fold may come last."""
    kernels, folds, y = _two_classes(al.gaussian_kernels([0.1, 0.5, 2.0]))
    trains = [train for train, _ in folds]
    held = list(kernels.source.training_statistics(y, "classification", trains))
    weights, _ = _fold_weights(kernels, folds, y, held)
    first = [weights(WAYS["alignf"], t) for t in range(3)]
    assert not np.allclose(first[0], first[-1])
    np.testing.assert_array_equal(weights(WAYS["alignf"], 0), first[0])


def test_items_in_turn_are_held_until_they_were_read_often_enough():
    held = candidates.InTurn(iter(range(10)), 2)
    assert [held[k] for k in (0, 3, 1, 0, 1, 3)] == [0, 3, 1, 0, 1, 3]
    with pytest.raises(KeyError):
        held[0]
    assert held[2] == 2


class Counted(list):
    """Sources that count how often statistics were asked of each."""

    def __init__(self, sources):
        super().__init__(sources)
        self.asked = []

    def __getitem__(self, number):
        self.asked.append(number)
        return super().__getitem__(number)


def test_statistics_of_sources_of_their_own_are_computed_when_first_read():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4, 40, 2)), rng.normal(size=40)
    folds = al.folds.make_folds(4, y, False, None)
    sources = Counted(open_source(one, al.gaussian_kernels([0.1, 2.0])) for one in X)
    rule = al.weights.get_weighting("alignf")
    how = y, "regression", [rule], folds
    found = candidates.fold_statistics(sources, *how, {"unbiased": False, "client": None})
    assert (len(found), sources.asked) == (4, [])
    read = [found[t] for t in (2, 0, 2)]
    assert (sources.asked, read[0] is read[2]) == ([2, 0], True)
    for one, t in zip(read, (2, 0)):
        train = folds[t][0]
        alone = open_source(X[t][train], al.gaussian_kernels([0.1, 2.0]))
        np.testing.assert_allclose(one.M, alone.statistics(y[train], "regression").M, rtol=1e-12)


@pytest.mark.parametrize("seed", [0, 4])
def test_scales_find_features_that_matter_only_together(seed):
    # One start and one width reached 0.002 to 0.45 of the scale on these two, by seed.
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (1100, 32))
    y = X[:, 0] * np.sin(4.0 * X[:, 1]) + 0.2 * rng.standard_normal(1100)

    def scales(**options):
        source = open_source(X, None, **options)
        again = np.random.default_rng(seed)
        kernels = ways.WayKernels(source, None, y, "regression", again)
        return np.square(kernels.root(plans.Way("scaled", None, scaled=True)))

    found = scales()
    assert found[:2].sum() > 0.65 * found.sum()
    assert found.sum() == pytest.approx(32.0)
    if seed == 0:
        np.testing.assert_allclose(scales(sample_weight=np.ones(1100)), found, rtol=1e-6)


def test_partners_have_the_weights_of_their_way_from_one_pass(monkeypatch):
    kernels, folds, y = _two_classes()
    weights, learners = _fold_weights(kernels, folds, y, [None] * 3)
    passes, statistics = [], pairs.PairSource.statistics

    def counted(self, *args, **options):
        passes.append(len(self.names))
        return statistics(self, *args, **options)

    def fresh(learner, fold):
        train = folds[fold][0]
        of_fold = _opened(kernels, WAYS["columns"], train, fold)
        return candidates.fold_result(learner, of_fold, y, train=train).unscaled

    monkeypatch.setattr(pairs.PairSource, "statistics", counted)
    first = weights(WAYS["scaled-uniform"], 1)
    partner = WAYS["scaled-uniform"].by_least_squares()
    np.testing.assert_array_equal(weights(partner, 1, 10.0), first)
    assert passes == [9]
    # Weights of single columns choose the pairs, too.
    each = weights(WAYS["columns"], 0)
    assert passes == [9, 3]
    weights(WAYS["pairs"], 0)
    assert passes == [9, 3, 6]
    np.testing.assert_array_equal(each, fresh(learners["alignf"], 0))
    unbiased = learners["alignf"].set_params(unbiased=True)
    other = weights(WAYS["columns"], 2)  # not from biased statistics
    np.testing.assert_array_equal(other, fresh(unbiased, 2))


def _opened(kernels, way, train, fold):
    """The source of a method whose kernels and factors are learned on a training set."""
    root = kernels.root(way, train, fold)
    return kernels.opened(way, kernels.kernels_of(way, root, train, fold), root)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_linear_candidates_of_regression_need_no_matrix(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [1.0, 5.0, 0.2]
    y = X @ [1.0, -0.3, 2.0] + rng.normal(size=60)
    y = y if task == "regression" else (y > 0.0).astype(int)
    kernels = ways.WayKernels(open_source(X, None), None, y, task, rng)
    split = al.folds.make_folds(3, y, False, None)[0]
    found = _opened(kernels, WAYS["linear"], split[0], 0)
    assert found.is_linear == (task == "regression")
    Z = X / X[split[0]].std(axis=0)
    A, B = (Z[rows] for rows in split)
    expected = paths.ridge_path(A @ A.T, y[split[0]].astype(float), B @ A.T, [0.1, 10.0])
    given = found.combine([1.0]), y.astype(float), split, [0.1, 10.0]
    np.testing.assert_allclose(paths.regressor_predictions(*given), expected, rtol=1e-9)


# Fits


@pytest.fixture
def calls_of_workers(monkeypatch):
    """``calls_of_workers(n)``: searches make calls here, one after another, as for n workers.

    The calls of each list are recorded; see `calls.each`. 0 stands for no client.
    """

    def replace(n_threads):
        lists = []

        def each(workers, calls, *_):
            lists.append([])
            for take, function, *given in calls:
                take(function(*given))

        workers = SimpleNamespace(n_threads=n_threads) if n_threads else None
        monkeypatch.setattr("alignlearn.estimators.search.workers_of", lambda _: workers)
        monkeypatch.setattr("alignlearn.estimators.search.each", each)
        return lists

    return replace


@pytest.mark.parametrize("n_threads", [0, 1, 2])
def test_jobs_are_divided_among_threads_and_go_whole_to_workers(n_threads, calls_of_workers):
    asked = []
    calls_of_workers(n_threads)

    def fits(fold, tries, beside=None):
        asked.append(([w for w, _ in tries], beside))
        return [[float(10 * w + fold) for _ in values] for w, values in tries]

    candidates = [
        Candidate("alone", None, job=1),
        Candidate("scales", None, job=0, turn=1, divisible=True),
        Candidate("matrix", None, job=0, turn=0, divisible=True),
        Candidate("matrix-krr", None, job=0, turn=2, divisible=True, parent="matrix", path=len),
        Candidate("single", None, job=3),
    ]
    schedule = (Rung([0], None, [0], widened=True),)
    found = searched(candidates, [1.0], schedule, fits)
    # Jobs with the matrix come first, with their partner; the scales wait for the same gradients.
    divided = [([2, 3], [1, 2, 3]), ([0], None), ([4], None), ([1], [1, 2, 3])]
    whole = [([0], None), ([1, 2, 3], None), ([4], None)]
    found_jobs = [(sorted(w), beside and sorted(beside)) for w, beside in asked]
    assert found_jobs == (whole if n_threads else divided)
    assert found.chosen[0][0] == 4


@pytest.mark.parametrize("n_threads", [0, 1, 2])
def test_workers_learn_once_and_ahead_what_several_candidates_share(n_threads, calls_of_workers):
    calls, kept = calls_of_workers(n_threads), []

    def fits(fold, tries):
        calls[-1].extend(w for w, _ in tries)
        return [[float(w)] for w, _ in tries]

    def shared(key):
        return Shared(key, lambda: calls[-1].append(key) or key, kept.append)

    keys = [None, "a", "a", "b"]
    found = [Candidate(str(w), None, job=w, shared=k and shared(k)) for w, k in enumerate(keys)]
    searched(found, [1.0], (Rung([0], None, [0]), Rung([1], None, [0], apart=True)), fits)
    # A result for each thread before the first rung, the others before the second.
    first, second = [0, 1, 2, 3], [3, 2, 1, 0]
    ahead = [first, second], [[*first, "a"], ["b"], second], [[*first, "a", "b"], second]
    assert calls == ahead[n_threads]
    assert kept == (["a", "b"] if n_threads else [])


@pytest.mark.parametrize(("n_threads", "expected"), [(1, [5, 5]), (2, [5, 5]), (4, [2, 3, 2, 3])])
def test_workers_get_one_call_for_each_thread_where_samples_are_few(
    n_threads, expected, calls_of_workers
):
    """Five candidates, of which two form a job, on two folds."""
    asked = []
    calls_of_workers(n_threads)

    def fits(fold, tries):
        asked.append((fold, [w for w, _ in tries]))
        return [[float(10 * w + fold)] for w, _ in tries]

    candidates = [Candidate(str(w), None, job=w // 2 if w < 2 else w) for w in range(5)]
    found = searched(candidates, [1.0], (Rung([0, 1], None, [0]),), fits, sizes=[400])
    assert sorted(len(numbers) for _, numbers in asked) == sorted(expected)
    every = sorted((t, w) for t, numbers in asked for w in numbers)
    assert every == list(itertools.product(range(2), range(5)))
    assert found.chosen[0][0] == 4


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_idle_workers_can_begin_what_follows_the_search(n_threads, calls_of_workers):
    """Three candidates on two levels with other best ones, then one that follows, the best."""
    early = []
    calls_of_workers(n_threads)
    names = ["a", "b", "c", "finer"]
    finer = {"finer": "finer"}, {}, {}, {"reserve": True}
    first = Rung([0], None, [0]), Rung([1], None, [0], level=1, apart=True)
    found = searched(
        [Candidate(name, None, **how) for name, how in zip(names, finer)],
        [1.0],
        (*first, first[-1]._replace(finer=True)),
        lambda fold, tries: [[[3.0 * fold, 1.0, 2.0, 4.0][w]] for w, _ in tries],
        members=1,
        keep=True,
        sizes=[2000, 8000],
        early=lambda result, n: early.append((result.chosen, n)),
    )
    # When some of the three have results, and beside the finer one.
    a, c = [(0, 0)], [(2, 0)]
    expected = [[], [(c, 1), (a, 1)], [(c, 1), (c, 2), (a, 2)]]
    assert early == expected[n_threads - 1]
    assert found.chosen == [(3, 0)]


def test_training_sets_of_label_matrices_need_a_label_that_varies():
    labels = np.array([[0, 1], [0, 1], [1, 0], [0, 1]])
    folds = [([0, 2], [1, 3]), ([0, 1, 3], [2])]
    check_training_classes(labels, folds[:1], None)
    with pytest.raises(ValueError, match="all labels are constant in the training set of fold 1"):
        check_training_classes(labels, folds, None)
    classes, weight = np.array(["a", "b", "a", "b"]), np.array([1.0, 0.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="fold 0 are of 1 class only, 'a'"):
        check_training_classes(classes, [([0, 1, 2], [3])], weight)


def test_the_table_of_weightings_has_the_best_value_of_each():
    rules = [al.Uniform(), al.AlignF()]
    results = {
        "param_weighting": [rules[0], rules[0], rules[1], rules[1]],
        "param_C": [1.0, 10.0, 1.0, 10.0],
        "mean_test_score": np.array([0.5, 0.7, 0.8, 0.6]),
        "std_test_score": np.array([0.2, 0.4, 0.6, 0.8]),
        "n_splits": np.array([5, 5, 5, 5]),
    }
    lines = weighting_table(results, 2).splitlines()
    assert lines[-2].split() == [str(rules[0]), "10", "0.7000", "0.2000"]
    assert lines[-1].split() == [str(rules[1]), "1", "0.8000", "0.3000", "yes"]
