"""Conjugate gradients for symmetric positive definite operators, with the true residual.

`scipy.sparse.linalg.cg` takes one right-hand side. If the entries of an operator are computed on
the fly, c right-hand sides would then compute them c times, while here all unsolved columns share
every application. SciPy also stops by the residual of the recurrence, which rounding separates from
``b - Ax`` on ill-conditioned systems, and divides by a curvature <= 0 without an error if the
operator is not positive definite. Columns do not share a Krylov space: block methods need fewer
steps, but break down when residuals become linearly dependent.

Sources: Hestenes and Stiefel (1952), "Methods of conjugate gradients for solving linear systems";
van der Vorst and Ye (2000), "Residual replacement strategies" (the residual is computed again).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alignlearn._lapack import cholesky, cholesky_solve
from alignlearn._text import Result
from alignlearn.validation import check_number, warn_unconverged

from . import panels

_PROGRESS = 0.5  # factor by which the true residual may differ before the recurrence is restarted
_ROUNDING = 64 * np.finfo(np.float64).eps
_INNER = 1e-2  # reduction of the residual by an approximate operator before an exact residual


@dataclass(frozen=True)
class CGResult(Result):
    """Solution of ``A x = b`` for each column b, and its certificate.

    Attributes
    ----------
    solution : ndarray of the shape of ``right``
    residuals : (c,) float64
        ``|b - Ax| / |b|`` of each column, computed from the solution at the end; 0 where b = 0.
    residual : float
        The largest of them.
    n_iter : int
        Steps; each applies A to the unsolved columns.
    definite : bool
        False if a direction p with ``p'Ap < 0``, or a residual r with ``r'Pr < 0`` for the
        preconditioner P, was found. The result is then not a solution.
    converged : bool
        ``residual <= tol``.
    """

    solution: np.ndarray
    residuals: np.ndarray
    residual: float
    n_iter: int
    definite: bool
    converged: bool

    def warn_unconverged(self, tol):
        """Warn with the residual reached if the solver stopped above ``tol``."""
        if not self.residual <= tol:
            remedy = "raise the regularization, max_iter, tol, or the rank of the preconditioner"
            if not self.definite:
                remedy = f"the system or its preconditioner is not definite; {remedy}"
            reached = "a relative residual of", self.residual
            warn_unconverged("Conjugate gradients", f"{self.n_iter} steps", *reached, tol, remedy)


def conjugate_gradient(
    apply,
    right,
    *,
    precondition=None,
    tol=1e-8,
    max_iter=1000,
    start=None,
    several=False,
    patience=None,
    exact=None,
) -> CGResult:
    """Solve ``A x = b`` for A symmetric positive definite and each column b of ``right``.

    Parameters
    ----------
    apply : callable
        ``apply(V)``: ``A V``, for V of shape (n, k) with k of 1 to c; V is not to be modified.
    right : (n,) or (n, c) float64
    precondition : callable, optional
        ``precondition(V)``: ``P V`` for P symmetric positive definite and near the inverse of A.
    tol : float
        Bound on ``|b - Ax| / |b|`` of every column.
    max_iter : int
        Steps.
    start : array of the shape of ``right``, optional
        Starting point. Default: 0, which is also used for columns where it has a smaller residual.
    several : bool, default False
        Whether each column has its own matrix: ``apply`` and ``precondition`` then get the indices
        of the columns as a second argument.
    patience : int, optional
        Maximum number of steps for halving the residual of a column; slower columns are abandoned.
    exact : callable, optional
        As ``apply``, for the true residuals. ``apply`` may then be less precise, as in iterative
        refinement: each of its runs reduces the residual by a factor of 100.

    Returns
    -------
    CGResult
        ``converged`` is false if a residual stays above ``tol``; nothing is raised or warned of.
        If the residual of the recurrence deviates from the true one, the recurrence is restarted,
        until a restart no longer halves the true residual.
    """
    right = np.asarray(right, dtype=np.float64)
    columns = right.reshape(len(right), -1)
    # Columns of norm 1, so that no square over- or underflows.
    unit = np.abs(columns).max(axis=0, initial=0.0)
    unit[unit == 0.0] = 1.0
    unit *= np.linalg.norm(columns / unit, axis=0)
    unit[unit == 0.0] = 1.0
    B = columns / unit
    solver = _Solver(apply, precondition, tol, several, patience, exact)
    X = np.zeros_like(B) if start is None else solver.begin(B, np.reshape(start, B.shape), unit)
    residuals, n_iter = solver.solve(B, X, max_iter)
    largest = float(residuals.max(initial=0.0))
    return CGResult(
        solution=(X * unit).reshape(right.shape),
        residuals=residuals,
        residual=largest,
        n_iter=n_iter,
        definite=solver.definite,
        converged=bool(largest <= tol),
    )


class _Solver:
    def __init__(self, apply, precondition, tol, several, patience, exact):
        same = (lambda V, numbers: V) if several else (lambda V: V)
        given = apply, same if precondition is None else precondition, exact or apply
        self.apply, self.precondition, self.exact = given if several else map(_for_all, given)
        self.tol, self.patience, self.definite = tol, patience, True
        self.inner = _INNER if exact else 0.0

    def begin(self, B, start, unit):
        """The start for columns in these units, or 0 if 0 is closer to the solution."""
        # A start may be so far away that squares overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            X = start / unit
            left = self.residual(B, X, np.arange(B.shape[1]))
            nearer = np.linalg.norm(left, axis=0) < np.linalg.norm(B, axis=0)
        return np.where(nearer, X, 0.0)

    def solve(self, B, X, max_iter):
        """Improve X in place; the relative true residuals, and the number of steps."""
        R = self.residual(B, X, np.arange(B.shape[1]))
        norms, n_iter = np.linalg.norm(R, axis=0), 0
        todo = np.flatnonzero(~(norms <= self.tol))
        while todo.size and n_iter < max_iter:
            solution = X[:, todo]
            n_iter += self.recur(solution, R[:, todo], todo, max_iter - n_iter)
            left = self.residual(B[:, todo], solution, todo)
            found = np.linalg.norm(left, axis=0)
            # Near rounding a run may end with a larger residual than it began with.
            better = found < norms[todo]
            gained = found <= _PROGRESS * norms[todo]
            taken = todo[better]
            X[:, taken], R[:, taken], norms[taken] = (
                solution[:, better],
                left[:, better],
                found[better],
            )
            todo = todo[gained & ~(found <= self.tol)]
        return norms, n_iter

    def residual(self, B, X, numbers):
        return B - self.exact(X, numbers) if X.any() else B.copy()

    def recur(self, X, R, numbers, max_iter):
        """Run the recurrence from X and its residual R, both in place; the number of steps.

        ``numbers`` are those of the columns.
        """
        active, start = np.arange(R.shape[1]), np.linalg.norm(R, axis=0)
        # An exact residual is larger than that of the recurrence by the error of the operator.
        tol = np.full_like(start, self.tol)
        if self.inner:
            tol = np.maximum(0.5 * self.tol, self.inner * start)
        X_, R_, P, rz = X, R, None, None
        for step in range(max_iter):
            Z = self.precondition(R_, numbers[active])
            new, rz = rz, _dots(R_, Z)
            P = Z.copy() if P is None else Z + P * (rz / new)
            AP = self.apply(P, numbers[active])
            curvature = _dots(P, AP)
            usable = (rz > 0.0) & (curvature > 0.0)
            self.judge(usable, rz, curvature, (R_, Z, P, AP))
            length = np.divide(rz, curvature, where=usable, out=np.zeros_like(rz))
            X_ += length * P
            R_ -= length * AP
            norms = np.linalg.norm(R_, axis=0)
            going = usable & (norms > tol[active])
            if step + 1 == self.patience:
                going &= norms <= _PROGRESS * start[active]
            if not going.all():
                X[:, active], active = X_, active[going]
                X_, R_, P, rz = X_[:, going], R_[:, going], P[:, going], rz[going]
                if not active.size:
                    return step + 1
        X[:, active] = X_
        return max_iter

    def judge(self, usable, rz, curvature, vectors):
        """Distinguish a negative curvature from the rounding error of a tiny positive one."""
        if not usable.all():
            r, z, p, ap = (np.linalg.norm(V, axis=0) for V in vectors)
            negative = (curvature < -_ROUNDING * p * ap) | (rz < -_ROUNDING * r * z)
            self.definite = self.definite and not negative.any()


def _for_all(function):
    """A function that applies the same operation to each column."""
    return lambda V, numbers: function(V)


def low_rank_preconditioner(L, lam, residual=None, gram=None):
    """``V -> (LL' + lam I)^-1 V`` as a function, by the Woodbury identity.

    With ``H = I / lam`` it is ``H (V - L (I + L'HL)^-1 L'HV)``, with a Cholesky factor of the r x r
    inner matrix. Unlike an orthogonal factor, it needs no second array of the size of L. Rounding
    errors of the inner matrix and of the difference are eps times ``|L|^2 / lam``. If lam is below
    1e-13 times the trace of ``LL'``, this value replaces it: the preconditioner stays positive
    definite, and the solution does not change.

    Parameters
    ----------
    L : (n, r) float64 or float32
        For instance of `alignlearn.solvers.pivoted_cholesky.pivoted_cholesky`. Kept, not copied.
        Products are computed in float64, because differences lose digits where lam is small.
    lam : float or sequence of float
        Positive. With several values, the function takes the index of its lam for each column of V.
    residual : NeighborInverse, optional
        Gives an approximate inverse H of the matrix minus ``LL'`` plus lam I for each lam, in place
        of ``I / lam``.
    gram : (r, r) float64, optional
        ``L'L``, if it is known.
    """
    times, transposed_times = panels.times, panels.transposed_times
    if L.dtype == np.float32:
        times, transposed_times = panels.double_times, panels.double_transposed_times
    several = not np.isscalar(lam)
    lams = [check_number("lam", one, low=0.0, strict=True) for one in (lam if several else [lam])]
    if residual is None:
        gram = panels.weighted_gram(L) if gram is None else gram
        lams = np.maximum(lams, 1e-13 * float(np.trace(gram)))
        grams = [gram / one for one in lams]
    else:
        rows = [residual.factor(one) for one in lams]
        grams = [residual.gram(one, L) for one in rows]
    for inner in grams:
        inner.flat[:: len(inner) + 1] += 1.0
        if not cholesky(inner):
            raise ValueError("L contains NaN or infinity; all entries must be finite.")

    def inverse(V, numbers):
        if residual is None:
            return V / lams[numbers]
        out = np.empty_like(V)
        for k in set(numbers.tolist()):
            out[:, numbers == k] = residual.times(rows[k], V[:, numbers == k])
        return out

    def precondition(V, numbers):
        near = inverse(V, numbers)
        if not L.shape[1]:
            return near
        inner = transposed_times(L, near)
        for k in set(numbers.tolist()):
            inner[:, numbers == k] = cholesky_solve(grams[k], inner[:, numbers == k])
        return near - inverse(times(L, inner), numbers)

    def alone(V):
        columns = V.reshape(len(V), -1)
        return precondition(columns, np.zeros(columns.shape[1], dtype=np.intp)).reshape(V.shape)

    return precondition if several else alone


def _dots(A, B):
    return np.einsum("ij,ij->j", A, B)
