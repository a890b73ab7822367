"""Scores of the models: those of scikit-learn on their predictions."""

import numpy as np
import pytest
from cases import each
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score

import alignlearn as al
from alignlearn.machines import (
    KernelRidge,
    KreinRidge,
    KreinSVC,
    LinearSVM,
    SupportVectorClassifier,
    SupportVectorRegressor,
)


def _samples(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 1.0, "far", "near"), rng.uniform(size=60)


MACHINES = {
    "svc": (SupportVectorClassifier(), "gram"),
    "krein": (KreinSVC(), "indefinite"),
    "linear": (LinearSVM(), "features"),
    "svr": (SupportVectorRegressor(), "gram"),
    "ridge": (KernelRidge(), "gram"),
    "krein ridge": (KreinRidge(), "indefinite"),
}


@each("name", MACHINES)
def test_machines_show_their_parameters(name):
    machine = MACHINES[name][0]
    assert repr(machine).startswith(type(machine).__name__ + "(")
    changed = clone(machine).set_params(**dict.fromkeys({"C", "alpha"} & {*vars(machine)}, 7.0))
    assert "=7.0" in repr(changed)


@each("name", MACHINES)
def test_scores_are_those_of_scikit_learn(name):
    machine, kind = MACHINES[name]
    X, labels, weight = _samples()
    forms = {
        "gram": lambda Z: al.Gaussian(0.5)(Z, X),
        "indefinite": lambda Z: al.Sigmoid(0.5, -1.0)(Z, X),
        "features": lambda Z: Z,
    }
    Z, unseen, _ = _samples(1)
    classifies = hasattr(machine, "multiclass")
    y, t = (labels, unseen) if classifies else (X[:, 0] * X[:, 1], Z[:, 0] * Z[:, 1])
    expected = accuracy_score if classifies else r2_score
    machine.fit(forms[kind](X), y)
    new = forms[kind](Z)
    predicted = machine.predict(new)
    assert machine.score(new, t) == pytest.approx(expected(t, predicted), rel=1e-12)
    weighted = expected(t, predicted, sample_weight=weight)
    assert machine.score(new, t, weight) == pytest.approx(weighted, rel=1e-12)
    assert weighted != expected(t, predicted)
    with pytest.raises(ValueError, match="y has 59"):
        machine.score(new, t[:-1])
