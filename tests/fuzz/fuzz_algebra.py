"""Random combinations of kernels: sums, products, powers, ..., with their values and bounds."""

import numpy as np
from fuzz_data import LD
from fuzz_kernels import Spec, Values, formed, indefinite, ladder, leaf, plain

import alignlearn as al


def added(parts, factors):
    """sum_k factors_k k; a factor of 1 is left out."""
    kernel = sum(1.0 * c * _object(s.kernel) if c != 1 else _object(s.kernel)
                 for s, c in zip(parts, factors))  # fmt: skip

    def evaluate(X, Z, base, eps):
        found = [s.evaluate(X, Z, base, eps) for s in parts]
        K = sum(c * v.K for c, v in zip(factors, found))
        sizes = [sum(c * a for c, a in zip(factors, column)) for column in
                 ([np.abs(v.K) for v in found], *([getattr(v, f) for v in found]
                  for f in ("exact", "centered", "register")))]  # fmt: skip
        rounding = 2 * len(parts) * eps
        return Values(
            K,
            sizes[1] + rounding * sizes[0],
            sizes[2] + rounding * sizes[3],
            sizes[3],
            max(c * v.peak for c, v in zip(factors, found)),
        )

    return Spec(
        kernel, evaluate, all(s.psd for s in parts), {"sum"}.union(*(s.tags for s in parts))
    )


def _object(kernel):
    """A Kernel object for the algebra."""
    return (
        {"linear": al.Linear(), "cosine": al.Cosine()}[kernel]
        if isinstance(kernel, str)
        else kernel
    )


def times(left, right):
    """The product of two kernels."""

    def evaluate(X, Z, base, eps):
        a, b = left.evaluate(X, Z, base, eps), right.evaluate(X, Z, base, eps)
        error = np.abs(a.K) * b.exact + np.abs(b.K) * a.exact + a.exact * b.exact
        return plain(a.K * b.K, error, max(a.peak, b.peak), 2 * eps)

    kernel = _object(left.kernel) * _object(right.kernel)
    return Spec(kernel, evaluate, tags={"product"} | left.tags | right.tags)


def powered(inner, n):
    """A natural power."""

    def evaluate(X, Z, base, eps):
        v = inner.evaluate(X, Z, base, eps)
        above = np.abs(v.K) + v.exact
        return plain(v.K**n, n * above ** (n - 1) * v.exact, float(LD(v.peak) ** n), n * eps)

    return Spec(_object(inner.kernel) ** n, evaluate, tags={"power"} | inner.tags)


def shifted(inner, c):
    """A constant added."""

    def evaluate(X, Z, base, eps):
        v = inner.evaluate(X, Z, base, eps)
        return v._replace(K=v.K + LD(c), exact=v.exact + 2 * eps * (np.abs(v.K) + c))

    return Spec(_object(inner.kernel) + c, evaluate, inner.psd, {"shifted"} | inner.tags)


def exponentiated(inner):
    """exp of a kernel."""

    def evaluate(X, Z, base, eps, outer=False):
        v = inner.evaluate(X, Z, base, eps)
        K, less = np.exp(v.K), np.abs(np.expm1(v.K))
        slope = K * np.expm1(v.exact + eps * np.abs(v.K))
        errors = slope + 4 * eps * K, slope + 4 * eps * less
        return formed(K, less, errors, max(v.peak, float(K.max())), outer)

    return Spec(_object(inner.kernel).exp(), evaluate, tags={"exp"} | inner.tags, forms=True)


def factor(X):
    """A function of samples, for f(x) k(x, x') f(x')."""
    X = np.asarray(X)
    X = X if X.dtype == LD else X.astype(np.float64)
    return 1 + np.abs(X[:, 0]) / (1 + np.abs(X[:, 0]))


def weighted(inner):
    """f(x) k(x, x') f(x')."""

    def evaluate(X, Z, base, eps):
        v = inner.evaluate(X, Z, base, eps)
        f = np.multiply.outer(factor(X), factor(Z))
        return plain(f * v.K, f * v.exact, v.peak, 8 * eps)

    return Spec(_object(inner.kernel).weighted(factor), evaluate, tags={"weighted"} | inner.tags)


def normalized(inner):
    """k(x, x') / sqrt(k(x, x) k(x', x'))."""

    def evaluate(X, Z, base, eps):
        v = inner.evaluate(X, Z, base, eps)
        diagonals = [inner.evaluate(A, A, base, eps) for A in (X, Z)]
        values = [np.diagonal(w.K) for w in diagonals]
        relative = [np.where(d > 0, np.diagonal(w.exact) / np.where(d > 0, d, 1), np.inf)
                    for d, w in zip(values, diagonals)]  # fmt: skip
        # A diagonal of 0 by definition has 0 rounding in the kernels drawn here.
        relative = [np.where((d == 0) & (np.diagonal(w.exact) == 0), 0, r)
                    for r, d, w in zip(relative, values, diagonals)]  # fmt: skip
        f = np.multiply.outer(*(np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
                                for d in values))  # fmt: skip
        K = v.K * f
        slack = np.add.outer(*relative)
        slack = np.where(slack < 0.1, slack, np.inf)
        error = f * v.exact + np.where(np.isinf(slack), np.inf, np.abs(K) * np.minimum(slack, 1))
        peak = max(v.peak, *(w.peak for w in diagonals), float(f.max()))
        return plain(K, error, peak, 8 * eps)

    return Spec(_object(inner.kernel).normalized(), evaluate, tags={"normalized"} | inner.tags)


def on_columns(make, draws, X):
    """A kernel on some of the columns."""
    columns = np.sort(draws.numbers.choice(X.shape[1], draws.whole(1, X.shape[1]), replace=False))
    inner = make(draws, X[:, columns])
    given = int(columns[0]) if len(columns) == 1 and draws.chance(0.5) else columns.tolist()

    def evaluate(X, Z, base, eps, **form):
        return inner.evaluate(X[:, columns], Z[:, columns], base[:, columns], eps, **form)

    kernel = al.Columns(_object(inner.kernel), given)
    return Spec(kernel, evaluate, inner.psd, {"columns"} | inner.tags, inner.forms)


def random_kernel(draws, X, depth=2):
    """A kernel on the columns of X (float64), possibly a combination."""
    kind = draws.pick(*["leaf"] * 6, "indefinite", "columns", "sum", "product", "power", "shifted",
                "exp", "weighted", "normalized")  # fmt: skip
    if kind == "leaf" or depth == 0:
        return leaf(draws, X)
    if kind == "indefinite":
        return indefinite(draws, X)
    if kind == "columns":
        return on_columns(leaf, draws, X)
    if kind == "sum":
        parts = [random_kernel(draws, X, depth - 1) for _ in range(draws.whole(2, 3))]
        return added(parts, [float(draws.pick(1.0, draws.power(-3, 3))) for _ in parts])
    inner = random_kernel(draws, X, depth - 1)
    while not inner.psd:
        inner = leaf(draws, X)
    if kind == "product":
        return times(inner, leaf(draws, X))
    if kind == "power":
        return powered(inner, draws.whole(1, 3))
    if kind == "shifted":
        return shifted(inner, draws.power(-3, 6))
    return {"exp": exponentiated, "weighted": weighted, "normalized": normalized}[kind](inner)


def random_kernels(draws, X):
    """A list of specs: a ladder, or some kernels of any kind."""
    if draws.chance(0.2):
        return ladder(draws, X)
    specs = [random_kernel(draws, X) for _ in range(draws.whole(1, 5))]
    return [*specs, specs[0]] if draws.chance(0.1) else specs
