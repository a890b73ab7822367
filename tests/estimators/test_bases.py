"""Classes above estimators: they define, or annotate, every attribute that their methods read."""

import ast
import inspect
import textwrap
from dataclasses import is_dataclass

import alignlearn as al
from alignlearn.estimators.base import Estimator
from alignlearn.hyper._fit import HyperRegressor

CLASSES = [one for one in (getattr(al, name) for name in al.__all__) if inspect.isclass(one)]
ESTIMATORS = [cls for cls in CLASSES if issubclass(cls, (Estimator, HyperRegressor))]
ABOVE = {base for cls in ESTIMATORS for base in cls.__mro__ if base.__module__.startswith("align")}
BASES = {base for base in ABOVE if "__dataclass_fields__" not in vars(base)}


def attributes(cls):
    """Names that the methods of a class read of ``self``, and those it sets or annotates."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    annotated = {item.target.id for item in tree.body if isinstance(item, ast.AnnAssign)}
    of_self = [
        (node.attr, isinstance(node.ctx, ast.Load))
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "self"
    ]
    read = {name for name, loaded in of_self if loaded}
    return read, annotated | {name for name, loaded in of_self if not loaded}


def lacking(cls):
    """Names that a class reads, and neither it nor a class above it defines."""
    known = set(dir(cls))
    for base in cls.__mro__:
        if base.__module__ != "builtins":
            known |= attributes(base)[1]
    return attributes(cls)[0] - known


def test_bases_read_what_they_define():
    found = {base.__name__: lacking(base) for base in BASES}
    assert {"KernelLearner", "KernelClassifier", "FrameOutput", "ParamsMixin"} <= set(found)
    assert {name: names for name, names in found.items() if names} == {}
    assert not any(is_dataclass(base) for base in BASES)


class Reads(Estimator):
    stated: float

    def method(self):
        self.own = self.stated
        return self.own, self.fit, self._check_is_fitted


def test_an_attribute_of_nowhere_is_noticed():
    assert lacking(Reads) == {"fit"}
