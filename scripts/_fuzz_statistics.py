"""Fuzz cases of the alignment statistics and measures, against explicit matrices in long double."""

import warnings

import numpy as np
from _fuzz_algebra import random_kernels
from _fuzz_data import EPS, LD, chance, gram, matrix, pick, require, samples, size, target
from _fuzz_kernels import Values, evaluated, floor, plain, precomputed
from _fuzz_truth import bounded, centre, close, compare, norm, out_of_range, truth, u_statistic

import alignlearn as al

_OTHER_MEANS = 1000.0


def _draw(rng):
    """Samples and specs of kernels on them; now and then with a given matrix."""
    given_matrix = chance(rng, 0.1)
    if given_matrix:
        m = size(rng, 2, 60)
        X = matrix(rng, m, size(rng, 1, 6), set())
        X = np.column_stack([np.arange(m), X])
        S = samples(rng, X=X)
    else:
        S = samples(rng)
    with np.errstate(all="ignore"):
        specs = random_kernels(rng, np.asarray(S.exact, float))
    if "list" in S.tags and any("function" in s.tags for s in specs):
        S.given = np.array(S.given)  # a list of rows would be one of objects
    if given_matrix:
        G = gram(rng, len(S))[0]
        specs.append(precomputed(G, 0))
    return S, specs


def _values(specs, X, base, eps):
    return [evaluated(s, X, X, base, eps) for s in specs]


def _tags(S, specs, *more):
    return S.tags.union({*more}, *(s.tags for s in specs))


def _squares_overflow(S):
    """Whether squared norms, which are on the way to most values, are beyond the precision."""
    largest = float(np.finfo("f4" if S.eps > 1e-10 else "f8").max)
    return not np.square(S.exact).sum(axis=1).max() < largest / 10


def whole(rng):
    """Statistics of all samples, biased or unbiased."""
    S, specs = _draw(rng)
    y = target(rng, len(S))
    unbiased = chance(rng, 0.25)
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


def folds(rng):
    """Statistics of every training set."""
    S, specs = _draw(rng)
    y, m = target(rng, len(S)), len(S)
    labels = rng.integers(0, int(rng.integers(2, 7)), m)
    labels = rng.permutation(m) % max(2, min(m, 5)) if chance(rng, 0.5) else labels
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
        # Means of all samples, where these are in use, may cost digits; an outlier must not.
        for name in ("slack_a", "slack_M", "slack_trace", "slack_target2"):
            setattr(exact, name, _OTHER_MEANS * getattr(exact, name))
        require(part.n_samples == rows.sum(), "n_samples")
        compare("folds", part, exact, _tags(S, specs, y.kind))
    return "folds"


def given(rng):
    """Statistics of given Gram matrices."""
    m, p = size(rng, 2, 60), int(rng.integers(1, 6))
    grams = [gram(rng, m)[0] for _ in range(p)]
    single = chance(rng, 0.2)
    if single:
        grams = [K.astype(np.float32) for K in grams]
    values = [plain(np.asarray(K, LD), 0.0, eps=EPS) for K in grams]
    passed = np.array(grams) if chance(rng, 0.3) else grams
    y = target(rng, m)
    found = al.alignment_statistics(passed, y.given, "precomputed", task=y.task)
    given_eps = float(np.finfo("f4" if single else "f8").eps)
    exact = truth(values, y.columns, EPS, given_eps=given_eps)
    compare("precomputed", found, exact, {y.kind})
    return "precomputed"


def features(rng):
    """Statistics of rank-one and linear kernels, dense and sparse."""
    from scipy import sparse

    S = samples(rng)
    m, d = S.exact.shape
    y, X = target(rng, m), S.given
    tags = _tags(S, [], y.kind)
    form = pick(rng, "dense", "csr_matrix", "csc_array", "coo_array")
    if form != "dense":
        X = getattr(sparse, form)(np.asarray(S.exact, np.float32 if S.eps > 1e-10 else float))
        tags.add("sparse")
    if chance(rng, 0.5):
        kernels, parts = al.RankOneKernels(), [(1.0, [j]) for j in range(d)]
    else:
        parts = [(1.0, rng.choice(d, int(rng.integers(1, d + 1)), False)) for _ in range(3)]
        parts = [(float(10.0 ** rng.uniform(-2, 2)), c) for _, c in parts]
        kernels = [s * al.Columns(al.Linear(), c.tolist()) for s, c in parts]
    centred = S.exact - S.exact.mean(axis=0)
    values = []
    for scale, c in parts:
        # Centred features, since the offsets of others would cost the digits of the oracle.
        K, register = (scale * A[:, c] @ A[:, c].T for A in (centred, np.abs(centred)))
        values.append(Values(K, None, (d + m + 6) * S.eps * register, register, 0.0))
    found = al.alignment_statistics(X, y.given, kernels, task=y.task)
    kind = "features sparse" if "sparse" in tags else "features"
    compare(kind, found, truth(values, y.columns, S.eps), tags)
    return kind


