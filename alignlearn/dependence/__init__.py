"""Dependence of samples and similarity of representations, from kernels.

`hsic_test` and `alignment_test` say whether two things depend on each other, `kci_test` whether
they do given a third, `dhsic_test` whether several do, and `mmd_test` whether two samples differ in
law. `cka_matrix` says how alike sets of features are, `CKAAccumulator` the same from mini-batches,
`CKARecorder` of layers of networks while these run, and `plot_cka` draws it.
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
