"""Tests of dependence and CKA raise errors that name the view, the features or the option."""

from functools import partial

import numpy as np
from refusals import not_refused
from scipy.sparse import csr_array

import alignlearn as al
from alignlearn.dependence import alignment_test, cka_matrix, hsic_test, real_gram

X = np.random.default_rng(0).normal(size=(30, 2))
A, ONES, NUMBERS = X[:8], np.ones(30), np.arange(5.0)
LOW_RANK = {"method": "low-rank", "n_permutations": 1}
# Function, words of the error, arguments, options.
CASES = [
    (hsic_test, "view 'Y' has 7 samples, but view 'X' has 8", (A, A[:7]), {}),
    (hsic_test, "view 'Y' is constant under its kernel", (X, ONES), {}),
    (hsic_test, r"view 'X': table 'a' has shape \(\)", ({"a": 1}, X), {}),
    (hsic_test, "view 'Y': X consists of several tables", (X, {"a": X, "b": X}), {}),
    (hsic_test, "kernels has 1 items for 2 views", (X, X, ["rbf"]), {}),
    (hsic_test, "view 'Y': .*positive semi-definite",
     (np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0]), "precomputed"), {}),
    (hsic_test, "at least 2", (X[:1], X[:1]), {}),
    (hsic_test, "X has 5 samples", (X[:5], X[:5]), {"method": "gamma"}),
    (hsic_test, "X has 3 samples", (X[:3], X[:3]), {"unbiased": True}),
    (hsic_test, "the distribution of the biased", (X, X), {"method": "gamma", "unbiased": True}),
    (hsic_test, "view 'Y' is constant under its kernel", (X, ONES), LOW_RANK),
    (hsic_test, "X has 30 samples; .* at least 10000", (X, X), {"method": "low-rank"}),
    (al.dhsic_test, "views: 1 given; accepted: two or more", (X,), {}),
    (al.dhsic_test, "view 1 has 29 samples, but view 0 has 30", (X, X[:29], X), {}),
    (al.dhsic_test, "view 0 has 5 samples; accepted for 3 views", (X[:5],) * 3, {}),
    (al.dhsic_test, "kernels has 1 items for 2 views", (X, X), {"kernels": ["rbf"]}),
    (al.mmd_test, r"Y has shape \(30, 1\), but X has \(30, 2\)", (X, X[:, :1]), {}),
    (al.mmd_test, "Y has 1 samples; accepted for this test: at least 2", (X, X[:1]), {}),
    (al.mmd_test, "constant", (np.ones(4), np.ones(5)), {}),
    (al.mmd_test, "cannot be evaluated on new", (X @ X.T, X @ X.T, "precomputed"), {}),
    (al.kci_test, "view 'Y' has 29 samples, but view 'X' has 30", (X, X[:29], X), {}),
    (al.kci_test, "view 'Z' is constant under its kernel", (X, X, ONES), {}),
    (al.kci_test, "view 'Z': .*infinity", (X, X, X * np.inf), {}),
    (al.kci_test, "X has 19 samples; accepted .* at least 20", (X[:19],) * 3, {}),
    (al.kci_test, "kernels has 2 items for 3 views", (X, X, X, ["rbf", "rbf"]), {}),
    (al.kci_test, "method='exact' is not known", (X, X, X), {"method": "exact"}),
    (alignment_test, "K is constant after centering", (np.ones((5, 5)), NUMBERS), {}),
    (alignment_test, "y is constant after centering", (np.eye(5), np.ones((5, 5))), {}),
    (alignment_test, "y has 4 targets, but X has 5 samples", (np.eye(5), NUMBERS[:4]), {}),
    (alignment_test, "not Hermitian", (1j * np.ones((5, 5)), NUMBERS), {}),
    (real_gram, "must be a matrix", (np.ones(3, dtype=complex),), {}),
    (cka_matrix, r"number 0 has shape \(.*,\)\. Reshape a single feature", (A,), {}),
    (cka_matrix, r"features\[1\] has 7 rows, but features\[0\] has 8", ([A, A[:7]],), {}),
    (cka_matrix, r"features\[1\]: X is a sparse matrix", ([A, csr_array(A)],), {}),
    (cka_matrix, "polynomial.* has values that are not finite", ([A, 1e160 * A],),
     {"kernels": ["linear", al.Polynomial(1.0)]}),
    (cka_matrix, "other must be a non-empty sequence", ([A],), {"other": [A[:, 0]]}),
    (cka_matrix, "kernels has 2 items for 1 views", ([A],), {"kernels": ["linear"] * 2}),
    (cka_matrix, "for all sets of features or for none", ([A, A],),
     {"kernels": ["linear", "precomputed"]}),
    (cka_matrix, "needs at least 4 samples", ([A[:3], A[:3]],), {"unbiased": True}),
]  # fmt: skip


def test_bad_input_is_named():
    calls = [
        (f"{f.__name__} {words}", partial(f, *args, **options), words)
        for f, words, args, options in CASES
    ]
    assert not_refused(calls) == []
