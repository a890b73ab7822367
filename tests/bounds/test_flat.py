"""The main functions as attributes of the package, for arrays of numbers of samples."""

import importlib

import numpy as np
import pytest
from alignlearn.theory import bounds as theory
from cases import each

from alignlearn import bounds


@each("package", [bounds, theory])
def test_each_is_the_function_of_its_module(package):
    for name in package.__all__:
        module = importlib.import_module(f"{package.__name__}.{package._MODULE[name]}")
        own, flat = getattr(module, name), getattr(package, name)
        assert flat.__doc__ == own.__doc__
        assert flat is own or flat.__wrapped__ is own
        assert name in dir(package)


def test_an_array_of_sizes_gives_an_array():
    m = np.array([[10, 100], [1000, 10**4]])
    found = theory.alignment_deviation(m, 0.05, 0.5, 0.5)
    own = importlib.import_module("alignlearn.theory.bounds.concentration").alignment_deviation
    expected = [[own(int(n), 0.05, 0.5, 0.5) for n in row] for row in m]
    np.testing.assert_array_equal(found, expected)
    assert theory.alignment_deviation(10, 0.05, 0.5, 0.5) == expected[0][0]
    by_name = theory.alignment_deviation(delta=0.05, a=0.5, a_prime=0.5, m=[10, 100])
    np.testing.assert_array_equal(by_name, expected[0])
    assert bounds.bias_bound([]).shape == (0,)


def test_intervals_become_intervals_of_arrays():
    found = bounds.alignment_interval_from(np.array([100, 10**4]), 0.05, 0.3, 0.5, 0.5)
    assert type(found).__name__ == "Interval"
    assert found.low.shape == found.high.shape == (2,)
    assert found.low[0] == 0.0 < found.low[1] < 0.6 < found.high[1]


def test_what_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bounds.nothing  # noqa: B018
    with pytest.raises(ValueError, match="m"):
        bounds.bias_bound(np.array([10, 0]))
