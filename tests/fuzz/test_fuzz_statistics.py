"""Fuzz cases of the alignment statistics and measures, against explicit matrices in long double."""

from functools import partial

import numpy as np
from draws import fuzz, require
from fuzz_algebra import random_kernels
from fuzz_data import EPS, LD, gram, matrix, samples, target
from fuzz_kernels import Values, evaluated, floor, plain, precomputed
from fuzz_truth import (
    bounded,
    center,
    close,
    compare,
    norm,
    out_of_range,
    truth,
    u_statistic,
    unbiased_factor,
)

import alignlearn as al

_OTHER_MEANS = 1000.0


def _draw(draws):
    """Samples and specs of kernels on them; occasionally with a precomputed matrix."""
    given_matrix = draws.chance(0.1)
    if given_matrix:
        m = draws.size(2, 60)
        X = matrix(draws, m, draws.size(1, 6), set())
        X = np.column_stack([np.arange(m), X])
        S = samples(draws, X=X)
    else:
        S = samples(draws)
    with np.errstate(all="ignore"):
        specs = random_kernels(draws, np.asarray(S.exact, float))
    if "list" in S.tags and any("function" in s.tags for s in specs):
        S.given = np.array(S.given)  # a list of rows would be one of objects
    if given_matrix:
        G = gram(draws, len(S))[0]
        specs.append(precomputed(G, 0))
    return S, specs


def _values(specs, X, base, eps):
    return [evaluated(s, X, X, base, eps) for s in specs]


def _tags(S, specs, *more):
    return S.tags.union({*more}, *(s.tags for s in specs))


def _squares_overflow(S):
    """Whether squared norms, which most values need, are beyond the precision."""
    largest = float(np.finfo("f4" if S.eps > 1e-10 else "f8").max)
    return not np.square(S.exact).sum(axis=1).max() < largest / 10


@fuzz(2)
def test_whole(draws):
    """Statistics of all samples, biased or unbiased."""
    S, specs = _draw(draws)
    y = target(draws, len(S))
    unbiased = draws.chance(0.25)
    values = _values(specs, S.exact, S.exact, S.eps)
    kernels = [s.kernel for s in specs]
    try:
        found = al.alignment_statistics(S.given, y.given, kernels, task=y.task, unbiased=unbiased)
    except ValueError:
        few = unbiased and len(S) < 4
        if few or _squares_overflow(S) or out_of_range(values, S.eps, len(S)):
            return "refused"
        raise
    require(not (unbiased and len(S) < 4), "unbiased statistics of fewer than 4 samples")
    if not bounded(values, S.eps, len(S)):
        return "no bound"
    exact = truth(values, y.columns, S.eps, unbiased)
    kind = "unbiased" if unbiased else "biased"
    compare(kind, found, exact, _tags(S, specs, y.kind))
    return kind


@fuzz(1)
def test_folds(draws):
    """Statistics of every training set."""
    S, specs = _draw(draws)
    y, m = target(draws, len(S)), len(S)
    labels = draws.numbers.integers(0, draws.whole(2, 6), m)
    labels = draws.numbers.permutation(m) % max(2, min(m, 5)) if draws.chance(0.5) else labels
    values = _values(specs, S.exact, S.exact, S.eps)
    kernels = [s.kernel for s in specs]
    try:
        found = al.alignment_statistics(S.given, y.given, kernels, task=y.task, folds=labels)
    except ValueError:
        if len(set(labels)) < 2 or _squares_overflow(S) or out_of_range(values, S.eps, m):
            return "refused"
        raise
    require(len(found) == len(set(labels)), "number of training sets")
    if not bounded(values, S.eps, m):
        return "no bound"
    for label, part in zip(sorted(set(labels)), found):
        rows = labels != label
        inside = _values(specs, S.exact[rows], S.exact, S.eps)
        exact = truth(inside, y.columns[rows], S.eps)
        if exact.target_vanishes:
            exact.slack_a = np.inf  # rounding of other means, and of no consequence
        # Means over all samples may cost digits if they are used; an outlier must not.
        for name in ("slack_a", "slack_M", "slack_trace", "slack_target2"):
            setattr(exact, name, _OTHER_MEANS * getattr(exact, name))
        require(part.n_samples == rows.sum(), "n_samples")
        compare("folds", part, exact, _tags(S, specs, y.kind))
    return "folds"


