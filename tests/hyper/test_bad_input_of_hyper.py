"""Hyper-kernels, their weights and scales, and searches raise errors that name the argument."""

from functools import partial

import numpy as np
from refusals import not_refused

from alignlearn import Gaussian, Linear
from alignlearn.hyper import (
    GaussianHyperKernel,
    HyperKernelSum,
    HyperKRRCV,
    PairKernel,
    WishartHyperKernel,
    align_hyper_kernels,
    difference_scales,
    hyper_kernels,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(9, 2))
K = Gaussian(0.7)(X)
I2, I3 = np.eye(2), np.eye(3)
WISHART, LADDER = WishartHyperKernel(1.5, 4.0), hyper_kernels([0.1, 1.0, 10.0], 8.0, unit=2.0)


def resolved(make, *args, X=I2, **options):
    return make(*args, **options).resolve(X)


def searched(**options):
    return HyperKRRCV(**options).fit(X, K)


# Function, words of the error, arguments, options.
CASES = [
    (GaussianHyperKernel(), "first has 2 columns but first_other has 3", (I2, I2, I3, I3), {}),
    (GaussianHyperKernel(1.0, 1e-4, width=1e7), "pairs differ by up to 90, too much for float64",
     ([[0.0]], [[90.0]]), {}),
    (WishartHyperKernel, "C is not positive definite", ([[1.0, 2.0], [2.0, 1.0]],), {}),
    (WishartHyperKernel, "accepted: r > d - 1 = 2", (I3, 2.0), {}),
    (resolved, "accepted: r > d - 1 = 1", (WishartHyperKernel, 1.0, 1.0), {}),
    (resolved, "C has 2 rows but X has 3",
     (lambda: WishartHyperKernel(I3) + WishartHyperKernel(I2),), {"X": I3}),
    (hyper_kernels, "must be positive", ([1, 2],), {"weights": [1.0, 0.0]}),
    (hyper_kernels, "2 weights for 7 widths", (), {"weights": [1.0, 2.0]}),
    (hyper_kernels, "reach=1: all widths", ([9.0], 1.0), {}),
    (resolved, "width=1e", (hyper_kernels, [1e99], 1e99), {"unit": 1e289}),
    (resolved, "2 numbers but X has 3", (hyper_kernels,), {"scales": (1, 2), "X": I3}),
    (HyperKernelSum, "parts must be hyper-kernels", ((Gaussian(1.0),),), {}),
    (lambda: WISHART + 1.0, "unsupported", (), {}),
    (lambda: WISHART * (Linear() - Gaussian(1.0)), "positive semi-definite", (), {}),
    (align_hyper_kernels, "must be a sum", (LADDER.parts[0], X, K), {}),
    (align_hyper_kernels, "weighting='lkrr'", (LADDER, X, K), {"weighting": "lkrr"}),
    (PairKernel(LADDER), "even number", (I3,), {}),
    (difference_scales, "K has shape", (X, K[:5, :5]), {}),
    (searched, "hyper_kernel is an empty list", (), {"hyper_kernel": []}),
]  # fmt: skip


def test_bad_input_is_named():
    calls = [(words, partial(f, *args, **options), words) for f, words, args, options in CASES]
    assert not_refused(calls) == []
