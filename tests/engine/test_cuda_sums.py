import cuda_cases as cases
import numpy as np
import oracle
import pytest
from cuda_cases import FEW_BLOCKS, LD, needs_cuda
from numba import cuda
from refusals import raises

import alignlearn as al
from alignlearn.engine import opcodes as ops
from alignlearn.engine.cuda import pair_sums, register_sums
from alignlearn.engine.program import padded, program_of

pytestmark = [needs_cuda, FEW_BLOCKS]
# Relative to the largest sum. The last kernels of a ladder carry the rounding of the first, times a
# power of two.
BOUND = {np.float32: 3e-6, np.float64: 3e-14}
DTYPES = list(BOUND)


class _Room:
    """New memory for every name."""

    stream = 0

    def array(self, name, shape, dtype):
        return cuda.device_array(shape, dtype)


def _side(program, X, Y, F, root, first, last):
    """A side of a box on the device."""
    means = np.zeros(len(program.features))
    X, Y, F = X[first:last], Y[first:last], np.atleast_2d(np.zeros(len(X)) if F is None else F)
    given = [cuda.to_device(np.ascontiguousarray(v)) for v in (X, Y, program.features, means)]
    root = None if root is None else cuda.to_device(np.ascontiguousarray(root[first:last]))
    bound = pair_sums.bind(_Room(), "bound", *given)
    return pair_sums.Side(bound, cuda.to_device(np.ascontiguousarray(F[:, first:last])), root)


def _sums(program, X, Y, box, F=None, root=None, external=None, **options):
    i0, i1, j0, j1 = box
    rows = _side(program, X, Y, F, root, i0, i1)
    columns = None if i0 == j0 else _side(program, X, Y, F, root, j0, j1)
    external = None if external is None else cuda.to_device(external)
    found = pair_sums.start(program, rows, columns, external, _Room(), **options)
    return pair_sums.finish(program, X.dtype, i0 == j0, *(v.copy_to_host() for v in found))


def _expected(grams, Y, box, root):
    """The sums of kernels K (p, m, m) by the definition, in long double."""
    i0, i1, j0, j1 = box
    u = np.ones(len(Y), LD) if root is None else np.asarray(root, LD)
    target = (np.asarray(Y, LD) @ np.asarray(Y, LD).T)[i0:i1, j0:j1]
    K = (np.asarray(grams, LD) * u[:, None] * u)[:, i0:i1, j0:j1]
    S = np.triu(np.einsum("kij,lij->kl", K, K))
    a = np.einsum("kij,ij->k", K, target)
    by_row, by_column = K @ u[j0:j1], np.einsum("kij,i->kj", K, u[i0:i1])
    if i0 != j0:
        return S, a, by_row, by_column, np.empty((len(K), 0))
    return S, a, by_row, np.empty((len(K), 0)), np.diagonal(K, axis1=1, axis2=2)


def _check(got, want, dtype):
    for name, found, right in zip(got._fields, got, want):
        assert found.shape == right.shape, name
        assert found.dtype == np.float64, name
        size = BOUND[dtype] * float(np.max(np.abs(right), initial=0.0))
        np.testing.assert_allclose(found, right.astype(np.float64), rtol=0, atol=size, err_msg=name)


