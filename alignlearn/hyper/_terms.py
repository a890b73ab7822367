"""Terms of hyper-kernels that the engine evaluates, each with one table between points.

A term has ``values`` between two lists of pairs, a ``system`` (the matrix between the pairs of one
list, which is not formed), ``expand`` (a sum of sections, evaluated between rows of samples),
``merged`` (one term equal to the sum with another one, or None) and ``sections_psd``.
"""

from __future__ import annotations

from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from alignlearn.engine import grams, hyper_values
from alignlearn.engine.cpu import CPU
from alignlearn.kernels import Gaussian
from alignlearn.solvers.panels import panels
from alignlearn.validation.memory import require_memory

_FEATURES = 2**22  # entries of the features that are multiplied at once: 32 MB
_ROWS = 128  # columns of a block of a product
# Time of one multiplication in `product_sums` over that of one value in `pair_times` (measured).
_PRODUCT_SHARE = 1 / 100


def total(values):
    """The sum of arrays, computed in the first."""
    return reduce(np.ndarray.__iadd__, values)


def sizes(points, first, second):
    """Squared distances between rows ``first`` and ``second`` of points."""
    out = np.empty(first.size)
    for part in panels(first.size):
        apart = points[first[part]] - points[second[part]]
        out[part] = np.einsum("ij,ij->i", apart, apart)
    return out


class TableTerm:
    """Base of the terms with a table of squared distances.

    A subclass has ``form``, ``coordinates(X)``, ``table(D)``, which overwrites D, and
    ``own(size, apart)``, where ``apart(scales)`` are the squared distances within the pairs after
    the columns are multiplied, and ``expand``.
    """

    def pairs(self, points, first, second):
        """`engine.hyper_values.Pairs` of rows ``first`` and ``second`` of points."""
        at = self.coordinates(points)
        size = sizes(at, first, second)

        def apart(scales):
            return size if scales is None else sizes(points * scales, first, second)

        return hyper_values.Pairs(first, second, self.own(size, apart), size)

    def between(self, points, others):
        """The table between rows of two arrays."""
        ends = self.coordinates(points), self.coordinates(others)
        return self.table(cdist(*ends, "sqeuclidean"))

    def values(self, left, right=None):
        """Values between pairs, each side ``(points, first, second)``; right None: the same."""
        table = self.between(left[0], (left if right is None else right)[0])
        others = None if right is None else self.pairs(*right)
        return hyper_values.pair_gram(self.form, table, self.pairs(*left), others, CPU)

    def system(self, points, first, second, engine):
        """The matrix between pairs of rows of points."""
        return TableSystem(self, points, first, second, engine)

    def diagonal(self, pairs):
        """The values of pairs with themselves."""
        out = np.empty(pairs.n_pairs)
        for part in panels(out.size):
            out[part] = self._own_value(pairs.own[:, part], pairs.size[part])
        return out


class Rung(NamedTuple):
    """``weight exp(-(|x - x'|_s^2 + |y - y'|_s^2) / 2 v1 - |difference of midpoints|^2 / 2 v2)``.

    ``scales`` multiply the columns of the differences, None for 1.
    """

    weight: float
    v1: float
    v2: float
    scales: tuple | None

    def rate(self, size, apart):
        """The exponent of a pair's own factor, if the table is that of v2."""
        return apart(self.scales) * (-0.5 / self.v1) + size * (0.125 / self.v2)

    @property
    def sections_psd(self):
        """Whether the remaining factor of the difference is a Gaussian."""
        least = 1.0 if self.scales is None else min(self.scales)
        return least * least * 4.0 * self.v2 >= self.v1 * (1.0 - 1e-12)