@fuzz(1)
def test_given(draws):
    """Statistics of precomputed Gram matrices."""
    m, p = draws.size(2, 60), draws.whole(1, 5)
    grams = [gram(draws, m)[0] for _ in range(p)]
    single = draws.chance(0.2)
    if single:
        grams = [K.astype(np.float32) for K in grams]
    values = [plain(np.asarray(K, LD), 0.0, eps=EPS) for K in grams]
    passed = np.array(grams) if draws.chance(0.3) else grams
    y = target(draws, m)
    found = al.alignment_statistics(passed, y.given, "precomputed", task=y.task)
    given_eps = float(np.finfo("f4" if single else "f8").eps)
    exact = truth(values, y.columns, EPS, given_eps=given_eps)
    compare("precomputed", found, exact, {y.kind})
    return "precomputed"


@fuzz(1)
def test_features(draws):
    """Statistics of rank-one and linear kernels, dense and sparse."""
    from scipy import sparse

    S = samples(draws)
    m, d = S.exact.shape
    y, X = target(draws, m), S.given
    tags = _tags(S, [], y.kind)
    form = draws.pick("dense", "csr_matrix", "csc_array", "coo_array")
    if form != "dense":
        X = getattr(sparse, form)(np.asarray(S.exact, np.float32 if S.eps > 1e-10 else float))
        tags.add("sparse")
    if draws.chance(0.5):
        kernels, parts = al.RankOneKernels(), [(1.0, [j]) for j in range(d)]
    else:
        parts = [(1.0, draws.numbers.choice(d, draws.whole(1, d), False)) for _ in range(3)]
        parts = [(draws.power(-2, 2), c) for _, c in parts]
        kernels = [s * al.Columns(al.Linear(), c.tolist()) for s, c in parts]
    centered = S.exact - S.exact.mean(axis=0)
    values = []
    for scale, c in parts:
        # Centered features, since the offsets of others would cost the digits of the oracle.
        K, register = (scale * A[:, c] @ A[:, c].T for A in (centered, np.abs(centered)))
        values.append(Values(K, None, (d + m + 6) * S.eps * register, register, 0.0))
    found = al.alignment_statistics(X, y.given, kernels, task=y.task)
    kind = "features sparse" if "sparse" in tags else "features"
    compare(kind, found, truth(values, y.columns, S.eps), tags)
    return kind


@fuzz(1)
def test_values_of_kernels(draws):
    """Gram matrices and diagonals of kernels, of X and against other samples."""
    S, specs = _draw(draws)
    spec = draws.pick(*specs)
    v = evaluated(spec, S.exact, S.exact, S.exact, S.eps)
    kernel = al.Linear() if spec.kernel == "linear" else spec.kernel
    kernel = al.Cosine() if spec.kernel == "cosine" else kernel
    rows = draws.numbers.integers(0, len(S), draws.whole(1, 7))
    largest = float(np.finfo("f4" if S.eps > 1e-10 else "f8").max)
    try:
        K, diagonal = kernel(S.given), kernel.diag(S.given)
        Z = np.asarray(S.given)[rows]
        against = kernel(S.given, Z)
    except ValueError:
        if _squares_overflow(S) or not v.peak < largest / 10:
            return "refused"
        raise
    tags = " ".join(sorted(_tags(S, [spec])))
    # Functions give float64 for samples in single precision, too.
    overflow = np.any(np.abs(v.K) > 1.1 * float(np.finfo(K.dtype).max))
    require(not overflow, "k(X): overflow is not refused", f"{np.abs(K).max()}; {tags}")
    if not np.all(np.isfinite(v.exact)) or not v.peak < largest / 10:
        return "no bound"
    slack = v.exact + S.eps * np.abs(v.K) + floor(S.eps)
    never = np.zeros(K.shape, bool)
    close("k(X)", K, v.K, slack.astype(float), never, tags)
    close("k(X, Z)", against, v.K[:, rows], slack[:, rows].astype(float), never[:, rows], tags)
    pair = np.diagonal(v.K), np.diagonal(slack).astype(float), never[0]
    close("diag", diagonal, *pair, tags)
    return "kernel values"


