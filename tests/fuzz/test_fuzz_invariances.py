"""Fuzz cases of what must not change an answer, of certificates, and of the other estimators."""

import pickle

import numpy as np
from draws import fuzz, require
from fuzz_data import CONTAINERS, LD, benign
from fuzz_machines import sklearn_svc
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
    """Everything that a fit gives, as bytes."""
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
def test_contained(draws):
    """Containers and memory layouts give the same alignment."""
    setting = setup(draws, double=True)
    model, y = _model(draws, setting)
    if not setting.usable or any("function" in s.tags for s in setting.specs):
        return "no bound"
    X = np.asarray(setting.S.exact, float)
    first = model.fit(X, y).alignment_
    name = draws.pick(*CONTAINERS)
    again = model.fit(CONTAINERS[name](X), y).alignment_
    allowed = 1e-9 + 8 * len(setting.specs) * setting.relative
    require(abs(first - again) <= allowed, f"{name}: another result than for an array")
    return "contained"


@fuzz(1)
def test_ordered(draws):
    """The order of the samples does not matter."""
    setting = setup(draws, double=True)
    order = draws.numbers.permutation(len(setting.S))
    model, y = _model(draws, setting)
    if not setting.usable:
        return "no bound"
    X = np.asarray(setting.S.exact, float)
    first = model.fit(X, y).alignment_
    again = model.fit(X[order], y[order]).alignment_
    allowed = 1e-9 + 8 * len(setting.specs) * setting.relative
    require(abs(first - again) <= allowed, "order of the samples", f"{first} {again}")
    return "ordered"


@fuzz(1)
def test_scaled(draws):
    """The unit of a kernel does not matter where traces are normalized."""
    setting = setup(draws, double=True)
    model, y = _model(draws, setting)
    if not setting.usable:
        return "no bound"
    units = 10.0 ** draws.numbers.integers(-6, 7, len(setting.specs))
    objects = {"linear": al.Linear(), "cosine": al.Cosine()}
    kernels = [u * (objects.get(k) if isinstance(k, str) else k)
               for u, k in zip(units, setting.kernels)]  # fmt: skip
    X = np.asarray(setting.S.exact, float)
    first = model.fit(X, y).alignment_
    again = model.set_params(kernels=kernels).fit(X, y).alignment_
    allowed = 1e-9 + 8 * len(setting.specs) * setting.relative
    require(abs(first - again) <= allowed, "unit of a kernel", f"{first} {again}")
    return "scaled"


@fuzz(1)
def test_combiner(draws):
    """`KernelCombiner`: Gram matrices of the learned kernel, centered or not."""
    setting = setup(draws, psd=False)
    centred = draws.chance(0.6)
    y = (
        classes(draws, len(setting.S))
        if draws.chance(0.5)
        else draws.numbers.normal(size=len(setting.S))
    )
    task = "regression" if y.dtype == float else "classification"
    rule = draws.pick(*TWO_STAGE)
    model = al.KernelCombiner(setting.kernels, weighting=rule, center=centred, task=task)
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
    form = {} if centred else {"centred": "exact", "register": "K"}
    exact = [_with(v, form) for v in setting.grams], [_with(v, form) for v in setting.against]
    (full, error), (against, test_error) = (setting.combined(weights, v) for v in exact)
    if centred:
        means = full.mean(axis=0)
        against = against - means - against.mean(axis=1)[:, None] + means.mean()
        full = center(full)
    for name, found, expected, slack in (("fit_transform", K, full, error),
                                         ("transform", T, against, test_error)):  # fmt: skip
        slack = 4 * (slack + error) + 64 * setting.S.eps * float(np.abs(expected).max())
        wrong = float(np.abs(found - expected).max())
        require(wrong <= slack, f"KernelCombiner.{name}", f"{wrong:.3g} > {slack:.3g} {centred}")
    return "combiner"


def _with(v, form):
    return v._replace(**{field: np.abs(getattr(v, source)) for field, source in form.items()})


