"""Outliers by learned kernels, against scikit-learn's model on the same combination."""

from functools import partial

import numpy as np
import pytest
from refusals import not_refused, raises
from scipy import sparse
from sklearn.svm import OneClassSVM

import alignlearn as al
from alignlearn.machines import OneClassSVM as Machine

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 4))
NEW = 2.0 * RNG.standard_normal((30, 4))
KERNELS = [al.Gaussian(0.05), al.Gaussian(0.5), al.Linear()]
TIGHT = 1e-10


def theirs(model, weight=None):
    """scikit-learn's model on the learned kernel, and its decisions on new samples."""
    machine = OneClassSVM(kernel="precomputed", nu=model.nu, tol=TIGHT)
    machine.fit(model.kernel_(X), sample_weight=weight)
    return machine, machine.decision_function(model.kernel_(NEW, X))


@pytest.mark.parametrize(
    ("weighting", "nu"),
    [("uniform", 0.003), ("max-entropy", 0.1), ("consensus", 0.47), ("structure", 0.1)],
)
def test_decisions_are_those_of_scikit_learn(weighting, nu):
    model = al.OneClassMKL(KERNELS, weighting=weighting, nu=nu, tol=TIGHT).fit(X)
    other, decisions = theirs(model)
    unit = abs(model.offset_)
    np.testing.assert_allclose(model.decision_function(NEW), decisions, atol=1e-6 * unit)
    scores = other.score_samples(model.kernel_(NEW, X))
    np.testing.assert_allclose(model.score_samples(NEW), scores, atol=1e-6 * unit)
    coef = other.dual_coef_[0]
    K = model.kernel_(X[other.support_])
    assert model.objective_ == pytest.approx(-0.5 * coef @ K @ coef, rel=1e-6)
    # The certificate is an upper bound on the gap by the definition: by the best linear function.
    alpha = np.zeros(len(X))
    alpha[model.support_] = model.dual_coef_
    slope = np.sort(model.kernel_(X) @ alpha)
    least = np.clip(nu * 120 - np.arange(120), 0.0, 1.0) @ slope
    gap = 2.0 * -model.objective_ - least
    assert -1e-12 <= gap / -model.objective_ <= model.duality_gap_ / -model.objective_ + 1e-12
    assert model.duality_gap_ <= 1e-5 * -model.objective_
    assert model.kkt_violation_ <= TIGHT
    combiner = al.KernelCombiner(KERNELS, weighting=weighting).fit(X)
    np.testing.assert_array_equal(model.weights_, combiner.weights_)


@pytest.mark.parametrize("tol", [1e-8, 0.3])
def test_nu_bounds_the_share_outside_and_that_of_support_vectors(tol):
    """However early the solver stops."""
    for nu in (0.01, 0.1, 0.25, 0.5, 0.9, 1.0):
        for kernels in (KERNELS, [al.Gaussian(0.5)], ["linear"]):
            model = al.OneClassMKL(kernels, nu=nu, tol=tol).fit(X)
            outside = np.count_nonzero(model.predict(X) == -1)
            assert outside <= nu * 120 <= len(model.support_) + 1e-9
            assert model.dual_coef_.sum() == pytest.approx(nu * 120)
            assert 0.0 < model.dual_coef_.min() <= model.dual_coef_.max() <= 1.0


def test_sample_weights_are_those_of_scikit_learn_and_repetitions():
    weight = RNG.integers(1, 4, 120).astype(float)
    model = al.OneClassMKL(KERNELS, nu=0.2, tol=TIGHT).fit(X, sample_weight=weight)
    decisions = theirs(model, weight)[1]
    unit = abs(model.offset_)
    np.testing.assert_allclose(model.decision_function(NEW), decisions, atol=1e-6 * unit)
    weight[:40] = 0.0
    given = al.OneClassMKL(KERNELS, nu=0.2, tol=TIGHT).fit(X, sample_weight=weight)
    rows = np.repeat(np.arange(120), weight.astype(int))
    again = al.OneClassMKL(KERNELS, nu=0.2, tol=TIGHT).fit(X[rows])
    assert given.support_.min() >= 40
    said = given.decision_function(NEW), again.decision_function(NEW)
    np.testing.assert_allclose(*said, atol=1e-6 * unit)


def test_little_memory_and_single_precision_give_the_same_machine():
    model = al.OneClassMKL(KERNELS, nu=0.2, tol=1e-7)
    expected, single = model.fit(X).decision_function(NEW), X.astype(np.float32)
    for samples, memory in ((X, 60_000), (single, 60_000), (single, None)):
        found = model.set_params(memory=memory).fit(samples).decision_function(NEW)
        np.testing.assert_allclose(found, expected, atol=1e-5 if samples is X else 1e-2)
        assert np.count_nonzero(model.predict(samples) == -1) <= 24
    raises(ValueError, "memory=1000", al.OneClassMKL(KERNELS, memory=1000).fit, X)


