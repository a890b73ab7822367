"""Old names: they work, warn at the user's line, and are removed by their stated version."""

import importlib
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import alignlearn
from alignlearn._params import ParamsMixin
from alignlearn._versions import _number, is_version
from alignlearn.validation import old_names, renamed_parameter


def overdue(entries, version):
    """The old names that a version should no longer accept."""
    return [e for e in entries if not is_version(e.gone) or _number(version) >= _number(e.gone)]


def users_of_it(folder=Path(alignlearn.__file__).parent):
    """Import the modules that deprecate names, since only loaded ones are in the list."""
    for path in sorted(folder.rglob("*.py")):
        if re.search(r"(@|= )renamed_parameter\(|^_RENAMED", path.read_text("utf-8"), re.MULTILINE):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            yield importlib.import_module(".".join(parts).removesuffix(".__init__"))


def test_no_old_name_outlives_the_version_that_removes_it():
    assert alignlearn in list(users_of_it())
    assert overdue(old_names(), alignlearn.__version__) == []


@pytest.mark.parametrize(
    ("version", "late"),
    [("99.2.9", False), ("99.3.0", True), ("99.3.0rc1", True), ("100.0.0", True)],
)
def test_an_old_name_that_is_forgotten_is_found(monkeypatch, version, late):
    monkeypatch.setattr(alignlearn, "_RENAMED", {"Gauss": ("Gaussian", "99.3")})
    found = {(entry.where, entry.old) for entry in overdue(old_names(), version)}
    assert ({("ridge", "lamda"), ("alignlearn", "Gauss")} <= found) == late
    assert ("ridge", "eps") not in found or version.startswith("100")
    monkeypatch.setattr(alignlearn, "_RENAMED", {"Gauss": ("Gaussian", "soon")})
    assert [entry.old for entry in overdue(old_names(), "0.0.1")] == ["Gauss"]


@renamed_parameter("lamda", "alpha", "99.3")
@renamed_parameter("eps", None, "99.4")
def ridge(X, alpha=1.0):
    return X, alpha


def test_an_old_parameter_works_and_warns_at_the_line_of_the_caller():
    with pytest.warns(FutureWarning) as said:
        assert ridge(1, lamda=2.0) == (1, 2.0)
    (warning,) = said
    assert str(warning.message) == (
        "lamda of ridge is now called alpha; the old name will be removed in alignlearn 99.3."
    )
    assert warning.filename == __file__
    assert (ridge(1), ridge(1, 3.0)) == ((1, 1.0), (1, 3.0))
    assert list(inspect.signature(ridge).parameters) == ["X", "alpha"]

    with pytest.warns(FutureWarning, match=r"eps of ridge has no effect any more; .* 99\.4"):
        assert ridge(1, eps=1e-3) == (1, 1.0)
    with pytest.warns(FutureWarning), pytest.raises(TypeError, match="set one of them"):
        ridge(1, lamda=2.0, alpha=2.0)
    with pytest.warns(FutureWarning), pytest.raises(TypeError, match="multiple values"):
        ridge(1, 2.0, lamda=2.0)


@dataclass
class Declared:
    alpha: float = 1.0


Declared.__init__ = renamed_parameter("lamda", "alpha", "99.3")(Declared.__init__)


def test_a_generated_constructor_takes_the_old_name():
    with pytest.warns(FutureWarning, match="lamda of Declared is now called alpha"):
        assert Declared(lamda=2.0).alpha == 2.0


class Model(ParamsMixin):
    @renamed_parameter("lamda", "alpha", "99.3")
    def __init__(self, kernel=None, alpha=1.0):
        self.kernel = kernel
        self.alpha = alpha


def test_an_estimator_takes_the_old_name_in_its_constructor_and_in_set_params():
    with pytest.warns(FutureWarning, match="lamda of Model is now called alpha"):
        model = Model(lamda=2.0)
    assert model.get_params() == {"alpha": 2.0, "kernel": None}
    with pytest.warns(FutureWarning, match="lamda of Model") as said:
        model.set_params(lamda=3.0)
    assert said[0].filename == __file__
    assert model.alpha == 3.0
    with pytest.raises(ValueError, match="'lam' is not a parameter of Model; accepted: alpha"):
        model.set_params(lam=1.0)
    model.alpha = Model()
    with pytest.warns(FutureWarning, match="lamda of Model"):
        model.set_params(lamda__alpha=5.0)
    assert model.alpha.alpha == 5.0


def test_an_old_name_at_the_top_works_and_warns_each_time(monkeypatch):
    monkeypatch.setitem(alignlearn._RENAMED, "Gauss", ("Gaussian", "99.3"))
    for _ in range(2):
        with pytest.warns(FutureWarning, match=r"Gauss of .* removed in alignlearn 99\.3"):
            assert alignlearn.Gauss is alignlearn.Gaussian
