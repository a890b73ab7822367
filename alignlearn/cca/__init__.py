"""Kernel canonical correlation analysis of two or more views of the same samples."""

from .kernel_cca import KernelCCA

__all__ = ["KernelCCA"]
