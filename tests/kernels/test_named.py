"""Kernels as a dict: the meaning of its entries, names of groups, columns by prefix."""

import numpy as np
import pytest
from cases import each
from refusals import raises
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import alignlearn as al
from alignlearn.kernels import Named, group_name, kernel_list

X = np.random.default_rng(0).normal(size=(12, 5))
LINEAR, GAUSSIAN = al.Linear(), al.Gaussian(0.3)
OWN = al.Columns(GAUSSIAN, 1, "own")

MEANT = {
    "a kernel": (GAUSSIAN, [Named(GAUSSIAN, "g")]),
    "the name of one": ("linear", [Named(LINEAR, "g")]),
    "names of kernels": (("linear",), [Named(LINEAR, "g")]),
    "the default ladder": (None, [Named(k, "g") for k in al.gaussian_kernels()]),
    "a slice": (slice(1, 4), [al.Columns(LINEAR, (1, 2, 3), "g")]),
    "a number": (np.int64(2), [al.Columns(LINEAR, (2,), "g")]),
    "numbers": ([3, 1], [al.Columns(LINEAR, (3, 1), "g")]),
    "names of columns": (["u", "v"], [al.Columns(LINEAR, ("u", "v"), "g")]),
    "Columns": ([al.Columns(GAUSSIAN, 1)], [al.Columns(GAUSSIAN, 1, "g")]),
    "Columns of a name": (OWN, [Named(OWN, "g")]),
}


@each("what", MEANT)
def test_what_an_entry_of_a_dict_means(what):
    given, meant = MEANT[what]
    found = kernel_list({"g": given})
    assert found == meant
    assert {group_name(k) for k in found} == {"g"}
    assert group_name(2.0 * found[0]) == "g"


def test_a_name_changes_no_value():
    for kernel in (GAUSSIAN, al.Columns("laplacian", [0, 2]), 2.0 * LINEAR):
        named = Named(kernel, "g")
        np.testing.assert_array_equal(named(X), kernel(X))
        np.testing.assert_array_equal(named.normalized()(X), kernel.normalized()(X))
        np.testing.assert_array_equal(named.diag(X), kernel.diag(X))
        assert str(named) == f"{kernel} of g"
    assert Named("rbf", "g").resolve(X) == Named(al.Gaussian().resolve(X), "g")


BAD = {
    "no entry": ({}, "kernels is empty"),
    "a name that is no text": ({1: "linear"}, "a name must be a str, got 1"),
    "an empty name": ({" ": "linear"}, "a name is empty"),
    "an empty list": ({"g": []}, r"kernels\['g'\]: kernels is empty"),
    "a dict": ({"g": {"h": "linear"}}, r"kernels\['g'\] is a dict"),
    "a matrix": ({"g": X}, r"kernels\['g'\] has shape \(12, 5\); .*Precomputed\(K\)"),
    "one unknown of two": ({"g": ["rbf", "rfb"]}, r"kernels\['g'\]: kernel 'rfb' is not known"),
    "a negative column": ({"g": [0, -1]}, r"kernels\['g'\]: columns=\(0, -1\)"),
    "a slice without end": ({"g": slice(1, None)}, r"kernels\['g'\]: columns=.*bounds"),
    "a function": ({"g": max}, r"kernels\['g'\]: kernels must be a sequence"),
    "columns beyond X": ({"g": [0, 7]}, "selects column 7, but X has only 5"),
    "names without a frame": ({"g": ["u"]}, "selects 'u' by name, but X has no column names"),
}


@each("what", BAD)
def test_what_is_no_dict_of_kernels_is_refused(what):
    kernels, message = BAD[what]
    raises((TypeError, ValueError), message, al.alignment_statistics, X, X[:, 0], kernels)


def test_columns_by_prefix_are_the_blocks_of_a_column_transformer():
    table = {"size": X[:, 0], "word": np.array(["a", "b", "c"] * 4), "mass": X[:, 1]}
    pandas = pytest.importorskip("pandas")
    blocks = [("numbers", StandardScaler(), ["size", "mass"]), ("words", OneHotEncoder(), ["word"])]
    transformer = ColumnTransformer(blocks, sparse_threshold=0.0).fit(pandas.DataFrame(table))
    found = al.columns_by_prefix(transformer)
    expected = {n: s for n, s in transformer.output_indices_.items() if s.stop > s.start}
    assert found == {name: list(range(s.start, s.stop)) for name, s in expected.items()}
    assert al.columns_by_prefix(transformer.get_feature_names_out()) == found
    assert al.columns_by_prefix(["a.x", "b.y", "a.z"], ".") == {"a": [0, 2], "b": [1]}


@each(
    ("names", "message"),
    [
        ([], "names is empty"),
        ("a__b", "a sequence of the names of columns, got 'a__b'"),
        ([0, 1], "the name of column 0 must be a str, got 0"),
        (["a__b", "c", "__d"], "'c', '__d' have no prefix before '__'"),
    ],
)
def test_names_without_prefixes_are_refused(names, message):
    raises((TypeError, ValueError), message, al.columns_by_prefix, names)
