"""A fit that fails leaves no older fit: every public estimator."""

import inspect

import numpy as np
import pytest

import alignlearn as al
from alignlearn import hyper

X = np.random.default_rng(0).normal(size=(24, 2))
GIVEN = {"X": X, "y": np.arange(24) % 2, "K": X @ X.T, "task": np.arange(24) // 12}
CLASSES = [
    found
    for module in (al, hyper)
    for found in map(vars(module).get, module.__all__)
    if hasattr(found, "fit") and "X" in inspect.signature(found.fit).parameters
    if found is not al.TableTransformer  # takes several tables, and passes NaN on
]


def used(function, **changes):
    """Call with those of the given arguments that it takes."""
    return function(**{
        name: value
        for name, value in (GIVEN | changes).items()
        if name in inspect.signature(function).parameters
    })  # fmt: skip


@pytest.mark.parametrize("cls", dict.fromkeys(CLASSES))
def test_a_failed_fit_leaves_no_fit(cls):
    model = cls()
    use = next(getattr(model, name) for name in ("predict", "transform") if hasattr(model, name))
    used(model.fit)
    used(use)
    with pytest.raises(ValueError, match=r"NaN|every column"):
        used(model.fit, X=np.full_like(X, np.nan))
    with pytest.raises(al.NotFittedError):
        used(use)
