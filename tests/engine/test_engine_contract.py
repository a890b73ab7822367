"""Engines keep the contract of their base class."""

import contracts
from refusals import raises

from alignlearn.engine.base import Engine


def test_overrides_have_the_signature_of_the_contract():
    for cls in contracts.check_contract(Engine, 4):
        assert not cls.__abstractmethods__, cls


def test_an_engine_without_its_method_cannot_be_made():
    class Unfinished(Engine):
        in_place = True

    raises(TypeError, r"abstract.*run_boxes", Unfinished)
