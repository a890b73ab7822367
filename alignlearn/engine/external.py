"""Values that a program takes from outside, in blocks: of kernels that are no formulas on bound
columns, and of the primitives of sparse samples.
"""

from __future__ import annotations

import numpy as np

from alignlearn.validation import is_sparse

from .sparse import SparsePrimitive, sparse_rows

BLOCK = 128  # the most rows or columns of pairs that the loops take at once
_BYTES = 64_000_000


def select_columns(X, columns):
    """``X[:, columns]`` (X itself for None), with an error that names the kernel's columns."""
    if columns is None:
        return X
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError("Columns needs samples that are the rows of a matrix X (m, d).")
    if max(columns) >= X.shape[1]:
        raise ValueError(
            f"Columns selects column {max(columns)}, but X has only {X.shape[1]} columns."
        )
    return sparse_rows(X).columns_at(columns) if is_sparse(X) else X[:, list(columns)]


def buffer(program, n_pairs):
    """Memory for the external values of so many pairs, to be used again."""
    return np.empty(len(program.external) * n_pairs)


def block(program, X, Z, memory, reach=None):
    """Values of the pairs (X[i], Z[j]), shape (n_external, len(X), len(Z)), in ``memory``.

    With ``reach``, Z is X and pairs with ``j < i - reach`` may be left out.
    """
    shape = len(program.external), len(X), len(Z)
    out = memory[: np.prod(shape)].reshape(shape)
    for values, (kernel, columns) in zip(out, program.external):
        pair = select_columns(X, columns), select_columns(Z, columns)
        if isinstance(kernel, SparsePrimitive):
            kernel.fill(*pair, values, reach)
        else:
            values[:] = kernel._block(*pair)
    return out


def diagonals(program, X):
    """Values of the pairs (X[i], X[i]), shape (n_external, 1, len(X))."""
    out = np.empty((len(program.external), 1, len(X)))
    for values, (kernel, columns) in zip(out[:, 0], program.external):
        rows = select_columns(X, columns)
        if isinstance(kernel, SparsePrimitive):
            values[:] = kernel.own_values(rows)
        else:
            values[:] = [
                kernel._block(x, x)[0, 0] for x in (rows[i : i + 1] for i in range(len(X)))
            ]
    return out


def strips(program, X, Z):
    """Ranges of rows of X and their values against all of Z."""
    step = max(1, _BYTES // (8 * len(program.external) * max(len(Z), 1)))
    memory = buffer(program, min(step, len(X)) * len(Z))
    for i in range(0, len(X), step):
        rows = slice(i, min(i + step, len(X)))
        yield rows, block(program, X[rows], Z, memory)


def boxes(program, X, box, parts):
    """A box of pairs of X in parts whose external values fit in memory, each with its values.

    A box is (i0, i1, j0, j1), a square on the diagonal or disjoint ranges; of the square only the
    pairs on and above the diagonal come, and the others of blocks on it. ``parts`` is a dict that
    keeps slices of X, and what they keep.
    """
    i0, i1, j0, j1 = box
    if not program.external:
        yield box, np.empty((0, i1 - i0, j1 - j0))
        return
    side = int((_BYTES / (8 * len(program.external))) ** 0.5)
    side = max(BLOCK, side // BLOCK * BLOCK)
    memory = buffer(program, min(side, i1 - i0) * min(side, j1 - j0))

    def part(first, last):
        if (first, last) not in parts:
            parts[first, last] = X[first:last]
        return parts[first, last]

    for i in range(i0, i1, side):
        for j in range(i if i0 == j0 else j0, j1, side):
            found = i, min(i + side, i1), j, min(j + side, j1)
            values = part(*found[:2]), part(*found[2:])
            yield found, block(program, *values, memory, BLOCK - 1 if i == j else None)
