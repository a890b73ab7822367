"""Multi-task kernel learning with neighborhood kernels.

Each task has a support vector machine on its own kernel, ``sum_k theta_tk K_k``. The model is that
of Yousefi et al., *Multi-task learning using neighborhood kernels*, in a form that has a minimum:
convex in the weights, with the neighborhood kernels in closed form. As printed, its tasks share
nothing; two couplings add sharing.
"""

from ._methods import MultiTaskResult
from .classifier import MultiTaskMKLClassifier
from .neighborhood import (
    alignment_matrix,
    neighborhood_coefficients,
    projected_identity,
    ridge_shared,
)
from .regressor import MultiTaskMKLRegressor

__all__ = [
    "MultiTaskMKLClassifier",
    "MultiTaskMKLRegressor",
    "MultiTaskResult",
    "alignment_matrix",
    "neighborhood_coefficients",
    "projected_identity",
    "ridge_shared",
]
