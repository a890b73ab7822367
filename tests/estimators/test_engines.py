"""``device=`` and ``client=`` of everything that evaluates pairs of samples."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import alignlearn as al
from alignlearn.engine.cpu import CPU
from alignlearn.engine.cuda.device import available
from alignlearn.engine.engines import AUTO, open_engine
from alignlearn.hyper import HyperKRR, HyperNNLS, HyperSVR

LEARNERS = [
    al.MKLClassifier(),
    al.MKLClassifierCV(Cs=[1.0]),
    al.MKLRegressor(),
    al.MKLRegressorCV(alphas=[1.0]),
    al.MKLRegressorCV(alphas=[1.0], per_target=True),
    al.KernelCombiner(),
    al.FeatureScales(),
    al.NystromRidge(),
    al.NystromRidgeClassifier(),
    al.NystromSVC(),
]
HYPER = [HyperKRR(), HyperSVR(), HyperNNLS()]
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3))
y = np.where(X[:, 0] > 0.0, 1, 0)


def name(estimator):
    return type(estimator).__name__


@pytest.mark.parametrize("learner", LEARNERS + HYPER, ids=name)
def test_devices_and_clients_are_checked(learner):
    learner = clone(learner)
    message = "device='gpu' is not known; accepted: 'auto', 'cpu', 'cuda'"
    with pytest.raises(ValueError, match=message):
        learner.set_params(device="gpu").fit(X, y)
    with pytest.raises(TypeError, match="client"):
        learner.set_params(device="cpu", client="tcp://127.0.0.1:8786").fit(X, y)


def test_the_combiner_evaluates_new_samples_on_the_device_it_has_then():
    learner = al.KernelCombiner().fit(X, y)
    with pytest.raises(ValueError, match="device='gpu' is not known"):
        learner.set_params(device="gpu").transform(X)


@pytest.mark.skipif(available(), reason="there is a CUDA device")
@pytest.mark.parametrize("learner", LEARNERS + HYPER, ids=name)
def test_a_missing_device_is_named_with_what_to_do(learner):
    with pytest.raises(RuntimeError, match="device='cpu'"):
        clone(learner).set_params(device="cuda").fit(X, y)


@pytest.mark.parametrize("learner", LEARNERS, ids=name)
def test_the_device_changes_no_bit_where_it_is_the_cpu(learner):
    found = [clone(learner).set_params(device=device).fit(X, y) for device in ("auto", "cpu")]
    predict = "transform" if hasattr(learner, "transform") else "predict"
    first, second = (getattr(model, predict)(X) for model in found)
    np.testing.assert_array_equal(first, second)


class Connection:
    """As a client, it can neither be copied nor pickled."""

    def __reduce_ex__(self, protocol):
        raise TypeError("cannot pickle a connection")


@pytest.mark.parametrize("learner", LEARNERS + HYPER, ids=name)
def test_copies_share_the_client_and_pickles_are_without(learner):
    client = Connection()
    learner = clone(learner).set_params(client=client)
    assert clone(learner).client is client
    assert pickle.loads(pickle.dumps(learner)).client is None
    assert copy.deepcopy(learner).client is None
    assert learner.client is client


def test_statistics_take_them_too():
    assert {"device", "client"} <= set(inspect.signature(al.alignment_statistics).parameters)
    with pytest.raises(ValueError, match="device=None is not known"):
        al.alignment_statistics(X, y, device=None)
    with pytest.raises(TypeError, match="client"):
        al.alignment_statistics(X, y, client=3)


def test_engines_of_this_process_are_pickled_by_name():
    for engine in (CPU, AUTO, open_engine("cpu"), open_engine()):
        assert pickle.loads(pickle.dumps(engine)) is engine
        assert copy.deepcopy(engine) is engine


def test_small_work_stays_on_the_cpu(monkeypatch):
    """Nothing asks for a device below the break-even, so nothing is imported for it."""
    monkeypatch.setattr("alignlearn.engine.engines.available", lambda: pytest.fail("asked"))
    al.alignment_statistics(X, y)
