"""Models through a file: bit-identical, in another process, in less space than a pickle."""

import inspect
import io
import json
import pickle
import subprocess
import sys
import zipfile
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import persistence_models as models
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from model_files import packed, unpacked, written
from scipy import sparse

import alignlearn as al
from alignlearn.hyper import HyperKernel
from alignlearn.kernels.algebra import Weighted
from alignlearn.persistence import _registry
from alignlearn.sources import Combination, Predictor
from alignlearn.weights import Weighting
from alignlearn.weights.one_stage import OneStageWeighting


def again(model):
    return al.load(io.BytesIO(written(model)))


@cache
def fitted():
    """name: (model, data)."""
    return {name: (model, data) for name, model, data in models.fitted()}


@cache
def everything():
    """(name, object) of models, results and kernels."""
    kernels = [(str(kernel), kernel) for kernel in models.kernels()]
    return [*((n, m) for n, (m, _) in fitted().items()), *models.results(), *kernels]


def same_bits(one, other):
    assert one.keys() == other.keys()
    for name in one:
        left, right = one[name], other[name]
        assert (left.dtype, left.shape) == (right.dtype, right.shape)
        if left.dtype == object:
            assert all(np.array_equal(a, b) for a, b in zip(left, right))
        else:
            assert left.tobytes() == right.tobytes(), name


def test_predictions_have_the_same_bits():
    for model, data in fitted().values():
        found = models.outputs(model, data)
        assert found
        same_bits(found, models.outputs(again(model), data))


def test_another_model_has_other_bits():
    """The comparison can fail: it notices one unit in the last place of one coefficient."""
    model, data = fitted()["KernelRidge"]
    other = again(model)
    other.dual_coef_ = np.nextafter(other.dual_coef_, np.inf)
    with pytest.raises(AssertionError):
        same_bits(models.outputs(model, data), models.outputs(other, data))


_PROBE = """
import sys
import numpy as np
import alignlearn as al

folder = sys.argv[1]
data = dict(np.load(folder + "/data.npz"))
for number in range(int(sys.argv[2])):
    model = al.load(f"{folder}/{number}.model")
    assert model.predict(data["X"]).tobytes() == data[f"predicted{number}"].tobytes(), number
print([name for name in ("sklearn", "pandas", "dask", "matplotlib") if name in sys.modules])
"""


