"""Machines for hundreds of thousands of samples and more, on the Nystrom features of a kernel."""

from .ridge import NystromRidge, NystromRidgeClassifier

__all__ = ["NystromRidge", "NystromRidgeClassifier"]