class Ladder(TableTerm):
    """A sum of Gaussian hyper-kernels whose v2 are the largest one halved some times.

    Parameters
    ----------
    rungs : sequence of Rung
    """

    def __init__(self, rungs):
        self.rungs = tuple(sorted(rungs, key=lambda rung: -rung.v2))
        self._widest = self.rungs[0].v2
        halved = [round(np.log2(self._widest / rung.v2)) for rung in self.rungs]
        self.form = hyper_values.Form(hyper_values.PRODUCT, 0.0, np.array(halved, dtype=np.int64))

    def merged(self, other):
        """One term of the rungs of both, if squarings give the table of one from the other's."""
        if not isinstance(other, Ladder):
            return None
        halved = np.log2(self._widest / other._widest)
        near = abs(halved - round(halved)) <= 1e-12 and abs(halved) <= 40
        return Ladder(self.rungs + other.rungs) if near else None

    @property
    def sections_psd(self):
        """Whether every section is a kernel."""
        return all(rung.sections_psd for rung in self.rungs)

    def coordinates(self, X):
        """The samples themselves."""
        return X

    def table(self, D):
        """Gaussians of the widest v2."""
        D /= -8.0 * self._widest
        return np.exp(D, out=D)

    def own(self, size, apart):
        """Square roots of the weights times a pair's own factor in each rung."""
        out = np.empty((len(self.rungs), size.size))
        for k, rung in enumerate(self.rungs):
            exponent = rung.rate(size, apart)
            if exponent.max(initial=0.0) > hyper_values.LARGEST:
                raise ValueError(
                    f"pairs differ by up to {np.sqrt(size.max()):.3g}, too much for float64 in a "
                    f"hyper-kernel of variances {rung.v1:.3g} of differences and {rung.v2:.3g} of "
                    "midpoints; accepted: wider midpoints, 4 v2 >= v1, or X of another scale."
                )
            out[k] = np.exp(exponent, out=exponent)
            out[k] *= np.sqrt(rung.weight)
        return out

    def _own_value(self, own, size):
        out = np.zeros(size.size)
        for k, rung in enumerate(self.rungs):
            out += own[k] * (np.exp(size / (-4.0 * rung.v2)) * own[k])
        return out

    def expand(self, X, Y, points, first, second, coef):
        """``sum_p coef[p] k(p, (x, y))`` for rows of X and Y."""
        reaches, found = {}, []
        X, Y = _within_reach(X, Y, points)
        farthest = sum(np.square(Z - points[0]).sum(axis=1).max() ** 0.5 for Z in (X, Y)) ** 2
        for rung in self.rungs:
            # If the remaining factor of the difference increases, it could overflow.
            split = rung.sections_psd or 0.125 * farthest < hyper_values.LARGEST * rung.v2
            reaches.setdefault((rung.v2, split), []).append(rung)
        middle = 0.5 * (points[first] + points[second])
        for (v2, split), rungs in reaches.items():
            coefs = []
            for rung in rungs:
                size = sizes(points if rung.scales is None else points * rung.scales, first, second)
                coefs.append(coef * (rung.weight * np.exp(size / (-2.0 * rung.v1))))
            part = _by_bumps if split else _by_midpoints
            found.append(part(X, Y, middle, v2, rungs, coefs))
        return total(found)


def _within_reach(X, Y, points):
    """X and Y, clipped where they are so far from the points that their squares may overflow.

    All values of such samples are 0, before and after.
    """
    reach = max(1e100, 1e10 * np.abs(points).max(initial=0.0))
    near = [Z if np.abs(Z).max(initial=0.0) <= reach else np.clip(Z, -reach, reach) for Z in (X, Y)]
    return (near[0], near[0]) if X is Y else near


