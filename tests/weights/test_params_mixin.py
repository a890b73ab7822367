"""The parameter protocol, with scikit-learn's own clone as the judge."""

import pytest
from sklearn.base import clone

from alignlearn._params import ParamsMixin
from alignlearn.weights import AlignF, AlignLq


class Outer(ParamsMixin):
    def __init__(self, rule=None, size=1.0):
        self.rule = rule
        self.size = size


class Plain(ParamsMixin):
    pass


def test_nested_parameters():
    outer = Outer(AlignLq(q=3))
    assert outer.get_params(deep=False) == {"rule": outer.rule, "size": 1.0}
    assert outer.get_params()["rule__q"] == 3
    assert outer.set_params(rule__q=4, size=2.0) is outer
    assert (outer.rule.q, outer.size) == (4, 2.0)
    # The new object is set before its own parameters, in any order.
    outer.set_params(rule__q=5, rule=AlignLq())
    assert outer.rule.q == 5
    copied = clone(outer)
    assert copied.rule is not outer.rule
    assert copied.rule.q == 5


def test_errors_list_valid_names():
    with pytest.raises(ValueError, match=r"'Q' is not a parameter of AlignLq; accepted: Lambda, n"):
        AlignLq().set_params(Q=3)
    with pytest.raises(ValueError, match=r"size=1.0 of Outer has no parameters .* size__q cannot"):
        Outer().set_params(size__q=1)
    with pytest.raises(ValueError, match=r"'x' is not a parameter of Plain; accepted: none"):
        Plain().set_params(x=1)


def test_repr_shows_what_differs_from_the_default():
    assert repr(AlignF()) == "AlignF()"
    assert repr(Outer(AlignLq(q=3.0))) == "Outer(rule=AlignLq(q=3.0))"
    assert repr(Plain()) == "Plain()"
