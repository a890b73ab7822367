"""Gradients of alignment and CKA with respect to Gram matrices, in closed form, by blocks of rows.

With a projection P (centering, or U-centering without the diagonal) and
``A = <P K, P L> / (|P K| |P L|)`` the gradient is
``dA/dK = P L / (|P K| |P L|) - A P K / |P K|^2``, since P is its own adjoint.

The same code works on NumPy arrays and PyTorch tensors, and uses only operations that both have.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import NamedTuple

import numpy as np

from alignlearn.validation import (
    DegenerateKernelWarning,
    check_choice,
    check_flag,
    check_gram,
    warn,
)

from .targets import plain_columns, target_columns

KINDS = ("centered", "uncentered", "unnormalized")
_ROWS = 128  # held at a time
_LEAST_UNBIASED = 4  # samples of a U-statistic
_SKEW = 1e-5  # accepted difference of sums of rows and of columns, relative to their possible size


def alignment_gradient(K, L, *, kind="centered", unbiased=False) -> tuple[float, np.ndarray]:
    """Return the alignment of two matrices and its gradient with respect to the first.

    For optimizers that have the gradients of the entries of K with respect to parameters, such as
    those of a quantum or deep kernel. `alignment` and `cka` use this gradient for PyTorch tensors
    that require one and for JAX arrays under ``jax.grad``.

    Parameters
    ----------
    K : array-like of shape (m, m)
    L : array-like of shape (m, m), (m,) or (m, c)
        A second Gram matrix, or a target, as in `alignment`.
    kind : {"centered", "uncentered", "unnormalized"}
        Alignment of the centered matrices, of the matrices without centering, or
        ``<Kc, Lc>_F / m^2``.
    unbiased : bool, default False
        Whether to use U-statistics, as in `cka`; for "centered" and m >= 4.

    Returns
    -------
    value : float
    gradient : ndarray of shape (m, m), float64
        ``gradient[i, j]`` is the derivative with respect to ``K[i, j]``, all entries being free. A
        parameter changes the alignment by ``(gradient * dK).sum()``.

    Warns
    -----
    DegenerateKernelWarning
        K or L is constant after centering: value and gradient are 0.

    Notes
    -----
    Beside K, L and the gradient only blocks of rows are held.

    Examples
    --------
    The derivative of the target alignment of a Gaussian with respect to gamma:

    >>> import numpy as np
    >>> from alignlearn import Gaussian, alignment, alignment_gradient
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> y = np.sin(X[:, 0])
    >>> D = np.square(X[:, None] - X).sum(axis=2)
    >>> value, gradient = alignment_gradient(Gaussian(0.5)(X), y)
    >>> slope = (gradient * (-D * Gaussian(0.5)(X))).sum()
    >>> difference = alignment(Gaussian(0.5 + 1e-6)(X), y) - alignment(Gaussian(0.5 - 1e-6)(X), y)
    >>> bool(abs(slope - difference / 2e-6) < 1e-6)
    True
    """
    terms = alignment_terms(K, L, kind, unbiased)
    gradient = np.empty(np.shape(K))
    terms.write(gradient, 1.0)
    return float(terms.value), gradient


def requires_gradient(*arrays):
    """Whether one of some arrays is a PyTorch tensor that requires a gradient."""
    torch = sys.modules.get("torch")
    return torch is not None and any(
        isinstance(A, torch.Tensor) and A.requires_grad for A in arrays
    )


def differentiable(K, L, kind="centered", unbiased=False):
    """Return the alignment of tensors as a tensor whose ``backward()`` is in closed form.

    Parameters
    ----------
    K : tensor of shape (m, m)
    L : tensor or array-like of shape (m, m), (m,) or (m, c)
        A target has no gradient.
    kind, unbiased
        As in `alignment_gradient`.

    Returns
    -------
    tensor of shape ()
    """
    import torch

    if not isinstance(K, torch.Tensor):
        K = torch.as_tensor(np.asarray(K), device=L.device)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be a square Gram matrix (m, m), got shape {tuple(K.shape)}.")
    if not (isinstance(L, torch.Tensor) and L.shape == K.shape):
        if requires_gradient(L):
            raise ValueError(
                "L is a target that requires a gradient; accepted: L.detach(), or its Gram matrix."
            )
        L = L.detach().cpu() if isinstance(L, torch.Tensor) else L
        L = second_matrix(L, K.shape[0], kind)
        if isinstance(L, Outer):
            L = torch.as_tensor(L.Y, device=K.device)
        else:
            L = torch.as_tensor(L, device=K.device)
    return _function().apply(K, L, kind, unbiased)


@cache
def _function():
    """The ``torch.autograd.Function``, made where torch is loaded."""
    import torch

    class Alignment(torch.autograd.Function):
        @staticmethod
        def forward(ctx, K, L, kind, unbiased):
            ctx.save_for_backward(K, L)
            ctx.terms = _terms(K, L if L.shape == K.shape else Outer(L), kind, unbiased)
            return torch.as_tensor(ctx.terms.value, dtype=K.dtype, device=K.device)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, factor):
            K, L = ctx.saved_tensors
            grads = [None, None]
            for k, A in enumerate((K, L)):
                if ctx.needs_input_grad[k]:
                    grads[k] = torch.empty_like(A)
                    ctx.terms.write(grads[k], factor, other=k == 1)
            return *grads, None, None

    return Alignment


class Outer:
    """The matrix ``Y Y'`` of columns Y (m, c), by rows."""

    def __init__(self, Y):
        self.Y, self.shape = Y, (len(Y), len(Y))

    def __getitem__(self, rows):
        return self.Y[rows] @ self.Y.T

    def sum(self, axis, dtype=None):
        """Sums of the rows, which are those of the columns."""
        return self.Y @ self.Y.sum(0)

    def diagonal(self):
        """The entries of the diagonal."""
        return (self.Y * self.Y).sum(1)


