"""Gradients of alignment and CKA, by central differences and by PyTorch's gradcheck."""

import numpy as np
import pytest
from cases import each
from refusals import raises

import alignlearn as al

M = 24
rng = np.random.default_rng(0)
X = rng.normal(size=(M, 3))
D = np.square(X[:, None] - X).sum(axis=2)
REAL, LABELS = np.sin(X[:, 0]), np.array(["a", "b", "c"])[np.arange(M) % 3]
TARGETS = {"real": REAL, "labels": LABELS, "matrix": al.Linear()(X), "columns": X[:, :2]}
HOW = [{}, {"kind": "uncentered"}, {"kind": "unnormalized"}, {"unbiased": True}]


def at(gamma):
    return np.exp(-gamma * D)


@each("how", HOW)
@each("name", TARGETS)
def test_slopes_are_central_differences(name, how):
    L, step = TARGETS[name], 1e-5
    value, gradient = al.alignment_gradient(at(0.4), L, **how)
    assert value == pytest.approx(al.alignment(at(0.4), L, **how), abs=1e-13)
    ends = [al.alignment(at(0.4 + s), L, **how) for s in (step, -step)]
    slope = (gradient * (-D * at(0.4))).sum()
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-9)
    # A control that is close to the truth fails.
    assert 1.001 * slope != pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-6, abs=1e-9)


@each("how", HOW)
def test_laws(how):
    """The gradient is symmetric, for centered matrices centered, and 0 along K if A is scaled."""
    K, m = at(0.4), M
    _, G = al.alignment_gradient(K, REAL, **how)
    np.testing.assert_allclose(G, G.T, atol=1e-15)
    if how.get("kind") != "uncentered":
        np.testing.assert_allclose(G @ np.ones(m), 0.0, atol=1e-13)
    if how.get("kind") != "unnormalized":
        assert (G * K).sum() == pytest.approx(0.0, abs=1e-13)
    scaled = al.alignment_gradient(1e6 * K, REAL, **how)[1]
    if how.get("kind") != "unnormalized":
        np.testing.assert_allclose(1e6 * scaled, G, rtol=1e-8, atol=1e-15)


def test_what_is_constant_and_what_is_refused():
    with pytest.warns(al.DegenerateKernelWarning):
        value, gradient = al.alignment_gradient(np.ones((M, M)), REAL)
    assert value == 0.0
    assert not gradient.any()
    for K, y, how, message in (
        (at(0.4), REAL, {"kind": "uncentered", "unbiased": True}, "unbiased=True is for kind='cen"),
        (at(0.4), REAL, {"kind": "cosine"}, "kind"),
        (np.triu(at(0.4)), REAL, {}, "not symmetric"),
        (at(0.4)[:5], REAL, {}, "square"),
        (at(0.4), REAL[:5], {}, "24"),
    ):
        raises(ValueError, message, al.alignment_gradient, K, y, **how)


def test_unbiased_alignment_and_lists_of_kernels():
    grams = [at(0.1), at(1.0), al.Linear()(X)]
    assert al.alignment(grams[0], REAL, unbiased=True) == al.cka(grams[0], REAL, unbiased=True)
    for how in HOW:
        found = al.alignment(grams, REAL, **how)
        np.testing.assert_array_equal(found, [al.alignment(K, REAL, **how) for K in grams])
    # A matrix of Python lists is a matrix.
    assert al.alignment(grams[0].tolist(), REAL) == al.alignment(grams[0], REAL)
    with pytest.raises(ValueError, match="unbiased=True is for kind='centered'"):
        al.alignment(grams[0], REAL, kind="uncentered", unbiased=True)


@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("name", TARGETS)
def test_tensors_that_require_a_gradient(name, how):
    torch = pytest.importorskip("torch")
    gamma = torch.tensor(0.4, dtype=torch.float64, requires_grad=True)
    L = TARGETS[name]
    value = al.alignment(torch.exp(-gamma * torch.as_tensor(D)), L, **how)
    value.backward()
    expected, gradient = al.alignment_gradient(at(0.4), L, **how)
    assert value.item() == pytest.approx(expected, abs=1e-13)
    assert gamma.grad.item() == pytest.approx((gradient * (-D * at(0.4))).sum(), rel=1e-9)


