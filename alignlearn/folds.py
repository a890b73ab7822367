"""Make folds from a number of folds, labels, pairs of index arrays, or a splitter."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from alignlearn.validation import (
    check_count,
    check_labels,
    check_number,
    check_seed,
    codes_by_appearance,
    plain,
)


def fold_numbers(y, n_folds, stratify, random_state=0):
    """The fold of each sample: random, of sizes equal within 1, for classes also class by class.

    The names of the classes and their order do not change the folds.

    Parameters
    ----------
    y : ndarray of shape (m,) or (m, c)
    n_folds : int
    stratify : bool
        Whether y holds classes, of which every fold gets its share.
    random_state : int or numpy.random.Generator, optional
        None is the seed 0, so results repeat.

    Returns
    -------
    ndarray of int of shape (m,)
    """
    order = check_seed("random_state", random_state).permutation(len(y))
    if stratify:
        codes, _ = codes_by_appearance(y)
        # Dealing out one class after the other keeps every fold's share of each.
        order = order[np.argsort(codes[order], kind="stable")]
    number = np.empty(len(y), dtype=np.intp)
    number[order] = np.arange(len(y)) % n_folds
    return number


def equal_folds(m, n_folds):
    """The fold of each sample, all of ``m // n_folds`` samples, and -1 for the few that are left.

    All fits without a fold then have training sets of one size. The guarantee of CV+ assumes equal
    folds: given the ``m % n_folds`` samples that belong to every training set, the others are
    exchangeable with a further fold of new samples.

    Parameters
    ----------
    m, n_folds : int

    Returns
    -------
    ndarray of int of shape (m,)
    """
    number = fold_numbers(np.empty(m), n_folds, False)
    order = np.argsort(number, kind="stable")
    place = np.empty(m, dtype=np.intp)
    place[order] = np.arange(m) - np.searchsorted(number[order], number[order])
    number[place >= m // n_folds] = -1
    return number


def prequential_blocks(m, n_blocks, random_state=0):
    """Samples in a random order, as (past, block) for each block: the blocks follow one another.

    The first pair lies within the first half, n_0 = m // 2 samples: its earlier and its later half,
    for what has to be settled before. The blocks proper share the second half, of sizes equal
    within 1, and the past of each is all that comes before it.

    Parameters
    ----------
    m, n_blocks : int
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    list of (ndarray, ndarray)
        n_blocks + 1 pairs of sample numbers, in their order.

    Raises
    ------
    ValueError
        If a block or a past would be empty.
    """
    n_blocks = check_count("n_blocks", n_blocks, optional=False)
    first = m // 2
    if m - first < n_blocks or first < 2:
        raise ValueError(
            f"n_blocks={n_blocks}: the later half of {m} samples is too small for so "
            "many blocks; accepted: at least 4 samples, and at least 2 per block."
        )
    order = check_seed("random_state", random_state).permutation(m)
    ends = first + np.arange(n_blocks + 1) * (m - first) // n_blocks
    pilot = order[: first // 2], order[first // 2 : first]
    return [pilot, *((order[:start], order[start:end]) for start, end in pairwise(ends))]


def make_folds(cv, y, stratify, random_state=None, groups=None):
    """A list of (train, test) index arrays.

    Parameters
    ----------
    cv : int, sequence of m labels, iterable of (train, test), or object with ``split(X, y)``
        A number of folds is lowered to the number of samples, or to the size of the largest class,
        where there are fewer. Labels: each sample is tested with those of its label.
    y : ndarray of shape (m,) or (m, c)
    stratify : bool
        Whether y holds classes: then folds get equal shares, and a training set needs two.
    random_state : int or numpy.random.Generator, optional
    groups : array-like of shape (m,), optional
        Handed to ``cv.split``.

    Raises
    ------
    ValueError, TypeError
        Folds that cannot be made.
    """
    cv, groups = plain("cv", cv), plain("groups", groups)
    number, codes = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool), None
    if number:
        check_number("cv", int(cv), low=2)
        sizes = np.unique(check_labels(y), return_counts=True)[1] if stratify else [len(y)]
        count = min(int(cv), max(int(max(sizes)), 2))
        codes = fold_numbers(y, count, stratify, random_state)
    elif isinstance(cv, (str, bytes)) or not (hasattr(cv, "split") or hasattr(cv, "__iter__")):
        raise TypeError(
            "cv must be a number of folds, a fold label per sample, an iterable of (train, test) "
            f"or an object with split(X, y); got {cv!r}."
        )
    else:
        codes = _labels(cv, len(y))
    if codes is not None:
        folds = [(np.flatnonzero(codes != f), np.flatnonzero(codes == f)) for f in np.unique(codes)]
    elif hasattr(cv, "split"):
        folds = cv.split(np.zeros((len(y), 1)), y, groups)
    else:
        folds = cv
    try:
        folds = [tuple(map(np.asarray, fold)) for fold in folds]
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise TypeError(f"cv must give pairs (train, test) of sample numbers: {reason}.") from None
    # Masks become positions.
    folds = [tuple(np.flatnonzero(r) if r.dtype == bool else r for r in fold) for fold in folds]
    if not folds:
        raise ValueError("cv gives no folds; at least one (train, test) is needed.")
    for which, fold in enumerate(folds):
        _check_fold(which, fold, y, stratify, number)
    return folds


def fold_codes(name, labels, m):
    """The place of each sample's fold label among the sorted ones, (m,); at least two differ."""
    labels = plain(name, labels)
    try:
        labels = np.asarray(labels)
        different, codes = np.unique(labels, return_inverse=True)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must hold fold labels of one kind, numbers or strings, got {labels!r:.80}."
        ) from None
    if np.any(different != different):
        raise ValueError(
            f"{name} holds NaN, which is not a fold label; accepted: numbers or strings."
        )
    if labels.shape != (m,):
        raise ValueError(
            f"{name} must hold one label per sample, shape ({m},); got {labels.shape}."
        )
    if len(different) < 2:
        raise ValueError(
            f"{name} gives all samples the same fold label; at least 2 different labels are needed."
        )
    return codes


def _labels(cv, m):
    """Codes of fold labels if that is what cv holds, else None."""
    if hasattr(cv, "split") or not hasattr(cv, "__len__") or len(cv) != m:
        return None
    if any(hasattr(one, "__len__") and not isinstance(one, (str, bytes)) for one in cv):
        return None  # such as (train, test)
    return fold_codes("cv", cv, m)


def _check_fold(which, fold, y, stratify, number):
    if len(fold) != 2:
        raise ValueError(f"cv: fold {which} has {len(fold)} parts; accepted: (train, test).")
    for name, rows in zip(("training", "test"), fold):
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.size == 0:
            raise ValueError(f"cv: the {name} set of fold {which} must hold sample numbers.")
        if rows.min() < 0 or rows.max() >= len(y):
            raise ValueError(
                f"cv: the {name} set of fold {which} goes from {rows.min()} to {rows.max()}; "
                f"accepted: 0 to {len(y) - 1}."
            )
    labels = y[fold[0]]
    if stratify and np.all(labels == labels[0]):
        if number:  # of folds, which separate the samples of every class
            raise ValueError(
                "cv: y has fewer than two classes with two samples, so that a training set holds 1 "
                f"class only, {labels[0].item()!r}; accepted: two samples in each of two classes."
            )
        raise ValueError(
            f"cv: the training set of fold {which} holds 1 class only, {labels[0].item()!r}; "
            "give fewer or other folds."
        )
