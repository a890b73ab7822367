"""Sparse samples in the engine's form: every SciPy format, odd index arrays, slices."""

import pickle

import numpy as np
import pytest
from cases import each
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from strategies import generators

from alignlearn.validation import check_sparse, take

FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def thin(rng, m=7, d=9):
    return rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.3)


@given(generators(), st.sampled_from(FORMATS), st.booleans())
def test_every_format_gives_the_same_samples(rng, form, old):
    A = thin(rng)
    make = sparse.coo_matrix if old else sparse.coo_array
    X = check_sparse("X", make(A).asformat(form))
    np.testing.assert_array_equal(X.tocsr().toarray(), A)
    assert (X.shape, len(X), X.ndim, X.dtype) == (A.shape, len(A), 2, np.float64)
    assert len(X.data) == np.count_nonzero(A)


def untidy(rng, A, dtype, index):
    """A CSR matrix of A with unsorted, duplicate and explicit zero entries; and its value."""
    rows, columns = np.nonzero(A)
    values = rng.integers(1, 4, size=rows.size)
    rows, columns = np.tile(rows, 2), np.tile(columns, 2)
    values = np.concatenate([values, rng.integers(0, 2, size=rows.size // 2)]).astype(dtype)
    rows, columns = np.append(rows, 1), np.append(columns, 4)
    values = np.append(values, dtype(0))
    order = rng.permutation(rows.size)
    order = order[np.argsort(rows[order], kind="stable")]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(A)))])
    X = sparse.csr_array(A.shape, dtype=dtype)
    X.data, X.indices, X.indptr = values[order], columns[order].astype(index), indptr.astype(index)
    return X


@given(
    generators(),
    st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.uint16, np.bool_]),
    st.sampled_from([np.int32, np.int64]),
)
def test_untidy_matrices_are_what_toarray_says_and_stay_as_they_are(rng, dtype, index):
    X = untidy(rng, thin(rng), dtype, index)
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    found = check_sparse("X", X)
    np.testing.assert_array_equal(found.tocsr().toarray(), X.toarray().astype(np.float64))
    assert found.dtype == (np.float32 if dtype is np.float32 else np.float64)
    for row in range(len(found)):
        columns = found.indices[found.indptr[row] : found.indptr[row + 1]]
        assert np.all(np.diff(columns) > 0)
    assert np.all(found.data != 0)
    for now, then in zip((X.data, X.indices, X.indptr), before):
        np.testing.assert_array_equal(now, then)
        assert now.dtype == then.dtype


@given(generators(), st.data())
def test_slices_are_those_of_the_array(rng, data):
    A = thin(rng)
    A[0] = 0.0  # of a column without zeros the mean would be taken, too
    A[:, 2] = 1e6 + rng.random(len(A))
    X = check_sparse("X", sparse.csr_array(A)).without_offsets()
    m = len(A)
    rows = data.draw(
        st.one_of(
            st.slices(m),
            st.lists(st.integers(-m, m - 1)).map(lambda i: np.array(i, dtype=int)),
            st.lists(st.booleans(), min_size=m, max_size=m).map(np.array),
        )
    )
    np.testing.assert_array_equal(take(X, rows).tocsr().toarray(), A[rows])
    columns = tuple(data.draw(st.lists(st.integers(0, A.shape[1] - 1), min_size=1)))
    part = take(X, rows).columns_at(columns)
    np.testing.assert_array_equal(part.tocsr().toarray(), A[rows][:, columns])
    shifted = type(part)(part.indptr, part.indices, part.centered, len(columns))
    mean = np.where(np.arange(A.shape[1]) == 2, A.mean(axis=0), 0.0)
    np.testing.assert_allclose(
        shifted.tocsr().toarray(), (A - mean)[rows][:, columns], rtol=0, atol=1e-9
    )


def test_copies_and_pickles_share_nothing_and_drop_what_was_kept():
    A = thin(np.random.default_rng(0))
    given = sparse.csr_array(A)
    X = check_sparse("X", given)
    X.columns_at((0, 1))
    again = pickle.loads(pickle.dumps(X))
    assert X.cache
    assert not again.cache
    for other in (again, X.copy()):
        np.testing.assert_array_equal(other.tocsr().toarray(), A)
        assert not np.shares_memory(other.data, given.data)
    assert check_sparse("X", X) is X


def test_columns_without_zeros_lose_their_means_only_in_centered():
    rng = np.random.default_rng(0)
    A = thin(rng, m=40)
    A[:, [1, 5]] = 1e8 + rng.random((40, 2))
    A[3, 5] = 0.0
    X = check_sparse("X", sparse.csr_array(A)).without_offsets()
    np.testing.assert_array_equal(X.tocsr().toarray(), A)
    centered = type(X)(X.indptr, X.indices, X.centered, 9).tocsr().toarray()
    assert np.abs(centered[:, 1]).max() < 1.0
    np.testing.assert_array_equal(np.delete(centered, 1, axis=1), np.delete(A, 1, axis=1))


def _broken(**arrays):
    X = sparse.csr_array(np.eye(3))
    for name, value in arrays.items():
        setattr(X, name, np.array(value, dtype=np.int32))
    return X


BAD = {
    "column too far": (_broken(indices=[0, 1, 3]), "index arrays do not fit its shape"),
    "rows that run back": (_broken(indptr=[0, 2, 1, 3]), "index arrays do not fit"),
    "too few entries": (_broken(indptr=[0, 1, 2, 4]), "index arrays do not fit"),
    "complex": (sparse.csr_array([[1j, 0.0]]), "Complex data.* Z must hold real"),
    "long double": (sparse.csr_array(np.eye(2, dtype=np.longdouble)), "Z must hold real.*dtype"),
    "no columns": (sparse.csr_array((2, 0)), r"Z has 0 feature\(s\)"),
    "no rows": (sparse.csr_array((0, 2)), "at least one sample"),
}


@each("case", BAD)
def test_bad_matrices_are_refused_by_name(case):
    X, message = BAD[case]
    with pytest.raises(ValueError, match=message) as error:
        check_sparse("Z", X)
    assert "Z" in str(error.value)
