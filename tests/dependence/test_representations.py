"""CKA of sets of features: definitions, invariances, mini-batches, the heat map."""

import copy
import itertools

import numpy as np
import pytest
from cases import each
from refusals import raises

import alignlearn as al
from alignlearn.dependence import CKAAccumulator, cka_matrix, plot_cka
from alignlearn.statistics import cka
from alignlearn.validation import DegenerateKernelWarning


def layers(rng, m, widths):
    """Nonlinear functions of the same samples."""
    X = rng.normal(size=(m, 5))
    return [np.tanh(X @ rng.normal(size=(5, d))) for d in widths]


def linear(F):
    return F @ F.T


@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("kernel", ["linear", al.Gaussian(0.3)])
@pytest.mark.parametrize("m", [20, 70])
def test_every_entry_is_cka_of_two_gram_matrices(unbiased, kernel, m, monkeypatch):
    """Linear: by products of the features if they are few, otherwise by blocks of rows."""
    monkeypatch.setattr("alignlearn.dependence.representations._ENTRIES", 600)
    rng = np.random.default_rng(0)
    first, second = layers(rng, m, (3, 8, 30)), layers(rng, m, (4, 6))
    k = linear if kernel == "linear" else kernel
    expected = [[cka(k(A), k(B), unbiased=unbiased) for B in second] for A in first]
    found = cka_matrix(first, second, kernels=kernel, unbiased=unbiased)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    own = cka_matrix(first, kernels=kernel, unbiased=unbiased)
    np.testing.assert_allclose(np.diagonal(own), 1.0, atol=1e-12)
    assert own[0, 2] == pytest.approx(cka(k(first[0]), k(first[2]), unbiased=unbiased), abs=1e-10)
    grams = [k(A) for A in first], [k(B) for B in second]
    given = cka_matrix(*grams, kernels="precomputed", unbiased=unbiased)
    np.testing.assert_allclose(given, expected, atol=1e-10)


def test_layers_of_more_axes_and_a_kernel_for_each():
    rng = np.random.default_rng(3)
    images = rng.normal(size=(12, 2, 3, 4))
    flat = images.reshape(12, -1)
    found = cka_matrix([images, flat[:, :5]], kernels=["linear", al.Gaussian(0.1)])
    expected = cka(linear(flat), al.Gaussian(0.1)(flat[:, :5]))
    assert found[0, 1] == pytest.approx(expected, abs=1e-12)
    stack = rng.normal(size=(3, 12, 4))
    np.testing.assert_array_equal(cka_matrix(stack), cka_matrix(list(stack)))


# Mini-batches


def test_average_over_all_batches_of_one_size_is_the_value_of_all_samples():
    """A U-statistic is the average of itself over all subsets: 15 batches of 4 out of 6."""
    rng = np.random.default_rng(4)
    first, second = layers(rng, 6, (3, 7)), layers(rng, 6, (4,))
    sums = CKAAccumulator()
    for rows in itertools.combinations(range(6), 4):
        sums.update([A[list(rows)] for A in first], [A[list(rows)] for A in second])
    assert sums.n_batches == 15
    np.testing.assert_allclose(sums.matrix(), cka_matrix(first, second, unbiased=True), atol=1e-12)
    # Of biased values this is not true.
    batches = [list(rows) for rows in itertools.combinations(range(6), 4)]
    biased = np.mean([cka_matrix([A[b] for A in first])[0, 1] for b in batches])
    assert abs(biased - cka_matrix(first)[0, 1]) > 1e-3


def test_one_batch_batches_in_turn_and_merged_accumulators():
    rng = np.random.default_rng(5)
    A = layers(rng, 60, (3, 7, 5))
    exact, one = cka_matrix(A, unbiased=True), CKAAccumulator().update(A)
    np.testing.assert_allclose(one.matrix(), exact, atol=1e-12)
    parts = [[F[i : i + 15] for F in A] for i in range(0, 60, 15)]
    whole, left, right = map(sum_of_batches, (parts, parts[:2], parts[2:]))
    merged = CKAAccumulator().merge(left).merge(right).merge(CKAAccumulator())
    assert merged.n_batches == 4
    np.testing.assert_allclose(merged.matrix(), whole.matrix(), atol=1e-14)
    # The estimate equals that of all samples up to sampling error.
    np.testing.assert_allclose(whole.matrix(), exact, atol=0.15)
    grams = CKAAccumulator("precomputed").update([linear(F) for F in parts[0]])
    alone = CKAAccumulator().update(parts[0])
    np.testing.assert_allclose(grams.matrix(), alone.matrix(), atol=1e-12)


# Bad input

A = np.random.default_rng(7).normal(size=(8, 3))


def test_features_that_do_not_vary_are_zero_with_a_warning():
    with pytest.warns(DegenerateKernelWarning, match="number 1; their CKA is 0"):
        found = cka_matrix([A, np.ones((8, 2))])
    assert found.ravel() == pytest.approx([1.0, 0.0, 0.0, 0.0])
    # Samples that are equally far: the U-statistic of their matrix is rounding error.
    for kernels in (al.Gaussian(10.0), "linear"):
        with pytest.warns(DegenerateKernelWarning):
            assert not cka_matrix([np.eye(9)], kernels=kernels, unbiased=True).any()


