"""The choice of a solver and its input, as pure functions of sizes.

`choose` decides for a fit, and a search uses parts of it. Nothing here evaluates a kernel: the
caller supplies a ``pilot`` that estimates the cost on these samples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Samples up to which "auto" trains on all pairs without estimating the cost. Above it, the matrix
# takes 3 GB and a factorization minutes on one core.
MOST_PAIRED = 20_000
MATRICES = 1.3  # matrices in memory at the peak of a fit
# Samples up to which the whole matrix is computed, because computing only some rows saves little
# (measured on ijcnn1).
MOST_WHOLE = 3000
# The same if several values of C share the matrix, which each of them only reads (measured on
# ijcnn1 with four values: with the matrix, 7200 samples are 1.1 to 1.3 times as fast, and 14,400
# take 1.4 times as long).
MOST_SHARED = 10_000
# Samples above which rows are always computed on demand: for 20,000 samples the matrix takes 4 GB,
# and rows a quarter of that and 0.7 to 1.3 times the time (measured on six sets of 12,000 to 20,000
# samples).
MOST_OF_MATRIX = 10_000
# Samples up to which whole rows are stored. With more samples, the rows of a working set are so
# much shorter that computing some of them again costs less (measured: with whole rows, 20,000
# samples take 2 to 3 times as long).
MOST_FULL = 6000
# Samples up to which kernel ridge regression factorizes its matrix: with 3000 samples this takes
# 0.2 s, like conjugate gradients, and with 6000 four times as long as these (measured on kin8nm).
MOST_FACTORED = 3000
# The same if several values of alpha share one reduction to tridiagonal form.
MOST_REDUCED = 1600
# The same if every alpha is at least this share of the mean diagonal, so that few iterations are
# needed (measured on casp, kin8nm and friedman1: a fifth of the time for 1500 samples).
MOST_REDUCED_OF_LARGE, LARGE_ALPHA = 800, 0.02
# Regression uses all pairs if the error on few centers is larger by more than this share (measured:
# all pairs take 1 to 1.7 times the time of a search with 10,000 and 18,000 rows of eight tables,
# and up to 2.4 times with 25,000 to 50,000 rows of seven).
WORTH_PAIRS = 0.002
# Largest number of samples of one of several blocks, whose float32 matrix takes 1.2 GB, of a single
# block, and of all blocks.
MOST_OF_BLOCK, MOST_ALONE, MOST_IN_BLOCKS = 24_000, 28_000, 120_000
# Blocks overlap rather than have fewer than this share of the largest number: R^2 of one table with
# 33,527 samples was 0.80 by two halves, and 0.84 by two blocks of 24,000.
_LEAST_OF_BLOCK = 0.9
_LEAST_FIT = 2000  # samples of the smallest blocks
MOST_DOUBLE = 8000  # samples whose matrix is float64 in iterations; with more samples it is float32
_HELD = 3  # bytes per pair then: half of the matrix, and the preconditioner
PILOT, LARGE_PILOT = 500, 2000  # samples
# Share of the pairs of the matrix that belong to support vectors in the pilot fit, below which rows
# are cheaper (measured; the share decreases with the number of samples).
WORTH = 0.5
PASSES = 3.0  # evaluated pairs per pair of a support vector and a sample (measured: 2 to 4)
MOST_PAIRS = 2**30  # a few seconds for a Gaussian on one thread
# The interior point method is faster than SMO on the Gram matrix above this ratio of samples to
# features (measured at C = 1); below this number of samples, both take milliseconds.
SVM_RATIO, SVM_SAMPLES = 25, 2000


class Sizes(NamedTuple):
    """The properties of samples and kernels on which the choice of a solver depends.

    Attributes
    ----------
    n_samples : int
    n_features : int or None
        Number of features of positive weight, if the combination is linear in them and no weight is
        negative; otherwise, and before there are weights, None.
    is_linear : bool
        Whether the kernels are linear in the features, so that a matrix needs no pairs.
    is_paired : bool
        Whether kernels are functions of pairs of samples.
    has_matrix : bool
        Whether the Gram matrix exists or is required: it is precomputed, or completed because
        samples have missing tables.
    checks_psd : bool
        Whether the whole matrix is required, because it is checked to be positive semi-definite.
    is_psd : bool
        Whether the combination is positive semi-definite; True before there are weights.
    itemsize : int
        Bytes of a kernel value.
    """

    n_samples: int
    n_features: int | None = None
    is_linear: bool = False
    is_paired: bool = True
    has_matrix: bool = False
    checks_psd: bool = False
    is_psd: bool = True
    itemsize: int = 8

    @classmethod
    def of_source(cls, source):
        """Sizes before there are weights."""
        return cls(
            source.n_samples,
            None,
            source.is_linear,
            source.is_paired,
            source.is_given or source.has_gaps,
            source.checks_psd,
            itemsize=source.dtype.itemsize,
        )

    @classmethod
    def of(cls, combination):
        """Sizes of a combination."""
        sizes = cls.of_source(combination.source)._replace(is_psd=combination.kernel.is_psd)
        if not sizes.is_linear or combination.kernel.weights.min() < 0.0:
            return sizes
        return sizes._replace(n_features=int(np.count_nonzero(combination.kernel.weights)))


class Choice(NamedTuple):
    """A solver and its input.

    Attributes
    ----------
    machine : {"svm", "svr", "krr", "one-class", "nystrom", "dual-cd"}
    on : {"features", "matrix", "iterations", "rows", "products", "centers"}
        The weighted features; the Gram matrix, factorized or in iterations; a cache of its rows;
        its products with vectors, without storing it; Nystrom features.
    """

    machine: str
    on: str


def choose(exact, sizes, memory, *, asked="auto", C=1.0, alpha=1.0, pilot=None) -> Choice:
    """Choose the solver for a fit, and its input.

    Parameters
    ----------
    exact : {"svm", "svr", "krr", "one-class"}
        The machine on all pairs that "auto" stands for.
    sizes : Sizes
    memory : int
        Bytes.
    asked : str
        The parameter ``machine`` of an estimator.
    C, alpha : float
        Regularization of support vector machines and of ridge regression, in range.
    pilot : callable (n) -> (pairs, support), optional
        For the machine fitted to n of the samples: pairs of support vectors and samples of their
        problem, and support vectors. It is called only for more than `MOST_WHOLE` samples. Without
        it, a matrix that fits is computed, and an exact machine on many samples counts as too
        expensive.
    """
    machine = asked
    if asked == "auto":
        many = sizes.is_paired and sizes.n_samples > MOST_PAIRED
        machine = "nystrom" if many and not affordable(sizes, memory, C, pilot) else exact
    if machine == "nystrom":
        return Choice(machine, "centers")
    if machine == "dual-cd" or (machine == "svm" and svm_in_features(sizes, C)):
        return Choice(machine, "features")
    if machine == "krr":
        return Choice(machine, _ridge_on(sizes, memory, alpha))
    return Choice(machine, "rows" if rows_are_read(sizes, memory, C, pilot) else "matrix")


def _ridge_on(sizes, memory, alpha):
    if alpha > 0.0 and ridge_in_features(sizes):
        return "features"
    if alpha > 0.0 and is_iterative(sizes, MOST_FACTORED):
        held = sizes._replace(itemsize=_HELD) if is_single(sizes.n_samples) else sizes
        return "iterations" if matrix_fits(held, memory) else "products"
    return "matrix" if sizes.is_linear or matrix_fits(sizes, memory) else "products"


def block_sizes(n_samples, memory, n_different=None):
    """Return the number of blocks for least squares on many samples, and the samples of each.

    The float32 matrix of a block fits into ``memory`` bytes, unless these are very few. Up to
    `MOST_DOUBLE` samples the matrix is float64; if it does not fit, `choose` takes "products".
    ``n_different``: number of different samples, of which the matrix has one row each. Default:
    all of them.
    """
    fit = max(_LEAST_FIT, np.sqrt(memory / (MATRICES * _HELD)))
    if (n_samples if n_different is None else n_different) <= min(MOST_ALONE, fit):
        return 1, n_samples
    most = min(MOST_OF_BLOCK, fit)
    n_blocks = int(np.ceil(n_samples / most))
    return n_blocks, int(max(np.ceil(n_samples / n_blocks), _LEAST_OF_BLOCK * most))


def is_single(n_samples):
    """Whether the matrix of iterative solvers is in float32."""
    return n_samples > MOST_DOUBLE


def is_iterative(sizes, most):
    """Whether ridge regression on a matrix of more samples than ``most`` is solved in iterations.

    Precomputed matrices are excluded, because their definiteness is unknown before a factorization.
    """
    many = sizes.n_samples > most and sizes.is_paired
    return many and sizes.is_psd and not sizes.checks_psd


def matrix_fits(sizes, memory):
    """Whether a Gram matrix fits ``memory`` bytes; an existing or required one always does."""
    return sizes.has_matrix or MATRICES * sizes.itemsize * sizes.n_samples**2 <= memory


def ridge_in_features(sizes):
    """Whether a ridge machine is smaller in the features."""
    return sizes.n_features is not None and sizes.n_features < sizes.n_samples


def svm_in_features(sizes, C):
    """Whether a support vector classifier is faster in the features."""
    return ridge_in_features(sizes) and faster_in_features(sizes.n_samples, sizes.n_features, C)


def faster_in_features(n_samples, n_features, C):
    """Whether an interior point method on features is faster than the Gram matrix and SMO."""
    return n_samples >= max(SVM_SAMPLES, SVM_RATIO * n_features) and not np.isinf(C)


def rows_are_read(sizes, memory, C=1.0, pilot=None, most_whole=MOST_WHOLE):
    """Whether SMO works on rows of the Gram matrix: it is too large, or rows cost less.

    Rows cost less if the pilot has few support vectors, but not for up to ``most_whole`` samples.
    """
    if not matrix_fits(sizes, memory):
        return True
    if pilot is None or not sizes.is_paired or sizes.checks_psd or np.isinf(C):
        return False
    if sizes.n_samples > MOST_OF_MATRIX:
        return True
    return sizes.n_samples > most_whole and pilot(PILOT)[0] < WORTH * PILOT**2


def affordable(sizes, memory, C=1.0, pilot=None):
    """Whether a support vector machine on many samples takes at most some seconds.

    Two pilots give a power law for the pairs of support vectors with samples, and for the rows,
    which must fit ``memory``.
    """
    if pilot is None or np.isinf(C) or sizes.checks_psd:
        return False
    (few, least), (many, most) = pilot(PILOT), pilot(LARGE_PILOT)
    ratio = np.log(sizes.n_samples / LARGE_PILOT) / np.log(LARGE_PILOT / PILOT)
    pairs = many * (max(many, 1.0) / max(few, 1.0)) ** ratio
    support = most * (max(most, 1.0) / max(least, 1.0)) ** ratio
    # Room for half of the rows of the support vectors, in float32.
    return bool(PASSES * pairs <= MOST_PAIRS and 2.0 * (1.5 * support) ** 2 <= memory)


def whole_rows_are_kept(sizes, memory):
    """Whether a cache keeps whole rows, rather than those of the working set."""
    return sizes.n_samples <= MOST_FULL and matrix_fits(sizes, memory)
