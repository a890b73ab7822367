"""Rules for weights: AlignF's quadratic program, and one-stage rules, in NumPy and SciPy."""

from __future__ import annotations

from functools import partial

import numpy as np
from _run import Pair, row

import alignlearn as al
from alignlearn.sources import FeatureFamily, GramFamily
from alignlearn.weights.one_stage import L1SVM, LKRR

TOL = 1e-8


@row(rank=20, p=50)
def alignf(rank=500, p=1000):
    """AlignF's QP at p = 1000, M dense of rank 500, against scipy's nnls on a factor given free."""
    from scipy.optimize import nnls

    from alignlearn.solvers.nnqp import nonnegative_qp

    rng = np.random.default_rng(0)
    positive = np.abs(rng.standard_normal((rank, p)))
    true = np.where(rng.random(p) < 0.2, rng.random(p), 0.0)
    few = positive @ true + 0.1 * rng.standard_normal(rank)
    signed = rng.standard_normal((rank, p)), rng.standard_normal(rank)
    for key, label, A, b in (
        ("alignf", "nonnegative M", positive, 1.0 + rng.standard_normal(rank)),
        ("alignf-true", "nonnegative M, 200 true", positive, few),
        ("alignf-signed", "signed M", *signed),
    ):
        M, a = A.T @ A, A.T @ b
        ours = partial(nonnegative_qp, M, a, check_psd=False)
        note = f"KKT residual {ours().kkt_residual:.0e}"
        work = f"AlignF p={p} rank {rank}, {label}"
        yield Pair(work, partial(nnls, A, b, maxiter=100_000), ours, 7, note, key=key)


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


def algorithm_1(forms, combine, y, p, lam=1.0):
    """The published iteration at eta = 1/2, as one would write it; (mu, iterations)."""
    from scipy.linalg import cho_factor, cho_solve

    def solve(mu):
        K = combine(mu)
        K[np.diag_indices(len(y))] += lam
        return cho_solve(cho_factor(K, lower=True, overwrite_a=True, check_finite=False), y)

    alpha, n_iter = solve(np.ones(p)), 0
    while True:
        n_iter += 1
        v = forms(alpha)
        mu = 1.0 + v / np.linalg.norm(v)
        change = solve(mu) - alpha
        if np.linalg.norm(change) <= TOL * np.linalg.norm(alpha):
            return mu, n_iter
        alpha = alpha + 0.5 * change


def _against_algorithm_1(work, forms, combine, y, p, lam, ours, key):
    """A pair of single runs; the note has the iterations and the difference of the weights."""
    found = {}

    def theirs():
        found["mu"], found["steps"] = algorithm_1(forms, combine, y, p, lam)

    def note():
        result = ours()
        error = np.abs(result.weights - found["mu"]).max() / found["mu"].max()
        return f"{found['steps']} -> {result.n_iter} iterations, weights differ by {error:.0e}"

    return Pair(work, theirs, ours, 1, note, key=key)


@row(m=60, p=5)
def lkrr(m=2000, p=100):
    """LKRR on p Gram matrices, against its Algorithm 1 in NumPy and LAPACK."""
    grams, y = centered_kernels(m, p)
    family = GramFamily(grams)
    LKRR().solve_grams(GramFamily(grams[:2, :40, :40]), y[:40])  # compiles
    yield _against_algorithm_1(
        f"LKRR, m={m}, p={p} dense, default solver",
        lambda a: (grams @ a) @ a,
        lambda w: np.tensordot(w, grams, 1),
        y,
        p,
        1.0,
        partial(LKRR(tol=TOL).solve_grams, family, y),
        "lkrr",
    )


@row(m=60, p=80)
def lkrr_rank_one(m=2000, p=4000):
    """LKRR on rank-one kernels of sparse counts."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    frequency = np.minimum(0.3, 2.0 / np.arange(1, p + 1) ** 0.7)
    counts = rng.poisson(frequency, size=(m, p)).astype(float)
    text, target = sparse.csr_matrix(counts), rng.normal(size=m)
    centered, y = counts - counts.mean(axis=0), target - target.mean()

    def dense():
        return np.square(centered.T @ y), np.square(centered.T @ centered)

    found = al.alignment_statistics(text, target, al.RankOneKernels())
    np.testing.assert_allclose(found.a, dense()[0], rtol=1e-6, atol=1e-6)
    ours = partial(al.alignment_statistics, text, target, al.RankOneKernels())
    yield Pair(f"statistics of {p} rank-one kernels, m={m}, sparse", dense, ours, key="rank-one")
    y = counts @ (rng.normal(size=p) * (rng.uniform(size=p) < 0.05)) + rng.normal(size=m)
    y -= y.mean()
    trace = np.square(centered).sum(axis=0)
    scale = np.divide(m, trace, out=np.zeros(p), where=trace > 0)
    Z, rule = centered * np.sqrt(scale), LKRR(alpha=float(p), tol=TOL)
    yield _against_algorithm_1(
        f"LKRR, m={m}, p={p} rank-one, sparse counts",
        lambda a: np.square(a @ Z),
        lambda w: (Z * w) @ Z.T,
        y,
        p,
        float(p),
        lambda: rule.solve_grams(FeatureFamily(text, scale=scale), y),
        "lkrr-rank-one",
    )


def repeated_svc(grams, y, C, tol, limit=400):
    """The closed-form update at q = 1 with a scikit-learn machine at every step; (gap, steps)."""
    from sklearn.svm import SVC

    x, lower, step, gap = np.full(len(grams), 1.0 / len(grams)), -np.inf, 0, np.inf
    while gap > tol and step < limit:
        step += 1
        machine = SVC(C=C, kernel="precomputed").fit(np.tensordot(x, grams, 1), y)
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


@row(m=60, p=3)
def l1_svm(m=1000, p=20):
    """L1SVM against repeated calls of scikit-learn's SVC, to a gap of 1e-3."""
    grams, y = centered_kernels(m, p)
    labels = np.where(y + 0.3 * np.random.default_rng(1).normal(size=m) > 0, 1, -1)
    L1SVM().solve_grams(grams[:2, :40, :40], labels[:40])  # compiles
    ours, theirs = L1SVM(1.0), partial(repeated_svc, grams, labels, 1.0, 1e-3)
    ours = partial(ours.solve_grams, grams, labels)
    note = f"gap {ours().duality_gap:.1e}"
    yield Pair(f"L1SVM, m={m}, p={p}, C=1", theirs, ours, 1, note, key="l1-svm")
