"""Kernels keep the contract of their base class."""

from dataclasses import dataclass
from inspect import isabstract

import contracts
import numpy as np
import pytest

import alignlearn as al
from alignlearn.kernels import Gaussian, Kernel
from alignlearn.kernels.base import NAMED

# Bases of kernels, which cannot be evaluated themselves.
_BASES = {"GammaKernel", "Unary", "_Evaluated", "_Multiple", "_Overlap", "_Several"}


def test_overrides_have_the_signature_of_the_contract():
    classes = contracts.check_contract(Kernel, 30)
    assert {cls.__name__ for cls in classes if isabstract(cls)} <= _BASES


def test_a_kernel_without_values_cannot_be_made():
    empty = dataclass(frozen=True)(type("Empty", (Kernel,), {}))
    with pytest.raises(TypeError, match=r"abstract.*block"):
        empty()
    assert contracts.differences(Kernel, empty) == []


@pytest.mark.parametrize("missing", ["lower", "block"])
def test_one_of_both_methods_will_do(missing):
    def lower(self, b, dst, mode):
        return Gaussian(0.5).lower(b, dst, mode)

    def block(self, X, Y):
        return Gaussian(0.5)(X, Y)

    methods = {"lower": lower, "block": block}
    del methods[missing]
    kernel = dataclass(frozen=True)(type("Own", (Kernel,), methods))()
    X = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(kernel(X), Gaussian(0.5)(X), rtol=1e-12)
    np.testing.assert_allclose(kernel.block(X, X[:2]), Gaussian(0.5)(X, X[:2]), rtol=1e-12)


def test_kernels_that_strings_stand_for_are_public():
    classes = set(NAMED.values())
    assert len(classes) > 10
    for cls in classes:
        assert cls.__name__ in al.kernels.__all__
        assert getattr(al, cls.__name__) is cls
