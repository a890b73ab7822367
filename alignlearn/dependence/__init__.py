"""Dependence of samples and similarity of representations, from kernels.

`hsic_test` and `alignment_test` say whether two things depend on each other, `cka_matrix` how alike
sets of features are, `CKAAccumulator` the same from mini-batches, and `plot_cka` draws it.
"""

from .heat_map import plot_cka
from .independence import DependenceTest, alignment_test, hsic_test, real_gram
from .representations import CKAAccumulator, cka_matrix

__all__ = [
    "CKAAccumulator",
    "DependenceTest",
    "alignment_test",
    "cka_matrix",
    "hsic_test",
    "plot_cka",
    "real_gram",
]