class _Projected:
    """A matrix after centering or U-centering, by blocks of rows, in double precision."""

    def __init__(self, K, center, unbiased):
        self.K, self.m, self.unbiased = K, K.shape[0], unbiased
        self.offsets = None
        if not center:
            return
        m, double = self.m, _double(K)
        rows, columns = K.sum(1, dtype=double), K.sum(0, dtype=double)
        _check_symmetric(K, rows, columns)
        if unbiased:
            rows, columns = rows - K.diagonal(), columns - K.diagonal()
            total = rows.sum() / ((m - 1) * (m - 2))
            self.offsets = rows / (m - 2), columns / (m - 2), total
        else:
            self.offsets = rows / m, columns / m, rows.sum() / m**2

    def block(self, i):
        """Rows i to i + _ROWS."""
        block = _wide(self.K[i : i + _ROWS])
        if self.offsets is not None:
            rows, columns, total = self.offsets
            block = block - rows[i : i + _ROWS, None] - (columns - total)
        if self.unbiased:
            for k in range(len(block)):
                block[k, i + k] = 0.0
        return block


class _Alignment(NamedTuple):
    """Sums over two projected matrices, and the alignment."""

    K: _Projected
    L: _Projected
    value: float
    slopes: tuple  # (of P L, of P K) in dA/dK, and with the roles exchanged

    def write(self, out, factor, other=False):
        """Write the gradient with respect to the first matrix, or the other, times a factor."""
        of_other, of_own = self.slopes[1] if other else self.slopes[0]
        own, beside = (self.L, self.K) if other else (self.K, self.L)
        for i in range(0, self.K.m, _ROWS):
            block = beside.block(i)
            block *= of_other
            if of_own:
                block -= of_own * own.block(i)
            out[i : i + _ROWS] = factor * block


def alignment_terms(K, L, kind, unbiased):
    """The sums over a matrix and a second one or a target, with ``value`` and ``write``."""
    K = check_gram("K", K)
    return _terms(K, second_matrix(L, K.shape[0], kind), kind, unbiased)


def check_how(kind, unbiased, m):
    """Raise an error unless m samples have an alignment of this kind."""
    check_choice("kind", kind, KINDS)
    if check_flag("unbiased", unbiased) and (kind != "centered" or m < _LEAST_UNBIASED):
        raise ValueError(
            f"unbiased=True is for kind='centered' and 4 or more samples, got kind={kind!r} and "
            f"{m} samples."
        )


def _terms(K, L, kind, unbiased):
    """The `_Alignment` of two matrices."""
    check_how(kind, unbiased, K.shape[0])
    m = K.shape[0]
    K, L = (_Projected(A, kind != "uncentered", unbiased) for A in (K, L))
    inner, squares, magnitude = 0.0, [0.0, 0.0], [0.0, 0.0]
    for i in range(0, m, _ROWS):
        blocks = K.block(i), L.block(i)
        inner += float((blocks[0] * blocks[1]).sum())
        for k, block in enumerate(blocks):
            squares[k] += float((block * block).sum())
            largest = _wide((K, L)[k].K[i : i + _ROWS])
            magnitude[k] += float((largest * largest).sum())
    if not np.isfinite([inner, *squares]).all():
        raise ValueError("K or L contains NaN or infinity; all values must be finite.")
    if kind == "unnormalized":
        return _Alignment(K, L, inner / m**2, ((1.0 / m**2, 0.0), (1.0 / m**2, 0.0)))
    if any(s <= (8.0 * _rounding(A.K)) ** 2 * b for s, b, A in zip(squares, magnitude, (K, L))):
        warn(
            "a matrix is constant after centering; the alignment and its gradient are set to 0",
            DegenerateKernelWarning,
        )
        return _Alignment(K, L, 0.0, ((0.0, 0.0), (0.0, 0.0)))
    both = np.sqrt(squares[0]) * np.sqrt(squares[1])
    value = inner / both
    slopes = ((1.0 / both, value / squares[0]), (1.0 / both, value / squares[1]))
    return _Alignment(K, L, value, slopes)


def second_matrix(L, m, kind):
    """A second matrix unchanged, or the `Outer` of the columns of a target."""
    if np.shape(L) == (m, m):
        return check_gram("L", L)
    columns = plain_columns if kind == "uncentered" else target_columns
    return Outer(columns(L, m, name="L"))


def _check_symmetric(K, rows, columns):
    """Raise an error for a matrix whose sums of rows and columns differ by more than rounding."""
    skew, size = float(abs(rows - columns).max()), float(abs(rows).max())
    # Of the values and not their absolute values, which would need a copy.
    largest = max(float(K.max()), -float(K.min())) if not isinstance(K, Outer) else size
    if skew > _SKEW * (size + len(rows) * largest):
        raise ValueError(
            f"K or L is not symmetric: sums of rows and of columns differ by up to {skew:.3g}."
        )


def _double(A):
    """The type of double precision of the library of an array."""
    if isinstance(A, (np.ndarray, Outer)):
        return np.float64
    return sys.modules["torch"].float64


def _wide(block):
    """A copy of a block in double precision."""
    if isinstance(block, np.ndarray):
        return block.astype(np.float64)
    return block.to(_double(block), copy=True)


def _rounding(A):
    """The spacing of the values of a matrix near 1."""
    if isinstance(A, Outer):
        return 0.0
    return np.finfo(np.float32 if "float32" in str(A.dtype) else np.float64).eps
