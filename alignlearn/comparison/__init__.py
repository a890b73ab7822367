"""Ways to combine kernels compared by cross-validation: whether learning the kernel pays."""

from .compare import METHODS, OTHER_METHODS, compare, split
from .figure import plot_comparison
from .result import BEST_SINGLE, ENSEMBLE, Comparison, Protocol
from .rivals import RIVALS, Candidate, Rival, own_kernel_candidates
from .trial import ALPHA_GRID, C_GRID

__all__ = [
    "ALPHA_GRID",
    "BEST_SINGLE",
    "C_GRID",
    "ENSEMBLE",
    "METHODS",
    "OTHER_METHODS",
    "RIVALS",
    "Candidate",
    "Comparison",
    "Protocol",
    "Rival",
    "compare",
    "own_kernel_candidates",
    "plot_comparison",
    "split",
]
