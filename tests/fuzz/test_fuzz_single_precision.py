"""Fuzz cases of samples in float32: regressors predict as on the same numbers in float64."""

import numpy as np
from draws import fuzz, require

import alignlearn as al

EPS = float(np.finfo(np.float32).eps)
_ROUNDINGS = 64  # of a kernel value: a sum over columns, exponentials, centering, normalization

_CENTERS = 12
_DIAGONAL = 4.0  # of a kernel, in means of its centered diagonal


def _problem(draws):
    """Samples in float32, new samples, targets, and kernels of bounded size on them."""
    m, d, q = draws.whole(12, 80), draws.whole(1, 8), draws.whole(1, 4)
    rng = draws.numbers
    X = rng.normal(size=(m + 10, d))
    if draws.chance(0.3):
        X = np.round(X, 1)
    if draws.chance(0.2):
        X[1 : m // 3] = X[0]  # repeated rows
    X = (X * 2.0 ** draws.whole(-8, 8)).astype(np.float32)
    Z = X.astype(float) / max(float(np.abs(X).max()), 1e-3)
    Y = np.sin(Z @ rng.normal(size=(d, q)) * 3.0) + 0.2 * rng.normal(size=(m + 10, q))
    kernels = draws.pick(
        ["rbf"], ["rbf", "linear"], ["laplacian", "rbf"], [al.Polynomial("scale", 1.0, 2), "rbf"]
    )
    return X[:m], X[m:], Y[:m] * 10.0 ** draws.whole(-3, 3), kernels


def _change(r, alpha, m):
    """Largest relative change of predictions of ridge regression on kernels of mean diagonal 1.

    The kernel, of trace m, changes by a matrix of norm at most r. Dual coefficients change by
    ``r / alpha`` of themselves, and predictions, whose norm is up to m / alpha of the targets', by
    that and by the change of their own kernel values.
    """
    return (r / alpha) * (1.0 + m / alpha) * np.sqrt(m)


def _models(kernels, alpha):
    """Regressors whose kernel does not depend on y, with one penalty."""
    one = {"kernels": kernels, "weighting": "uniform"}
    grid = {**one, "alphas": [alpha]}
    return {
        "ridge": lambda: al.MKLRegressor(**one, alpha=alpha),
        "leave-one-out": lambda: al.MKLRegressorCV(**grid),
        "folds": lambda: al.MKLRegressorCV(**grid, cv=3),
        "targets": lambda: al.MKLRegressorCV(**grid, per_target=True),
        "targets, folds": lambda: al.MKLRegressorCV(**grid, per_target=True, cv=3),
        "nystrom": lambda: al.MKLRegressor(
            **one, alpha=alpha, machine="nystrom", n_centers=_CENTERS, random_state=0
        ),
    }


def _predictions(make, X, new, Y):
    """Predictions in float32 and in float64."""
    return [
        np.asarray(make().fit(A, Y).predict(B), float)
        for A, B in ((X, new), (X.astype(float), new.astype(float)))
    ]


@fuzz(0.5)
def test_ridge_in_single_precision(draws):
    """Predictions differ by the rounding of the kernel, for penalties above it."""
    X, new, Y, kernels = _problem(draws)
    alpha = 10.0 ** draws.whole(-4, 2)
    models = _models(kernels, alpha)
    name = draws.pick(*models)
    # The factor of Nystrom features stops at this share of the trace.
    share = EPS**0.75 if name == "nystrom" else _ROUNDINGS * EPS
    if share * len(X) >= alpha:
        return "a penalty below rounding"
    single, double = _predictions(models[name], X, new, Y)
    size = np.abs(Y - Y.mean(axis=0)).max()
    # Predictions of new samples may exceed the targets; those in float64 are the reference.
    size = max(size, np.abs(double - Y.mean(axis=0)).max())
    apart = np.abs(single - double).max() / size
    allowed = _change(share * len(X), alpha, len(X))
    if name == "nystrom":
        # An omitted direction has at most that share of the trace at the centers, whose diagonal is
        # not centered; new samples may lie in it.
        allowed += _DIAGONAL * np.sqrt(_CENTERS * share) * len(X) / alpha
    require(np.isfinite(single).all(), f"{name}: not finite")
    require(apart <= allowed, f"{name}: predictions", f"{apart:.3g} > {allowed:.3g}")
    return name


@fuzz(0.1)
def test_choices_in_single_precision(draws):
    """Choices of penalties and weights are as good in float32, by their validation scores."""
    X, _, Y, kernels = _problem(draws)
    options = {"per_target": draws.chance(0.5), "cv": draws.pick("loo", 3)}
    if not options["per_target"]:
        Y = Y[:, :1]

    def score(A):
        model = al.MKLRegressorCV(kernels, scoring="r2", random_state=0, **options).fit(A, Y)
        return np.ravel(model.best_score_)

    single, double = score(X), score(X.astype(float))
    apart = np.abs(single - double).max()
    require(apart <= 0.02, f"{options}: scores", f"{apart:.3g}")
    return "targets" if options["per_target"] else "one kernel"
