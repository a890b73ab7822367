"""The interval of Clopper and Pearson against binomial tail probabilities, and SciPy's interval."""

import pytest
from cases import each
from scipy.stats import binomtest

from alignlearn.bounds.binomial import clopper_pearson


@each("count", [0, 1, 13, 39, 40])
def test_against_the_interval_of_scipy(count):
    theirs = binomtest(count, 40).proportion_ci(0.99, "exact")
    ours = clopper_pearson(count, 40, 0.005, 0.005)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-10)


def test_an_end_that_may_not_fail_is_what_is_always_true():
    assert clopper_pearson(3, 10, 0.0, 0.1)[0] == 0
    assert clopper_pearson(3, 10, 0.1, 0.0)[1] == 1