def test_width_of_a_gaussian_is_fixed_by_the_first_batch():
    rng = np.random.default_rng(8)
    batches = [layers(rng, 10, (3, 2)) for _ in range(2)]
    batches[1] = [4.0 * F for F in batches[1]]
    sums = CKAAccumulator("rbf").update(batches[0]).update(batches[1])
    kernels = [al.Gaussian("scale").resolve(F) for F in batches[0]]
    fixed = CKAAccumulator(kernels).update(batches[0]).update(batches[1])
    np.testing.assert_allclose(sums.matrix(), fixed.matrix(), atol=1e-12)
    first, second = (CKAAccumulator("rbf").update(batch) for batch in batches)
    raises(ValueError, "other has different kernels", first.merge, second)


def test_bad_batches_are_named():
    raises(ValueError, "no batch has been added", CKAAccumulator().matrix)
    sums = CKAAccumulator().update([A, A])
    for other in ([A], [A, A[:, :2]]):
        raises(ValueError, "differ in number or width", sums.update, other)
    raises(ValueError, "differ in number or width", sums.merge, CKAAccumulator().update([A]))
    raises(ValueError, "at least 4 samples", CKAAccumulator().update, [A[:3], A[:3]])
    assert sums.n_batches == 1


# The figure


def test_heat_map_shows_the_values_with_names(tmp_path):
    values = cka_matrix([A, A[:, :2]], [A[:, 2:]])
    path = tmp_path / "cka.png"
    ax = plot_cka(values, names=["one", "two"], other_names=["three"], title="T", path=path)
    assert path.stat().st_size > 3000
    np.testing.assert_array_equal(ax.images[0].get_array(), values)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["one", "two"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["three"]
    assert [t.get_text() for t in ax.texts] == [f"{v:.2f}" for v in values.ravel()]
    square = plot_cka(np.eye(2), names=["a", "b"])
    assert [t.get_text() for t in square.get_xticklabels()] == ["a", "b"]
    assert len(plot_cka(np.eye(30)).texts) == 0
    raises(ValueError, "names has 1 labels for 2", plot_cka, values, names=["one"])
    raises(ValueError, "values", plot_cka, np.full((2, 2), np.nan))


@each("unbiased", [False, True])
@each("unit", [1e-300, 1e-85, 1e85, 1e300])
def test_linear_cka_is_the_same_in_any_unit(unit, unbiased):
    """All sets, one set, and another kernel; fourth powers would overflow."""
    first = layers(np.random.default_rng(3), 20, (3, 8, 30))
    scaled = [first[0], unit * first[1], first[2]]
    for kernels in ("linear", ["linear", "linear", al.Gaussian(0.3)]):
        plain = cka_matrix(first, kernels=kernels, unbiased=unbiased)
        found = cka_matrix(scaled, kernels=kernels, unbiased=unbiased)
        np.testing.assert_allclose(found, plain, atol=1e-12)
    found = cka_matrix([unit * F for F in first], unbiased=unbiased)
    np.testing.assert_allclose(found, cka_matrix(first, unbiased=unbiased), atol=1e-12)


def test_batches_in_different_units_of_magnitude_add_up():
    """A unit belongs to a batch; sums have one unit, whichever batch came first."""
    rng = np.random.default_rng(4)
    batches = [[f * F for F in layers(rng, 12, (3, 5))] for f in (1.0, 1e-3, 40.0)]
    plain = sum_of_batches(batches)
    tiny = [[1e-85 * F for F in batch] for batch in batches]
    for found in (sum_of_batches(tiny), sum_of_batches(tiny[::-1])):
        np.testing.assert_allclose(found.matrix(), plain.matrix(), atol=1e-12)
    merged = sum_of_batches(tiny[2:]).merge(sum_of_batches(tiny[:2]))
    np.testing.assert_allclose(merged.matrix(), plain.matrix(), atol=1e-12)
    # The largest batch has nearly all of the sum.
    largest = cka_matrix(batches[2], unbiased=True)
    np.testing.assert_allclose(plain.matrix(), largest, atol=1e-4)
    assert np.abs(plain.matrix() - largest).max() > 1e-9


def sum_of_batches(batches):
    accumulator = CKAAccumulator()
    for batch in batches:
        accumulator.update(batch)
    return accumulator


def test_a_copy_of_an_accumulator_goes_its_own_way():
    rng = np.random.default_rng(5)
    first, second = (layers(rng, 8, (3, 5)) for _ in range(2))
    original = CKAAccumulator().update(first)
    before = original.matrix()
    other = copy.copy(original).update(second)
    empty = CKAAccumulator()
    copy.copy(empty).merge(original).update(second)
    assert (original.n_batches, other.n_batches, empty.n_batches) == (1, 2, 0)
    np.testing.assert_array_equal(original.matrix(), before)
    assert np.abs(other.matrix() - before).max() > 1e-3
