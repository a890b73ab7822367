"""Multi-task problems written out with NumPy, SciPy and scikit-learn, without the library."""

import numpy as np
from scipy.optimize import minimize
from sklearn.svm import SVC, SVR


def machine(K, y, C=1.0, epsilon=None):
    """(objective, signed dual coefficients) of a support vector machine on a Gram matrix."""
    if epsilon is None:
        fitted = SVC(kernel="precomputed", C=C, tol=1e-9).fit(K, y)
    else:
        fitted = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-9).fit(K, y)
    b = np.zeros(len(y))
    b[fitted.support_] = fitted.dual_coef_[0]
    penalty = 0.0 if epsilon is None else epsilon * np.abs(b).sum()
    return y @ b - penalty - 0.5 * b @ K @ b, b


class Problem:
    """Tasks (Gram matrices (p, n, n), targets) with costs, as a function of all weights."""

    def __init__(self, tasks, C=1.0, epsilon=None):
        self.tasks, self.C, self.epsilon = tasks, C, epsilon
        self.shape = len(tasks), len(tasks[0][0])
        self.traces = np.array([[np.trace(K) for K in Ks] for Ks, _ in tasks])

    def machines(self, theta):
        """(sum of the objectives, gradient (T, p))."""
        total, slopes = 0.0, np.zeros(self.shape)
        for t, (Ks, y) in enumerate(self.tasks):
            value, b = machine(np.tensordot(theta[t], Ks, 1), y, self.C, self.epsilon)
            total += value
            slopes[t] = [-0.5 * b @ K @ b for K in Ks]
        return total, slopes

    def separate(self, beta):
        """(minimum, weights (T, p)) of the models and ``beta`` times the traces."""

        def f(x):
            value, slopes = self.machines(x.reshape(self.shape))
            return value + beta * self.traces.ravel() @ x, (slopes + beta * self.traces).ravel()

        return self._minimum(f, self.shape)

    def coupled(self, cost, ridge):
        """(minimum, (1 + T, p)) over the shared part and the parts of the tasks."""
        shape = (1 + self.shape[0], self.shape[1])

        def f(x):
            z = x.reshape(shape)
            value, slopes = self.machines(z[0] + z[1:])
            gradient = np.vstack([slopes.sum(axis=0), slopes]) + cost + 2.0 * ridge * z
            return value + np.sum(cost * z) + ridge * np.sum(z**2), gradient.ravel()

        return self._minimum(f, shape)

    @staticmethod
    def _minimum(f, shape):
        x = np.full(int(np.prod(shape)), 0.3)
        options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 20000}
        for _ in range(2):
            found = minimize(
                f, x, jac=True, bounds=[(0, None)] * x.size, method="L-BFGS-B", options=options
            )
            x = found.x
        return found.fun, found.x.reshape(shape)


def proxy_dual(K, y, C, eta):
    """Maximum of ``y'b - b'Kb/2 - (b'b)^2 / (8 eta)`` over the machine's dual set, by SLSQP."""
    low, high = np.minimum(C * y, 0.0), np.maximum(C * y, 0.0)

    def f(b):
        square = b @ b
        value = y @ b - 0.5 * b @ K @ b - square**2 / (8.0 * eta)
        return -value, -(y - K @ b - square * b / (2.0 * eta))

    found = minimize(
        f,
        np.zeros(len(y)),
        jac=True,
        bounds=list(zip(low, high)),
        constraints={"type": "eq", "fun": np.sum, "jac": lambda b: np.ones(len(b))},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    return -found.fun, found.x