GIVEN = {
    "given": ("precomputed", lambda A: [k(A, X) for k in KERNELS]),
    "stack": ("precomputed", lambda A: al.GramStack({str(k): k(A, X) for k in KERNELS})),
    "tables": (
        {"a": "rbf", "b": ["linear", al.Gaussian(0.3)]},
        lambda A: {"b": A[:, 2:], "a": A[:, :2]},
    ),
    "sparse": (["linear", al.Gaussian(0.5)], lambda A: sparse.csr_array(A * (A > 0))),
    "functions": ([al.FromFunction(lambda x, z: float(np.exp(-np.abs(x - z).sum())))], lambda A: A),
    "columns": (al.RankOneKernels(), lambda A: A),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_kinds_of_samples(kind):
    kernels, of = GIVEN[kind]
    model = al.OneClassMKL(kernels, weighting="consensus", nu=0.2).fit(of(X))
    assert np.count_nonzero(model.predict(of(X)) == -1) <= 24
    decisions = model.decision_function(of(NEW))
    np.testing.assert_array_equal(model.predict(of(NEW)), np.where(decisions < 0.0, -1, 1))
    assert "model: one-class support vector machine, nu=0.2" in model.summary()
    found = al.OneClassMKL(kernels, weighting="consensus", nu=0.2).fit_predict(of(X))
    np.testing.assert_array_equal(found, model.predict(of(X)))
    if kind == "given":
        plain = al.OneClassMKL(KERNELS, weighting="consensus", nu=0.2).fit(X)
        np.testing.assert_allclose(decisions, plain.decision_function(NEW), atol=1e-3)


def test_degenerate_samples():
    """Copies of two samples, and one sample that is far from the others."""
    two = np.repeat([[0.0, 1.0], [1.0, 0.0]], 10, axis=0)
    model = al.OneClassMKL([al.Gaussian(1.0)], nu=0.3).fit(two)
    assert np.all(model.predict(two) == 1)
    far = np.vstack([np.zeros((19, 2)), [[9.0, 9.0]]])
    found = al.OneClassMKL([al.Gaussian(1.0)], nu=0.15).fit_predict(far)
    assert np.flatnonzero(found == -1).tolist() == [19]
    tiny = al.OneClassMKL(KERNELS, nu=0.2, tol=1e-12).fit(1e-6 * X)
    assert np.count_nonzero(tiny.predict(1e-6 * X) == -1) <= 24


def test_bad_input():
    fitted, indefinite = al.OneClassMKL(KERNELS).fit(X), al.Gaussian(0.5)(X) - 2.0 * np.eye(120)
    given, structure = al.OneClassMKL("precomputed"), al.OneClassMKL(weighting="structure")
    nus, K = (0.0, -0.1, 1.1, np.nan, "half", None, True), al.Gaussian(0.5)(X)
    cases = [
        *((f"nu={nu}", partial(al.OneClassMKL(nu=nu).fit, X), "nu") for nu in nus),
        ("y", partial(al.OneClassMKL(weighting="alignf").fit, X), "OneClassMKL requires y"),
        ("K", partial(given.fit, [indefinite]), "not positive semi-definite"),
        ("w", partial(structure.fit, X, sample_weight=np.ones(120)), "not accept sample_weight"),
        ("gaps", partial(fitted.fit, np.full((3, 2), np.nan)), "NaN"),
        ("machine K", partial(Machine(0.2).fit, K[:, :3]), "K must be"),
        ("machine nu", partial(Machine(2.0).fit, K), "nu=2"),
    ]
    assert not_refused(cases) == []
    assert not hasattr(fitted, "offset_") or not fitted.__sklearn_is_fitted__()
    with pytest.warns(al.ConvergenceWarning, match="SMO stopped after 1 steps"):
        al.OneClassMKL(KERNELS, nu=0.1, max_iter=1, tol=TIGHT).fit(X)


def test_the_machine_on_a_matrix_of_its_own():
    K, L = al.Gaussian(0.5)(X), al.Gaussian(0.5)(NEW, X)
    machine = Machine(0.2, tol=TIGHT).fit(K)
    other = OneClassSVM(kernel="precomputed", nu=0.2, tol=TIGHT).fit(K)
    np.testing.assert_allclose(machine.decision_function(L), other.decision_function(L), atol=1e-8)
    assert machine.full_dual_coef().sum() == pytest.approx(24.0)


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3])
def test_weights_times_a_constant_scale_the_decisions(factor):
    """At the default tolerance, which assumes weights of mean 1."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(30, 2)), rng.uniform(0.1, 3.0, 30)
    model = al.OneClassMKL([al.Gaussian(0.5)], weighting="uniform", nu=0.3)
    want = model.fit(X, sample_weight=weight).decision_function(X)
    found = model.fit(X, sample_weight=factor * weight).decision_function(X)
    np.testing.assert_allclose(found / factor, want, atol=5e-3)
    assert np.abs(want).max() > 0.2