def _problem(p, m, dtype, weighted, seed=0):
    """A ladder of Gaussians, samples, targets of which the roots are part, and Gram matrices."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((m, 3)).astype(dtype), rng.standard_normal((m, 2))
    root = np.sqrt(rng.random(m) + 0.5).astype(dtype) if weighted else None
    Y = (Y if root is None else Y * root[:, None]).astype(dtype)
    # Many kernels without a ladder, in which rounding doubles at every step.
    gammas = (2.0 if p <= 10 else 1.5) ** (np.arange(p) - p // 2)
    program = program_of(al.gaussian_kernels(gammas), X, X, n_targets=2)
    grams = np.exp(-gammas[:, None, None].astype(LD) * oracle.pair_primitives(X, X)[0])
    return program, X, Y, root, grams


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("box", [(0, 13, 0, 13), (1, 8, 10, 21), (2, 3, 5, 6), (4, 5, 4, 5)])
@pytest.mark.parametrize("p", [1, 3])
def test_few_kernels(p, box, weighted, dtype):
    program, X, Y, root, grams = _problem(p, 21, dtype, weighted)
    _check(_sums(program, X, Y, box, root=root), _expected(grams, Y, box, root), dtype)


@pytest.mark.parametrize(("dtype", "weighted"), [(np.float32, True), (np.float64, False)])
@pytest.mark.parametrize(("p", "m"), [(10, 9), (23, 5)])
def test_ten_kernels_in_registers_and_many_in_blocks_with_the_same_bits_again(
    p, m, weighted, dtype
):
    program, X, Y, root, grams = _problem(p, m + 2, dtype, weighted)
    assert (register_sums.MOST_KERNELS[X.itemsize] >= p) == (p == 10)
    for box in ((0, m, 0, m), (0, 3, 4, m + 2)):
        first, second = (_sums(program, X, Y, box, root=root) for _ in range(2))
        _check(first, _expected(grams, Y, box, root), dtype)
        for name, one, other in zip(first._fields, first, second):
            np.testing.assert_array_equal(one, other, err_msg=name)


@pytest.mark.parametrize(
    ("p", "m", "box"),
    [(2, 13, (0, 12, 0, 12)), (2, 13, (0, 5, 6, 13)), (11, 7, (0, 7, 0, 7)), (11, 7, (0, 3, 4, 7))],
)
def test_parts_of_a_box_give_the_same_sums(p, m, box):
    """With little memory a box is done in several parts, of one row of tiles or few pairs."""
    program, X, Y, root, grams = _problem(p, m, np.float64, True)
    assert (register_sums.MOST_KERNELS[8] < p) == (p == 11)
    got = _sums(program, X, Y, box, root=root, memory=1 if p == 2 else 12 * 8 * 3**2)
    _check(got, _expected(grams, Y, box, root), np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("many", [False, True])
def test_factors_terms_and_values_from_outside(many, dtype):
    """Of K = f(x) f(x') |x - x'|^2, g(x) + g(x') + |x - x'|^2 and a block of values."""
    copies, m, box = 6 if many else 1, 8, (1, 4, 5, 8)
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((m, 2)).astype(dtype), rng.standard_normal((m, 1)).astype(dtype)
    F, external = rng.standard_normal((2, m)), rng.standard_normal((1, 3, 3))
    p = 3 * copies
    target, distance = padded(p), padded(p) + 2
    code, parameters = [(ops.AFFINE, target, padded(p) + 1, 0)], [(1.0, 0.0, 0.0)]
    for k in range(0, p, 3):
        code += [(ops.AFFINE, k, distance, 0), (ops.FACTOR, k, 0, 0)]
        code += [(ops.AFFINE, k + 1, distance, 0), (ops.TERMS, k + 1, 0, 1)]
        code += [(ops.EXTERNAL, k + 2, 0, 0)]
        parameters += [(1.0 + k, 0, 0), (0, 0, 0), (1.0 + k, 0, 0), (0, 0, 0), (0, 0, 0)]
    primitives = [(ops.INNER_PRODUCT, 2, 3, padded(p) + 1), (ops.SQUARED_DISTANCE, 0, 2, distance)]
    program = cases.program(code, parameters, primitives, 3, p)
    d, grams = oracle.pair_primitives(X, X)[0], []
    for k in range(0, p, 3):
        outside = np.zeros((m, m))
        outside[1:4, 5:] = external[0]
        grams += [(1 + k) * d * F[0][:, None] * F[0], (1 + k) * d + F[1][:, None] + F[1], outside]
    got = _sums(program, X, Y, box, F=F, external=external)
    _check(got, _expected(grams, Y, box, None), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bound_features_lack_their_means_and_targets_do_not(dtype):
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((9, 4)).astype(dtype), rng.standard_normal((9, 2)).astype(dtype)
    features = np.array([2, 0, 2, 5, 4])
    means = np.array([0.5, 0.0, 1e3, 7.0, 7.0])  # targets have no mean to be subtracted
    given = [cuda.to_device(v) for v in (X[2:7], Y[2:7], features, means)]
    bound = pair_sums.bind(_Room(), "bound", *given).copy_to_host()
    both = np.concatenate([X, Y], axis=1)[2:7, features].astype(np.float64)
    want = (both - np.where(features < 4, means, 0.0)).astype(dtype).T
    np.testing.assert_array_equal(bound[:, :5], want)
    assert bound.shape[1] % pair_sums.MULTIPLE == 0
    np.testing.assert_array_equal(bound[:, 5:], 0)
    none = [cuda.to_device(np.zeros(1, v.dtype))[:0] for v in (features, means)]
    assert pair_sums.bind(_Room(), "bound", *given[:2], *none).shape[0] == 1


def test_bound_features_of_another_width_are_refused():
    program, X, Y, _, _ = _problem(1, 5, np.float32, False)
    side = _side(program, X, Y, None, None, 0, 5)
    ragged = cuda.to_device(np.zeros((side.bound.shape[0], 5), np.float32))
    side = side._replace(bound=ragged)
    raises(ValueError, "multiple of", pair_sums.start, program, side, None, None, _Room())
