"""Groups of rows that belong together, and halves of a table that do not split groups."""

from __future__ import annotations

_FEW_VALUES = 10  # different values of a column up to which equal rows are expected by chance
_NEIGHBORS = 6
_CHANCE = 0.05  # probability that a row is so much nearer to another one than to the next ones
_SHARE = 0.15  # share of such rows from which a warning is given
_ERRORS = 6.0  # standard errors of the share of pairs of rows above which it is not by chance


def take_groups(X, feature_names, column):
    """(X without the column, groups (m,), feature names) of a table with a column of groups.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, d)
    feature_names : sequence of str
        Columns made of words are called "column=word".
    column : str or int
        A name, or a number if columns have no names.

    Raises
    ------
    ValueError
        There is no such column, or no other column.
    """
    import numpy as np

    from alignlearn._text import listed
    from alignlearn.validation import is_sparse

    d = X.shape[1]
    if isinstance(column, int):
        own = np.arange(d) == (column if column >= 0 else d + column)
    else:
        own = np.array([n == column or n.startswith(f"{column}=") for n in feature_names], bool)
    if not own.any() or own.all():
        known = listed(list(dict.fromkeys(n.partition("=")[0] for n in feature_names)), show=str)
        raise ValueError(
            f"--groups {column}: no such column; accepted: {known or f'0 to {d - 1}'}."
        )
    values = X[:, np.flatnonzero(own)]
    values = values.toarray() if is_sparse(values) else values
    groups = np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)
    names = tuple(n for n, of_group in zip(feature_names, own) if not of_group)
    return X[:, np.flatnonzero(~own)], groups, names


def equal_rows(X):
    """The group (m,) of each row; equal rows form a group. None if no two rows are equal.

    Also None if every column has at most 10 values, because independent rows may then be equal by
    chance.
    """
    import numpy as np

    from alignlearn.estimators.seen_rows import seen_rows
    from alignlearn.validation import is_sparse
    from alignlearn.validation.row_hashes import row_hashes

    rows = seen_rows(X)
    if rows is None or not rows.repeated:
        return None
    dense = X.toarray() if is_sparse(X) else np.asarray(X)
    if all(len(np.unique(column)) <= _FEW_VALUES for column in dense.T):
        return None
    hashes = row_hashes(X, rows.single)
    return np.unique(hashes, return_inverse=True)[1].reshape(-1)


def halves(groups, rng):
    """Sample numbers of two parts, each with nearly half of the rows, that do not split groups."""
    import numpy as np

    sizes = np.bincount(groups)
    order = rng.permutation(len(sizes))
    before = np.cumsum(sizes[order]) - sizes[order]
    first = np.zeros(len(sizes), dtype=bool)
    first[order] = before + sizes[order] / 2 <= len(groups) / 2
    rows = rng.permutation(len(groups))
    return rows[first[groups[rows]]], rows[~first[groups[rows]]]


def one_of_each(rows, groups):
    """The first row of every group, of rows in a random order."""
    import numpy as np

    return rows[np.sort(np.unique(groups[rows], return_index=True)[1])]


def near_copies(X) -> float:
    """Share of the rows that are much closer to another row than distances explain; 0 for few.

    For rows of a density the nearest neighbor is within a fraction t of the distance to the
    k-th one with probability at most ``(k - 1) t``, and less in more dimensions. So few rows have
    a nearest neighbor within ``0.05 / (k - 1)`` of it by chance: 5%.
    """
    import numpy as np
    from scipy.spatial import cKDTree

    from alignlearn.validation import is_sparse

    X = X.toarray() if is_sparse(X) else np.asarray(X, dtype=float)
    spread = X.std(axis=0)
    Z = np.unique(X[:, spread > 0] / spread[spread > 0], axis=0)
    if len(Z) < 10 * _NEIGHBORS or not Z.shape[1]:
        return 0.0
    distances = cKDTree(Z).query(Z, _NEIGHBORS + 1)[0][:, 1:]
    k = np.arange(1, _NEIGHBORS)
    close = distances[:, :1] * k < _CHANCE * distances[:, 1:]
    share = float(close.mean(axis=0).max())
    error = np.sqrt(2.0 * _CHANCE / len(Z))  # both rows of a pair are close
    return share if share > max(_SHARE, _CHANCE + _ERRORS * error) else 0.0