@pytest.mark.parametrize("how", HOW, ids=str)
@pytest.mark.parametrize("name", TARGETS)
def test_jax_arrays_under_grad_and_jit(name, how):
    jax = pytest.importorskip("jax")
    L = TARGETS[name]
    expected, gradient = al.alignment_gradient(at(0.4), L, **how)
    slope = (gradient * (-D * at(0.4))).sum()

    def of(gamma):
        return al.alignment(jax.numpy.exp(-gamma * jax.numpy.asarray(D)), L, **how)

    with (
        jax.experimental.enable_x64()
        if hasattr(jax.experimental, "enable_x64")
        else (jax.enable_x64(True))
    ):
        for function in (jax.value_and_grad(of), jax.jit(jax.value_and_grad(of))):
            value, found = function(0.4)
            assert float(value) == pytest.approx(expected, abs=1e-13)
            assert float(found) == pytest.approx(slope, rel=1e-9)
        gammas = jax.numpy.asarray([0.1, 0.4, 1.0])
        np.testing.assert_allclose(
            jax.vmap(of)(gammas), [al.alignment(at(g), L, **how) for g in (0.1, 0.4, 1.0)]
        )


@pytest.mark.parametrize("unbiased", [False, True])
def test_jax_representations_that_both_have_a_gradient(unbiased):
    jax = pytest.importorskip("jax")
    A, B = (rng.normal(size=(12, 3)).astype(np.float32) for _ in range(2))

    def of(A, B):
        return al.cka(A @ A.T, B @ B.T, unbiased=unbiased)

    found = jax.grad(of, (0, 1))(A, B)
    for k in (0, 1):
        K, L = ((A, B), (B, A))[k]
        _, G = al.alignment_gradient(K @ K.T, L @ L.T, unbiased=unbiased)
        np.testing.assert_allclose(found[k], 2 * G @ K, atol=1e-5)
        assert found[k].dtype == np.float32
    assert isinstance(of(A, B), float)
    assert isinstance(of(jax.numpy.asarray(A), jax.numpy.asarray(B)), float)


def test_what_is_refused_under_jax():
    jax = pytest.importorskip("jax")
    K = at(0.4).astype(np.float32)
    with pytest.raises(ValueError, match="target that is traced"):
        jax.grad(lambda y: al.alignment(K, y))(REAL.astype(np.float32))
    raises(ValueError, "square", jax.grad(lambda K: al.alignment(K, REAL)), K[:5])
    with pytest.raises(ValueError, match="sample_weight does not go with"):
        jax.grad(lambda K: al.alignment(K, REAL, sample_weight=np.ones(M)))(K)
    raises(Exception, "NaN", jax.grad(lambda K: al.alignment(K * np.nan, REAL)), K)
    raises(ValueError, "kind", jax.grad(lambda K: al.alignment(K, REAL, kind="cosine")), K)
    with pytest.raises(ValueError, match="unbiased=True is for"):
        jax.grad(lambda K: al.alignment(K, REAL, kind="uncentered", unbiased=True))(K)


@pytest.mark.parametrize("unbiased", [False, True])
def test_representations_that_both_require_a_gradient(unbiased):
    torch = pytest.importorskip("torch")
    A, B = (torch.as_tensor(rng.normal(size=(12, 3))).requires_grad_() for _ in range(2))

    def of(A, B):
        return al.cka(A @ A.T, B @ B.T, unbiased=unbiased)

    assert torch.autograd.gradcheck(of, (A, B))
    half = al.cka((A @ A.T).float(), (B @ B.T).detach().float(), unbiased=unbiased)
    assert half.dtype == torch.float32
    assert half.item() == pytest.approx(of(A, B).item(), abs=1e-5)
    assert isinstance(al.cka((A @ A.T).detach(), (B @ B.T).detach(), unbiased=unbiased), float)
    with pytest.raises(ValueError, match="sample_weight does not go with tensors"):
        al.cka(A @ A.T, B @ B.T, sample_weight=np.ones(12))
    raises(ValueError, "target that requires a gradient", al.alignment, A @ A.T, B[:, 0])
    raises(ValueError, "NaN", al.alignment, A @ A.T * float("nan"), REAL[:12])