@fuzz(1)
def test_weights(draws):
    """The two-stage rules by definition, and AlignF against SciPy's nnls."""
    from scipy.optimize import nnls

    setting = setup(draws, double=True, psd=False)
    y = draws.numbers.normal(size=len(setting.S))
    if not setting.usable:
        return "no bound"
    s = al.alignment_statistics(setting.S.given, y, setting.kernels, task="regression")
    d = 1 / np.sqrt(np.diagonal(s.M))
    S, b = s.M * np.outer(d, d), d * s.a
    found = al.AlignF().solve(s)
    require(np.all(found.weights >= 0), "AlignF: a negative weight")
    values, vectors = np.linalg.eigh(S)
    values = np.maximum(values, 1e-13 * values[-1])
    root = vectors * np.sqrt(values)
    reference = nnls(root.T, (vectors / np.sqrt(values)).T @ b)[0] * d
    slack = 1e-6 if found.converged else 1e-3
    if reference.any() and not found.fallback:
        best = s.alignment(reference)
        require(
            found.alignment >= best - slack, "AlignF: nnls is better", f"{found.alignment} {best}"
        )
    for _ in range(5):
        other = s.alignment(draws.numbers.random(len(b)) * (draws.numbers.random(len(b)) < 0.5) * d)
        require(found.fallback or found.alignment >= other - slack, "AlignF: not the best")
    align = al.Align(normalize=None).solve(s)
    if not align.fallback:
        expected = np.maximum(b, 0) / s.target_norm
        require(np.allclose(align.weights, expected, rtol=1e-12, atol=1e-15), "Align")
    uniform = al.Uniform().solve(s)
    require(np.allclose(uniform.weights, 1 / len(b)), "Uniform")
    return "weights"


@fuzz(1)
def test_lkrr(draws):
    """`LKRR`, norm 2: the fixed point of Theorem 1 by definition."""
    m, p = draws.size(5, 40), draws.whole(1, 7)
    grams = [_gram(draws, m) for _ in range(p)]
    y = draws.numbers.normal(size=m)
    y -= y.mean()
    alpha, radius = draws.power(-2, 2), draws.power(-2, 1)
    mu0 = float(draws.pick(0.0, 1.0))
    rule = al.LKRR(radius, mu0, alpha)
    found = rule.solve_grams(grams, y)
    if not found.converged:
        return "unconverged"
    K = sum(w * G for w, G in zip(found.weights, grams))
    a = np.linalg.solve(K + alpha * np.eye(m), y)
    v = np.array([a @ G @ a for G in grams])
    expected = mu0 + radius * v / np.linalg.norm(v)
    wrong = np.abs(found.weights - expected).max() / np.abs(expected).max()
    require(wrong <= 1e-5, "LKRR: fixed point", f"{wrong:.3g} {found.method}")
    return "lkrr"


@fuzz(1)
def test_aligned(draws):
    """`AlignedKRR`: the optimality conditions of the convex problem by definition."""
    m, p = draws.size(5, 30), draws.whole(1, 7)
    grams = [_gram(draws, m) for _ in range(p)]
    y = draws.numbers.normal(size=m)
    y = (y - y.mean()) * 10.0 ** draws.whole(-1, 1)
    alpha = draws.power(-1, 1)
    g, g1, g2 = (draws.power(-2, 1) for _ in range(3))
    found = al.AlignedKRR(g, g1, g2, alpha).solve_grams(grams, y)
    if not found.converged:
        return "unconverged"
    mu = found.weights
    c = np.linalg.solve(sum(w * G for w, G in zip(mu, grams)) + alpha * np.eye(m), y)
    M = np.array([[np.vdot(G, H) for H in grams] for G in grams])
    terms = [-np.array([c @ G @ c for G in grams]), -g * np.array([y @ G @ y for G in grams]),
             2 * (g2 * M + g1 * np.eye(p)) @ mu]  # fmt: skip
    gradient = sum(terms)
    unit = max(np.abs(t).max() for t in terms)
    wrong = max(np.abs(gradient[mu > 0]).max(initial=0), (-gradient[mu == 0]).max(initial=0)) / unit
    require(np.all(mu >= 0) and wrong <= 1e-5, "AlignedKRR: optimality", f"{wrong:.3g}")
    return "aligned-krr"


