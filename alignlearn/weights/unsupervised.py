"""Rules for kernel weights that need no target: agreement, entropy, neighborhoods.

Sources: Lavit, Escoufier, Sabatier and Traissac (1994), "The ACT (STATIS method)"; Mariette and
Villa-Vialaneix (2018), "Unsupervised multiple kernel learning for heterogeneous data integration";
Sanchez Giraldo, Rao and Principe (2015), "Measures of entropy from data using infinitely divisible
kernels".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn.solvers.nnqp import nonnegative_qp
from alignlearn.sources.source import row_blocks
from alignlearn.validation import check_count, check_number

from .base import Weighting

# Eigenvalues closer to the largest than this count as equal to it.
_EQUAL = 1e-10
_EPS = np.finfo(np.float64).eps
_COPIES = 100.0  # roundings of the largest squared norm, up to which a distance counts as 0


class _WithoutTarget(Weighting):
    """Base class of the rules that ignore the target."""

    needs_target = False

    def _unusable(self, statistics):
        return None


@dataclass(eq=False, repr=False)
class Consensus(_WithoutTarget):
    """The combination that agrees most with all kernels (STATIS).

    Centered kernels of norm 1 are weighted by the first eigenvector of the matrix of their pairwise
    alignments (RV coefficients), which has no negative entries: this combination maximizes the sum
    of its squared alignments with the kernels. Kernels that agree with no other kernel get small
    weights. Duplicated kernels increase each other's weights. No target is needed.

    Parameters
    ----------
    normalize : {"l1", "l2"} or None, default "l1"
        Norm of the weights that is set to 1; None: the eigenvector has length 1.

    Notes
    -----
    If kernels are indefinite or the statistics are U-statistics, an alignment below 0 counts as 0.
    If several eigenvectors belong to the largest eigenvalue, the one closest to equal entries is
    used. ``objective`` of the result is that eigenvalue, ``kkt_residual`` the relative residual of
    the eigenvector.

    Examples
    --------
    Two views that agree outvote one of noise, with no target:

    >>> import numpy as np
    >>> from alignlearn import KernelCombiner
    >>> rng = np.random.default_rng(0)
    >>> view, noise = rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    >>> tables = {"a": view, "b": view + 0.1 * rng.normal(size=(40, 2)), "noise": noise}
    >>> kernels = dict.fromkeys(tables, "linear")
    >>> combiner = KernelCombiner(kernels, weighting="consensus").fit(tables)
    >>> combiner.weights_.round(2).tolist()
    [0.47, 0.47, 0.06]
    """

    normalize: str | None = "l1"

    def _solve(self, statistics, nonzero):
        d = _over_norms(statistics.norms)
        C = np.clip(d[:, None] * statistics.M * d, 0.0, 1.0)
        values, vectors = np.linalg.eigh(C)
        first = vectors[:, values >= (1.0 - _EQUAL) * values[-1]]
        # The projection on the first eigenspace of a nonnegative matrix keeps entries nonnegative.
        u = np.maximum(first @ first.T @ nonzero.astype(np.float64), 0.0)
        u /= np.linalg.norm(u)
        residual = np.abs(C @ u - values[-1] * u).max() / values[-1]
        return d * u, {"objective": float(values[-1]), "kkt_residual": float(residual)}


@dataclass(eq=False, repr=False)
class MaxEntropy(_WithoutTarget):
    """The combination of maximum entropy, with the most even spectrum.

    Maximizes the quadratic entropy ``-log Tr(R^2)`` of the centered combination R of trace 1 over
    nonnegative weights, which is to maximize its alignment with the identity. ``exp`` of it is the
    effective number of dimensions. Narrow kernels, which separate all samples, have the largest
    number. No target is needed.

    Parameters
    ----------
    normalize : {"l1", "l2"} or None, default "l1"
        Norm of the weights that is set to 1; None: the minimizer of ``v'Mv - 2 v't`` for the
        centered traces t.
    tol : float, default 1e-12
        Relative KKT residual at which the solver stops.

    Notes
    -----
    ``objective`` of the result is the entropy.

    Examples
    --------
    Narrow kernels separate all samples:

    >>> import numpy as np
    >>> from alignlearn import Gaussian, KernelCombiner, MaxEntropy
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> combiner = KernelCombiner([Gaussian(0.01), Gaussian(10.0)], weighting=MaxEntropy()).fit(X)
    >>> combiner.weights_.round(1).tolist()
    [0.0, 1.0]
    """

    normalize: str | None = "l1"
    tol: float = 1e-12

    def _unusable(self, statistics):
        if not (statistics.trace[statistics.norms > 0.0] > 0.0).any():
            return "no kernel that varies has a positive trace"
        return None

    def _solve(self, statistics, nonzero):
        tol = check_number("tol", self.tol, low=0.0, high=1.0, strict=True)
        t = np.where(nonzero, np.maximum(statistics.trace, 0.0), 0.0)
        found = nonnegative_qp(statistics.M, t, tol=tol, check_psd=False)
        square = found.v @ statistics.M @ found.v / (t @ found.v) ** 2
        return found.v, {"objective": -float(np.log(square)), **_certificate(found)}


@dataclass(eq=False, repr=False)
class Structure(_WithoutTarget):
    """Sparse weights that preserve the neighborhoods of the kernels (sparse UMKL).

    The nearest neighbors of every sample by each kernel give a graph, in which an edge counts once
    for each kernel and direction. Duplicates of a sample, which no kernel distinguishes from it,
    are not its neighbors. One of them represents all, so that repeating every sample changes no
    weight. The weights, of sum 1 on centered kernels of norm 1, minimize

        sum over edges (i, j) of |K(x_i, .) - K(x_j, .)|^2

    for the rows of the combination K, so that neighbors are similar. No target is needed.

    Parameters
    ----------
    n_neighbors : int, default 5
        Neighbors of each sample in each kernel's feature space; all others if there are fewer.
    normalize : {"l1", "l2"} or None, default "l1"
        Norm of the weights that is set to 1; None: those of the problem.
    tol : float, default 1e-12
        Relative KKT residual at which the solver stops.

    Notes
    -----
    Kernels are evaluated three times, in blocks of rows. The memory is that of the blocks and of at
    most ``2 p n_neighbors`` edges per sample, without a Gram matrix. The time is proportional to
    ``p^2 m^2``. The reference compares unscaled kernels, which favors small ones; here units have
    no effect. ``objective`` of the result is the sum above. Sample weights are not supported.

    Examples
    --------
    >>> import numpy as np
    >>> from alignlearn import Gaussian, KernelCombiner, Structure
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> kernels = [Gaussian(0.01), Gaussian(1.0), Gaussian(10.0)]
    >>> combiner = KernelCombiner(kernels, weighting=Structure(n_neighbors=3)).fit(X)
    >>> combiner.weights_.round(2).tolist()
    [0.52, 0.44, 0.04]
    """

    needs = "source"

    n_neighbors: int = 5
    normalize: str | None = "l1"
    tol: float = 1e-12

    def learn(self, problem):
        """Learn the weights of the scaled kernels of a problem; errors as in `Weighting.solve`.

        Parameters
        ----------
        problem : alignlearn.weights.Problem
            Without sample weights.

        Returns
        -------
        WeightResult
        """
        n_neighbors = check_count("n_neighbors", self.n_neighbors, optional=False)
        tol = check_number("tol", self.tol, low=0.0, high=1.0, strict=True)
        source, scale = problem.source, problem.scale
        if source.weight is not None:
            raise ValueError(
                f"weighting={self!r} does not accept sample_weight; accepted: repeated "
                "samples, or another rule."
            )
        nonzero, usable = self._checked(problem.statistics)
        found = self._on_graph(source, scale, n_neighbors, tol, nonzero) if usable else None
        return self._result(problem.statistics, nonzero, found)

    def _on_graph(self, source, scale, n_neighbors, tol, nonzero):
        used = np.flatnonzero(nonzero)
        kernels = CenteredRows([source.single(k) for k in used])
        graph = neighbor_graph(kernels, n_neighbors)
        S, norms = distortions(kernels, graph)
        d = _over_norms(norms * scale[used])
        S = S * np.outer(d * scale[used], d * scale[used])
        # Distortions of 0 are below 0 by rounding, which is proportional to norms and edges.
        S.flat[:: used.size + 1] += 4.0 * used.size * _EPS * graph.diagonal().max()
        # Minimizing u'Su on the simplex: the sum, penalized, only scales the minimizer, and so the
        # problem is bounded where S is singular.
        penalty = max(float(np.mean(np.diagonal(S))), np.finfo(np.float64).tiny)
        right = np.full(used.size, penalty)
        found = nonnegative_qp(S + penalty, right, tol=tol, check_psd=False)
        u = found.v / found.v.sum()
        weights = np.zeros(nonzero.size)
        weights[used] = d * u
        return weights, {"objective": float(u @ S @ u), **_certificate(found)}

    def _solve(self, statistics, nonzero):
        raise TypeError(
            "Structure needs the samples, because statistics do not contain their "
            'neighbors; accepted: weighting="structure" of KernelCombiner, OneClassMKL, '
            "MKLClassifier or MKLRegressor."
        )


def _over_norms(norms):
    """1 over norms, 0 where they are 0."""
    return np.divide(1.0, norms, out=np.zeros(len(norms)), where=norms > 0.0)


def _certificate(found):
    """The certificate fields of a `WeightResult` for a solved quadratic program."""
    names = ("kkt_residual", "duality_gap", "n_iter", "converged")
    return {name: getattr(found, name) for name in names}


class CenteredRows:
    """Rows of centered kernels, some at a time.

    Parameters
    ----------
    combinations : list of Combination
        One for each kernel, on the same samples.
    """

    def __init__(self, combinations):
        self.combinations, self.n_samples = combinations, combinations[0].n_samples
        p, m = len(combinations), self.n_samples
        self.precision = 0.0  # of the values, a rounding
        rows, columns, diagonal = np.empty((p, m)), np.zeros((p, m)), np.empty((p, m))
        for index in self.blocks():
            for k, own in enumerate(combinations):
                K = own.rows(index)
                self.precision = max(self.precision, np.finfo(K.dtype).eps)
                K = np.asarray(K, np.float64)
                rows[k, index], diagonal[k, index] = K.mean(axis=1), K[range(len(K)), index]
                columns[k] += K.sum(axis=0) / m
        # Means of rows and of columns: rows may omit f(x) or f(x').
        self._columns = columns - rows.mean(axis=1, keepdims=True)
        self._rows = rows
        self.diagonal = diagonal - rows - self._columns

    def blocks(self):
        """Index arrays of the rows to be held at once."""
        m = self.n_samples
        return [np.arange(m)[rows] for rows in row_blocks(m, m * len(self.combinations))]

    def read(self, index):
        """Rows of all kernels, (p, len(index), m) float64."""
        out = np.empty((len(self.combinations), len(index), self.n_samples))
        for k, own in enumerate(self.combinations):
            out[k] = own.rows(index)
            out[k] -= self._rows[k, index, None]
            out[k] -= self._columns[k]
        return out


def neighbor_graph(kernels, n_neighbors):
    """Laplacian, a CSR array (m, m), of the graph of nearest neighbors by each of the kernels.

    Edges count once for each kernel and direction in which they are found. Samples that no kernel
    distinguishes are duplicates: they are not neighbors of each other, and the first represents
    all.
    """
    from scipy.sparse import csr_array, diags

    first = first_copies(kernels)
    distinct, place = np.unique(first, return_inverse=True)
    m, count = kernels.n_samples, min(n_neighbors, len(distinct) - 1)
    adjacency = csr_array((m, m))
    for index in kernels.blocks():
        for K, own in zip(kernels.read(index), kernels.diagonal):
            distance = own[distinct] - 2.0 * K[:, distinct]  # squared, less a constant of the row
            distance[range(len(index)), place[index]] = np.inf
            near = np.argpartition(distance, count - 1, axis=1)[:, :count]
            pairs = np.repeat(index, count), distinct[near.ravel()]
            adjacency += csr_array((np.ones(near.size), pairs), shape=(m, m))
    adjacency = adjacency + adjacency.T
    return csr_array(csr_array(diags(adjacency.sum(axis=0))) - adjacency)


def first_copies(kernels):
    """For each sample, the first sample that no kernel distinguishes from it, (m,); usually itself.

    Kernels are evaluated once more where means of their rows leave it possible that there are any.
    """
    first, size = np.arange(kernels.n_samples), kernels.diagonal.max(axis=1)
    limit = _COPIES * kernels.precision * size
    order = np.argsort(kernels.diagonal[0], kind="stable")
    if (np.diff(kernels.diagonal[0][order]) > limit[0]).all():
        return first
    for index in kernels.blocks():
        copies = np.ones((len(index), kernels.n_samples), bool)
        for K, own, most in zip(kernels.read(index), kernels.diagonal, limit):
            copies &= own[index, None] + own - 2.0 * K <= most
        copies[range(len(index)), index] = True
        first[index] = copies.argmax(axis=1)
    return first if first.any() else np.arange(kernels.n_samples)


def distortions(kernels, laplacian):
    """Products ``<K_k, L K_l>`` (p, p) of centered kernels by a Laplacian L; their norms (p,)."""
    p = len(kernels.combinations)
    S, squares = np.zeros((p, p)), np.zeros(p)
    for index in kernels.blocks():
        block = kernels.read(index)
        flat = block.reshape(p, -1)
        squares += np.einsum("ki,ki->k", flat, flat)
        smooth = np.stack([(laplacian @ K.T).T for K in block])
        S += flat @ smooth.reshape(p, -1).T
    return 0.5 * (S + S.T), np.sqrt(squares)
