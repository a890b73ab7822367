"""Cross-validated comparison of methods that combine kernels."""

from .candidates import Candidate, Method, own_kernel_candidates
from .compare import compare, split
from .explain import explain
from .figure import plot_comparison
from .methods import DEFAULT_METHODS, METHODS
from .result import Comparison, Protocol
from .trial import ALPHA_GRID, C_GRID

__all__ = [
    "ALPHA_GRID",
    "C_GRID",
    "DEFAULT_METHODS",
    "METHODS",
    "Candidate",
    "Comparison",
    "Method",
    "Protocol",
    "compare",
    "explain",
    "own_kernel_candidates",
    "plot_comparison",
    "split",
]
