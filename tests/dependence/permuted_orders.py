"""The permutations that a seed determines, by the formula of the docstring."""

import numpy as np


def drawn_orders(seed, m, n_permutations):
    """Orders of the permuted samples, one for each permutation of `permuted_products`."""
    rng, n = np.random.default_rng(seed), -(-4 * (n_permutations + 1) // m)
    orders = rng.permuted(np.tile(np.arange(m), (n, 1)), axis=1)
    for t in 1 + rng.choice(n * m - 1, n_permutations, replace=False):
        order = np.empty(m, dtype=int)
        order[orders[0]] = np.roll(orders[t // m], -(t % m))
        yield order


def drawn_joint_orders(seed, m, n_views, n_permutations):
    """Orders of the samples of all views but the first, for each permutation of joint tests."""
    rng, n_shifts = np.random.default_rng(seed), min(max(m // 16, 1), 64)
    n = -(-(n_permutations + 1) // n_shifts)
    orders = rng.permuted(np.tile(np.arange(m), (n, n_views - 1, 1)), axis=2)
    first = orders[0, 0].copy()
    orders[0] = first
    shifts = rng.integers(m, size=(n, n_shifts, n_views - 1))
    shifts[0, 0] = 0
    for t in 1 + rng.choice(n * n_shifts - 1, n_permutations, replace=False):
        b, t = divmod(t, n_shifts)
        found = np.empty((n_views - 1, m), dtype=int)
        for order, drawn, shift in zip(found, orders[b], shifts[b, t]):
            order[first] = np.roll(drawn, -shift)
        yield found
