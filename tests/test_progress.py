"""``verbose``: lines on stderr, or calls of a function, for each piece of long work."""

import copy
import itertools
import pickle
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import alignlearn as al
from alignlearn import _progress
from alignlearn import _threads as threads
from alignlearn.comparison import Protocol, compare

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
LABELS, TARGETS, TASK = X[:, 0] > 0, X[:, 0] + 0.1 * X[:, 1], np.arange(60) % 3
SMALL, NYSTROM = {"kernels": ["rbf", "linear"]}, {"kernel": "rbf", "n_centers": 10}
LEARNERS = [
    (al.KernelCombiner(**SMALL), (LABELS,)),
    (al.MKLClassifier(**SMALL), (LABELS,)),
    (al.MKLClassifierCV(**SMALL, Cs=[1.0, 2.0], cv=3), (LABELS,)),
    (al.MKLRegressor(**SMALL), (TARGETS,)),
    (al.OneClassMKL(**SMALL, weighting="consensus"), ()),
    (al.MKLRegressorCV(**SMALL, alphas=[0.1, 1.0], cv=3), (TARGETS,)),
    (al.MultiTaskMKLClassifier(**SMALL), (LABELS, TASK)),
    (al.MultiTaskMKLRegressor(**SMALL, method="uniform"), (TARGETS, TASK)),
    (al.NystromRidge(**NYSTROM), (TARGETS,)),
    (al.NystromRidgeClassifier(**NYSTROM), (LABELS,)),
    (al.NystromSVC(**NYSTROM), (LABELS,)),
    (al.HyperKernelClassifierCV(multiples=[1.0, 2.0], alphas=[1.0], cv=3), (LABELS,)),
]
each_learner = pytest.mark.parametrize(
    ("learner", "given"), LEARNERS, ids=lambda v: type(v).__name__ if hasattr(v, "fit") else ""
)


class Calls(list):
    """Stores its reports, and the thread of each; it can neither be copied nor pickled."""

    def __init__(self, end=None):
        super().__init__()
        self.end, self.threads = end, set()

    def __call__(self, done, total, what):
        self.append((done, total, what))
        self.threads.add(threading.current_thread())
        if len(self) - 1 == self.end:
            raise Enough

    def __reduce_ex__(self, protocol):
        raise TypeError("cannot pickle what is on the screen")

    def pieces(self):
        """The names of all pieces of work, each of which was reported to its end."""
        names, under_way = [], {}
        for done, total, what in self:
            assert type(done) is type(total) is int
            before, of = under_way.pop(what, (0, total))
            assert 0 <= before <= done <= total == of
            if done < total:
                under_way[what] = done, total
            else:
                names.append(what)
        assert not under_way
        return names


