"""Text that users read stays short: representations, lists of names, errors about gaps."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from cases import each
from refusals import raises

import alignlearn as al
from alignlearn import significance
from alignlearn._text import listed, short, table
from alignlearn.kernels import *  # noqa: F403
from alignlearn.kernels import Columns, FeatureWeighted, FourierFeatures, Gaussian, Precomputed
from alignlearn.kernels.algebra import *  # noqa: F403  for eval
from alignlearn.machines import ridge_loo_path

NAMES = [f"column {i}" for i in range(216)]


def test_a_list_of_names_is_cut_at_twenty():
    assert listed(NAMES[:20]) == ", ".join(map(repr, NAMES[:20]))
    assert listed(NAMES).endswith("'column 19' and 196 more")
    assert listed(range(3), 2, show=str, separator=" + ") == "0 + 1 and 1 more"


def test_no_error_lists_more_than_twenty_columns():
    X = pd.DataFrame(np.ones((9, 300)), columns=[f"x{i}" for i in range(300)])
    with pytest.raises(ValueError, match="and 196 more") as caught:
        al.MKLClassifier([Columns("rbf", NAMES)]).fit(X, np.arange(9) % 2)
    assert len(str(caught.value)) < 1000


def test_small_values_are_their_repr():
    small = (1, "word", [1, "a"], (1,), (), {}, {1: [2]}, {3}, set(), frozenset([1]), frozenset())
    for value in (*small, None):
        assert short(value) == repr(value)
        assert eval(short(value)) == value


def test_long_values_are_cut():
    assert short(list(range(10**5))) == f"[{', '.join(map(str, range(20)))}, ... 99980 more]"
    assert short(np.zeros((300, 4), np.float32)) == "<300 x 4 float32>"
    assert len(short([["x" * 300] * 50] * 50)) <= 2000
    assert len(short({i: NAMES for i in range(500)})) <= 2000


BIG = [
    Columns("rbf", slice(0, 2048)),
    Columns("rbf", NAMES),
    Columns("rbf", np.random.default_rng(0).permutation(5000)),
    sum((Gaussian(g) for g in range(1, 400)), Gaussian()),
    Precomputed(np.eye(700)),
    FeatureWeighted(np.ones(900)),
    FourierFeatures(np.ones((900, 3)), np.ones(900)),
    al.RankOneKernels(tuple(f"name {i}" for i in range(9000))),
    al.FromFunction(lambda x, y: 1.0, name="word " * 5000),
]


def test_representations_are_bounded():
    # 101,217 characters, where the slice was written out nine times.
    for kernel in BIG:
        assert len(repr(kernel)) <= 2000, type(kernel)
        for model in (al.MKLClassifier([kernel] * 9), al.MKLRegressorCV([kernel] * 500)):
            assert len(repr(model)) <= 4100
            assert repr(model).startswith(type(model).__name__ + "(kernels=[")
            assert "\n" not in repr(model)


def test_slices_and_names_stand_for_columns():
    kernel = Columns("rbf", slice(0, 2048))
    assert repr(kernel).endswith(", columns=slice(0, 2048))")
    assert str(kernel) == "gaussian(gamma=scale) on 0:2048"
    assert repr(Columns("rbf", slice(1, 9, 3))).endswith("columns=slice(1, 8, 3))")
    assert str(Columns("rbf", NAMES)).endswith("'column 4' and 211 more]")
    named = Columns("linear", slice(0, 216), name="profile")
    assert str(named) == "linear on profile"
    assert repr(named).endswith("columns=slice(0, 216), name='profile')")


KERNELS = [
    Gaussian(0.5),
    al.Matern(2.5),
    Gaussian() + 2.0 * al.Linear(),
    (Gaussian() * al.Laplacian(0.1)).normalized() + 1.0,
    al.Polynomial(degree=2).exp() ** 3,
    al.StringSpectrum(2),
    *(Columns("rbf", c) for c in (3, [1, 2], slice(0, 40), [7, 2, 9], slice(2, 30, 4), "a")),
    Columns("rbf", ["a", "b"], name="both"),
    al.GaussianHyperKernel(),
    al.GaussianHyperKernel(1.0) + 0.3 * al.GaussianHyperKernel(2.0),
    al.RankOneKernels(("a", "b")),
]


def test_a_small_kernel_is_read_back_from_its_repr():
    names = {**globals(), "GaussianHyperKernel": al.GaussianHyperKernel}
    for kernel in KERNELS:
        assert eval(repr(kernel), names) == kernel


@dataclasses.dataclass(frozen=True)
class Own(al.Kernel):
    """A kernel of a user's own."""

    anchors: np.ndarray
    scale: float = 1.0

    def block(self, X, Y):
        return self.scale * (X @ self.anchors.T) @ (Y @ self.anchors.T).T


def test_a_kernel_of_ones_own_is_short_too():
    assert repr(Own(np.ones((40, 40)))) == "Own(anchors=<40 x 40 float64>, scale=1.0)"


