"""Models that another version of the library wrote: pickles, files, and the warnings about them."""

import copy
import io
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import persistence_models as models
import pytest
from model_files import edited, written
from sklearn.base import clone

import alignlearn as al
from alignlearn import _versions, machines
from alignlearn.machines import KreinSVC, LinearSVM

KEPT = Path(__file__).parent / "files"


PICKLED = [
    al.MKLClassifier(models.KERNELS).fit(models.X, models.LABELS),
    *(al.MKLRegressorCV(), al.BayesianMKLClassifier(), al.KernelCombiner(), al.KernelCCA()),
    *(al.AlignedRandomFeatures(), al.MultiTaskMKLClassifier(), al.HyperKernelClassifier()),
    *(al.HyperKRR(), al.NystromSVC(), al.KernelSGDRegressor(), al.AlignLq(3.0), al.L1SVM()),
    *(machines.KernelRidge(), machines.KreinRidge(), machines.KreinSVC(), machines.LinearSVM()),
    *(machines.SupportVectorClassifier(), machines.SupportVectorRegressor()),
    *(al.CKAAccumulator(), al.AlignmentAccumulator(), al.Gaussian(0.5)),
    al.alignment_statistics(models.X, models.LABELS, models.KERNELS),
    al.Columns(al.Linear() + 1.0, [0]),
    al.GaussianHyperKernel(),
    models.KERNELS[0].normalized(),
]


def test_a_pickle_carries_the_version(monkeypatch):
    pickles = [pickle.dumps(thing) for thing in PICKLED]
    for raw, thing in zip(pickles, PICKLED):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same = pickle.loads(raw)
        assert vars(same).keys() == vars(thing).keys()
        assert _versions.KEY not in vars(same)
    monkeypatch.setattr(al, "__version__", "7.5.0")
    said = r"alignlearn 0\.1\.0 .* alignlearn 7\.5\.0"
    for raw in pickles:
        with pytest.warns(al.VersionWarning, match=said) as caught:
            pickle.loads(raw)
        assert {entry.filename for entry in caught} == {__file__}


def test_what_changed_in_between_is_said(monkeypatch):
    changes = {
        "0.1.0": ("not this, which the pickle has.",),
        "0.2.0": ("weights_ are float64.", "means_ are kept."),
        "0.10.0": ("probabilities are of another rule.",),
        "0.11.0": ("nor this, which is later.",),
    }
    monkeypatch.setattr(_versions, "CHANGES", changes)
    raw = pickle.dumps(al.Gaussian(0.5))
    monkeypatch.setattr(al, "__version__", "0.10.3")
    with pytest.warns(al.VersionWarning) as said:
        assert pickle.loads(raw) == al.Gaussian(0.5)
    (text,) = {str(entry.message) for entry in said}
    assert text == (
        "A model written by alignlearn 0.1.0 is loaded by alignlearn 0.10.3: Since 0.2.0: weights_ "
        "are float64. Since 0.2.0: means_ are kept. Since 0.10.0: probabilities are of another "
        "rule."
    )
    later = pickle.dumps(al.Gaussian(0.5))
    monkeypatch.setattr(al, "__version__", "0.2.0")
    with pytest.warns(al.VersionWarning, match=r"later version changed is not known here"):
        pickle.loads(later)


def test_copies_say_nothing(monkeypatch):
    model = PICKLED[0]
    monkeypatch.setattr(al, "__version__", "7.5.0")
    for other in (copy.copy(model), copy.deepcopy(model), clone(model)):
        assert _versions.KEY not in vars(other)


def test_a_file_of_another_version(monkeypatch):
    file = io.BytesIO()
    al.save(al.Gaussian(0.5), file)
    monkeypatch.setattr(al, "__version__", "0.2.0")
    with pytest.warns(al.VersionWarning, match=r"0\.1\.0.*0\.2\.0") as said:
        assert al.load(file) == al.Gaussian(0.5)
    assert len(said) == 1
    assert said[0].filename == __file__


def without(raw, *names):
    """A file without some attributes, as from a version that did not have them."""

    def older(head):
        for value in head["values"]:
            for name in names:
                value.get("state", {}).pop(name, None)

    return io.BytesIO(edited(raw, older))


def test_parameters_that_are_newer_than_a_file_have_their_default():
    """For a fitted estimator, a model, a rule and a kernel; others need a default."""
    model = al.MKLClassifier(models.KERNELS, weighting=al.AlignLq(3.0), C=5.0)
    model.fit(models.X, models.LABELS)
    raw = written([model, LinearSVM(3.0, max_iter=7), KreinSVC(), al.Matern(2.5, multiple=3.0)])
    found = al.load(without(raw, "C", "q", "multiple", "max_iter"))
    assert found[0].get_params()["C"] == 1.0
    assert found[0].weighting.q == al.AlignLq().q
    assert found[0].predict(models.NEW).tolist() == model.predict(models.NEW).tolist()
    assert (found[1].C, found[1].max_iter) == (1.0, LinearSVM().max_iter)
    assert (found[2].C, found[3]) == (1.0, al.Matern(2.5))
    older = without(written(al.Gaussian(1.0) + al.Linear()), "kernels")
    with pytest.raises(al.ModelFileError, match="has no kernels"):
        al.load(older)


def test_what_is_a_version():
    for text in ("0.1.0", "0.2.0rc1", "1", "0.2.0.dev1+g0a1b2c"):
        assert _versions.is_version(text)
    for text in ("", "a.b", "0.1.0 ", "0.1\n.0", None, "0." + "1" * 50, "1.0" * 99):
        assert not _versions.is_version(text)


# -- the promise ---------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(KEPT.glob("*/*.model")), ids=lambda path: path.stem)
def test_files_of_earlier_versions_are_read(path):
    """Predictions as recorded by that version; up to rounding, since the processor differs."""
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", al.VersionWarning)
        model = al.load(path)
    data = models.on(*map(np.array, expected["args"]))
    if "task" in expected:
        data[1]["task"] = np.array(expected["task"])
    found = models.outputs(model, data)
    assert found.keys() == expected["outputs"].keys()
    for name, values in expected["outputs"].items():
        if isinstance(values[0], str):
            assert found[name].tolist() == values
        else:
            np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-11)


def test_every_version_has_files():
    folders = {folder.name: list(folder.glob("*.model")) for folder in KEPT.iterdir()}
    assert len(folders["0.1"]) >= 8
    assert ".".join(al.__version__.split(".")[:2]) in folders
    files = [path for path in KEPT.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 40_000 * len(folders)