class Enough(BaseException):
    pass


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still; ``clock.now`` is set."""
    found = SimpleNamespace(now=0.0)
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: found.now))
    return found


# The common printer


def test_lines_come_every_two_seconds_and_extrapolate(clock, capsys):
    with _progress.Progress("work", 10, True) as progress:
        for clock.now, done in ((1.0, 1), (3.0, 3), (4.0, 4), (5.5, 5), (9.0, 9), (10.0, 9)):
            progress(done)
        clock.now = 12.0
    assert capsys.readouterr().err.splitlines() == [
        "alignlearn: work: 30% done, about 7 s left",
        "alignlearn: work: 50% done, about 6 s left",
        "alignlearn: work: 90% done, about 1 s left",
        "alignlearn: work: 100% done",
    ]


def test_lines_of_other_work_start_over_and_a_note_takes_the_place_of_shares(clock, capsys):
    lines = _progress.Lines()
    for clock.now, work in (
        (2.0, (5, 10, "first")),
        (4.0, (1, 4, "second")),
        (5.0, (2, 4, "second")),
        (6.0, (3, 4, "second")),
        (9.0, (3, 4, "second", "3 steps")),
        (12.0, (0, 4, "third")),
    ):
        lines(*work)
    assert capsys.readouterr().err.splitlines() == [
        "alignlearn: first: 50% done",
        "alignlearn: second: 25% done",
        "alignlearn: second: 75% done, about 1 s left",
        "alignlearn: second: 3 steps",
        "alignlearn: third: 0% done",
    ]


def test_a_line_is_repeated_while_a_part_lasts(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "_EVERY", 0.01)
    with _progress.Progress("work", 2, True) as progress:
        progress(1)
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert lines.count("alignlearn: work: 50% done") > 2
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_by_default_lines_are_for_terminals(monkeypatch, capsys):
    clock = itertools.count(0.0, 5.0)
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    al.MKLClassifierCV().fit(X, LABELS)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    al.MKLClassifierCV(verbose=False).fit(X, LABELS)
    assert capsys.readouterr().err == ""
    al.MKLClassifierCV().fit(X, LABELS)
    lines = capsys.readouterr().err.splitlines()
    assert all(re.fullmatch(r"alignlearn: .*: \d+% done(, about \d+ s left)?", at) for at in lines)
    assert {line.split(": ")[1] for line in lines} >= {"5 folds", "final fit on 60 samples"}


def test_without_a_stderr_nothing_is_printed(clock, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr", None)
    lines = _progress.Lines()
    clock.now = 5.0
    lines(1, 2, "work")
    assert capsys.readouterr().out == ""


@given(st.lists(st.tuples(st.floats(0.0, 0.3), st.integers(-1, 12)), max_size=40))
def test_a_function_is_told_seldom_and_up_to_the_end(steps):
    clock, told = SimpleNamespace(now=0.0), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: clock.now))
        with _progress.Progress("work", 10, lambda *work: told.append((clock.now, *work))) as step:
            for seconds, done in steps:
                clock.now += seconds
                step(done)
    counts = [done for _, done, _, _ in told]
    assert counts == sorted(counts)
    assert counts[-1] == 10
    assert counts.count(10) == 1
    # The end is always reported.
    times = [now for now, *_ in told[:-1]]
    assert all(b - a >= 0.1 for a, b in itertools.pairwise(times))
    # Progress is reported once a tenth of a second has passed: the control of the line above.
    assert len(told) >= 1 + sum(a < 10 for a in counts[:-1])


def test_work_that_fails_has_no_end_and_no_work_no_call():
    told = Calls()
    with pytest.raises(KeyError), _progress.Progress("work", 3, told) as progress:
        {}[progress(1)]
    assert told == [(1, 3, "work")]
    with _progress.Progress("nothing", 0, told):
        pass
    assert told == [(1, 3, "work")]


def test_other_threads_only_count(clock):
    told = Calls()
    with _progress.Progress("work", 5, told) as progress, ThreadPoolExecutor(1) as pool:
        for clock.now in range(1, 4):
            pool.submit(progress, clock.now).result()
        assert told == []
        progress()
    assert told == [(3, 5, "work"), (5, 5, "work")]
    assert told.threads == {threading.current_thread()}


# Estimators that have it


def test_statistics_are_the_same_to_the_last_bit(monkeypatch, capsys):
    X, y = rng.normal(size=(3000, 3)), rng.normal(size=3000)
    folds = np.arange(3000) % 5
    quiet = al.alignment_statistics(X, y), al.alignment_statistics(X, y, folds=folds)[1]
    clock = itertools.count(0.0, 5.0)
    monkeypatch.setattr(threads, "_POLL", 1e-4)
    monkeypatch.setattr(_progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    verbose = al.alignment_statistics(X, y, verbose=True)
    assert "alignlearn: pairs of 3000 samples: 100% done" in capsys.readouterr().err
    told = Calls()
    on_folds = al.alignment_statistics(X, y, folds=folds, verbose=told)[1]
    assert told.pieces() == ["pairs of 3000 samples"]
    for one, other in zip(quiet, (verbose, on_folds)):
        np.testing.assert_array_equal(one.M, other.M)
        np.testing.assert_array_equal(one.a, other.a)
    with pytest.raises(TypeError, match=r"verbose must be True or False, or a function of \(done"):
        al.alignment_statistics(X, y, verbose="yes")


@pytest.mark.parametrize("raises", [True, False])
def test_work_of_other_threads_is_told_while_it_lasts(raises):
    X, y, told, here = rng.normal(size=(400, 3)), rng.normal(size=400), Calls(), []
    going_on, main = threading.Event(), threading.current_thread()

    def slow(x, z):
        if threading.current_thread() is not main:
            assert going_on.wait(60.0)
        return x @ z

    def tell(*work):
        here.append(threading.current_thread())
        told(*work)
        going_on.set()
        if raises:
            raise Enough

    with pytest.raises(Enough) if raises else nullcontext():
        al.alignment_statistics(X, y, [al.FromFunction(slow)], verbose=tell)
    assert told[0][0] < told[0][1]
    assert set(here) == {main}
    if raises:
        assert len(told) == 1
    else:
        assert told.pieces() == ["pairs of 400 samples"]


def test_every_learner_with_the_parameter_is_looked_at():
    named = [getattr(al, name) for name in al.__all__]
    have = {cls for cls in named if hasattr(cls, "fit") and hasattr(cls, "verbose")}
    assert have == {type(learner) for learner, _ in LEARNERS}


def predicted(model):
    kind = al.KernelCombiner
    known = {"task": TASK} if hasattr(model, "tasks_") else {}
    return model.transform(X) if isinstance(model, kind) else model.predict(X, **known)


@each_learner
def test_a_function_is_told_of_every_piece_and_may_end_the_fit_at_any_call(learner, given, capsys):
    told, quiet = Calls(), predicted(clone(learner).fit(X, *given))
    model = clone(learner).set_params(verbose=told).fit(X, *given)
    assert told.pieces()
    assert told.threads == {threading.current_thread()}
    np.testing.assert_array_equal(predicted(model), quiet)
    assert capsys.readouterr() == ("", "")
    # A call that raises leaves no fit. The times of the calls decide how many there are, but the
    # last one of each piece always exists.
    for end in range(len(told.pieces())):
        stopper = Calls(end)
        with pytest.raises(Enough):
            model.set_params(verbose=stopper).fit(X, *given)
        assert len(stopper) == end + 1
        assert not model.__sklearn_is_fitted__()
    model.set_params(verbose=False).fit(X, *given)
    np.testing.assert_array_equal(predicted(model), quiet)


@each_learner
def test_copies_share_a_function_and_files_are_without(learner, given, tmp_path):
    told = Calls()
    model = clone(learner).set_params(verbose=told)
    assert clone(model).verbose is told
    assert copy.copy(model).verbose is told
    for found in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert found.verbose is False
    assert model.verbose is told
    assert pickle.loads(pickle.dumps(clone(model).set_params(verbose=True))).verbose is True
    al.save(model.fit(X, *given), tmp_path / "model")
    found = al.load(tmp_path / "model")
    assert found.verbose is False
    np.testing.assert_array_equal(predicted(found), predicted(model))


def test_steps_of_an_iteration_are_told_up_to_the_most(clock, capsys, monkeypatch):
    told = Calls()
    monkeypatch.setattr(_progress, "_OFTEN", 0.0)
    model = al.NystromRidge(**NYSTROM, alpha=1e-3, tol=1e-12, max_iter=50, verbose=told)
    model.fit(X, TARGETS)
    steps = [done for done, total, _ in told if total == 50]
    assert steps == [*range(1, len(steps)), 50]
    assert len(steps) - 1 >= model.n_iter_


# Comparisons


def test_a_comparison_tells_its_folds(capsys):
    protocol, options = Protocol(n_folds=4, grid=[1.0]), {"methods": ("uniform", "align")}
    told = Calls()
    found = compare(X, LABELS, protocol=protocol, verbose=told, **options)
    assert told.pieces() == ["folds"]
    assert {total for _, total, _ in told} == {4}
    stopper = Calls(0)
    with pytest.raises(Enough):
        compare(X, LABELS, protocol=protocol, verbose=stopper, **options)
    again = compare(X, LABELS, protocol=protocol, verbose=True, **options)
    lines = capsys.readouterr().err.splitlines()
    assert [line[:20] for line in lines[::2]] == [f"alignlearn: fold {k}/4" for k in range(1, 5)]
    np.testing.assert_array_equal(found.weights, again.weights)
