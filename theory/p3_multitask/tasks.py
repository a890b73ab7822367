"""Random multi-task problems for the claims, and computations that several claims share.

A case has ``kernels``, one array (M, n, n) per task, and ``targets``, one matrix Khat_t (n, n) per
task, of any sign and not symmetric.
"""

import numpy as np

from ..bounds import neighborhood
from ..prelude import combine
from ..reference.multitask import paper_terms, stack


def integer_kernel(draw, n):
    """F F' with whole numbers from -2 to 2, of rank 1 to n.

    Kernels are then either exactly or clearly not linearly dependent, so ranks are unambiguous.
    """
    rank = draw.choice((1, 2, n, n))
    F = np.frombuffer(draw.octets(n * rank), dtype=np.uint8).reshape(n, rank) % 5 - 2.0
    return F @ F.T


def random_tasks(draw, most_tasks=3, sizes=(2, 3), most_kernels=3):
    """Kernels and target matrices of a few tasks of one size."""
    T, n, M = draw.integer(1, most_tasks), draw.choice(sizes), draw.integer(1, most_kernels)
    scale = draw.log_real(0.1, 10)
    kernels = []
    for _ in range(T):
        kernels.append(scale * np.array([integer_kernel(draw, n) for _ in range(M)]))
    size = draw.choice((0.0, 1.0, 1.0, 5.0))
    targets = [size * scale * draw.array((n, n)) for _ in range(T)]
    return {"kernels": kernels, "targets": targets}


def random_class(draw, **options):
    """The same with R and a rho for which the class is not empty."""
    case = random_tasks(draw, **options)
    tasks = neighborhood.tasks_of(case["kernels"], case["targets"])
    least = neighborhood.distance_to_cone(tasks)
    size = sum(np.trace(task.gram) for task in tasks)
    return case | {
        "radius": draw.log_real(0.1, 10),
        "rho": least + draw.log_real(1e-3, 1e2) * size + 1e-3,
    }


def random_weights(draw, case):
    """Shared and own weights mu (M,) and lam (M, T), not negative, some of them 0."""
    M, T = len(case["kernels"][0]), len(case["kernels"])
    return {"mu": np.maximum(draw.array(M), 0.0), "lam": np.maximum(draw.array((M, T)), 0.0)}


def random_model(draw, least_ratio=2.5, **options):
    """A case of model (10): weights, eta and beta with eta above `least_ratio` beta."""
    case = random_tasks(draw, **options)
    beta = draw.log_real(1e-2, 10)
    eta = beta * draw.log_real(least_ratio, 50)
    return case | random_weights(draw, case) | {"beta": beta, "eta": eta}


def stacked(case):
    """theta = [mu; vec(Lambda')], the order of (4), (5) and (8)."""
    return np.concatenate([case["mu"], case["lam"].ravel()])


def terms_of(case):
    """The matrices of the paper."""
    return paper_terms(case["kernels"], case["targets"])


def learned(case):
    """K_t = sum_m (mu^m + lambda_t^m) K_t^m, a list."""
    theta = case["mu"][:, None] + case["lam"]
    return [combine(theta[:, t], K) for t, K in enumerate(case["kernels"])]


def traces(case):
    """d = (tr K_t^m), stacked."""
    return stack(np.array([[np.trace(Km) for Km in K] for K in case["kernels"]]).T)


def class_of(case):
    """The four arguments of the bounds."""
    return case["kernels"], case["targets"], case["radius"], case["rho"]
