"""Models for hundreds of thousands of samples and more, on Nystrom features of a kernel."""

from .ridge import NystromRidge, NystromRidgeClassifier
from .svc import NystromSVC

__all__ = ["NystromRidge", "NystromRidgeClassifier", "NystromSVC"]
