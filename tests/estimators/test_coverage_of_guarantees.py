"""Every public guarantee on every design of ``scripts/lab/coverage_table.py``, in few runs each."""

import numpy as np
import pytest
from scipy.stats import binom

RUNS = 2


@pytest.fixture
def coverage(script, monkeypatch):
    module = script("lab/coverage_table")
    monkeypatch.setattr(module, "POPULATION", 1000)
    module.population.cache_clear()
    return module


def test_no_guarantee_misses_more_often_than_chance_explains(coverage):
    """The (1 - 1e-5)-quantile of the number of misses, binomial with probability 0.1."""
    for guarantee in coverage.GUARANTEES:
        found = {design: coverage.row(guarantee, design, RUNS) for design in coverage.DESIGNS}
        found = {design: row for design, row in found.items() if row is not None}
        if guarantee.startswith("predict_"):
            for design, row in found.items():
                # The training samples move the coverage of a fit by about (0.09/m)^(1/2).
                error = np.sqrt(0.09 / RUNS * (1.0 / design.m + 1.0 / coverage.NEW))
                assert row.rate <= coverage.DELTA + 4.5 * error, (guarantee, design.name)
        else:
            # Over all designs: with two runs per design, both may miss by chance.
            most = binom.ppf(1 - 1e-5, RUNS * len(found), coverage.DELTA)
            assert most < RUNS * len(found)
            assert sum(row.rate * RUNS for row in found.values()) <= most, guarantee


def test_rows_that_miss_too_often_are_marked(coverage):
    good = coverage.Row("bound", "noise", 400, 0.12, 0.016)
    bad = coverage.Row("bound", "atoms", 400, 0.15, 0.017)
    assert (good.too_often, bad.too_often) == (False, True)
    assert coverage.Row("bound", "always", 400, 1.0, 0.0).too_often
    assert (good.cell, bad.cell) == ("0.120 (0.016)", "**0.150 (0.017)**")


def test_a_bound_that_is_half_as_large_is_noticed(coverage, monkeypatch):
    """The control: an interval of a tenth of the length around the estimate misses."""

    def short(trial):
        missed = coverage.al.alignment_interval(
            trial.X, trial.y, trial.design.kernels[-1], coverage.DELTA, method="closed"
        )
        middle, half = (missed.low + missed.high) / 2, (missed.high - missed.low) / 20
        rho = coverage.alignment_of(trial.design, np.array([0.0, 0.0, 1.0]))
        return abs(rho - middle) > half

    monkeypatch.setitem(coverage.GUARANTEES, "short", short)
    assert coverage.row("short", coverage.DESIGNS[0], RUNS).too_often
