"""One warning per fit, however many of its solves stop before they reach their tolerance."""

import re
import warnings

import numpy as np
import pytest

import alignlearn as al

X = np.random.default_rng(0).normal(size=(40, 2))
LABELS = (np.linalg.norm(X, axis=1) > 1.2).astype(int)
PAIRS = {"kernels": ["rbf", "linear"], "max_iter": 1}
FITS = {
    "default": (al.MKLClassifierCV(max_iter=1, cv=3), LABELS),
    "probability": (al.MKLClassifierCV(**PAIRS, probability="sigmoid", cv=3), LABELS),
    "one stage": (al.MKLClassifierCV(**PAIRS, weighting="l1-svm", Cs=[1.0, 9.0], cv=3), LABELS),
    "regression": (al.MKLRegressorCV(**PAIRS, machine="svr", Cs=[1.0, 9.0], cv=3), X[:, 0] ** 2),
    "pairs of classes": (al.MKLClassifier(**PAIRS), np.arange(40) % 4),
    "linear": (al.MKLClassifier(["linear"], machine="dual-cd", max_iter=1), np.arange(40) % 4),
    "hyper": (
        al.HyperKernelClassifierCV(max_iter=1, cv=2, Cs=[1.0], alphas=[1.0], multiples=[1.0]),
        LABELS,
    ),
}


def caught_in(model, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [w for w in caught if w.category is al.ConvergenceWarning]


@pytest.mark.parametrize("name", FITS)
def test_one_warning(name):
    (warning,) = caught_in(*FITS[name])
    assert warning.filename == __file__
    pattern = r"(\d+) solves in this fit .* the worst: (.*)"
    n, worst = re.match(pattern, str(warning.message)).groups()
    assert int(n) > 1
    reached, tol = re.search(r" (?:of|residual) (\S+) > tol=([^;]+);", worst).groups()
    assert warning.message.excess == pytest.approx(float(reached) / float(tol), rel=1e-2)


def test_the_number_and_the_worst():
    """Against the warnings of each pair of classes in a fit of its own."""
    y, model = np.arange(40) % 3, al.MKLClassifier(["rbf"], weighting="uniform", normalize=None)
    model.set_params(max_iter=1)
    parts = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        pair = (y == i) | (y == j)
        weight = np.where(pair, 1.0, 0.0)
        machine = al.machines.SupportVectorClassifier(1.0, max_iter=1)
        K = al.Gaussian("scale").resolve(X)(X)[np.ix_(pair, pair)]
        with pytest.warns(al.ConvergenceWarning, match="SMO stopped") as caught:
            machine.fit(K, y[pair], weight[pair])
        parts.append(caught[0].message.excess)
    (found,) = caught_in(model, y)
    assert str(found.message).startswith("3 solves")
    assert found.message.excess == pytest.approx(max(parts), rel=1e-6)


def test_one_solve_keeps_its_message():
    (found,) = caught_in(al.MKLClassifier(["rbf"], max_iter=1), LABELS)
    assert str(found.message).startswith("SMO stopped after 1 steps")


def test_as_an_error():
    model = al.MKLClassifierCV(["rbf"], max_iter=1, cv=2)
    with pytest.raises(al.ConvergenceWarning, match="solves in this fit"):
        model.fit(X, LABELS)  # warnings are errors in all tests
    assert not caught_in(al.MKLClassifierCV(["rbf"], cv=2), LABELS)  # nothing is left over