def test_a_new_process_needs_no_scikit_learn(tmp_path):
    usual = [model for model, data in fitted().values() if data is models.NEW_DATA]
    chosen = [model for model in usual if hasattr(model, "predict")]
    assert len(chosen) > 20
    for number, model in enumerate(chosen):
        al.save(model, tmp_path / f"{number}.model")
    predicted = {f"predicted{k}": model.predict(models.NEW) for k, model in enumerate(chosen)}
    np.savez(tmp_path / "data.npz", X=models.NEW, **predicted)
    command = [sys.executable, "-W", "error", "-c", _PROBE, str(tmp_path), str(len(chosen))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_files_are_hardly_larger_than_pickles():
    """At most 1.1 times; files below a kilobyte also have the frame of a zip."""
    for name, model in everything():
        file, plain = len(written(model)), len(pickle.dumps(model))
        assert file <= 1.1 * plain + (160 if plain < 1024 else 0), name


def test_digits_without_order_are_stored_and_others_deflated(tmp_path):
    """Deflating would take seconds for nothing."""
    noise = np.random.default_rng(0).normal(size=(500, 300))
    path = tmp_path / "a.model"
    al.save([noise, np.ones(10**6), np.asfortranarray(noise)], bytes(path))
    with zipfile.ZipFile(path) as archive:
        methods = [archive.getinfo(f"{k}.npy").compress_type for k in range(3)]
    assert methods == [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED]
    found = al.load(bytes(path))
    np.testing.assert_array_equal(found[2], noise)
    assert found[2].flags.f_contiguous
    assert path.stat().st_size < 1.01 * 2 * noise.nbytes


def test_sizes_beyond_those_of_an_early_zip(monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 1000)
    arrays = np.arange(5000.0), np.arange(3000.0)
    for one, other in zip(arrays, again(arrays)):
        np.testing.assert_array_equal(one, other)


def test_the_same_model_gives_the_same_bytes():
    for name, model in everything():
        raw = written(model)
        assert written(al.load(io.BytesIO(raw))) == raw, name


def test_kernels_come_back_equal_with_the_same_values():
    for kernel in models.kernels():
        other = again(kernel)
        one, two = ((type(k), k, hash(k), repr(k), str(k), [*vars(k)]) for k in (kernel, other))
        assert one == two
        if str(kernel).startswith("linear on ['"):
            continue  # by names, which arrays do not have
        width = 2 if "learned" in str(kernel) else 3
        X = np.abs(models.NEW) if str(kernel) == "minmax" else models.NEW
        left, right = kernel(X[:, :width]), other(X[:, :width])
        assert left.tobytes() == right.tobytes()


def test_what_was_one_object_is_one_object():
    model = again(fitted()["MKLClassifier"][0])
    assert model._predictor._terms[0][0] is model._predictor._kernels[0]
    array = np.arange(300.0)
    first, second = again((array, array))
    assert first is second
    assert len(written((array, array))) < 1.2 * len(written(array))


def test_learning_goes_on_as_it_would_have():
    one = al.KernelSGDClassifier(random_state=0).fit(models.X, models.LABELS)
    found = [
        model.partial_fit(models.NEW, np.resize(models.LABELS, 7)).decision_function(models.X)
        for model in (one, again(one))
    ]
    assert found[0].tobytes() == found[1].tobytes()
    layers = al.CKAAccumulator().update([models.X, models.X**2])
    found = [c.update([models.NEW, models.NEW**2]).matrix() for c in (again(layers), layers)]
    assert found[0].tobytes() == found[1].tobytes()
    for name in ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"):
        generator = np.random.Generator(getattr(np.random, name)(5))
        generator.random(3, dtype=np.float32)  # half a number is left over
        other = again(generator)
        assert generator.normal(size=9).tolist() == other.normal(size=9).tolist()
        assert generator.integers(9, size=5).tolist() == other.integers(9, size=5).tolist()


WORDS = ["abcab", "bcabc", "cccab", "aabbcc", "cabca", "bbbac"]
SPECTRUM = al.StringSpectrum(2)
TAKEN = {
    "a frame": (al.MKLClassifier(), pd.DataFrame(models.X, columns=["a", "b", "c"])),
    "a frame of polars": (al.MKLClassifier(), pl.DataFrame(models.X, schema=["a", "b", "c"])),
    "single precision": (al.MKLClassifier(), models.X.astype(np.float32)),
    "columns of memory": (al.MKLClassifier(), np.asfortranarray(models.X)),
    "every other row": (al.MKLClassifier(), np.repeat(models.X, 2, axis=0)[::2]),
    "sparse steps": (al.KernelSGDClassifier("linear"), sparse.csr_array(models.X)),
    "sparse centers": (al.NystromSVC("linear", n_centers=9), sparse.csc_array(models.X)),
    "a series of words": (al.MKLClassifier([SPECTRUM]), pd.Series(WORDS)),
    "bytes": (al.MKLClassifier([SPECTRUM]), [word.encode() for word in WORDS]),
    "words in steps": (al.KernelSGDClassifier(SPECTRUM), WORDS),
}
LABELED = {
    "words": models.LABELS,
    "a series": pd.Series(models.LABELS, dtype="string"),
    "categories": pd.Categorical(models.LABELS),
    "objects": models.LABELS.astype(object),
    "bytes": models.LABELS.astype("S"),
    "true and false": models.LABELS == "up",
}


@pytest.mark.parametrize("name", TAKEN)
def test_samples_of_every_kind(name):
    model, X = TAKEN[name]
    model.fit(X, models.LABELS[-len(X) if isinstance(X, list) else -X.shape[0] :])
    other = again(model)
    assert other.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert vars(other).keys() == vars(pickle.loads(pickle.dumps(model))).keys()


def test_labels_of_every_kind():
    for labels in LABELED.values():
        model = al.MKLClassifier(models.KERNELS).fit(models.X, labels)
        other = again(model)
        assert other.classes_.dtype == model.classes_.dtype
        assert other.predict(models.NEW).tolist() == model.predict(models.NEW).tolist()


def test_requests_of_metadata_are_kept():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        model = al.MKLRegressor().set_fit_request(sample_weight="weight")
        assert again(model).get_metadata_routing().fit.requests == {"sample_weight": "weight"}


# --- values -----------------------------------------------------------------------------------

numbers = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.text(max_size=5),
    st.binary(max_size=5),
    arrays.scalar_dtypes().flatmap(arrays.from_dtype).filter(lambda v: v == v),
    st.builds(range, st.integers(-9, 9), st.integers(-9, 9)),
    st.sampled_from([slice(None), slice(1, 5, 2), slice("a", None)]),
)
values = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.one_of(st.text(max_size=3), st.floats()), inner, max_size=3),
    ),
    max_leaves=8,
)


def described(value):
    """A value with the types of all parts; for floats also the sign of 0."""
    if isinstance(value, (list, tuple)):
        return type(value), [described(part) for part in value]
    if isinstance(value, dict):
        return dict, [(described(key), described(part)) for key, part in value.items()]
    return type(value), getattr(value, "dtype", None), repr(value)


@given(value=values)
def test_values_come_back_with_their_types(value):
    assert described(again([value])) == described([value])


