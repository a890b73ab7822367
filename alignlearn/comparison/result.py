"""The result of a comparison: numbers by method and fold, their table, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill

import numpy as np

from alignlearn.validation import check_choice, check_number

from .columns import COLUMNS, ERROR_NAMES
from .methods import METHODS

TESTS = ("corrected-t", "prequential")


@dataclass(frozen=True)
class Protocol:
    """Settings of a comparison.

    Attributes
    ----------
    n_folds : int
        At least 3: in every trial one fold is for testing, the next for validation, and the others
        for training.
    scale : {"standard", "minmax", "none"}
        Columns are scaled to mean 0 and deviation 1, or to [-1, 1], computed on the training folds.
        Columns of a sparse matrix are only divided, which keeps their zeros. RankOneKernels are not
        affected: they are trace-normalized.
    random_state : int
        Seed of the folds.
    grid : tuple of float, optional
        Values of C (classification) or alpha (regression) to choose from, for kernels of mean
        diagonal 1. Default: C = 2^-5, 2^-3, ..., 2^11; alpha = 10^-6, ..., 10^3, 4 a decade.
    test : {"corrected-t", "prequential"}
        The test for the p-values. "prequential": samples are randomly ordered, n_folds blocks of
        the later half are for testing, and the samples before a block are for training and
        validation (one part in n_folds - 1). The type I error rate of this test is proved.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, compare
    >>> from alignlearn.comparison import Protocol
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> protocol = Protocol(n_folds=3, grid=(0.1, 10.0))
    >>> compare(X, y, [Gaussian(0.5), Linear()], methods=["alignf"], protocol=protocol).error.shape
    (1, 3)
    """

    n_folds: int = 5
    scale: str = "standard"
    random_state: int = 0
    grid: tuple[float, ...] | None = None
    test: str = "corrected-t"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Results of `alignlearn.compare`; n methods, f folds (or blocks), p kernels.

    Attributes
    ----------
    methods : tuple of str
    kernel_names : tuple of str
    task : {"classification", "regression"}
    columns : dict of str to ndarray of shape (n, f)
        The next five arrays by name, those of `comparison.columns.COLUMNS`.
    error : ndarray of shape (n, f)
        Test error: fraction misclassified, or root mean squared error in units of y.
    validation_error : ndarray of shape (n, f)
        Error on the validation fold, at the selected parameter.
    alignment : ndarray of shape (n, f)
        Centered alignment of the combined kernel with the target on the training folds, from which
        weights are learned. NaN for the ensemble, which has no combined kernel.
    test_alignment : ndarray of shape (n, f)
        Alignment on the test fold. Alignment has an upward bias that grows as the number of samples
        decreases, so the two are not comparable.
    parameter : ndarray of shape (n, f)
        Selected C or alpha of the model (of every model of the ensemble); sigma_g for
        "bayesian-mkl".
    weights : ndarray of shape (n, f, p)
        Weights of the centered, trace-normalized kernels; absolute values sum to 1. For the
        ensemble, weights of its models. With more than two classes, these and the weights of
        "bayesian-mkl" are mean absolute values over the classes. NaN for methods with their
        own kernel, such as "auto".
    shape : tuple of int
        Of X.
    protocol : Protocol
    losses : ndarray of shape (n, N), optional
        For a prequential comparison: losses in [0, 1] on the samples of all blocks, in order. For
        regression, squared errors, truncated at 9 times the largest mean squared error of the pilot
        and divided by it.
    pilot_losses : ndarray of shape (n, n_pilot), optional
        Losses on samples before the first block, which estimate the number of differences.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, Linear, compare
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = np.linalg.norm(X, axis=1) < 1.1
    >>> found = compare(X, y, [Gaussian(0.5), Linear()], methods=["uniform", "alignf"])
    >>> found.weights.shape  # methods, folds, kernels
    (2, 5, 2)
    >>> found.weights[found.index("alignf")].mean(axis=0).round(1).tolist()  # the line gets none
    [1.0, 0.0]
    """

    methods: tuple[str, ...]
    kernel_names: tuple[str, ...]
    task: str
    columns: dict[str, np.ndarray]
    weights: np.ndarray
    shape: tuple[int, ...]
    protocol: Protocol
    losses: np.ndarray | None = None
    pilot_losses: np.ndarray | None = None

    def __getattr__(self, name):
        if name in COLUMNS:
            return self.columns[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self):
        return [*super().__dir__(), *self.columns]

    @property
    def learned(self) -> tuple[str, ...]:
        """The methods that learn a combined kernel."""
        return tuple(m for m in self.methods if METHODS[m].learns)

    def index(self, method) -> int:
        """Row of a method in the arrays."""
        return self.methods.index(check_choice("method", method, self.methods))

    def p_value(self, method, against="uniform") -> float:
        """P-value of the test of the protocol: small if ``method`` has the lower error.

        "corrected-t": `corrected_resampled_t_test`, whose variance accounts for overlapping
        training folds. Its type I error rate is not proved. If nothing could be learned (3650
        comparisons, 40 to 200 samples), p <= 5% occurred in at most 1% of the cases
        (docs/guide/tests-of-difference.md). "prequential": `prequential_test`.
        """
        if self.losses is not None:
            return self.prequential(method, against).p_value
        from alignlearn.significance import corrected_resampled_t_test

        pair = self.error[self.index(method)], self.error[self.index(against)]
        # Training and validation folds together are n_folds - 1 times as large as the test fold.
        return corrected_resampled_t_test(*pair, self.protocol.n_folds - 1, 1).p_value

    def prequential(self, method, against="uniform", level=0.05):
        """The `PrequentialResult` of the test for a lower error of ``method``.

        Raises
        ------
        ValueError
            The comparison is not prequential.
        """
        from alignlearn.significance import prequential_test

        if self.losses is None:
            raise ValueError(
                "the comparison was made with test='corrected-t', not 'prequential'; call "
                "compare with test='prequential'."
            )
        pair = [self.index(method), self.index(against)]
        zero_one = self.task == "classification"
        pilot = tuple(self.pilot_losses[pair]) if zero_one else None
        return prequential_test(*self.losses[pair], pilot=pilot, level=level)

    def table(self) -> str:
        """Methods with mean and standard deviation of error and alignment, and p-values."""
        columns = [["method", *self.methods]]
        for name, column in COLUMNS.items():
            if not column.title:
                continue
            values = self.columns[name]
            units = column.of_targets and self.task == "regression"
            texts = [_spread(row, _digits(values) if units else 4) for row in values]
            columns.append([column.title, *texts])
        if "uniform" in self.methods:
            columns.append(["p against uniform", *map(self._p_text, self.methods)])
        widths = [max(map(len, column)) for column in columns]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns)]
        lines.insert(1, "-" * max(map(len, lines)))
        return "\n".join(lines)

    def _p_text(self, method):
        if method == "uniform":
            return "-"
        if np.array_equal(self.error[self.index(method)], self.error[self.index("uniform")]):
            return "same errors"
        p = self.p_value(method)
        return "< 0.001" if p < 0.001 else f"{p:.3f}"

    def to_frame(self):
        """The numbers as a pandas DataFrame, a row per method and fold.

        Returns
        -------
        pandas.DataFrame
            Columns method, fold, those of ``columns``, and one for the weight of each kernel.

        Raises
        ------
        ImportError
            Without pandas.
        """
        from pandas import DataFrame

        n_methods, n_folds = self.error.shape
        columns = {
            "method": np.repeat(self.methods, n_folds),
            "fold": np.tile(np.arange(n_folds), n_methods),
            **{name: values.ravel() for name, values in self.columns.items()},
        }
        weights = self.weights.reshape(n_methods * n_folds, -1)
        frame = DataFrame({f"weight of {name}": w for name, w in zip(self.kernel_names, weights.T)})
        return DataFrame(columns).join(frame)

    def legend(self) -> str:
        """Description of the columns of the table."""
        error = ERROR_NAMES[self.task]
        sentences = [c.legend.format(error=error) for c in COLUMNS.values() if c.legend]
        n, parts = self.protocol.n_folds, "folds" if self.losses is None else "blocks"
        spread = f"Mean +- standard deviation over {n} {parts}."
        return f"{' '.join(sentences)} {spread} {_P_LEGENDS[self._p_kind()]}"

    def _p_kind(self):
        if self.losses is None:
            return "corrected-t"
        return "signs" if self.task == "classification" else "betting"

    def verdict(self, level=0.05) -> str:
        """Sentence that states whether learned weights were better or worse than equal weights."""
        level = check_number("level", level, low=0.0, high=1.0, strict=True)
        if not self.learned or "uniform" not in self.methods:
            return "No comparison: it needs a learned combination and the uniform one."
        p = {m: self.p_value(m) for m in self.learned}
        winners = [f"{m} (p = {p[m]:.2g})" for m in self.learned if p[m] < level]
        reverse = {m: self.p_value("uniform", m) for m in self.learned}
        losers = [f"{m} (p = {reverse[m]:.2g})" for m in self.learned if reverse[m] < level]
        lost = f" Uniform beat {', '.join(losers)}." if losers else ""
        if winners:
            return (
                f"Learned kernels beat the uniform combination at p < {level:g}: "
                f"{', '.join(winners)}.{lost}"
            )
        return (
            f"No learned kernel beat the uniform combination at p < {level:g}{self._best(p)}{lost}"
        )

    def _best(self, p):
        mean = self.error.mean(axis=1)
        best = min(self.learned, key=lambda m: mean[self.index(m)])
        gap = mean[self.index(best)] - mean[self.index("uniform")]
        if abs(gap) <= 1e-9 * mean[self.index("uniform")]:
            return f": the best of them, {best}, has the same mean error."
        how = "lower" if gap < 0 else "higher"
        size = f"{abs(gap):.2g} {how} (p = {p[best]:.2g})"
        return f": the best of them, {best}, has a mean error {size}."

    def __str__(self):
        return "\n\n".join([self.table(), wrapped(self.legend()), wrapped(self.verdict())])

    def __repr__(self):
        m, d = self.shape
        return f"Comparison({self.task}, X {m} x {d}, methods={self.methods})"


_P_LEGENDS = {
    "corrected-t": (
        "p: one-sided t-test for a lower error, corrected for overlapping training folds (Nadeau "
        "and Bengio); in simulations without a difference it was below 5% in at most 1% of the "
        "cases."
    ),
    "signs": (
        "p: prequential sign test for a lower error on samples after the training samples; its "
        "type I error rate is proved."
    ),
    "betting": (
        "p: prequential test by betting, for lower squared errors, capped at 9 times the largest "
        "mean of the pilot, on samples after the training samples; its type I error rate is proved."
    ),
}


def wrapped(text):
    """Text in lines of at most 96 characters, for a terminal."""
    return fill(text, 96, break_on_hyphens=False)


def _spread(values, digits):
    if np.isnan(values).any():
        return "-"
    return f"{values.mean():.{digits}f} +- {values.std(ddof=1):.{digits}f}"


def _digits(values):
    """Decimals that show four digits of the largest value."""
    largest = np.abs(values).max()
    return int(max(0, 3 - np.floor(np.log10(largest)))) if largest > 0.0 else 4
