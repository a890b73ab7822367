"""The types of the public names: this file runs, and mypy checks it (``scripts/test``).

Where a comment ignores a mypy error, the error must exist: a name that loses its type makes the
comment useless, and mypy reports it.
"""

import re
from importlib import import_module
from importlib.resources import files

import numpy as np
import pytest

import alignlearn as al

X = np.arange(24.0).reshape(12, 2) % 5.0
LABELS = np.arange(12) % 2


def test_kernels_and_their_algebra() -> None:
    gamma: float | str = al.Gaussian(0.5).gamma
    combined: al.Kernel = 2.0 * al.Gaussian(0.5) + al.Linear() * al.Cosine()
    family: list[al.Gaussian] = al.gaussian_kernels([0.1, 1.0])
    K: np.ndarray = combined(X)
    diagonal: np.ndarray = combined.diag(X)
    assert gamma == 0.5
    assert len(family) == 2
    np.testing.assert_allclose(np.diagonal(K), diagonal)
    wrong: str = al.Gaussian(0.5)  # type: ignore[assignment]
    not_a_number: int = combined(X)  # type: ignore[assignment]
    assert wrong is not not_a_number
    with pytest.raises(TypeError):
        al.Gaussian(gama=0.5)  # type: ignore[call-arg]


def test_measures_weights_and_tests() -> None:
    K, L = al.Gaussian(0.5)(X), al.Linear()(X)
    values: tuple[float, float, float] = al.alignment(K, L), al.cka(K, L), al.hsic(K, L)
    centered: np.ndarray = al.center_kernel(K)
    assert max(values) < np.inf
    assert abs(centered.sum()) < 1e-9
    no_text: str = al.alignment(K, L)  # type: ignore[assignment]
    assert no_text == values[0]
    layers: np.ndarray = al.cka_matrix([X, X])
    assert layers.shape == (2, 2)
    p_value: float = al.hsic_test(X, LABELS[:, None], n_permutations=9).p_value
    assert 0.0 < p_value <= 1.0


def test_estimators_and_comparison() -> None:
    statistics: al.AlignmentStatistics = al.alignment_statistics(X, LABELS, ["rbf", "linear"])
    weights: np.ndarray = al.AlignF().solve(statistics).weights
    assert weights.shape == (2,)
    clf = al.MKLClassifier(["rbf", "linear"]).fit(X, LABELS)
    labels: np.ndarray = clf.predict(X)
    accuracy: float = clf.score(X, LABELS)
    assert labels.shape == (12,)
    assert 0.0 <= accuracy <= 1.0
    fitted: al.MKLRegressor = clf  # type: ignore[assignment]
    losses: np.ndarray = clf.contributions(X, LABELS).values
    assert losses.shape == (2, 1)
    no_values: int = clf.contributions(X, LABELS).names  # type: ignore[assignment]
    assert no_values == clf.statistics_.names
    similar: al.CKADisplay = al.CKADisplay.from_estimator(clf)
    assert similar.values.shape == (2, 2)
    text: float = clf.summary()  # type: ignore[assignment]
    assert (fitted, text) == (clf, clf.summary())
    with pytest.raises(TypeError):
        al.MKLClassifier(costs=1.0)  # type: ignore[call-arg]
    found: al.Comparison = al.compare(X, LABELS, ["rbf"], methods=("uniform",))
    assert found.error.shape == (1, 5)
    with pytest.raises(AttributeError, match="no_such_name"):
        al.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_the_stub_names_what_is_public() -> None:
    """The stub, which type checkers read, and the table of names, which programs use, agree."""
    folder = files("alignlearn")
    assert folder.joinpath("py.typed").is_file()
    stub = folder.joinpath("__init__.pyi").read_text(encoding="utf-8")
    listed = re.findall(r"^from alignlearn\.([\w.]+) import (\w+) as \2$", stub, re.MULTILINE)
    modules = {"datasets", "theory"}
    assert sorted(name for _, name in listed) == sorted(set(al.__all__) - modules)
    for module, name in listed:
        assert getattr(import_module(f"alignlearn.{module}"), name) is getattr(al, name)
