"""The choice of a model over the whole domain of sizes."""

from itertools import product

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st

import alignlearn as al
from alignlearn.machines import choice as rules
from alignlearn.machines.choice import Choice, Sizes, choose
from alignlearn.sources import open_source

EXACT = ("svm", "svr", "krr", "one-class")
ASKED = {"svm": ("svm", "dual-cd"), "svr": ("svr",), "krr": ("krr", "svr"), "one-class": ()}
GIGABYTE = 10**9


def pilot_of(share):
    """Every sample is a support vector with this probability."""
    return lambda n: (share * n**2, share * n)


def unasked(n):
    pytest.fail("a pilot costs a fit")


sizes = st.builds(
    Sizes,
    n_samples=st.one_of(st.integers(2, 10**7), st.sampled_from([2000, 3000, 3001, 20_000, 20_001])),
    n_features=st.none() | st.integers(1, 10**6),
    is_linear=st.booleans(),
    is_paired=st.booleans(),
    has_matrix=st.booleans(),
    checks_psd=st.booleans(),
    itemsize=st.sampled_from([4, 8]),
)
positive = st.one_of(st.floats(1e-6, 1e6), st.just(np.inf))


@given(
    st.sampled_from([(e, a) for e in EXACT for a in ("auto", "nystrom", *ASKED[e])]),
    *(sizes, st.integers(1, 10**13), positive, st.floats(0.0, 1e6)),
    st.none() | st.floats(0.0, 1.0).map(pilot_of),
)
def test_every_choice_is_one_that_can_be_made(machines, sizes, memory, C, alpha, pilot):
    exact, asked = machines
    found = choose(exact, sizes, memory, asked=asked, C=C, alpha=alpha, pilot=pilot)
    assert found.machine == asked if asked != "auto" else found.machine in (exact, "nystrom")
    on = {"nystrom": ("centers",), "dual-cd": ("features",)}
    on |= {"svm": ("features", "matrix", "rows"), "svr": ("matrix", "rows")}
    on |= {"one-class": ("matrix", "rows"), "krr": ("features", "matrix", "products")}
    assert found.on in on[found.machine]
    if found.machine == "nystrom" and asked == "auto":
        assert sizes.is_paired
        assert sizes.n_samples > 20_000
    if found.on == "matrix" and not sizes.has_matrix and not sizes.is_linear:
        assert sizes.itemsize * sizes.n_samples**2 < memory
    if found.on == "rows" and sizes.n_samples <= 3000:
        assert sizes.itemsize * sizes.n_samples**2 * 1.3 > memory
    if found.on == "features" and found.machine != "dual-cd":
        assert sizes.n_features < sizes.n_samples
        assert np.isfinite(C) or found.machine == "krr"
    assert found.on != "products" or not sizes.has_matrix


@given(st.sampled_from(EXACT), sizes, st.integers(1, 10**12), st.integers(0, 10**12))
def test_more_memory_never_takes_a_matrix_away(exact, sizes, memory, more):
    if choose(exact, sizes, memory).on == "matrix":
        assert choose(exact, sizes, memory + more).on == "matrix"


@each(
    ("exact", "n", "share", "memory", "expected"),
    [
        ("svm", 3000, None, GIGABYTE, ("svm", "matrix")),
        ("svm", 3001, 0.1, GIGABYTE, ("svm", "rows")),  # few support vectors: rows cost less
        ("svm", 3001, 0.6, GIGABYTE, ("svm", "matrix")),
        ("svm", 3001, 0.1, 10**7, ("svm", "rows")),  # no memory for the matrix for any pilot
        ("svr", 3001, 0.1, GIGABYTE, ("svr", "rows")),
        ("krr", 3001, None, 10**7, ("krr", "products")),
        ("krr", 3000, None, 10**10, ("krr", "matrix")),
        ("krr", 3001, None, 10**10, ("krr", "iterations")),
        ("krr", 20_000, None, 15 * 10**8, ("krr", "products")),
        ("krr", 20_000, None, 16 * 10**8, ("krr", "iterations")),  # half of it, in float32
        ("krr", 20_001, None, 10**10, ("nystrom", "centers")),
        ("svm", 20_001, 0.01, 10**10, ("svm", "rows")),
        ("svm", 10_000, 0.6, 10**12, ("svm", "matrix")),
        ("svm", 10_001, 0.6, 10**12, ("svm", "rows")),  # too large for any pilot
        ("svm", 20_001, 1.0, 10**12, ("nystrom", "centers")),
        ("svm", 60_000, 1.0, 10**12, ("nystrom", "centers")),  # some seconds are exceeded
        ("svm", 60_000, 0.1, 10**7, ("nystrom", "centers")),  # rows of support vectors: 160 MB
        ("svm", 60_000, 0.05, GIGABYTE, ("svm", "rows")),
    ],
)
def test_sizes_decide(exact, n, share, memory, expected):
    pilot = unasked if share is None else pilot_of(share)
    pilot = None if exact == "krr" else pilot
    assert choose(exact, Sizes(n), memory, pilot=pilot) == Choice(*expected)


