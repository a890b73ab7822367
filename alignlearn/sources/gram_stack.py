"""Several named Gram matrices, indexed by sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from alignlearn._text import listed
from alignlearn.kernels import (
    Precomputed,
    check_group_names,
    given_list,
)
from alignlearn.validation import (
    align_columns,
    align_rows,
    column_labels,
    is_sequence,
    plain,
    row_labels,
    row_order,
    stored_labels,
)

from .given import GramView
from .named_parts import NamedParts, check_part_names


class GramStack(NamedParts):
    """Several named Gram matrices, indexed by sample: X for ``kernels="precomputed"``.

    A part, as made by scikit-learn's cross-validation, represents the rows and columns of its
    samples in ``fit``, and their rows against the training samples in ``predict``. Nothing is
    copied.

    Parameters
    ----------
    grams : dict {name: matrix}, or sequence of matrices
        Matrices (m, m): arrays, memmaps, data frames, `Precomputed`. Rows and columns of pandas
        frames are matched by their labels, columns of new samples also with the labels of ``fit``.
        New samples have matrices (n, m): kernel values against all samples of the stack that
        ``fit`` had, in whole or in part. The matrices of a sequence are named "kernel 0", "kernel
        1", ...

    Attributes
    ----------
    names : tuple of str
    rows : ndarray of int
        The rows of the matrices that belong to the samples.
    row_labels : pandas.Index or None
        Labels of the samples, if the first data frame has them.
    shape : tuple of int
        Number of samples, and of columns of the matrices.

    Raises
    ------
    ValueError, TypeError
        No matrix, a name that is not a string, or matrices of different shapes or with different
        labels. The message names them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from alignlearn import Gaussian, GramStack, Linear, MKLRegressor
    >>> Z = np.random.default_rng(0).normal(size=(40, 3))
    >>> X = GramStack({"wide": Gaussian(0.1)(Z), "linear": Linear()(Z)})
    >>> bool(cross_val_score(MKLRegressor("precomputed"), X, Z[:, 0]).mean() > 0.9)
    True
    """

    _what = "matrices"

    def __init__(self, grams):
        if isinstance(grams, GramStack):
            vars(self).update(vars(grams))
            return
        if not isinstance(grams, Mapping):
            if not is_sequence(grams):
                raise TypeError(
                    f"grams must be a dict or sequence of matrices, got {type(grams).__name__}."
                )
            grams = {f"kernel {k}": gram for k, gram in enumerate(plain("grams", grams))}
        self.names = tuple(check_group_names("grams", grams))
        items = [grams[name] for name in self.names]
        shapes = {name: np.shape(gram) for name, gram in zip(self.names, items)}
        first = shapes[self.names[0]]
        if len(first) != 2 or 0 in first or any(shape != first for shape in shapes.values()):
            shown = listed([f"{name!r} has {shape}" for name, shape in shapes.items()], show=str)
            raise ValueError(
                f"grams must be matrices of one shape, (m, m) or (n, m) for new samples: {shown}."
            )
        aligned = align_columns(align_rows(dict(zip(map(repr, self.names), items))))
        items = list(aligned.values())
        found = [labels for labels in map(row_labels, items) if labels is not None]
        self.row_labels = found[0] if found else None
        found = [labels for labels in map(column_labels, items) if labels is not None]
        self.column_labels = found[0] if found else None
        self._all_labels, self._square = self.row_labels, {}  # shared by parts
        self.grams = given_list(items, test=first[0] != first[1])
        self.rows, self._width = np.arange(first[0]), first[1]

    @property
    def shape(self):
        """Number of samples, and of columns of the matrices."""
        return len(self.rows), self._width

    def _some(self, rows):
        part = object.__new__(GramStack)
        vars(part).update(vars(self))
        part.rows = self.rows[rows]
        part.row_labels = None if self.row_labels is None else self.row_labels[rows]
        return part

    def kernels(self):
        """The matrices of these samples with each other, a list of named `Precomputed`."""
        found, whole = [], np.array_equal(self.rows, np.arange(self._width))
        for name in self.names:
            gram = self._training_gram(name)
            if not whole:
                gram = replace(gram, gram=GramView(gram.gram, self.rows, self.rows, checked=True))
            found.append(gram if gram.name == name else replace(gram, name=name))
        return found

    def _training_gram(self, name):
        """A whole matrix, checked once for all parts, with columns in the order of its rows."""
        if name not in self._square:
            gram = self.grams[self.names.index(name)]
            if gram.shape[0] != gram.shape[1]:
                raise ValueError(
                    f"grams: {name!r} has shape {gram.shape}; accepted in fit: a square matrix."
                )
            if not isinstance(gram, Precomputed):
                if self.column_labels is not None:
                    given = "rows of X", self._all_labels, "columns of X", self.column_labels
                    order = row_order(*given)
                    gram = gram if order is None else np.asarray(gram)[:, order]
                gram = Precomputed(gram, name=name)
            self._square[name] = gram
        return self._square[name]

    @property
    def labels(self):
        """Labels of all samples of the stack, in the form in which a model stores them."""
        return stored_labels(self._all_labels)

    def arranged(self, names):
        """The matrices in the order of ``names``; raises `ValueError` if the names differ."""
        check_part_names("matrix", names, self.names)
        place = [self.names.index(name) for name in names]
        part = self[:]
        part.names, part.grams = tuple(names), [self.grams[k] for k in place]
        return part

    def against(self, rows, width, labels=None):
        """The matrices of these samples against ``width`` samples, as ``predict`` uses them.

        ``labels`` are those that `labels` returned for the stack of ``fit``.
        """
        if self._width != width:
            raise ValueError(
                f"X has matrices of {self._width} columns; accepted: {width}, the columns of the "
                "stack of the training samples. Pass kernel values against the training samples "
                "alone as a dict of matrices."
            )
        grams = [gram.gram if isinstance(gram, Precomputed) else gram for gram in self.grams]
        if labels is not None and self.column_labels is not None:
            own = stored_labels(self.column_labels)
            order = row_order("X of fit", labels, "columns of X", own)
            rows = rows if order is None else order[rows]
        return [GramView(gram, self.rows, rows) for gram in grams]
