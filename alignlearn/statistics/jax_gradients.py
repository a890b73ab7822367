"""Alignment and CKA of traced JAX arrays: a callback to the closed form, and its gradient.

Under ``jax.grad`` and ``jax.jit`` arrays are traced and have no values. A ``custom_vjp`` computes
value and gradient on the processor when these are known.
"""

from __future__ import annotations

import sys

import numpy as np

from .gradients import alignment_terms, check_how, second_matrix


def is_traced(*arrays):
    """Whether one of some arrays is traced by JAX."""
    jax = sys.modules.get("jax")
    return jax is not None and any(isinstance(A, jax.core.Tracer) for A in arrays)


def traced_alignment(K, L, kind="centered", unbiased=False):
    """Return the alignment of traced arrays as a traced scalar that has a gradient.

    Parameters
    ----------
    K : array of shape (m, m)
    L : array of shape (m, m), or array-like of shape (m,) or (m, c)
        A target is not traced and has no gradient.
    kind, unbiased
        As in `alignment_gradient`.
    """
    import jax.numpy as jnp

    if np.ndim(K) != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be a square Gram matrix (m, m), got shape {np.shape(K)}.")
    check_how(kind, unbiased, K.shape[0])
    K = jnp.asarray(K)
    if is_traced(L):
        if L.shape != K.shape:
            raise ValueError(
                "L is a target that is traced by JAX; accepted: a NumPy array, or its Gram matrix."
            )
        return _function(kind, unbiased, None)(K, L)
    L = np.asarray(L)
    second_matrix(L, K.shape[0], kind)  # errors for bad targets are readable here
    return _function(kind, unbiased, L)(K, jnp.zeros(()))


def _function(kind, unbiased, fixed):
    """The function of (K, L) with a ``custom_vjp``, or of K alone if L is ``fixed``."""
    import jax

    def on_host(K, L):
        second = np.asarray(L) if fixed is None else fixed
        terms = alignment_terms(np.asarray(K), second, kind, unbiased)
        gradients = []
        for k, A in enumerate((K, L)):
            out = np.zeros(np.shape(A))
            if k == 0 or fixed is None:
                terms.write(out, 1.0, other=k == 1)
            gradients.append(out.astype(A.dtype))
        return np.asarray(terms.value, dtype=K.dtype), *gradients

    def computed(K, L):
        shapes = [
            jax.ShapeDtypeStruct(s, A.dtype) for s, A in (((), K), (K.shape, K), (L.shape, L))
        ]
        return jax.pure_callback(on_host, tuple(shapes), K, L, vmap_method="sequential")

    def value(K, L):
        return computed(K, L)[0]

    def forward(K, L):
        found, *gradients = computed(K, L)
        return found, gradients

    def backward(gradients, factor):
        return tuple(factor * G for G in gradients)

    function = jax.custom_vjp(value)
    function.defvjp(forward, backward)
    return function
