"""Scores of the models: those of scikit-learn on their predictions."""

import numpy as np
import pytest
from cases import each
from refusals import raises
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

MACHINES = [
    *[SupportVectorClassifier(), SupportVectorRegressor(), KernelRidge()],
    *[KreinSVC(), KreinRidge(), LinearSVM()],
]


@each("machine", MACHINES)
def test_scores_are_those_of_scikit_learn(machine):
    rng = np.random.default_rng(0)
    X, Z, weight = rng.normal(size=(60, 3)), rng.normal(size=(60, 3)), rng.uniform(size=60)
    kernel = al.Sigmoid(0.5, -1.0) if "Krein" in type(machine).__name__ else al.Gaussian(0.5)
    train, new = (X, Z) if isinstance(machine, LinearSVM) else (kernel(X), kernel(Z, X))
    y, t = (A[:, 0] + A[:, 1] ** 2 for A in (X, Z))
    expected = accuracy_score if hasattr(machine, "multiclass") else r2_score
    if expected is accuracy_score:
        y, t = (np.where(values > 1, "far", "near") for values in (y, t))
    predicted = machine.fit(train, y).predict(new)
    assert machine.score(new, t) == pytest.approx(expected(t, predicted), rel=1e-12)
    weighted = expected(t, predicted, sample_weight=weight)
    assert machine.score(new, t, weight) == pytest.approx(weighted, rel=1e-12)
    assert weighted != expected(t, predicted)
    raises(ValueError, "y has 59", machine.score, new, t[:-1])