def _by_bumps(X, Y, middle, v2, rungs, coefs):
    """The sum of ``exp(-kappa |x - y|^2) sum_p c_p phi_p(x) phi_p(y)`` over rungs of one v2.

    The second form in the notes of `GaussianHyperKernel`; the bumps phi serve all rungs.
    """
    bump, same, out = Gaussian(0.25 / v2), X is Y, np.zeros((len(X), len(Y)))
    ends = [_stretched(rung, X, Y) for rung in rungs]
    step = max(1, _FEATURES // max(len(X), len(Y)))
    for p in range(0, len(middle), step):
        some = middle[p : p + step]
        left = grams.weighted_gram([bump], [1.0], X, some)
        right = left if same else grams.weighted_gram([bump], [1.0], Y, some)
        for i in range(0, len(X), _ROWS):  # the products of few rows stay in cache
            rows, columns = slice(i, i + _ROWS), slice(i if same else 0, None)
            for c, (shrink, grow) in zip(coefs, ends):
                values = (left[rows] * c[p : p + step]) @ right[columns].T
                values *= _difference(shrink, rows, columns)
                if grow is not None:
                    values /= _difference(grow, rows, columns)
                out[rows, columns] += values
    return hyper_values.mirror(out) if same else out


def _stretched(rung, X, Y):
    """X and Y in coordinates of unit gamma for a rung's factor of the difference, twice.

    For the columns in which the factor decreases, and for those in which it increases, or None.
    """
    scales = np.ones(X.shape[1]) if rung.scales is None else np.asarray(rung.scales)
    kappa = np.square(scales) * (0.5 / rung.v1) - 0.125 / rung.v2
    shrink, grow = np.sqrt(np.maximum(kappa, 0.0)), np.sqrt(np.maximum(-kappa, 0.0))
    return (X * shrink, Y * shrink), ((X * grow, Y * grow) if grow.any() else None)


def _difference(ends, rows, columns):
    return grams.weighted_gram([Gaussian(1.0)], [1.0], ends[0][rows], ends[1][columns])


def _by_midpoints(X, Y, middle, v2, rungs, coefs):
    """The same for rungs where it could overflow, from the midpoints and those of the pairs."""
    bump, C, out = Gaussian(0.5 / v2), np.stack(coefs, axis=1), np.zeros((len(X), len(Y)))
    for i, x in enumerate(X):
        sums = grams.gram_times([bump], [1.0], 0.5 * (x + Y), middle, C)
        for k, rung in enumerate(rungs):
            scales = 1.0 if rung.scales is None else np.asarray(rung.scales)
            size = np.square((x - Y) * scales).sum(axis=1)
            out[i] += np.exp(size * (-0.5 / rung.v1)) * sums[:, k]
    return out


class Determinant(TableTerm):
    """A positive multiple of a Wishart hyper-kernel.

    Parameters
    ----------
    weight : float
    power : float
        Of the determinant.
    coordinates : callable
        The samples in which C is the identity.
    unit_diagonal : bool
    """

    def __init__(self, weight, power, coordinates, unit_diagonal):
        self.form = hyper_values.Form(hyper_values.DETERMINANT, power)
        self.coordinates, self._unit = coordinates, unit_diagonal
        self._log_weight = np.log(weight)
        self.sections_psd = not unit_diagonal

    def merged(self, other):
        """Determinants do not share a table."""
        return None

    def table(self, D):
        """The squared distances."""
        return D

    def own(self, size, apart):
        """Half the logarithms of the factors of the values of a pair with itself."""
        # k(p, p) has the determinant 1 + |x - x'|^2.
        unit = 0.5 * self.form.power * np.log1p(size) if self._unit else np.zeros(size.size)
        return (unit + 0.5 * self._log_weight)[None]

    def _own_value(self, own, size):
        return np.exp(2.0 * own[0] - self.form.power * np.log1p(size))

    def expand(self, X, Y, points, first, second, coef):
        """``sum_p coef[p] k(p, (x, y))`` for rows of X and Y."""
        X, Y = _within_reach(X, Y, points)
        rows = np.concatenate([X, Y])
        table = self.between(rows, points)
        right, out = self.pairs(points, first, second), np.empty((len(X), len(Y)))
        columns = np.arange(len(X), len(rows))
        step = max(1, _FEATURES // len(Y))
        for i in range(0, len(X), step):
            some = np.arange(i, min(i + step, len(X)))
            left = self.pairs(rows, np.repeat(some, len(Y)), np.tile(columns, some.size))
            values = hyper_values.pair_times(self.form, table, left, right, coef, CPU)
            out[some] = values.reshape(some.size, len(Y))
        return out


class Midpoints:
    """A term times a kernel of the midpoints.

    Parameters
    ----------
    term : TableTerm
    kernel : Kernel
        Its parameters that depend on data are numbers.
    """

    def __init__(self, term, kernel):
        self.term, self.kernel = term, kernel
        self.sections_psd = False

    def merged(self, other):
        """Kernels of midpoints are evaluated one by one."""
        return None

    def _gram(self, left, right=None):
        left = _middle(*left)
        right = None if right is None else _middle(*right)
        return grams.weighted_gram([self.kernel], [1.0], left, right)

    def values(self, left, right=None):
        """As those of the term."""
        return self.term.values(left, right) * self._gram(left, right)

    def system(self, points, first, second, engine):
        """The matrix between pairs of rows of points."""
        return MidpointSystem(self, points, first, second, engine)

    def expand(self, X, Y, points, first, second, coef):
        """``sum_p coef[p] k(p, (x, y))`` for rows of X and Y."""
        rows, right = np.concatenate([X, Y]), (points, first, second)
        out, columns = np.empty((len(X), len(Y))), np.arange(len(X), len(rows))
        step = max(1, _FEATURES // (len(Y) * max(1, coef.size)))
        for i in range(0, len(X), step):
            some = np.arange(i, min(i + step, len(X)))
            left = rows, np.repeat(some, len(Y)), np.tile(columns, some.size)
            out[some] = (self.values(left, right) @ coef).reshape(some.size, len(Y))
        return out


def _middle(points, first, second):
    return 0.5 * (points[first] + points[second])


class TableSystem:
    """The matrix of a term between P pairs of points, which is not formed.

    Parameters
    ----------
    term : TableTerm
    points : ndarray of shape (m, d), float64
    first, second : ndarray of shape (P,), int64
    engine : Cpu, Cuda or Cluster
    """

    def __init__(self, term, points, first, second, engine):
        self.term, self.engine, self._points = term, engine, points
        self.pairs = term.pairs(points, first, second)

    def diagonal(self):
        """The diagonal, (P,)."""
        return self.term.diagonal(self.pairs)

    def columns(self, index):
        """The columns of these pairs, (P, n) in Fortran order: long loops for each."""
        used, some = self._landmarks(index)
        table = self.term.between(used, self._points)
        return hyper_values.pair_gram(self.term.form, table, some, self.pairs, self.engine).T

    def submatrix(self, index):
        """The part between these pairs, (n, n)."""
        used, some = self._landmarks(index)
        table = self.term.between(used, used)
        return hyper_values.pair_gram(self.term.form, table, some, None, self.engine)

    def _landmarks(self, index):
        """The points of these pairs, and the pairs as positions in them."""
        some = self.pairs.take(index)
        used, where = np.unique(np.concatenate(some[:2]), return_inverse=True)
        first, second = where.reshape(2, -1)
        return self._points[used], some._replace(first=first, second=second)

    def gram(self):
        """The whole matrix, (P, P)."""
        return hyper_values.pair_gram(self.term.form, self.table, self.pairs, None, self.engine)

    def times(self, coef):
        """The product with a vector (P,)."""
        form, pairs, table = self.term.form, self.pairs, self.table
        m, n_rungs = len(self._points), form.squarings.size
        share = _PRODUCT_SHARE * n_rungs * m**4 / 2
        fewer = form.kind == hyper_values.PRODUCT and share < float(pairs.n_pairs) ** 2
        if not (fewer and "product_sums" in self.engine.operations):
            return hyper_values.pair_times(form, table, pairs, pairs, coef, self.engine)
        out = np.zeros(pairs.n_pairs)
        for k, squarings in enumerate(form.squarings):
            M = np.zeros((m, m))
            np.add.at(M, (pairs.first, pairs.second), 0.5 * pairs.own[k] * coef)
            power = table ** (2.0**squarings) if squarings else table
            sums = hyper_values.product_sums(power, M + M.T, self.engine)
            out += pairs.own[k] * sums[pairs.first, pairs.second]
        return out

    @cached_property
    def table(self):
        """The table of all points against each other."""
        require_memory(
            len(self._points),
            lambda n: 8.0 * n**2,
            f"the table of {len(self._points)} points against each other",
            lambda n, _: "solver='pivoted', which does without",
        )
        return self.term.between(self._points, self._points)


class MidpointSystem:
    """The matrix of a `Midpoints` term between P pairs; arguments as of `TableSystem`."""

    def __init__(self, term, points, first, second, engine):
        self._term, self._side = term, (points, first, second)
        self._inner = term.term.system(points, first, second, engine)

    def diagonal(self):
        """The diagonal, (P,)."""
        middle = _middle(*self._side)
        return self._inner.diagonal() * grams.gram_diagonals([self._term.kernel], middle)[0]

    def _some(self, index):
        points, first, second = self._side
        return points, first[index], second[index]

    def columns(self, index):
        """The columns of these pairs, (P, n) in Fortran order."""
        found = self._inner.columns(index)
        found *= self._term._gram(self._some(index), self._side).T
        return found

    def submatrix(self, index):
        """The part between these pairs, (n, n)."""
        return self._inner.submatrix(index) * self._term._gram(self._some(index))

    def gram(self):
        """The whole matrix, (P, P)."""
        found = self._inner.gram()
        found *= self._term._gram(self._side)
        return found

    def times(self, coef):
        """The product with a vector (P,), by blocks of columns."""
        out, step = np.zeros(coef.size), max(1, _FEATURES // coef.size)
        for i in range(0, coef.size, step):
            index = np.arange(i, min(i + step, coef.size))
            out += self.columns(index) @ coef[index]
        return out
