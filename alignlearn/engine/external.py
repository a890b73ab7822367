"""Blocks of kernel values that a program does not compute itself.

These are values of kernels that are not formulas on bound columns, and primitives of sparse
samples.
"""

from __future__ import annotations

import threading

import numpy as np

from alignlearn.validation import is_sparse

from .sparse import SparsePrimitive, sparse_rows

BLOCK = 256  # maximum number of rows or columns of pairs in a tile, in float32
_BYTES = 32_000_000  # bytes of a box, of which each thread has one
# Users' functions need not be thread-safe. The lock is reentrant, because one function may call the
# kernel of another in its thread.
_one_at_a_time = threading.RLock()


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
    """Reusable memory for the external values of ``n_pairs`` pairs."""
    return np.empty(len(program.external) * n_pairs)


def block(program, X, Z, memory, reach=None):
    """Values of the pairs (X[i], Z[j]), shape (n_external, len(X), len(Z)), in ``memory``.

    With ``reach``, Z is X, and pairs with ``j < i - reach`` may be omitted.
    """
    shape = len(program.external), len(X), len(Z)
    out = memory[: np.prod(shape)].reshape(shape)
    for values, (kernel, columns) in zip(out, program.external):
        pair = select_columns(X, columns), select_columns(Z, columns)
        if isinstance(kernel, SparsePrimitive):
            kernel.fill(*pair, values, reach)
        else:
            with _one_at_a_time:
                values[:] = kernel.block(*pair)
    return out


def diagonals(program, X):
    """Values of the pairs (X[i], X[i]), shape (n_external, 1, len(X))."""
    out = np.empty((len(program.external), 1, len(X)))
    for values, (kernel, columns) in zip(out[:, 0], program.external):
        rows = select_columns(X, columns)
        if isinstance(kernel, SparsePrimitive):
            values[:] = kernel.own_values(rows)
        else:
            values[:] = [kernel.block(x, x)[0, 0] for x in (rows[i : i + 1] for i in range(len(X)))]
    return out


def strips(program, X, Z):
    """Ranges of rows of X and their values against all of Z."""
    step = most_rows(program, len(Z))
    memory = buffer(program, min(step, len(X)) * len(Z))
    for i in range(0, len(X), step):
        rows = slice(i, min(i + step, len(X)))
        yield rows, block(program, X[rows], Z, memory)


def most_rows(program, width):
    """Maximum number of rows of this length whose external values fit in memory."""
    return max(1, _BYTES // (8 * len(program.external) * max(width, 1)))


def most_side(program):
    """Maximum side of a box whose external values fit in memory."""
    side = int((_BYTES / (8 * len(program.external))) ** 0.5)
    return max(BLOCK, side // BLOCK * BLOCK)
