"""Multi-task kernel learning with neighbourhood kernels.

A support vector machine for each task on a kernel of its own, ``sum_k theta_tk K_k``. The model is
that of Yousefi et al., *Multi-task learning using neighborhood kernels*, in the form that has a
minimum: convex in the weights, with the neighbourhood kernels in closed form. As printed its tasks
do not share anything; two couplings make them.
"""

from ._methods import MultiTaskResult
from .classifier import MultiTaskMKLClassifier
from .neighbourhood import (
    alignment_matrix,
    neighbourhood_coefficients,
    projected_identity,
    ridge_shared,
)
from .regressor import MultiTaskMKLRegressor

__all__ = [
    "MultiTaskMKLClassifier",
    "MultiTaskMKLRegressor",
    "MultiTaskResult",
    "alignment_matrix",
    "neighbourhood_coefficients",
    "projected_identity",
    "ridge_shared",
]
