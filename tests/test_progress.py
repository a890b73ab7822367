"""Progress of long work on threads."""

import itertools
import re
from types import SimpleNamespace

import numpy as np
import pytest

import alignlearn as al
from alignlearn.engine import threads


def test_progress_speaks_every_two_seconds_and_extrapolates(monkeypatch, capsys):
    now = iter([0.0, 1.0, 3.0, 4.0, 5.5, 9.0])
    monkeypatch.setattr(threads, "time", SimpleNamespace(monotonic=lambda: next(now)))
    progress = threads.Progress("work")
    for share in (0.1, 0.3, 0.4, 0.5, 0.9):
        progress(share)
    assert capsys.readouterr().err.splitlines() == [
        "alignlearn: work: 30% done, about 7 s left",
        "alignlearn: work: 50% done, about 6 s left",
        "alignlearn: work: 90% done, about 1 s left",
    ]


def test_who_watches_changes_nothing(monkeypatch, capsys):
    rng = np.random.default_rng(0)
    X, y, folds = rng.normal(size=(3000, 3)), rng.normal(size=3000), np.arange(3000) % 5
    quiet = al.alignment_statistics(X, y), al.alignment_statistics(X, y, folds=folds)[1]
    assert capsys.readouterr().err == ""
    clock = itertools.count(0.0, 5.0)
    monkeypatch.setattr(threads, "_POLL", 1e-4)
    monkeypatch.setattr(threads, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    verbose = al.alignment_statistics(X, y, verbose=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(re.match(r"alignlearn: pairs of 3000 samples: \d+% done", line) for line in lines)
    on_folds = al.alignment_statistics(X, y, folds=folds, verbose=True)[1]
    assert capsys.readouterr().err.count("% done")
    for one, other in zip(quiet, (verbose, on_folds)):
        np.testing.assert_array_equal(one.M, other.M)
        np.testing.assert_array_equal(one.a, other.a)
    with pytest.raises(TypeError, match="verbose"):
        al.alignment_statistics(X, y, verbose="yes")
