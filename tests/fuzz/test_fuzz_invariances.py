"""Fuzz cases of invariances, and of the combiner."""

import pickle

import numpy as np
from draws import fuzz, require
from fuzz_data import CONTAINERS
from fuzz_setup import TWO_STAGE, classes, setup
from fuzz_truth import center

import alignlearn as al


def _model(draws, setting, rule=None):
    """An estimator for the kernels, and a target for it."""
    rule = rule or draws.pick(*TWO_STAGE)
    if draws.chance(0.5):
        return al.MKLClassifier(setting.kernels, weighting=rule), classes(draws, len(setting.S))
    machine = draws.pick("krr", "svr")
    reg = al.MKLRegressor(setting.kernels, weighting=rule, machine=machine)
    return reg, draws.numbers.normal(size=len(setting.S))


def _outputs(model, X):
    """All outputs of a fit, as bytes."""
    found = [model.weights_, model.predict(X), np.array(model.alignment_), model.dual_coef_]
    if hasattr(model, "decision_function"):
        found.append(model.decision_function(X))
    require(all(np.all(np.isfinite(A)) for A in found if A.dtype.kind == "f"), "not finite")
    return [A.tobytes() for A in found]


@fuzz(1)
def test_repeated(draws):
    """A fit again, a fit of a clone and a pickle give the same bits."""
    from sklearn.base import clone

    setting = setup(draws)
    model, y = _model(draws, setting, draws.pick(*TWO_STAGE, "lkrr", "l1-svm", "aligned-krr"))
    if not setting.usable or any(
        "function" in s.tags or "weighted" in s.tags for s in setting.specs
    ):
        return "no bound"  # local functions are not picklable
    X, T = setting.S.given, setting.T.given
    first = _outputs(model.fit(X, y), T)
    require(_outputs(pickle.loads(pickle.dumps(model)), T) == first, "a pickle predicts otherwise")
    require(_outputs(clone(model).fit(X, y), T) == first, "a clone fits otherwise")
    require(_outputs(model.fit(X, y), T) == first, "a second fit differs")
    return "repeated"


@fuzz(1)
def test_what_does_not_matter(draws):
    """The container, the order of the samples, and with normalized traces the unit of a kernel."""
    setting = setup(draws, double=True)
    model, y = _model(draws, setting)
    what = draws.pick("container", "order", "unit")
    has_function = any("function" in s.tags for s in setting.specs)
    if not setting.usable or (what == "container" and has_function):
        return "no bound"
    X, order = np.asarray(setting.S.exact, float), slice(None)
    first, given = model.fit(X, y).alignment_, X
    if what == "container":
        given = CONTAINERS[draws.pick(*CONTAINERS)](X)
    elif what == "order":
        order = draws.numbers.permutation(len(X))
    else:
        units = 10.0 ** draws.numbers.integers(-6, 7, len(setting.specs))
        objects = {"linear": al.Linear(), "cosine": al.Cosine()}
        kernels = [objects.get(k) if isinstance(k, str) else k for k in setting.kernels]
        model.set_params(kernels=[u * k for u, k in zip(units, kernels)])
    again = model.fit(given[order] if what == "order" else given, y[order]).alignment_
    allowed = 1e-9 + 8 * len(setting.specs) * setting.relative
    require(abs(first - again) <= allowed, what, f"{first} {again}")
    return what


@fuzz(1)
def test_combiner(draws):
    """`KernelCombiner`: Gram matrices of the learned kernel, centered or not."""
    setting = setup(draws, psd=False)
    centered = draws.chance(0.6)
    task, m = draws.pick("classification", "regression"), len(setting.S)
    y = classes(draws, m) if task == "classification" else draws.numbers.normal(size=m)
    rule = draws.pick(*TWO_STAGE)
    model = al.KernelCombiner(setting.kernels, weighting=rule, center=centered, task=task)
    if not setting.usable:
        return "no bound"
    try:
        K = model.fit_transform(setting.S.given, y)
    except ValueError:
        traces = [float(np.trace(center(v.K))) for v in setting.values]
        require(max(traces) <= 0, "KernelCombiner refused")
        return "refused"
    T = model.transform(setting.T.given)
    weights = model.weights_ * model.scale_
    form = {} if centered else {"centered": "exact", "register": "K"}
    exact = [_with(v, form) for v in setting.grams], [_with(v, form) for v in setting.against]
    (full, error), (against, test_error) = (setting.combined(weights, v) for v in exact)
    if centered:
        means = full.mean(axis=0)
        against = against - means - against.mean(axis=1)[:, None] + means.mean()
        full = center(full)
    for name, found, expected, slack in (("fit_transform", K, full, error),
                                         ("transform", T, against, test_error)):  # fmt: skip
        slack = 4 * (slack + error) + 64 * setting.S.eps * float(np.abs(expected).max())
        wrong = float(np.abs(found - expected).max())
        require(wrong <= slack, f"KernelCombiner.{name}", f"{wrong:.3g} > {slack:.3g} {centered}")
    return "combiner"


def _with(v, form):
    return v._replace(**{field: np.abs(getattr(v, source)) for field, source in form.items()})
