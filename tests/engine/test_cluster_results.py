"""Statistics and products on the workers of a Dask cluster equal those of one process."""

import numpy as np
import pytest

import alignlearn as al
from alignlearn.engine import grams, pair_sums
from alignlearn.engine.cluster import Cluster
from alignlearn.engine.cpu import CPU
from alignlearn.hyper import GaussianHyperKernel, WishartHyperKernel
from alignlearn.hyper._pairs import PairSystem

M = 700
RNG = np.random.default_rng(0)
X = RNG.normal(size=(M, 4))
Y = RNG.choice([-1.0, 1.0], size=(M, 1)) - 0.1
LADDER = al.gaussian_kernels(2.0 ** np.arange(-3, 2))
FUNCTION = al.FromFunction(lambda x, z: np.tanh(0.1 * x @ z))
TEXTS = ["".join(RNG.choice(list("abc"), 9)) for _ in range(50)]


def _resolved(kernels, samples):
    return [kernel.resolve(samples) for kernel in kernels]


def statistics(engine):
    """All kinds of values: formulas, functions, float32, weights, folds."""
    weight = np.linspace(0.5, 2.0, M)
    mixed = _resolved([*LADDER, al.Polynomial(degree=2), FUNCTION], X)
    ladder = _resolved(LADDER, X)
    found = [*pair_sums.centered_sums(X[:50], Y[:50], mixed, engine=engine)]
    found += pair_sums.centered_sums(X, Y, ladder, weight=weight, engine=engine)
    found += pair_sums.centered_sums(X.astype(np.float32), Y, ladder, engine=engine)
    bits = np.tile(X > 0.0, 17).astype(float)
    found += pair_sums.centered_sums(bits, Y, [al.Tanimoto(), al.MinMax()], engine=engine)
    folds = pair_sums.FoldSums(X, Y, ladder, [0, 200, 400, M], engine=engine)
    found += folds.union([0, 2])[0]
    return found


def products(engine):
    """With a Gram matrix and with its square, of formulas and of objects."""
    many, found = np.tile(X, (3, 1)), []
    for kernels, samples in ((LADDER, many), ([FUNCTION], X[:50]), ([al.StringSpectrum(2)], TEXTS)):
        weights, n = np.arange(1.0, len(kernels) + 1), len(samples)
        K = grams.GramProducts(_resolved(kernels, samples), weights, samples, engine=engine)
        A = np.cos(np.arange(2.0 * n)).reshape(n, 2)
        found += [K.times(A), K.normal_times(A[:, 0], shift=0.5, weight=np.arange(n) % 3.0)]
    return found


def hyper_products(engine):
    """Of a few pairs, and of all pairs of points."""
    found = []
    for kind, m in ((WishartHyperKernel, 60), (GaussianHyperKernel, 90)):
        system = PairSystem(kind().resolve(X[:m]), X[:m], *np.triu_indices(m), engine=engine)
        found.append(system.times(system.diagonal()))
    return found


@pytest.mark.parametrize("work", [statistics, products, hyper_products])
def test_results_are_those_of_one_process(dask_client, work):
    """To the last bit."""
    expected, found = work(CPU), work(Cluster(dask_client, CPU))
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b, strict=True)


def test_workers_compile_nothing_else(dask_client):
    """Arrays have the same types on the workers as in the client."""

    def signatures():
        from alignlearn.engine import loops, times_loops

        compiled = loops.add_statistics, times_loops.times, times_loops.normal_times
        return {(k, str(types)) for k, loop in enumerate(compiled) for types in loop.signatures}

    for work in (statistics, products):
        work(CPU)
        work(Cluster(dask_client, CPU))
    for found in dask_client.run(signatures).values():
        assert found
        assert found <= signatures()


def test_mapped_samples_are_not_sent(dask_client, tmp_path, monkeypatch):
    """Public functions and machines on a memmap: the workers read the file."""
    samples, sizes, scatter = np.tile(X, (6, 8)), [], dask_client.scatter
    y = np.sign(samples[:, 0])

    def on_disk(samples):
        np.save(tmp_path / f"{samples.dtype}.npy", samples)
        return np.load(tmp_path / f"{samples.dtype}.npy", mmap_mode="r")

    def note(data, **options):
        sizes.extend(getattr(part, "nbytes", len(part)) for part in data.values())
        return scatter(data, **options)

    monkeypatch.setattr(dask_client, "scatter", note)
    single = samples.astype(np.float32)
    expected = al.alignment_statistics(single, y, LADDER)
    found = al.alignment_statistics(on_disk(single), y, LADDER, client=dask_client)
    np.testing.assert_array_equal(found.M, expected.M)
    np.testing.assert_array_equal(found.a, expected.a)
    ridge = al.NystromRidge(LADDER[0], n_centers=50, random_state=0)
    expected, mapped = ridge.fit(samples, y).predict(samples), on_disk(samples)
    np.testing.assert_array_equal(
        ridge.set_params(client=dask_client).fit(mapped, y).predict(mapped), expected
    )
    assert 0 < max(sizes) < 0.2 * single.nbytes
