import cuda_cases as cases
import numpy as np
import oracle
import pytest
from cuda_cases import FEW_BLOCKS, needs_cuda
from numba import cuda
from numpy.testing import assert_allclose

import alignlearn as al
from alignlearn._jit import cuda_kernel
from alignlearn.engine import bits, tiles
from alignlearn.engine import opcodes as ops
from alignlearn.engine.cuda.program import pair_functions
from alignlearn.engine.program import program_of

pytestmark = [
    needs_cuda,
    # NumPy warns about the numbers of the simulator in threads that errstate does not reach.
    pytest.mark.filterwarnings("ignore:(overflow|invalid value|divide by zero):RuntimeWarning"),
    FEW_BLOCKS,
]
# Formulas on a squared distance, which is rounded a few times; powers multiply the error.
BOUND = {np.float32: 3e-6, np.float64: 5e-15}
DTYPES = list(BOUND)
N, M, D = 5, 4, 3


def _samples(dtype, seed=0):
    """Samples whose squared distances are 0 for one pair, and factors and outside values."""
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((N, D)).astype(dtype), rng.standard_normal((M, D)).astype(dtype)
    Z[0] = X[0]
    return X, Z, rng.standard_normal((2, N)), rng.standard_normal((2, M)), rng.random((2, N, M))