def test_tables_have_aligned_columns_and_twenty_rows():
    text = table([(f"row {i}", str(i)) for i in range(300)], ("name", "n")).splitlines()
    assert len(text) == 22
    assert text[-1] == "... and 280 more"
    assert {len(line) for line in text[:-1]} == {len("row 10  10")}


# Results


def _results():
    X = np.random.default_rng(0).normal(size=(40, 4))
    y = X[:, 0] > 0
    many = [Gaussian(g) for g in np.linspace(0.01, 3.0, 300)]
    statistics = al.alignment_statistics(X, y, many)
    errors = np.random.default_rng(1).uniform(size=(8, 30))
    friedman = significance.friedman_test(errors)
    sets = [X * k + X**2 for k in range(60)]
    return {
        "statistics": statistics,
        "weights": al.AlignF().solve(statistics),
        "one stage": al.MKLClassifier(many[:40], weighting="lkrr").fit(X, y).result_,
        "cka": al.CKAAccumulator().update(sets),
        "no cka": al.CKAAccumulator(),
        "batches": al.AlignmentAccumulator(many).update(X, y),
        "friedman": friedman,
        "holm": significance.holm(friedman),
        "nemenyi": significance.nemenyi(friedman),
        "t": significance.paired_t_test(errors[:, 0], errors[:, 1]),
        "hsic": al.hsic_test(X[:, :2], X[:, 2:]),
        "ridge": ridge_loo_path(X @ X.T, X[:, 0], np.logspace(-3, 3, 500)),
        "spectrum": al.machines.krein_spectrum(X @ X.T),
        "complexity": al.estimators.rademacher("rbf", X),
        "calibration": al.MKLClassifier(probability="isotonic").fit(X, y).calibration_,
    }


def test_results_print_a_short_table_and_represent_themselves_on_a_line():
    for name, result in _results().items():
        assert len(repr(result)) <= 2000, name
        assert "\n" not in repr(result), name
        lines = str(result).splitlines()
        assert len(lines) <= 27, name
        assert max(map(len, lines)) <= 300, name
        assert name in ("no cka", "calibration") or len(lines) > 3, name


def test_the_table_of_weights_holds_what_was_found():
    X = np.random.default_rng(0).normal(size=(40, 4))
    y = X[:, 0] > 0
    model = al.MKLClassifier().fit(X, y)
    text = str(model.result_)
    for k, name in enumerate(model.statistics_.names):
        (line,) = [line for line in text.splitlines() if line.startswith(name)]
        own, weight = (float(word) for word in line[len(name) :].split()[:2])
        assert own == pytest.approx(model.kernel_alignments_[k], abs=5.1e-5)
        assert weight == pytest.approx(model.weights_[k], abs=5.1e-5)
    assert f"{model.alignment_:.4f}" in text
    assert "for kernels scaled to trace m" in text
    plain = al.AlignF().solve(al.alignment_statistics(X, y))
    assert "for the unscaled kernels" in str(plain)


# Gaps


def _with_gaps(frame):
    X = np.random.default_rng(0).normal(size=(30, 5))
    X[3, 1] = X[4, 4] = np.nan
    return frame(X, [f"c{i}" for i in range(5)])


FRAMES = {
    "array": (lambda X, names: X, "columns 1, 4"),
    "pandas": (lambda X, names: pd.DataFrame(X, columns=names), "columns 'c1', 'c4'"),
    "polars": (lambda X, names: pl.DataFrame(X, schema=names), "columns 'c1', 'c4'"),
    "sparse": (lambda X, names: sp.csr_array(X), "columns 1, 4"),
}


@each("form", FRAMES)
@each("kernel", ["rbf", "linear"])
def test_the_column_of_a_gap_and_an_imputer_are_named(form, kernel):
    make, where = FRAMES[form]
    y = np.arange(30) % 2
    message = rf"X contains NaN.*: NaN in {where}. .*sklearn.impute.SimpleImputer"
    raises(ValueError, message, al.MKLClassifier(kernel).fit, _with_gaps(make), y)


def test_gaps_of_new_samples_and_infinite_values_are_named():
    X, y = np.random.default_rng(0).normal(size=(30, 5)), np.arange(30) % 2
    model = al.MKLClassifier().fit(X, y)
    given = _with_gaps(FRAMES["array"][0])
    raises(ValueError, "finite: NaN in columns 1, 4", model.predict, given)
    X[2, 3] = -np.inf
    message = r"X contains .*: infinity in column 3.*X = np.where\(np.isinf\(X\), np.nan, X\)"
    raises(ValueError, message, model.fit, X, y)


def test_where_there_are_several_tables_the_message_says_which():
    X = np.random.default_rng(0).normal(size=(30, 5))
    gaps = _with_gaps(FRAMES["pandas"][0])
    for fit in (lambda: al.KernelCCA().fit([X, gaps, X]), lambda: al.hsic_test(X, gaps)):
        raises(ValueError, r"view (1|'Y'): X contains .* NaN in columns 'c1', 'c4'", fit)
    with pytest.raises(ValueError, match=r"features\[1\]: X contains .* NaN in columns"):
        al.cka_matrix([X, gaps.to_numpy()])
