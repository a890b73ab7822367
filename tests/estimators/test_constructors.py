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
from alignlearn.estimators.base import SHARED_TEXTS, Parameters, Seeded

ESTIMATORS = [
    value
    for value in (getattr(al, name) for name in al.__all__)
    if inspect.isclass(value) and hasattr(value, "get_params")
]
DERIVED = [cls for cls in ESTIMATORS if issubclass(cls, Parameters)]


def documented(cls):
    """Names in the numpydoc list of parameters, in order; each entry with a type or a text."""
    text = inspect.getdoc(cls)
    found = re.search(r"\nParameters\n-{10}\n(.*?)(\n\n[A-Z]\w+\n-{3,}\n|\Z)", text, re.DOTALL)
    entries = re.split(r"\n(?=\w)", found[1])
    names = []
    for entry in entries:
        head, _, body = entry.partition("\n")
        entry_names, typed, kind = head.partition(" : ")
        assert re.fullmatch(r"\w+(, \w+)*", entry_names), head
        assert kind.strip() if typed else body.strip(), f"{head} says nothing"
        assert all(line.startswith("    ") for line in body.splitlines() if line), entry
        names += entry_names.split(", ")
    return names


def undocumented(cls):
    """Parameters without an entry, and entries without a parameter or that are there twice."""
    names, known = documented(cls), list(inspect.signature(cls).parameters)
    return set(known) ^ set(names) | {name for name in names if names.count(name) > 1}


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_docstring_has_every_parameter_and_no_other(cls):
    assert undocumented(cls) == set()


def test_every_estimator_is_looked_at():
    assert len(ESTIMATORS) >= 25
    assert {al.MKLClassifierCV, al.NystromSVC, al.HyperKRR, al.KernelCCA} <= set(DERIVED)


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
    assert model != cls()  # identity, as for any estimator


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
    assert not {"C", "machine", "memory"} & set(al.MKLClassifierCV().get_params())
    assert not {"C", "alpha", "memory"} & set(al.MKLRegressorCV().get_params())
    assert not {"C", "alpha", "multiple"} & set(al.HyperKernelClassifierCV().get_params())


class Documented(Seeded, Parameters):
    """One line.

    Parameters
    ----------
    verbose : bool
        Not a parameter that is inherited.

    Notes
    -----
    More.
    """


def test_shared_texts_go_behind_the_parameters_unless_the_class_has_its_own():
    text = Documented.__doc__
    assert text.index(SHARED_TEXTS["random_state"]) < text.index("\n\nNotes")
    assert "device" not in text

    class Own(Documented):
        """One line.

        Parameters
        ----------
        kernel, random_state
            As elsewhere.
        """

    assert SHARED_TEXTS["random_state"] not in Own.__doc__

    class Without(Documented):
        """No list of parameters."""

    assert Without.__doc__ == "No list of parameters."


def test_without_docstrings():
    """Python -OO drops them."""
    code = "import alignlearn as al; print(al.MKLClassifier(C=2.0), al.KernelCCA())"
    command = [sys.executable, "-OO", "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "MKLClassifier(C=2.0) KernelCCA()"