def _launch(pair, program, X, Z, FX, FZ, external, *, store=False):
    """Values of all pairs, (n_values, n, m)."""
    numbers, ranges = pair.arguments(program)
    sides = np.ascontiguousarray(X.T), np.ascontiguousarray(Z.T)
    out = np.zeros((pair.n_values, len(X), len(Z)), pair.dtype)
    n_values, scale = pair.n_values, pair.dtype.type(1)

    @cuda_kernel
    def kernel(X, Z, FX, FZ, external, numbers, ranges, out):
        i, j = cuda.grid(2)
        if i < X.shape[1] and j < Z.shape[1]:
            q = pair.primitives(X, i, Z, j, ranges)
            if store:
                pair.store(q, i, j, FX, FZ, external, numbers, scale, out, i, j)
            else:
                v = pair.values(q, i, j, FX, FZ, external, numbers)
                for k in range(n_values):
                    out[k, i, j] = v[k]

    grid = -(-len(X) // 2), -(-len(Z) // 2)
    given, there = (*sides, FX, FZ, external, numbers, ranges), cuda.to_device(out)
    kernel[grid, (2, 2)](*map(_sent, given), there)
    return there.copy_to_host()


def _sent(given):
    """An array on the device; tuples are passed unchanged."""
    return cuda.to_device(given) if isinstance(given, np.ndarray) else given


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*cases.SINGLE, *cases.SECOND])
def test_operation_equals_its_formula_and_the_cpu(name, dtype):
    program = cases.of_operation(name)
    X, Z, *given = _samples(dtype)
    out = _launch(pair_functions(program, dtype), program, X, Z, *given)[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        want = cases.expected(name, oracle.pair_primitives(X, Z)[0], *given, dtype)
    # A power multiplies the relative error of its argument.
    bound = BOUND[dtype] * (10 if name in ("power 20", "clear") else 1)
    size = np.max(np.abs(want[np.isfinite(want)]), initial=1.0)
    assert_allclose(out, want.astype(np.float64), rtol=bound, atol=bound * float(size))
    W = np.zeros((program.n_rows + 1, N * M), dtype)
    columns = np.ascontiguousarray(X.T), np.ascontiguousarray(Z.T)
    tiles.fill_primitives(program.primitives, *columns, N, M, W)
    with np.errstate(invalid="ignore", over="ignore"):
        tiles.execute(program.code, program.parameters, *given, (0, 0, 0, 0), N, M, W)
    assert_allclose(out.ravel(), W[0], rtol=bound, atol=bound * float(size))


def test_every_operation_and_primitive_has_a_case():
    found = {case[0] for case in [*cases.SINGLE.values(), *cases.SECOND.values()]}
    assert found == set(range(len(ops.OPERATIONS)))
    assert len(ops.PRIMITIVES) == 9  # those in the two tests of primitives


def _of_one_number(op, s, *numbers, integer=0, dtype):
    """One operation on the register s = f - 0 of a single feature, for the values given."""
    s = np.asarray(s, dtype)[:, None]
    code, parameters = [(op, 0, 1, integer)], [(*numbers, 0.0, 0.0, 0.0)[:3]]
    if op in (ops.FLUSH, ops.CLEAR):
        code.insert(0, (ops.AFFINE, 0, 1, 0))
        parameters.insert(0, (1.0, 0.0, 0.0))
    program = cases.program(code, parameters, [(ops.INNER_PRODUCT, 0, 1, 1)], 1)
    none = np.zeros((1, len(s))), np.zeros((1, 1)), np.zeros((1, 1, 1))
    pair = pair_functions(program, dtype)
    return _launch(pair, program, s, np.ones((1, 1), dtype), *none)[0, :, 0]


@pytest.mark.parametrize(
    ("dtype", "most", "least"), [(np.float32, 88, -41), (np.float64, 709, -345)]
)
def test_range_of_the_exponential_and_the_flush(dtype, most, least):
    x = np.array([most, np.nextafter(dtype(most), dtype(np.inf)), np.inf, np.nan, -np.inf, least])
    x = np.append(x, np.nextafter(dtype(least), dtype(-np.inf))).astype(dtype)
    values = _of_one_number(ops.EXP, x, 1.0, dtype=dtype)
    np.testing.assert_array_equal(np.isposinf(values), [0, 1, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(np.isnan(values), [0, 0, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(values == 0, [0, 0, 0, 0, 1, 0, 1])
    tiny = np.array([0.99, 1.01, -0.99, -1.01, np.nan]) * np.exp(np.longdouble(least))
    kept = _of_one_number(ops.FLUSH, tiny, dtype=dtype)
    np.testing.assert_array_equal(kept != 0, [0, 1, 0, 1, 1])
    assert np.isnan(kept[4])


@pytest.mark.parametrize(
    ("dtype", "small"), [(np.float32, [1e-8, 2e-10]), (np.float64, [1e-74, 1e-76])]
)
def test_squares_below_the_range_of_the_exponential_are_0(dtype, small):
    values = _of_one_number(ops.SQUARE, np.array([1.0, *small]), integer=1, dtype=dtype)
    np.testing.assert_array_equal(values != 0, [1, 1, 0])


def _primitives(program, dtype, X, Z, n_primitives):
    """Primitives of all pairs, one by one and in blocks of two rows by two columns."""
    single = pair_functions(program, dtype).primitives
    block = pair_functions(program, dtype, rows=2, columns=2).primitives

    @cuda_kernel
    def kernel(X, Z, ranges, out, blocks):
        i, j = np.int64(cuda.blockIdx.x), np.int64(cuda.threadIdx.x)
        q = single(X, i, Z, j, ranges)
        for k in range(n_primitives):
            out[k, i, j] = q[k]
        # Blocks overlap: every pair is at each place of one.
        ii, jj = (i, (i + 1) % N), (j, (j + 1) % M)
        b = block(X, ii, Z, jj, ranges)
        for place in range(4):
            for k in range(n_primitives):
                blocks[place, k, ii[place // 2], jj[place % 2]] = b[place][k]

    out, blocks = np.zeros((n_primitives, N, M), dtype), np.zeros((4, n_primitives, N, M), dtype)
    ranges = pair_functions(program, dtype).arguments(program)[1]
    sides = np.ascontiguousarray(X.T), np.ascontiguousarray(Z.T)
    there = cuda.to_device(out), cuda.to_device(blocks)
    kernel[N, M](*map(_sent, (*sides, ranges)), *there)
    return ranges, *(array.copy_to_host() for array in there)


@pytest.mark.parametrize("dtype", DTYPES)
def test_primitives_equal_the_oracle(dtype):
    kinds = [ops.SQUARED_DISTANCE, ops.INNER_PRODUCT, ops.L1_DISTANCE, ops.DISTANCE, ops.MATCHES]
    kinds += [ops.MINIMA, ops.HEIGHTS]
    # Features 0 to 3 for the first three, which share a loop, 1 to 3 for the others.
    primitives = [(kind, int(n > 2), 3, n + 1) for n, kind in enumerate(kinds)]
    program = cases.program([(ops.AFFINE, 0, 1, 0)], [(1, 0, 0)], primitives, 3)
    X, Z = _samples(dtype)[:2]
    Z[1, 1:] = X[1, 1:]
    ranges, out, blocks = _primitives(program, dtype, X, Z, len(kinds))
    assert ranges == (0, 3, 1, 3)
    whole, part = oracle.pair_primitives(X, Z), oracle.pair_primitives(X[:, 1:], Z[:, 1:])
    matches = (X[:, None, 1:] == Z[:, 1:]).sum(axis=-1)
    assert matches[1, 1] == 2
    minima = np.minimum(X[:, None, 1:], Z[:, 1:]).sum(axis=-1)
    heights = np.where(X[:, None, 1:] == Z[:, 1:], 0, X[:, None, 1:] + Z[:, 1:]).sum(axis=-1)
    bound = {"rtol": BOUND[dtype], "atol": BOUND[dtype]}
    for got, want in zip(out, [*whole, np.sqrt(part[0]), matches, minima, heights]):
        assert_allclose(got, want.astype(np.float64), **bound)
    for block in blocks:
        np.testing.assert_array_equal(block, out)


@pytest.mark.parametrize("dtype", DTYPES)
def test_counts_of_bits_are_those_of_the_cpu_and_of_zeros_and_ones(dtype):
    """More columns than fit into one number, beside columns that other primitives read."""
    rng = np.random.default_rng(0)
    X, Z = ((rng.random((n, 70)) < 0.4).astype(dtype) for n in (N + 8, M + 8))
    rows = (ops.INNER_PRODUCT, ops.MINIMA, ops.L1_DISTANCE, ops.SQUARED_DISTANCE, ops.MATCHES)
    primitives = [(kind, 0, 70, n + 1) for n, kind in enumerate(rows)]
    plain = cases.program([(ops.AFFINE, 0, 1, 0)], [(1, 0, 0)], primitives, 70)
    program, (V, W) = bits.counted(plain, X, Z)
    words = -(-70 // (23 if dtype == np.float32 else 52))
    assert V.shape == (N + 8, words + 70)
    V, W = V[:N, program.features], W[:M, program.features]
    _, out, blocks = _primitives(program, dtype, V, W, len(rows))
    both, apart = X[:N] @ Z[:M].T, (X[:N, None] != Z[:M]).sum(axis=-1)
    np.testing.assert_array_equal(out, [both, both, apart, apart, 70 - apart])
    for block in blocks:
        np.testing.assert_array_equal(block, out)
    registers = np.zeros((program.n_rows + 1, N * M), dtype)
    columns = np.ascontiguousarray(V.T), np.ascontiguousarray(W.T)
    tiles.fill_primitives(program.primitives, *columns, N, M, registers)
    np.testing.assert_array_equal(registers[1:6].reshape(out.shape), out)


def _ladder(gammas, dtype=np.float64, n_features=3):
    X = np.zeros((2, n_features), dtype)
    return program_of(al.gaussian_kernels(gammas), X, X)


def test_structure_decides_what_is_compiled_not_numbers():
    one, other = _ladder([0.5, 1.0, 3.0]), _ladder([0.1, 0.2, 5.0])
    pair = pair_functions(one, np.float32)
    assert pair_functions(other, np.float32) is pair
    assert pair_functions(_ladder([0.1, 0.2, 5.0], n_features=7), np.float32) is pair
    assert pair.arguments(one) != pair.arguments(other)
    assert pair_functions(one, np.float64) is not pair
    assert pair_functions(_ladder([0.5, 1.1, 3.0]), np.float32) is not pair
    assert "0.5" not in pair.source


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_are_of_the_dtype_and_many_come_as_an_array(dtype):
    few = _ladder([0.5, 0.7])
    numbers, ranges = pair_functions(few, dtype).arguments(few)
    assert [type(v) for v in numbers] == [dtype, dtype]
    assert ranges == (0, 3)
    many = _ladder(np.linspace(1, 2, 300, endpoint=False))
    numbers, _ = pair_functions(many, dtype).arguments(many)
    assert numbers.dtype == dtype
    assert numbers.shape == (300,)


def test_ranges_of_many_groups_of_features_come_as_an_array():
    """Of 65 kernels on a feature each."""
    code = [(ops.AFFINE, k, 65 + k, 0) for k in range(65)]
    primitives = [(ops.INNER_PRODUCT, k, k + 1, 65 + k) for k in range(65)]
    program = cases.program(code, [(1.0, 0.0, 0.0)] * 65, primitives, 65, n_kernels=65)
    pair, X = pair_functions(program, np.float64), np.arange(65.0)[None]
    ranges = pair.arguments(program)[1]
    assert isinstance(ranges, np.ndarray)
    assert ranges.tolist() == [end for k in range(65) for end in (k, k + 1)]
    none = np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1, 1))
    np.testing.assert_array_equal(_launch(pair, program, X, X, *none)[:, 0, 0], X[0] ** 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_are_of_the_dtype_and_stored_alike(dtype):
    """A program with all operations: none promotes the type of the following ones."""
    code, parameters = [], []
    for row, name in enumerate([*cases.SINGLE, *cases.SECOND]):
        op, integer, numbers, _ = cases.SINGLE.get(name) or cases.SECOND.get(name)
        code.append((op, row, 99, integer))
        parameters.append((*numbers, 0.0, 0.0, 0.0)[:3])
    primitives = [(ops.SQUARED_DISTANCE, 0, D, 99)]
    program = cases.program(code, parameters, primitives, D, n_kernels=len(code) + 1)
    pair = pair_functions(program, dtype)
    X, Z, *given = _samples(dtype)
    out = _launch(pair, program, X, Z, *given)
    np.testing.assert_array_equal(out, _launch(pair, program, X, Z, *given, store=True))
    np.testing.assert_array_equal(out[-1], 0)  # no operation writes to the last register
    if cases.SIMULATED:
        numbers = pair.arguments(program)[0]
        values = pair.values((dtype(0.5),), 0, 0, *given, numbers)
        assert {type(v) for v in values} == {dtype}