@given(
    array=arrays.arrays(
        st.one_of(arrays.scalar_dtypes(), arrays.unicode_string_dtypes()),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=9),
    ),
    order=st.sampled_from("CFK"),
)
def test_arrays_come_back_with_their_bytes(array, order):
    array = np.array(array, order=order)
    other = again([array])[0]
    assert (other.dtype, other.shape) == (array.dtype, array.shape)
    assert other.flags.c_contiguous == array.flags.c_contiguous
    assert other.flags.f_contiguous == array.flags.f_contiguous
    if array.dtype.kind in "fc":
        np.testing.assert_array_equal(other, array)
        assert np.signbit(other.real).tolist() == np.signbit(array.real).tolist() or (
            np.isnan(array).any()
        )
    else:
        assert other.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "array",
    [
        np.array([np.nan, np.inf, -np.inf, -0.0]),
        np.array(["2020-01-01", "NaT"], dtype="datetime64[s]"),
        np.full((3, 0, 5), 1.0),
        np.linspace(0.0, 1.0, 1000, dtype=np.longdouble),
        np.asfortranarray(np.arange(600.0).reshape(20, 30)),
        np.arange(600.0).reshape(20, 30)[::2, ::3],
        np.array(["a", None, 3.5, "b"], dtype=object),
        np.arange(500).astype(">i4"),
        np.array(["x" * 30_000, "y"]),
        np.zeros(2_000_000),
    ],
    ids=lambda a: f"{a.dtype}{a.shape}",
)
def test_arrays_of_every_kind(array):
    other = again([array])[0]
    assert (other.dtype, other.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(other, array)
    assert other.flags.writeable
    # As a pickle, for any strides of the array.
    assert not array.size or other.strides == pickle.loads(pickle.dumps(array)).strides


def test_sparse_matrices_and_memory_maps(tmp_path):
    for form in ("csr_matrix", "csr_array", "csc_matrix", "csc_array"):
        matrix = getattr(sparse, form)(np.eye(30, 40, 3))
        other = again([matrix])[0]
        assert type(other) is type(matrix)
        np.testing.assert_array_equal(other.toarray(), matrix.toarray())
    np.save(tmp_path / "K.npy", models.GRAMS[0])
    other = again(al.Precomputed(np.load(tmp_path / "K.npy", mmap_mode="r")))
    assert type(other.gram) is np.ndarray
    np.testing.assert_array_equal(other.gram, models.GRAMS[0])


# --- every class of the library ---------------------------------------------------------------

PACKAGES = (
    *("bounds", "cca", "dependence", "estimators", "hyper", "kernels", "large", "machines"),
    *("multitask", "online", "sources", "statistics", "weights"),
)
METHODS = ("fit", "solve", "solve_grams", "merge")
HOLD_FUNCTIONS = {al.FromFunction, Weighted, al.TableTransformer}  # or created by others
WITHOUT_OBJECTS = {al.Kernel, HyperKernel, Weighting, OneStageWeighting}


def public_models():
    """Public estimators, machines, rules, accumulators, kernels and hyper-kernels."""
    modules = [al, *(import_module(f"alignlearn.{name}") for name in PACKAGES)]
    found = [getattr(m, name) for m in modules for name in getattr(m, "__all__", ())]
    return {
        cls
        for cls in filter(inspect.isclass, found)
        if issubclass(cls, (al.Kernel, HyperKernel)) or any(hasattr(cls, m) for m in METHODS)
    } - WITHOUT_OBJECTS


def leaves(cls):
    """The concrete subclasses of a class of the library."""
    inner = [c for child in cls.__subclasses__() for c in leaves(child)]
    return inner or [cls] * cls.__module__.startswith("alignlearn.")


def test_no_class_is_forgotten():
    """A new estimator, kernel or rule is entered in `alignlearn.persistence._registry`."""
    classes = public_models()
    assert len(classes) > 50
    assert {al.MKLClassifierCV, al.NystromSVC, al.Gaussian, al.L1SVM, al.KernelCCA} <= classes
    private = {c for base in (al.Kernel, HyperKernel, Predictor, Combination) for c in leaves(base)}
    assert len(private) > 30
    unknown = {cls for cls in classes | private if _registry.name_of(cls) is None}
    assert unknown == HOLD_FUNCTIONS


def test_every_class_that_files_hold_is_tried():
    """Registered classes are all written by some test, and written ones are registered."""
    found = set()
    for _, model in everything():
        with zipfile.ZipFile(io.BytesIO(written(model))) as archive:
            for entry in json.loads(archive.read("model.json"))["values"]:
                found |= {entry.get("object"), entry.get("record")}
    assert found - {None} == set(_registry.names())


def test_names_are_of_classes_of_the_library():
    for name in _registry.names():
        cls = _registry.class_named(name)
        assert inspect.isclass(cls)
        assert cls.__module__.startswith(f"alignlearn.{name.partition('.')[0]}")
        assert _registry.name_of(cls) == name
    assert _registry.name_of(Path) is None
    assert _registry.class_named("estimators.KernelLearner") is None


def test_files_written_before_a_class_was_renamed(monkeypatch):
    raw = written(al.Gaussian(0.5))
    text = unpacked(raw)["model.json"].replace(b"kernels.Gaussian", b"kernels.RBF")
    old = packed([("model.json", text)])
    with pytest.raises(al.ModelFileError, match=r"kernels\.RBF"):
        al.load(io.BytesIO(old))
    monkeypatch.setitem(_registry.RENAMED, "kernels.RBF", "kernels.Gaussian")
    assert al.load(io.BytesIO(old)) == al.Gaussian(0.5)
