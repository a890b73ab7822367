"""The spectrum kernel against counters of substrings; any letters; lists of objects."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from cases import each
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import raises
from scipy.sparse import csr_array

import alignlearn as al
from alignlearn.kernels import Columns, FromFunction, StringSpectrum
from alignlearn.online import KernelSGDRegressor
from alignlearn.sources import alignment_statistics

WORDS = ["kernel", "kern", "colonel", "", "align", "aligned", "line", "nnnn"]


def counts(text, k):
    return Counter(text[i : i + k] for i in range(len(text) - k + 1))


def common(k):
    def value(s, t):
        other = counts(t, k)
        return float(sum(n * other[part] for part, n in counts(s, k).items()))

    return value


def by_counters(A, B, k):
    return np.array([[common(k)(s, t) for t in B] for s in A])


@settings(max_examples=10)
@given(
    st.lists(st.text(alphabet=st.sampled_from("abA\u00e9\U0001f600\x00"), max_size=12), min_size=1),
    st.lists(st.text(max_size=6), min_size=1, max_size=4),
    st.integers(1, 7),
)
def test_equals_counters(left, right, k):
    kernel = StringSpectrum(k)
    np.testing.assert_array_equal(kernel(left, right), by_counters(left, right, k))
    K = by_counters(left, left, k)
    np.testing.assert_array_equal(kernel(left), K)
    np.testing.assert_array_equal(kernel.diag(left), np.diagonal(K))
    norms = np.sqrt(np.diagonal(K))
    scale = np.divide(1.0, norms, where=norms > 0, out=np.zeros_like(norms))
    for normalized in (StringSpectrum(k, normalize=True), kernel.normalized()):
        np.testing.assert_allclose(normalized(left), scale[:, None] * K * scale, atol=1e-14)
        np.testing.assert_allclose(normalized.diag(left), norms > 0, atol=1e-14)


@each("k", [2, 9, 12, 40])
def test_long_substrings_are_numbered_exactly(k):
    """With 26 letters, 26^7 no longer fits the column numbers, and ranks are used instead."""
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    base = "".join(rng.choice(letters, 60))
    strings = [base[i:] + base[:i] for i in range(0, 60, 7)] + ["".join(rng.choice(letters, 60))]
    np.testing.assert_array_equal(StringSpectrum(k)(strings), by_counters(strings, strings, k))


def test_kinds_of_samples():
    kernel, expected = StringSpectrum(2), by_counters(WORDS, WORDS, 2)
    for samples in (
        np.array(WORDS),
        np.array(WORDS, dtype=object),
        np.array(WORDS)[:, None],
        pd.Series(WORDS),
        pd.DataFrame({"word": WORDS}),
        tuple(WORDS),
        [w.encode() for w in WORDS],
        np.array([w.encode() for w in WORDS]),
    ):
        np.testing.assert_array_equal(kernel(samples), expected)
    table = np.array([WORDS, WORDS[::-1]], dtype=object).T
    np.testing.assert_array_equal(Columns(kernel, 0)(table), expected)
    two = Columns(kernel, 0) + Columns(StringSpectrum(1), 1)
    np.testing.assert_array_equal(two(table), expected + by_counters(WORDS, WORDS, 1)[::-1, ::-1])
    # Bytes are letters of their own, not text in some encoding.
    assert StringSpectrum(1)([b"\xc3\xa9"])[0, 0] == 2.0
    assert StringSpectrum(1)(["\u00e9", "\ud800"])[0, 0] == 1.0


def test_as_any_other_kernel():
    kernel, normalized = StringSpectrum(2), StringSpectrum(2, normalize=True)
    np.testing.assert_allclose(
        (2 * kernel**2 + StringSpectrum(1, normalize=True))(WORDS),
        2 * by_counters(WORDS, WORDS, 2) ** 2 + StringSpectrum(1).normalized()(WORDS),
    )
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel == StringSpectrum(2) != normalized
    assert hash(again) == hash(kernel)
    # What bounds take for the radius: attained by strings with substrings, or unknown.
    assert normalized.largest_value == pytest.approx(normalized(WORDS).max())
    assert kernel.largest_value is None
    assert str(normalized) == "normalized string spectrum(k=2)"
    y = np.array([1, 1, 0, 0, 1, 1, 0, 0])
    ours = alignment_statistics(WORDS, y, [kernel, StringSpectrum(3)])
    plain = alignment_statistics(WORDS, y, [FromFunction(common(2)), FromFunction(common(3))])
    np.testing.assert_allclose(ours.M, plain.M, rtol=1e-12)
    np.testing.assert_allclose(ours.a, plain.a, rtol=1e-12)


def test_in_estimators():
    rng = np.random.default_rng(1)
    label = rng.random(80) < 0.5
    ends = np.where(label, "GATTACA", "TACAGAT")
    strings = ["".join(rng.choice(list("ACGT"), 30)) + end for end in ends]
    kernels = [StringSpectrum(k, normalize=True) for k in (1, 3, 6)]
    machine = al.MKLClassifier(kernels).fit(strings[:60], label[:60])
    assert machine.score(strings[60:], label[60:]) > 0.9
    online = KernelSGDRegressor(kernels[2], n_passes=50, budget=70).fit(strings, label * 1.0)
    assert online.score(strings, label * 1.0) > 0.5


def test_bad_input():
    for k, error in ((0, ValueError), (2.5, TypeError), (None, TypeError), (True, TypeError)):
        raises(error, "k", StringSpectrum, k)
    raises(TypeError, "normalize must be True or False", StringSpectrum, 2, normalize="yes")
    for error, message, X in (
        (TypeError, "must be all str or all bytes, got 3", ["a", 3]),
        (TypeError, "all str or all bytes, got None", ["ab", None]),
        (TypeError, "got both str and bytes", ["a", b"b"]),
        (TypeError, r"all str or all bytes, got 1\.0", np.ones((3, 1))),
        (ValueError, "one column of them", np.array([["a", "b"]])),
        (TypeError, "sparse", csr_array(np.eye(2))),
        (ValueError, "non-empty sequence", []),
        (ValueError, "X must be a non-empty sequence of samples, got 'abc'", "abc"),
    ):
        raises(error, message, StringSpectrum(2), X)
