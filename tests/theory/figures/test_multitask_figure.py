"""The numbers behind the figure on the multi-task class."""

import numpy as np
import pytest
from alignlearn.theory.bounds import neighborhood
from alignlearn.theory.figures import multitask


def test_random_signs_agree_with_enumeration():
    case = multitask.mixture_class(5, 2)
    exact = neighborhood.neighborhood_complexity(*case)
    found = multitask.complexity_growth([5], 2, 400)
    assert abs(found.complexity[0] - exact.value) < 4 * found.standard_error[0]
    assert (exact.value <= found.bounds).all()


@pytest.mark.parametrize("n_tasks", [1, 5])
def test_the_complexity_falls_with_n_and_the_printed_bound_does_not(n_tasks):
    found = multitask.complexity_growth([25, 100], n_tasks, 100)
    fall = found.complexity[0] / found.complexity[1]
    assert 1.6 < fall < 2.5
    sharpest, printed = found.bounds[:, 0], found.bounds[:, -1]
    assert 1.6 < sharpest[0] / sharpest[1] < 2.5
    assert printed[0] / printed[1] < 1.4
    # (7) is larger by the root of the number of tasks than with a constraint on the sum.
    np.testing.assert_allclose(printed / found.bounds[:, 2], np.sqrt(n_tasks))
    assert (np.diff(found.bounds, axis=1) >= 0).all()
