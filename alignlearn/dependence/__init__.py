"""Dependence of samples and similarity of representations, from kernels.

`hsic_test` and `alignment_test` test whether two variables are dependent, `kci_test` whether they
are dependent given a third, `dhsic_test` whether several are jointly dependent, and `mmd_test`
whether two samples have different distributions. `cka_matrix` measures the similarity of sets of
features, `CKAAccumulator` from mini-batches, `CKARecorder` for layers of networks during their
forward passes, and `plot_cka` draws the matrix.
"""

from .conditional import kci_test
from .heat_map import plot_cka
from .independence import DependenceTest, alignment_test, hsic_test, real_gram
from .joint import dhsic_test, mmd_test
from .layers import CKARecorder
from .representations import CKAAccumulator, cka_matrix

__all__ = [
    "CKAAccumulator",
    "CKARecorder",
    "DependenceTest",
    "alignment_test",
    "cka_matrix",
    "dhsic_test",
    "hsic_test",
    "kci_test",
    "mmd_test",
    "plot_cka",
    "real_gram",
]
