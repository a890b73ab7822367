"""Cross-validation on given Gram matrices: [train][:, train] to fit, [test][:, train] to score."""

from __future__ import annotations

import copy
import time

import numpy as np

from alignlearn.targets import check_labels
from alignlearn.validation import check_number


class GramView:
    """Rows and columns of a matrix, read when asked for.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        Also a memmap, or anything with ``dtype`` and NumPy indexing of rows.
    rows, columns : ndarray of int
    """

    def __init__(self, gram, rows, columns):
        self._gram, self._rows, self._columns = gram, rows, columns
        self.shape, self.dtype = (len(rows), len(columns)), gram.dtype

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return np.asarray(self._gram[self._rows[index]])[..., self._columns]

    def __array__(self, dtype=None, copy=None):
        block = self[:]
        return block if dtype is None else block.astype(dtype)


class GramViews:
    """The same rows and columns of each of p matrices; nothing is copied until it is read."""

    def __init__(self, grams, rows, columns):
        self._grams, self._rows, self._columns = grams, rows, columns

    def __len__(self):
        return len(self._grams)

    def __getitem__(self, k):
        gram = self._grams[k]
        gram = gram if hasattr(gram, "dtype") else np.asarray(gram)
        return GramView(gram, self._rows, self._columns)


def cross_validate_kernels(
    estimator, grams, y, *, cv=5, scoring=None, random_state=None, return_estimator=False
):
    """Cross-validate an estimator with ``kernels="precomputed"``.

    Parameters
    ----------
    estimator : MKLClassifier or MKLRegressor
        With ``kernels="precomputed"``; it is copied for every fold.
    grams : sequence of p matrices (m, m), or array of shape (p, m, m)
        May be memmaps or lazy: only the rows in use are read.
    y : array-like of shape (m,) or (m, c)
    cv : int, iterable of (train, test) or object with ``split(X, y)``, default 5
        A number of folds: shuffled, and for a classifier with classes in equal shares.
    scoring : callable, optional
        ``scoring(estimator, grams, y) -> float``; default ``estimator.score``.
    random_state : int or numpy.random.Generator, optional
        Of the shuffle; None shuffles with a fixed seed, so results repeat.
    return_estimator : bool, default False

    Returns
    -------
    dict
        ``test_score``, ``fit_time``, ``score_time`` (seconds) and ``alignment`` of shape
        (n_folds,), ``weights`` of shape (n_folds, p), ``indices`` (a list of (train, test)), and
        with ``return_estimator`` a list ``estimator``.

    Raises
    ------
    ValueError, TypeError
        Bad input, folds that cannot be made, or an estimator with other kernels.
    """
    if getattr(estimator, "kernels", None) != "precomputed":
        raise ValueError(
            f"estimator must have kernels='precomputed', got {estimator!r}; with kernels on "
            "samples use any cross-validation on X."
        )
    if len(grams) == 0:
        raise ValueError("grams is empty; give at least one matrix.")
    m = np.shape(grams[0])[0]
    y = np.asarray(y)
    if len(y) != m:
        raise ValueError(f"y has {len(y)} values, but the matrices have {m} rows.")
    stratify = estimator._estimator_type == "classifier"
    found = {"test_score": [], "fit_time": [], "score_time": [], "weights": [], "alignment": []}
    folds = _folds(cv, y, stratify, random_state)
    fitted = []
    for train, test in folds:
        fitted.append(_one_fold(estimator, grams, y, train, test, scoring, found))
    result = {key: np.array(values) for key, values in found.items()}
    result["indices"] = folds
    if return_estimator:
        result["estimator"] = fitted
    return result


def _one_fold(estimator, grams, y, train, test, scoring, found):
    params = {k: copy.deepcopy(v) for k, v in estimator.get_params(deep=False).items()}
    model = type(estimator)(**params)
    start = time.perf_counter()
    model.fit(GramViews(grams, train, train), y[train])
    fitted = time.perf_counter()
    against = GramViews(grams, test, train)
    score = model.score if scoring is None else lambda X, y: scoring(model, X, y)
    found["test_score"].append(float(score(against, y[test])))
    found["score_time"].append(time.perf_counter() - fitted)
    found["fit_time"].append(fitted - start)
    found["weights"].append(model.weights_)
    found["alignment"].append(model.alignment_)
    return model


def _folds(cv, y, stratify, random_state):
    """A list of (train, test) index arrays."""
    number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if isinstance(cv, (str, bytes)) or not (
        number or hasattr(cv, "split") or hasattr(cv, "__iter__")
    ):
        raise TypeError(
            "cv must be a number of folds, an iterable of (train, test) or an object with "
            f"split(X, y); got {cv!r}."
        )
    if number:
        folds = _own_folds(int(cv), y, stratify, random_state)
    else:
        folds = cv.split(np.zeros((len(y), 1)), y) if hasattr(cv, "split") else cv
    folds = [(np.asarray(train), np.asarray(test)) for train, test in folds]
    if not folds:
        raise ValueError("cv gives no folds; at least one (train, test) is needed.")
    return [tuple(np.flatnonzero(i) if i.dtype == bool else i for i in f) for f in folds]


def _own_folds(n_folds, y, stratify, random_state):
    check_number("cv", n_folds, low=2, high=len(y))
    rng = np.random.default_rng(0 if random_state is None else random_state)
    order = rng.permutation(len(y))
    if stratify:
        _, codes, counts = np.unique(check_labels(y), return_inverse=True, return_counts=True)
        if counts.max() < n_folds:
            raise ValueError(
                f"cv={n_folds} is more than the samples of any class; the largest has "
                f"{counts.max()}."
            )
        # Sorted by class, every n-th sample: each class is dealt out in turn.
        order = order[np.argsort(codes.reshape(-1)[order], kind="stable")]
    number = np.empty(len(y), dtype=np.intp)
    number[order] = np.arange(len(y)) % n_folds
    return [(np.flatnonzero(number != f), np.flatnonzero(number == f)) for f in range(n_folds)]
