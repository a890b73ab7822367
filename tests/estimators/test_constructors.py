"""Parameters of all estimators: one statement each, in the signature and in the docstring."""

import inspect
import pickle
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from sklearn.base import clone

import alignlearn as al
from alignlearn.estimators.base import LAST, SHARED, Estimator
from alignlearn.hyper._fit import HyperRegressor

PUBLIC = [getattr(al, name) for name in al.__all__]
ESTIMATORS = [one for one in PUBLIC if inspect.isclass(one) and hasattr(one, "get_params")]
DERIVED = [cls for cls in ESTIMATORS if issubclass(cls, (Estimator, HyperRegressor))]


def entries(cls):
    """Names in the entries of the numpydoc list of parameters; each has a type or a text."""
    text = inspect.getdoc(cls).replace("\\\n", "")
    found = re.search(r"\nParameters\n-{10}\n(.*?)(\n\n[A-Z]\w+\n-{3,}\n|\Z)", text, re.DOTALL)
    names = []
    for entry in re.split(r"\n(?=\w)", found[1]):
        head, _, body = entry.partition("\n")
        of_entry, typed, kind = head.partition(" : ")
        assert re.fullmatch(r"\w+(, \w+)*", of_entry), head
        assert kind.strip() if typed else body.strip(), f"{head} says nothing"
        assert all(line.startswith("    ") for line in body.splitlines() if line), entry
        names.append(of_entry.split(", "))
    return names


def undocumented(cls):
    """Parameters without an entry, and entries without a parameter or that are there twice."""
    names = [name for of_entry in entries(cls) for name in of_entry]
    known = inspect.signature(cls).parameters
    return set(known) ^ set(names) | {name for name in names if names.count(name) > 1}


@pytest.mark.parametrize("cls", DERIVED)
def test_parameters_have_the_order_of_their_use_and_docstrings_that_of_the_signature(cls):
    """Shared ones come last, in the same order everywhere; `LAST` are the very last.

    The docstring is compared by first names of entries, and by the names within an entry.
    """
    names = list(inspect.signature(cls).parameters)
    common = [name for name in names if name in SHARED]
    assert common == [name for name in SHARED if name in common]
    last = [name for name in LAST if name in names]
    assert names[len(names) - len(last) :] == last
    found = [[names.index(name) for name in of_entry] for of_entry in entries(cls)]
    assert found == sorted(sorted(of_entry) for of_entry in found)
    assert all(len(of_entry) == 1 or not set(of_entry) & set(LAST) for of_entry in entries(cls))
    # Few classes are bases of an estimator, and none of them has parameters.
    assert [base for base in cls.__mro__ if "__dataclass_fields__" in vars(base)] == [cls]
    assert sum(base.__module__.startswith("alignlearn") for base in cls.__mro__) <= 9


def test_docstrings_have_every_parameter_and_no_other():
    assert {cls: undocumented(cls) for cls in ESTIMATORS if undocumented(cls)} == {}

    @dataclass(eq=False, repr=False, kw_only=True)
    class Wider(al.MKLRegressor):
        __doc__ = al.MKLRegressor.__doc__

        nonsense: Any = None

    assert undocumented(Wider) == {"nonsense"}


@pytest.mark.parametrize("cls", DERIVED)
def test_defaults_that_are_stated_once_reach_the_instance(cls):
    model, known = cls(), inspect.signature(cls).parameters
    assert model.get_params(deep=False) == {name: p.default for name, p in known.items()}
    assert vars(model) == model.get_params(deep=False)
    assert repr(model) == f"{cls.__name__}()"
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert copy.get_params(deep=False) == model.get_params(deep=False)
    assert model != cls()  # identity, as for every estimator


@pytest.mark.parametrize("cls", DERIVED)
def test_only_the_first_parameters_are_positional(cls):
    known = list(inspect.signature(cls).parameters.values())
    first = [p.name for p in known if p.kind == p.POSITIONAL_OR_KEYWORD]
    many = {"HyperKRR": 2, "HyperKRRCV": 2, "HyperNNLS": 2, "HyperSVR": 3}
    usual = 2 if cls.__name__.startswith("Nystrom") else 1
    assert len(first) == many.get(cls.__name__, usual)
    with pytest.raises(TypeError, match="positional"):
        cls(*[None] * (len(first) + 1))
    with pytest.raises(TypeError, match="nonsense"):
        cls(nonsense=1)


def test_a_search_has_no_parameter_that_it_chooses():
    assert "C" not in al.MKLClassifierCV().get_params()
    assert not {"C", "alpha"} & set(al.MKLRegressorCV().get_params())
    assert not {"C", "alpha", "multiple"} & set(al.HyperKernelClassifierCV().get_params())


def test_without_docstrings():
    """Python -OO drops them."""
    code = "import alignlearn as al; print(al.MKLClassifier(C=2.0), al.KernelCCA())"
    command = [sys.executable, "-OO", "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "MKLClassifier(C=2.0) KernelCCA()"
