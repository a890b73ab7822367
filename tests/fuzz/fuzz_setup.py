"""Common parts of the cases of estimators: samples, kernels with bounds, targets."""

from dataclasses import dataclass

import numpy as np
from draws import require
from fuzz_algebra import random_kernels
from fuzz_data import CONTAINERS, LD, benign, samples
from fuzz_kernels import evaluated, linear
from fuzz_truth import LD_EPS, bounded, center, norm, out_of_range

TWO_STAGE = ("uniform", "align", "alignf", "alignf", "alignf", "align-lq")


@dataclass
class Setup:
    """Samples, new samples, and kernels with their values on both.

    Attributes
    ----------
    S, T : Samples
        For training and for testing.
    specs : list of Spec
    values : list of Values
        Of the training samples, in the forms that the statistics choose.
    grams, against : list of Values
        Of the training samples and of the new ones against them, in the forms of the machines.
    relative : float
        Relative rounding of the worst kernel's centered norm.
    in_range : bool
        Whether the values of the new samples with each other are in range.
    """

    S: object
    T: object
    specs: list
    values: list
    grams: list
    against: list
    relative: float
    in_range: bool

    @property
    def kernels(self):
        """The passed samples."""
        return [s.kernel for s in self.specs]

    @property
    def usable(self):
        """Whether the kernels have bounds, and vary."""
        good = bounded(self.values, self.S.eps, len(self.S))
        good = good and bounded(self.against, self.S.eps, len(self.S)) and self.in_range
        return good and self.relative < 1e-3

    def combined(self, weights, values):
        """sum_k w_k K_k in long double, and the error that evaluation may make in it."""
        K = sum(LD(w) * v.K for w, v in zip(weights, values))
        error = sum(abs(w) * (v.centered + 4 * self.S.eps * v.register)
                    for w, v in zip(weights, values))  # fmt: skip
        # The oracle rounds as well, beside large constants.
        return K, 4 * float(error.max()) + 8 * len(K) * LD_EPS * float(np.abs(K).max())


def setup(draws, *, low=6, high=40, psd=True, double=False, linear_only=False):
    """A random `Setup`; data of scale 1."""
    m, d, n = draws.size(low, high), draws.size(1, 5), draws.size(1, 8)
    X = benign(draws, m + n, d)
    S = samples(draws, X=X[:m])
    while S.given is None or "int64" in S.tags or (double and S.eps > 1e-10):
        S = samples(draws, X=X[:m])
    T = type(S)(np.asarray(X[m:], S.exact.dtype), None, S.eps)
    T.given = X[m:].astype("f4" if S.eps > 1e-10 else "f8")
    T.exact = T.given.astype(LD)
    for kind in {"frame", "polars"} & S.tags:
        T.given = CONTAINERS[kind](T.given)
    base = np.concatenate([S.exact, T.exact]).astype(float)
    specs = [linear(draws, base)] if linear_only else random_kernels(draws, base)
    while psd and not all(s.psd for s in specs):
        specs = random_kernels(draws, base)
    if "list" in S.tags and any("function" in s.tags for s in specs):
        S.given = np.array(S.given)
    values = [evaluated(s, S.exact, S.exact, S.exact, S.eps) for s in specs]
    with np.errstate(all="ignore"):
        grams, against, own = (
            [s.evaluate(*pair, S.exact, S.eps) for s in specs]
            for pair in ((S.exact, S.exact), (T.exact, S.exact), (T.exact, T.exact))
        )
        relative = max(relative_rounding(v, S.eps) for v in values)
    in_range = not out_of_range(own, S.eps, len(S))
    return Setup(S, T, specs, values, grams, against, relative, in_range)


def relative_rounding(v, eps):
    """Relative rounding of a kernel's centered norm; infinite for a constant kernel."""
    if not np.all(np.isfinite(v.K)):
        return np.inf
    C, terms = norm(center(v.K)), 2 * len(v.K) + 16
    if 8 * len(v.K) * LD_EPS * norm(v.K) >= C:  # rounding of the oracle
        return np.inf
    return norm(v.centered) / C + 2 * terms * eps * (norm(v.register) / C) ** 2


def classes(draws, m):
    """Labels of 2 to 4 classes, at least two of each."""
    c = draws.whole(2, min(4, m // 2))
    codes = draws.numbers.permutation(
        np.concatenate([np.arange(c), np.arange(c), draws.numbers.integers(0, c, m - 2 * c)])
    )
    numbers, words = np.arange(c), np.array([f"c{k}" for k in range(c)])
    return draws.pick(2 * numbers - 1, words, 1.0 * numbers)[codes]


def frozen(setting, y):
    """Copies of the input, to check later that it was not modified."""
    return np.array(setting.S.given, copy=True), np.array(y, copy=True)


def check_unmodified(setting, y, before):
    """Raise `Wrong` if the input is no longer what it was."""
    same = np.array_equal(before[0], np.asarray(setting.S.given)) and np.array_equal(before[1], y)
    require(same, "input modified")


def real_target(draws, m, columns=False):
    """Real targets that vary."""
    y = draws.numbers.normal(size=(m, draws.whole(1, 3)) if columns else m)
    return (y + draws.pick(0.0, 100.0)) * 10.0 ** draws.whole(-3, 3)