def values_of_kernels(rng):
    """Gram matrices and diagonals of kernels, of X and against other samples."""
    S, specs = _draw(rng)
    spec = pick(rng, *specs)
    v = evaluated(spec, S.exact, S.exact, S.exact, S.eps)
    kernel = al.Linear() if spec.kernel == "linear" else spec.kernel
    kernel = al.Cosine() if spec.kernel == "cosine" else kernel
    rows = rng.integers(0, len(S), int(rng.integers(1, 8)))
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


def measures(rng):
    """`alignment`, `cka`, `hsic` and `center_kernel` of two matrices, or a matrix and a target."""
    m = size(rng, 2, 60)
    K, L = gram(rng, m)[0], gram(rng, m)[0]
    other = L
    if chance(rng, 0.4):
        y = target(rng, m, ("two", "several"))
        other, L = y.given, np.asarray(y.columns @ y.columns.T, float)
    exact = [np.asarray(A, LD) for A in (K, L)]
    centred = [centre(A) for A in exact]
    # Means of m numbers, and differences of numbers of the size of the largest.
    E = [(m + 8) * EPS * m * float(np.abs(A).max()) for A in exact]
    C = [norm(A) for A in centred]
    function = pick(rng, "center_kernel", "alignment", "uncentered", "hsic", "unbiased hsic",
                    "cka", "unbiased cka")  # fmt: skip
    if function == "center_kernel":
        found = al.center_kernel(K)
        close(function, found, centred[0], E[0] / m, np.zeros(K.shape, bool), "")
        return function
    unbiased = function.startswith("unbiased")
    if unbiased and m < 4:
        return "skipped"
    inner = (
        (lambda A, B: u_statistic(A, B) / m**2) if unbiased else (lambda A, B: (A * B).sum() / m**2)
    )
    used = exact if unbiased or function == "uncentered" else centred
    slack = (E[0] * C[1] + E[1] * C[0] + E[0] * E[1] + m * EPS * C[0] * C[1]) / m**2
    own = [(2 * E[k] * C[k] + E[k] ** 2 + m * EPS * C[k] ** 2) / m**2 for k in (0, 1)]
    if unbiased:
        more = 3 * (m / (m - 3) + m**2 / ((m - 2) * (m - 3)) + 2 * m**2 / ((m - 1) * (m - 2)))
        slack, own = more * slack, [more * e for e in own]
    if function == "uncentered":
        N = [norm(A) for A in exact]
        slack, own = 4 * m * EPS * N[0] * N[1] / m**2, [4 * m * EPS * n**2 / m**2 for n in N]
    value = inner(*used)
    if function.endswith("hsic"):
        found = al.hsic(K, other, unbiased=unbiased)
        tiny = any(np.abs(A).max() <= 32 * EPS * np.abs(B).max() for A, B in zip(centred, exact))
        if not (tiny and found == 0.0):
            close(function, np.array(found), value, float(slack), np.array(False), "")
        return function
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", al.DegenerateKernelWarning)
        if function.endswith("cka"):
            found = al.cka(K, other, unbiased=unbiased)
        else:
            kind = "centered" if function == "alignment" else "uncentered"
            found = al.alignment(K, other, kind=kind)
    require(np.isfinite(found) and abs(found) <= 1 + 1e-9, f"{function} outside [-1, 1]", found)
    squares = [inner(A, A) for A in used]
    if all(s > 4 * e for s, e in zip(squares, own)):
        scale = float(np.sqrt(squares[0] * squares[1]))
        relative = sum(e / float(s) for s, e in zip(squares, own))
        allowed = 2 * (float(slack) / scale + abs(float(value)) / scale * relative) + 8 * EPS
        if not (found == 0.0 and any(s <= 1e3 * EPS * e for s, e in zip(squares, own))):
            close(function, np.array(found), value / scale, allowed, np.array(False), "")
    return function


def accumulated(rng):
    """`AlignmentAccumulator` over batches."""
    batches = [samples(rng, low=4) for _ in range(2)]
    d = min(S.exact.shape[1] for S in batches)
    total = al.AlignmentAccumulator([al.Gaussian(0.5), al.Linear()], task="regression")
    sums = []
    for S in batches:
        X = np.round(np.asarray(rng.normal(size=(len(S), d))), 3)
        y = rng.normal(size=len(X))
        total.update(X, y)
        E = np.asarray(X, LD)
        K = [np.exp(-LD(0.5) * ((E[:, None] - E[None]) ** 2).sum(-1)), E @ E.T]
        Y = np.asarray(y, LD) - np.asarray(y, LD).mean()
        sums.append([u_statistic(A, np.outer(Y, Y)) / len(X) ** 2 for A in K])
    found, exact = total.statistics().a, np.mean(np.array(sums), axis=0)
    close("accumulated a", found, exact, 1e-11 * (1 + d), np.array([False] * 2), "")
    return "accumulator"


_KINDS = [whole] * 11 + [folds] * 3 + [given] + [features] * 2 + [values_of_kernels] * 2
_KINDS += [measures] * 5 + [accumulated]


def case(rng):
    """One case; returns its kind, raises `Wrong` or what the library raises."""
    return pick(rng, *_KINDS)(rng)
