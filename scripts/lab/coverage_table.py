#!/usr/bin/env python
"""Miss rates of every public guarantee on a table of designs, with their standard errors.

A design is a distribution with a number of samples. A guarantee misses if the true value is outside
its interval or above its bound. The true value is computed from 3000 further samples, whose error
is small compared with an interval for the alignment. For `predict_interval` and `predict_set` it is
the share of new targets outside. A rate counts as too large if it exceeds the promised rate by more
than 2.5 standard errors. A cell has "few samples" if a guarantee needs more of them.
"""

import sys
from dataclasses import dataclass
from functools import cache

import numpy as np
from _studies import publish, quiet, study

import alignlearn as al
from alignlearn.bounds.own_sample import own_sample_machine
from alignlearn.estimators.alignment_intervals import learned_interval

DELTA = 0.1  # promised miss rate of all of them
POPULATION, NEW = 3000, 1000
ERRORS = 2.5


# -- designs ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """A distribution of rows, two classes and a real target, and a number of samples.

    Attributes
    ----------
    name : str
    draw : callable (rng, n) -> (X, labels +-1, target)
    m : int
    kernels : tuple
        With fixed parameters and K(x, x) = 1.
    in_order : bool
        Whether samples come sorted by class and target.
    """

    name: str
    draw: object
    m: int = 100
    kernels: tuple = tuple(al.gaussian_kernels([0.05, 0.2, 1.0]))
    in_order: bool = False

    def sample(self, rng, m=None):
        """Samples with three of each class, in the order in which they come."""
        m = self.m if m is None else m
        while True:
            X, y, t = self.draw(rng, m)
            if min(np.sum(y > 0), np.sum(y < 0)) >= 3:
                break
        order = np.lexsort((t, y)) if self.in_order else slice(None)
        return X[order], y[order], t[order]


def _normals(rng, n, distance=1.5, share=0.5, columns=3):
    y = np.where(rng.random(n) < share, 1.0, -1.0)
    X = rng.normal(size=(n, columns))
    X[:, 0] += distance / 2 * y
    return X, y, X[:, 0] + 0.5 * rng.normal(size=n)


def _noise(rng, n, columns=3):
    y = rng.choice([-1.0, 1.0], n)
    return rng.normal(size=(n, columns)), y, rng.normal(size=n)


def _atoms(rng, n):
    points = np.random.default_rng(7).normal(size=(8, 3))
    rows = rng.integers(0, 8, n)
    y = np.where(rng.random(n) < np.linspace(0.1, 0.9, 8)[rows], 1.0, -1.0)
    return points[rows], y, np.round(points[rows, 0] + 0.5 * rng.normal(size=n), 1)


def _repeated(rng, n):
    X, y, t = _normals(np.random.default_rng(8), 150)
    rows = rng.integers(0, 150, n)
    return X[rows], y[rows], t[rows]


def _heavy(rng, n):
    X = rng.standard_t(1.5, size=(n, 3))
    y = np.where(X[:, 0] + rng.standard_t(1.5, n) > 0, 1.0, -1.0)
    return X, y, X[:, 0] + rng.standard_cauchy(n)


_COLUMNS = tuple(al.Columns(al.Gaussian(0.5), [k]) for k in range(120))
DESIGNS = (
    Design("two normals", _normals),
    Design("noise", _noise),
    Design("one in ten", lambda rng, n: _normals(rng, n, share=0.1)),
    Design("8 atoms", _atoms),
    Design("150 rows, repeated", _repeated),
    Design("sorted rows", _normals, in_order=True),
    Design("sorted noise", _noise, in_order=True),
    Design("m = 60, p = 120", lambda rng, n: _noise(rng, n, 120), 60, _COLUMNS),
    Design("heavy tails", _heavy),
    Design("m = 14", _normals, 14),
)


class Trial:
    """One sample of a design, and the true values that guarantees are compared with."""

    def __init__(self, design, seed):
        self.design = design
        self.rng = np.random.default_rng([seed, design.m, *design.name.encode()])
        self.X, self.y, self.t = design.sample(self.rng)
        self.seed = int(self.rng.integers(2**31))

    def new(self, n=NEW):
        """Samples that are not those of the trial."""
        return self.design.draw(self.rng, n)

    def classifier(self, **options):
        """Fitted to the sample."""
        return al.MKLClassifier(list(self.design.kernels), **options).fit(self.X, self.y)

    def regressor(self, t, **options):
        """Fitted to the sample, with a target of it."""
        return al.MKLRegressor(list(self.design.kernels), **options).fit(self.X, t)


def clipped(t):
    """A target in [-1, 1]."""
    return np.clip(t / 3.0, -1.0, 1.0)


@cache
def population(design):
    """(X, labels) of 3000 samples, and the statistics of the kernels on them."""
    X, y, _ = design.draw(np.random.default_rng(12345), POPULATION)
    statistics = al.alignment_statistics(X, y, list(design.kernels))
    return X, y, statistics


def alignment_of(design, weights):
    """The alignment of a combination with the labels in the population."""
    statistics = population(design)[2]
    size = np.sqrt(weights @ statistics.M @ weights) * statistics.target_norm
    return float(weights @ statistics.a / size)


# -- guarantees ------------------------------------------------------------------------


def _one_kernel(method):
    def missed(trial):
        kernel = trial.design.kernels[-1]
        given = {"method": method, "random_state": trial.seed}
        found = al.alignment_interval(trial.X, trial.y, kernel, DELTA, **given)
        weights = np.eye(len(trial.design.kernels))[-1]
        return not found.low <= alignment_of(trial.design, weights) <= found.high

    return missed


def _learned(of_sample):
    def missed(trial):
        clf = trial.classifier()
        if of_sample:
            given = {"random_state": trial.seed}
            found = clf.alignment_interval(trial.X, trial.y, DELTA, **given)
        else:
            found = learned_interval(clf, DELTA)
        rho = alignment_of(trial.design, clf.weights_ * clf.scale_)
        return not found.low <= rho <= found.high

    return missed


def _held_out_alignment(trial):
    clf = trial.classifier()
    X, y, _ = trial.design.sample(trial.rng)
    given = {"held_out": True, "random_state": trial.seed}
    found = clf.alignment_interval(X, y, DELTA, **given)
    rho = alignment_of(trial.design, clf.weights_ * clf.scale_)
    return not found.low <= rho <= found.high


def _error(held_out):
    def missed(trial):
        clf = trial.classifier()
        X, y = (trial.X, trial.y) if not held_out else trial.design.sample(trial.rng)[:2]
        how = {"held_out": True} if held_out else {"draws": 50, "random_state": trial.seed}
        bound = clf.bound(X, y, DELTA, **how)
        new, truth, _ = trial.new()
        return np.mean(clf.predict(new) != truth) > bound.value + _slack(len(truth))

    return missed


def _risk(held_out):
    def missed(trial):
        reg = trial.regressor(clipped(trial.t))
        X, _, t = trial.design.sample(trial.rng) if held_out else (trial.X, trial.y, trial.t)
        how = {"held_out": True} if held_out else {"draws": 50}
        how |= {"label_range": (-1.0, 1.0), "random_state": trial.seed}
        bound = reg.bound(X, clipped(t), DELTA, **how)
        new, _, truth = trial.new()
        loss = (np.clip(reg.predict(new), -1, 1) - clipped(truth)) ** 2
        return loss.mean() > bound.value + 3 * loss.std() / np.sqrt(len(loss))

    return missed


def _slack(n):
    """Three standard errors of a share of n new samples, to allow for chance."""
    return 1.5 / np.sqrt(n)


def _own_sample(trial):
    kernel = trial.design.kernels[-1]
    if trial.design.m < 20:
        return None
    found = own_sample_machine(kernel(trial.X), trial.y, DELTA, random_state=trial.seed)
    new, truth, _ = trial.new()
    decisions = kernel(new, trial.X[found.first]) @ found.coef + found.intercept
    return np.mean(truth * decisions <= 0) > found.bound.value + _slack(len(truth))


def _interval(make):
    def missed(trial):
        model = make(list(trial.design.kernels)).fit(trial.X, trial.t)
        new, _, truth = trial.new()
        low, high = model.predict_interval(new, 1 - DELTA, fit=(trial.X, trial.t))
        return 1.0 - np.mean((low <= truth) & (truth <= high))

    return missed


def _set(trial):
    clf = trial.classifier(probability="sigmoid")
    new, truth, _ = trial.new()
    sets = clf.predict_set(new, 1 - DELTA)
    return 1.0 - sets[np.arange(len(truth)), (truth > 0).astype(int)].mean()


def _set_of_three(trial):
    """Classes are parts of the range of the target."""
    if trial.design.m < 20:
        return None
    given = {"probability": "sigmoid"}
    cuts = [-0.4, 0.4]
    clf = al.MKLClassifier(list(trial.design.kernels), **given)
    clf.fit(trial.X, np.digitize(trial.t, cuts))
    new, _, t = trial.new()
    codes = np.searchsorted(clf.classes_, np.digitize(t, cuts))
    sets = clf.predict_set(new, 1 - DELTA)
    return 1.0 - sets[np.arange(len(t)), codes].mean()


def _test(trial):
    """Labels that are permuted, so that they do not depend on the rows."""
    y = trial.rng.permutation(trial.y)
    K = trial.design.kernels[-1](trial.X)
    found = al.alignment_test(K, y, n_permutations=99, random_state=trial.seed)
    return found.p_value <= DELTA


GUARANTEES = {
    "alignment_interval, betting": _one_kernel("betting"),
    "alignment_interval, ratio": _one_kernel("ratio"),
    "alignment_interval, closed form": _one_kernel("closed"),
    "alignment of learned weights, closed form": _learned(False),
    "alignment of learned weights, betting": _learned(True),
    "alignment of learned weights, held out": _held_out_alignment,
    "error, training samples": _error(False),
    "error, held out": _error(True),
    "risk, training samples": _risk(False),
    "risk, held out": _risk(True),
    "own_sample_machine": _own_sample,
    "predict_interval": _interval(lambda kernels: al.MKLRegressor(kernels)),
    "predict_interval of a search": _interval(
        lambda kernels: al.MKLRegressorCV(kernels, alphas=[0.1, 1.0, 10.0], weighting="alignf")
    ),
    "predict_set": _set,
    "predict_set, three classes": _set_of_three,
    "alignment_test": _test,
}


# -- the table -------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A guarantee on a design: its miss rate, and the standard error of the rate."""

    guarantee: str
    design: str
    runs: int
    rate: float
    error: float

    @property
    def too_often(self):
        """Whether chance does not explain the number of misses."""
        least = np.sqrt(DELTA * (1 - DELTA) / self.runs) if self.rate in (0.0, 1.0) else self.error
        return self.rate > DELTA + ERRORS * least

    @property
    def cell(self):
        """Of the table; in bold where the rate is too large."""
        text = f"{self.rate:.3f} ({self.error:.3f})"
        return f"**{text}**" if self.too_often else text


def row(guarantee, design, runs):
    """The `Row` of some runs; None where the guarantee does not apply."""
    found = []
    with quiet():
        for seed in range(runs):
            missed = GUARANTEES[guarantee](Trial(design, seed))
            if missed is None:
                return None
            found.append(float(missed))
    found = np.array(found)
    error = found.std(ddof=1) / np.sqrt(runs)
    return Row(guarantee, design.name, runs, float(found.mean()), float(error))


def rows(args, bad):
    """The row of each guarantee; those that miss too often are also added to ``bad``."""
    for guarantee in args.rows:
        found = [row(guarantee, design, args.runs) for design in DESIGNS]
        bad += [r for r in found if r is not None and r.too_often]
        yield guarantee, *("few samples" if r is None else r.cell for r in found)


if __name__ == "__main__":
    args, bad = study(__doc__, GUARANTEES, runs=(400, 2)), []
    publish(args, "coverage", rows(args, bad))
    print(f"{len(bad)} too often")
    sys.exit(1 if bad else 0)