def _pair(draws, m):
    """Two matrices, the second one possibly the target kernel of labels, and the arguments."""
    K, L = gram(draws, m)[0], gram(draws, m)[0]
    if draws.chance(0.4):
        y = target(draws, m, ("two", "several"))
        return K, np.asarray(y.columns @ y.columns.T, float), y.given
    return K, L, L


MEASURES = {
    "alignment": partial(al.alignment, kind="centered"),
    "uncentered": partial(al.alignment, kind="uncentered"),
    "hsic": partial(al.hsic, unbiased=False),
    "unbiased hsic": partial(al.hsic, unbiased=True),
    "cka": partial(al.cka, unbiased=False),
    "unbiased cka": partial(al.cka, unbiased=True),
}


@fuzz(1)
def test_measures(draws):
    """`alignment`, `cka` and `hsic` of two matrices, or of a matrix and a target."""
    name = draws.pick(*MEASURES)
    unbiased = name.startswith("unbiased")
    m = draws.size(4 if unbiased else 2, 60)
    K, L, given = _pair(draws, m)
    exact = [np.asarray(A, LD) for A in (K, L)]
    centered = [center(A) for A in exact]
    used = exact if unbiased or name == "uncentered" else centered
    product = u_statistic if unbiased else lambda A, B: (A * B).sum()
    found = MEASURES[name](K, given)
    value, squares = product(*used), [product(A, A) for A in used]
    slack, own = _rounding(exact, centered, unbiased, name == "uncentered")
    never = np.array(False)
    if name.endswith("hsic"):
        tiny = any(np.abs(A).max() <= 32 * EPS * np.abs(B).max() for A, B in zip(centered, exact))
        if not (tiny and found == 0.0):
            close(name, np.array(found), value / m**2, slack / m**2, never, "")
        return name
    require(np.isfinite(found) and abs(found) <= 1 + 1e-9, f"{name} outside [-1, 1]", found)
    if all(s > 4 * e for s, e in zip(squares, own)):
        scale = float(np.sqrt(squares[0] * squares[1]))
        relative = sum(e / float(s) for s, e in zip(squares, own))
        allowed = 2 * (slack / scale + abs(float(value)) / scale * relative) + 8 * EPS
        if not (found == 0.0 and any(s <= 1e3 * EPS * e for s, e in zip(squares, own))):
            close(name, np.array(found), value / scale, allowed, never, "")
    return name


def _rounding(exact, centered, unbiased, uncentered):
    """Bounds on the rounding of the product of two matrices, and of their own squares."""
    m = len(exact[0])
    if uncentered:
        N = [norm(A) for A in exact]
        return 4 * m * EPS * N[0] * N[1], [4 * m * EPS * n**2 for n in N]
    # Means of m numbers, and differences of numbers of the size of the largest.
    E = [(m + 8) * EPS * m * float(np.abs(A).max()) for A in exact]
    C = [norm(A) for A in centered]
    more = unbiased_factor(m) if unbiased else 1.0
    slack = E[0] * C[1] + E[1] * C[0] + E[0] * E[1] + m * EPS * C[0] * C[1]
    return more * slack, [more * (2 * e * c + e**2 + m * EPS * c**2) for e, c in zip(E, C)]
