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
from alignlearn.estimators.base import LAST, SHARED, Estimator, parameters, shared
from alignlearn.hyper._fit import HyperRegressor

ESTIMATORS = [
    value
    for value in (getattr(al, name) for name in al.__all__)
    if inspect.isclass(value) and hasattr(value, "get_params")
]
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


def documented(cls):
    """Names in the numpydoc list of parameters, in order."""
    return [name for of_entry in entries(cls) for name in of_entry]


def undocumented(cls):
    """Parameters without an entry, and entries without a parameter or that are there twice."""
    names, known = documented(cls), list(inspect.signature(cls).parameters)
    return set(known) ^ set(names) | {name for name in names if names.count(name) > 1}


def test_docstring_has_every_parameter_and_no_other():
    assert {cls: undocumented(cls) for cls in ESTIMATORS if undocumented(cls)} == {}


def test_every_estimator_is_looked_at():
    assert len(ESTIMATORS) >= 25
    assert {al.MKLClassifierCV, al.NystromSVC, al.HyperKRR, al.KernelCCA} <= set(DERIVED)


@pytest.mark.parametrize("cls", DERIVED)
def test_parameters_have_the_order_of_their_use(cls):
    """Shared ones come last, in the same order everywhere; `LAST` are the very last."""
    names = list(inspect.signature(cls).parameters)
    common = [name for name in names if name in SHARED]
    assert common == [name for name in SHARED if name in common]
    last = [name for name in LAST if name in names]
    assert names[len(names) - len(last) :] == last


@pytest.mark.parametrize("cls", DERIVED)
def test_docstrings_have_the_order_of_the_signature(cls):
    """Entries by their first names, and the names within an entry; `LAST` have their own ones."""
    place = {name: k for k, name in enumerate(inspect.signature(cls).parameters)}
    found = [[place[name] for name in of_entry] for of_entry in entries(cls)]
    assert found == sorted(sorted(of_entry) for of_entry in found)
    for of_entry in entries(cls):
        assert len(of_entry) == 1 or not set(of_entry) & set(LAST)
    # Few classes are bases of an estimator, and none of them has parameters.
    assert [base for base in cls.__mro__ if "__dataclass_fields__" in vars(base)] == [cls]
    assert sum(base.__module__.startswith("alignlearn") for base in cls.__mro__) <= 9


def test_a_parameter_without_a_text_is_noticed():
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
    assert len(first) == {"HyperKRR": 2, "HyperKRRCV": 2, "HyperNNLS": 2, "HyperSVR": 3}.get(
        cls.__name__, 2 if cls.__name__.startswith("Nystrom") else 1
    )
    with pytest.raises(TypeError, match="positional"):
        cls(*[None] * (len(first) + 1))
    with pytest.raises(TypeError, match="nonsense"):
        cls(nonsense=1)


def test_a_search_has_no_parameter_that_it_chooses():
    assert "C" not in al.MKLClassifierCV().get_params()
    assert not {"C", "alpha"} & set(al.MKLRegressorCV().get_params())
    assert not {"C", "alpha", "multiple"} & set(al.HyperKernelClassifierCV().get_params())


@parameters
class Documented(Estimator):
    """One line.

    Parameters
    ----------
    gain : float
    client : object
        Not as elsewhere.

    Notes
    -----
    More.
    """

    gain: float = 1.0
    unbiased: bool = shared("unbiased")
    device: str = shared("device")
    client: Any = shared("client")
    random_state: Any = shared("random_state")


def test_shared_texts_take_their_places_unless_the_class_has_its_own():
    texts = [SHARED[name].text for name in ("unbiased", "device", "random_state")]
    given = ["gain : float", "client : object\n    Not as elsewhere."]
    wanted = "\n".join([given[0], *texts[:2], given[1], texts[2]])
    assert f"Parameters\n----------\n{wanted}\n\nNotes\n" in Documented.__doc__

    @parameters
    class Without(Documented):
        """No list of parameters."""

    assert Without.__doc__ == "No list of parameters."


def test_shared_defaults_are_those_of_the_texts():
    for name in SHARED:
        head = SHARED[name].text.partition("\n")[0]
        default = shared(name)
        said = ("optional", "default None") if default is None else (f'default "{default}"',)
        assert head.endswith((*said, f"default {default}")), name


def test_without_docstrings():
    """Python -OO drops them."""
    code = "import alignlearn as al; print(al.MKLClassifier(C=2.0), al.KernelCCA())"
    command = [sys.executable, "-OO", "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "MKLClassifier(C=2.0) KernelCCA()"