@each(
    ("exact", "n", "d", "options", "expected"),
    [
        ("svm", 1999, 8, {}, "matrix"),  # milliseconds either way
        ("svm", 2000, 80, {}, "features"),
        ("svm", 2000, 81, {}, "matrix"),
        ("svm", 2000, 8, {"C": np.inf}, "matrix"),  # interior points need bounds
        ("svm", 2000, None, {}, "matrix"),  # a weight is negative
        ("svr", 2000, 8, {}, "matrix"),
        ("krr", 10, 9, {}, "features"),
        ("krr", 10, 10, {}, "matrix"),
        ("krr", 10, 9, {"alpha": 0.0}, "matrix"),
        ("krr", 10, None, {}, "matrix"),
    ],
)
def test_features_where_they_are_few(exact, n, d, options, expected):
    linear = Sizes(n, d, is_linear=True, is_paired=False)
    asked = "svr" if exact == "svr" else "auto"
    assert choose(exact, linear, 10**12, asked=asked, **options) == Choice(exact, expected)


def test_kernels_that_are_not_of_pairs_keep_their_machines():
    for exact, n in product(("svm", "krr"), (10, 20_001, 10**6)):
        for kind in ({"is_linear": True}, {"has_matrix": True}):
            found = choose(exact, Sizes(n, is_paired=False, **kind), 10**15, pilot=unasked)
            assert found == Choice(exact, "matrix")


def test_what_is_checked_whole_is_made_whole():
    checked = Sizes(5000, checks_psd=True)
    assert choose("svm", checked, GIGABYTE, pilot=unasked).on == "matrix"
    assert not rules.affordable(Sizes(30_000, checks_psd=True), 10**12, 1.0, unasked)
    assert not rules.affordable(Sizes(30_000), 10**12, np.inf, unasked)
    assert not rules.affordable(Sizes(30_000), 10**12)


def test_searches_share_the_matrix_for_longer():
    few = pilot_of(0.1)
    assert rules.rows_are_read(Sizes(10_001), 10**10, 1.0, few, rules.MOST_SHARED)
    assert not rules.rows_are_read(Sizes(10_000), 10**10, 1.0, unasked, rules.MOST_SHARED)


def test_whole_rows_are_kept_of_few_samples_where_they_fit():
    assert rules.whole_rows_are_kept(Sizes(6000), GIGABYTE)
    assert not rules.whole_rows_are_kept(Sizes(6001), GIGABYTE)
    assert not rules.whole_rows_are_kept(Sizes(6000), 10**8)


@each(
    ("X", "kernels", "expected"),
    [
        (np.ones((30, 3)), [al.Gaussian(1.0)], Sizes(30)),
        (np.ones((30, 3)), ["linear"], Sizes(30, 3, is_linear=True, is_paired=False)),
        ([np.eye(30)], "precomputed", Sizes(30, is_paired=False, has_matrix=True)),
    ],
)
def test_sizes_of_sources(X, kernels, expected):
    source = open_source(X, kernels)
    found = Sizes.of(source.combine(np.ones(len(source.names))))
    assert found == expected._replace(checks_psd=source.checks_psd)
    assert Sizes.of_source(source).n_features is None


@given(st.integers(1, 10**7), st.integers(1, 10**12))
def test_blocks_cover_the_samples_and_fit_the_memory(n, memory):
    count, size = rules.block_sizes(n, memory)
    assert count * size >= n
    assert size <= min(n, rules.MOST_ALONE)
    assert size <= 2000 or rules.matrix_fits(Sizes(size, itemsize=3), memory)
    if count > 1:  # one block would be too large, and fewer would not do
        alone = Sizes(n, itemsize=3)
        assert n > rules.MOST_ALONE or not rules.matrix_fits(alone, memory)
        assert (count - 1) * size < n


def test_least_squares_that_are_asked_for_are_kept_for_many_samples(monkeypatch):
    monkeypatch.setattr(rules, "MOST_PAIRED", 200)  # a fit of 20,001 samples takes seconds
    rng, m = np.random.default_rng(0), 201
    X = rng.normal(size=(m, 2))
    y = X[:, 0] + rng.normal(size=m) > 0.5
    model = al.MKLClassifier([al.Polynomial(degree=1)], machine="krr", C=0.01).fit(X, y)
    assert model.chosen_machine_ == "krr"
    # The minimum of the definition in the features, times the root of the kernel's factor.
    at = np.array([[0.0, 0.0], [1.0, 0.0]])
    factor = np.diff(np.diag(model.kernel_(at)))[0]
    A = (X - X.mean(axis=0)) * np.sqrt(factor)
    A, t, alpha = np.c_[A, np.ones(m)], 2.0 * y - 1.0, 0.5 / model.C
    coef = np.linalg.solve(A.T @ A + alpha * np.diag([1.0, 1.0, 0.0]), A.T @ t)
    assert np.allclose(model.decision_function(X[:99]), A[:99] @ coef, atol=1e-8)
