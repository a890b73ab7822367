#!/usr/bin/env python
"""One-stage rules against the same problems solved with NumPy, SciPy and scikit-learn.

    scripts/bench/bench_onestage.py                   # every row, a few minutes, 4 GB
    scripts/bench/bench_onestage.py svm rank-one      # some rows
    scripts/bench/bench_onestage.py --threads 1

Both sides run on the same number of threads and stop at the same accuracy. The baselines run once
after a warm-up, ours several times of which the least counts; on a busy machine repeat the run.
"""

from __future__ import annotations

import numpy as np
from _bench import clock, ratios
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

import alignlearn as al
from alignlearn.sources import FeatureFamily, GramFamily
from alignlearn.weights.one_stage import L1SVM, LKRR

TOL = 1e-8


def centered_kernels(m, p, seed=0):
    """Gaussians of p random metrics on ten features, centered, of trace m; and a target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, 10))
    grams = np.empty((p, m, m))
    for k in range(p):
        Z = X * np.sqrt(rng.exponential(size=10) * 10.0 ** rng.uniform(-2.5, 0.0))
        square = np.square(Z).sum(axis=1)
        K = np.exp(np.minimum(2.0 * Z @ Z.T - square - square[:, None], 0.0))
        K -= K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
        K *= m / np.trace(K)
        grams[k] = 0.5 * (K + K.T)
    y = np.sin(X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=m)
    return grams, y - y.mean()


def algorithm_1(forms, combine, y, p, lam=1.0, radius=1.0, mu0=1.0):
    """The published iteration at eta = 1/2, as one would write it; (mu, iterations)."""

    def solve(mu):
        K = combine(mu)
        K[np.diag_indices(len(y))] += lam
        return cho_solve(cho_factor(K, lower=True, overwrite_a=True, check_finite=False), y)

    alpha, n_iter = solve(np.full(p, mu0)), 0
    while True:
        n_iter += 1
        v = forms(alpha)
        mu = mu0 + radius * v / np.linalg.norm(v)
        change = solve(mu) - alpha
        if np.linalg.norm(change) <= TOL * np.linalg.norm(alpha):
            return mu, n_iter
        alpha = alpha + 0.5 * change


def dense(m=2000, p=100):
    """LKRR on p given matrices."""
    grams, y = centered_kernels(m, p)
    base, (mu, n_base) = clock(
        lambda: algorithm_1(lambda a: (grams @ a) @ a, lambda w: np.tensordot(w, grams, 1), y, p)
    )
    family = GramFamily(grams)
    LKRR().solve_grams(GramFamily(grams[:2, :40, :40]), y[:40])  # compiles
    for solver, repeats in (("interpolated", 1), ("subspace", 3)):
        rule = LKRR(solver=solver, tol=TOL)
        ours, found = clock(lambda rule=rule: rule.solve_grams(family, y), repeats)
        error = np.abs(found.weights - mu).max() / mu.max()
        name = "Algorithm 1" if solver == "interpolated" else "default solver"
        note = f"{n_base} -> {found.n_iter} iterations, weights differ by {error:.0e}"
        # The target is for the answer; Algorithm 1 step by step shows what the passes alone gain.
        target = 3 if solver == "subspace" else None
        yield (f"LKRR, m={m}, p={p} dense, {name}", base, ours, target, note)


def rank_one(m=2000, p=4000):
    """LKRR on rank-one kernels, from counts (sparse) and from dense features."""
    rng = np.random.default_rng(0)
    frequency = np.minimum(0.3, 2.0 / np.arange(1, p + 1) ** 0.7)
    counts = rng.poisson(frequency, size=(m, p)).astype(float)
    for name, X in (("sparse counts", counts), ("dense features", rng.normal(size=(m, p)))):
        y = X @ (rng.normal(size=p) * (rng.uniform(size=p) < 0.05)) + rng.normal(size=m)
        y -= y.mean()
        Xc = X - X.mean(axis=0)
        trace = np.square(Xc).sum(axis=0)
        scale = np.divide(m, trace, out=np.zeros(p), where=trace > 0)
        Z = Xc * np.sqrt(scale)
        base, (mu, n_base) = clock(
            lambda Z=Z, y=y: algorithm_1(
                lambda a: np.square(a @ Z), lambda w: (Z * w) @ Z.T, y, p, lam=float(p)
            )
        )
        given = sparse.csr_matrix(X) if name == "sparse counts" else X
        rule = LKRR(alpha=float(p), tol=TOL)

        def solve(given=given, scale=scale, rule=rule, y=y):
            return rule.solve_grams(FeatureFamily(given, scale=scale), y)

        ours, found = clock(solve, 3)
        error = np.abs(found.weights - mu).max() / mu.max()
        note = f"{n_base} -> {found.n_iter} iterations, weights differ by {error:.0e}"
        yield (f"LKRR, m={m}, p={p} rank-one, {name}", base, ours, 20, note)


def repeated_svc(grams, y, C, tol, limit=400):
    """The closed-form update at q = 1 with a scikit-learn machine at every step; (gap, steps)."""
    from sklearn.svm import SVC

    x, lower, step, gap = np.full(len(grams), 1.0 / len(grams)), -np.inf, 0, np.inf
    while gap > tol and step < limit:
        step += 1
        K = np.tensordot(x, grams, 1)
        machine = SVC(C=C, kernel="precomputed").fit(K, y)
        b = np.zeros(len(y))
        b[machine.support_] = machine.dual_coef_[0]
        v = (grams @ b) @ b
        total = 2.0 * np.abs(b).sum()
        value = total - x @ v
        lower = max(lower, total - v.max())
        gap = (value - lower) / value
        x = x * np.sqrt(v)
        x /= x.sum()
    return gap, step


def svm(m=1000, p=20):
    """L1SVM against repeated calls of scikit-learn's SVC."""
    grams, y = centered_kernels(m, p)
    labels = np.where(y + 0.3 * np.random.default_rng(1).normal(size=m) > 0, 1, -1)
    L1SVM().solve_grams(grams[:2, :40, :40], labels[:40])  # compiles
    for C in (1.0, 100.0):
        base, (gap, steps) = clock(lambda C=C: repeated_svc(grams, labels, C, 1e-3))
        ours, found = clock(lambda C=C: L1SVM(C).solve_grams(grams, labels), 3)
        note = f"{steps} -> {found.n_iter} machines, gaps {gap:.1e} and {found.duality_gap:.1e}"
        yield (f"L1SVM, m={m}, p={p}, C={C:g}", base, ours, 5, note)


def folds():
    """Statistics of the ten training sets of a cross-validation against ten passes."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4000, 20)), rng.standard_normal(4000)
    label = rng.permutation(np.arange(4000) % 10)
    kernels = al.gaussian_kernels(2.0 ** np.arange(-9, 1))

    def ten_passes():
        for t in range(10):
            al.alignment_statistics(X[label != t], y[label != t], kernels)

    one, _ = clock(lambda: al.alignment_statistics(X, y, kernels), 5)
    ours, _ = clock(lambda: al.alignment_statistics(X, y, kernels, folds=label), 5)
    many, _ = clock(ten_passes)
    yield ("statistics of 10 training sets, m=4000 p=10", many, ours, None, "against ten passes")
    yield ("  in units of one pass, at most 1.5", ours, one, 1.5)


ROWS = {"dense": dense, "rank-one": rank_one, "svm": svm, "folds": folds}


if __name__ == "__main__":
    ratios(__doc__, ROWS)