@fuzz(1)
def test_l1svm(draws):
    """`L1SVM`, norm 1, two classes: no other weights are better for scikit-learn's machine."""
    m, p = draws.size(6, 30), draws.whole(1, 5)
    grams = np.array([_gram(draws, m) for _ in range(p)])
    sign = np.where(draws.numbers.permutation(m) < m // 2, 1.0, -1.0)
    C = draws.power(-1, 2)
    found = al.L1SVM(C).solve_grams(grams, sign)
    if not found.converged:
        return "unconverged"
    t = np.trace(grams, axis1=1, axis2=2) / m
    require(found.weights @ t <= 1 + 1e-9, "L1SVM: trace of the weights")
    K = np.tensordot(found.weights, grams, 1)
    reached = _svm_value(K, sign, C)
    for _ in range(5):
        mu = draws.numbers.dirichlet(np.full(p, 0.5)) / t
        mu = draws.pick(mu, found.weights + 0.1 * (mu - found.weights))
        other = _svm_value(np.tensordot(mu, grams, 1), sign, C)
        require(
            other >= reached * (1 - 2e-3), "L1SVM: other weights are better", f"{other} {reached}"
        )
    return "l1-svm"


def _svm_value(K, sign, C):
    b = sklearn_svc(K, sign, np.full(len(sign), C), 1e-6)
    return 2 * np.abs(b).sum() - b @ K @ b


def _gram(draws, m):
    factor = draws.numbers.normal(size=(m, draws.whole(1, m)))
    K = np.asarray(center((factor @ factor.T).astype(LD)), float)
    return (K + K.T) * (0.5 * m / np.trace(K))


@fuzz(1)
def test_given_grams(draws):
    """Given matrices: like kernels on samples, and `cross_validate_kernels` like a loop."""
    from alignlearn.estimators import cross_validate_kernels

    m, d = draws.size(12, 30), draws.size(1, 4)
    X = benign(draws, m, d)
    kernels = al.gaussian_kernels(10.0 ** draws.numbers.uniform(-1, 1, draws.whole(1, 4)))
    grams = np.array([np.asarray(k(X)) for k in kernels])
    classify = draws.chance(0.5)
    y = np.arange(m)[draws.numbers.permutation(m)] % 2 if classify else draws.numbers.normal(size=m)
    make = al.MKLClassifier if classify else al.MKLRegressor
    rule = draws.pick(*TWO_STAGE)
    on_grams, on_samples = make("precomputed", weighting=rule).fit(grams, y), make(
        kernels, weighting=rule).fit(X, y)  # fmt: skip
    difference = abs(on_grams.alignment_ - on_samples.alignment_)
    require(difference <= 1e-8, "given matrices: alignment", f"{difference:.3g}")
    labels = draws.numbers.permutation(m) % 3
    found = cross_validate_kernels(make("precomputed", weighting=rule), grams, y, cv=labels)
    for t in range(3):
        train, test = np.flatnonzero(labels != t), np.flatnonzero(labels == t)
        model = make("precomputed", weighting=rule)
        model.fit([K[np.ix_(train, train)] for K in grams], y[train])
        score = model.score([K[np.ix_(test, train)] for K in grams], y[test])
        wrong = abs(score - found["test_score"][t])
        require(wrong <= 1e-9 * (1 + abs(score)), "cross_validate_kernels: score", f"{wrong:.3g}")
    return "given"


@fuzz(1)
def test_sparse(draws):
    """Sparse and dense samples give the same predictions, and may be mixed."""
    from scipy.sparse import csr_matrix

    m, d = draws.size(6, 40), draws.size(1, 12)
    X = draws.numbers.normal(size=(m + 5, d)) * (draws.numbers.random((m + 5, d)) < 0.4)
    X[:m][np.arange(min(m, d)), np.arange(min(m, d))] = 1.0  # no column is empty
    families = (
        al.RankOneKernels(),
        [al.Linear()],
        ["rbf"],
        [al.Laplacian(0.3)],
        [al.Polynomial(0.1)],
    )
    kernels = draws.pick(*families)
    y = draws.numbers.normal(size=m)
    reg = al.MKLRegressor(kernels, weighting=draws.pick(*TWO_STAGE), alpha=1.0)
    if not np.ptp(X[:m], axis=0).any():
        return "no bound"
    dense = reg.fit(X[:m], y).predict(X[m:])
    for train, test in (
        (csr_matrix, csr_matrix),
        (csr_matrix, np.asarray),
        (np.asarray, csr_matrix),
    ):
        found = reg.fit(train(X[:m]), y).predict(test(X[m:]))
        wrong = np.abs(found - dense).max() / (np.abs(dense).max() + np.abs(y).max())
        require(wrong <= 1e-6, "sparse: other predictions than dense", f"{wrong:.3g}")
    return "sparse"
