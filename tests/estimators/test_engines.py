"""``device=`` and ``client=`` of everything that evaluates pairs of samples."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
from refusals import not_refused
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


def test_devices_and_clients_are_checked():
    words = "device='gpu' is not known; accepted: 'auto', 'cpu', 'cuda'"
    combiner = al.KernelCombiner().fit(X, y)  # it evaluates new samples on the device of the fit
    cases = [("transform", partial(combiner.set_params(device="gpu").transform, X), words)]
    for learner in LEARNERS + HYPER:
        wrong = clone(learner).set_params(device="gpu")
        client = clone(learner).set_params(device="cpu", client="tcp://127.0.0.1:8786")
        cases += [
            (name(learner), partial(wrong.fit, X, y), words),
            (f"{name(learner)}, client", partial(client.fit, X, y), "client"),
        ]
    for given, text in (({"device": None}, "device=None is not k"), ({"client": 3}, "client")):
        cases.append((f"{given}", partial(al.alignment_statistics, X, y, **given), text))
    assert not_refused(cases) == []


@pytest.mark.skipif(available(), reason="there is a CUDA device")
def test_a_missing_device_is_named_with_what_to_do():
    models = [clone(learner).set_params(device="cuda") for learner in LEARNERS + HYPER]
    cases = [(name(model), partial(model.fit, X, y), "device='cpu'") for model in models]
    assert not_refused(cases, RuntimeError) == []


class Connection:
    """Like a client, it can neither be copied nor pickled."""

    def __reduce_ex__(self, protocol):
        raise TypeError("cannot pickle a connection")


def test_copies_share_the_client_and_pickles_are_without():
    for learner in LEARNERS + HYPER:
        client = Connection()
        learner = clone(learner).set_params(client=client)
        assert clone(learner).client is client
        assert pickle.loads(pickle.dumps(learner)).client is None
        assert copy.deepcopy(learner).client is None
        assert learner.client is client


def test_engines_of_this_process_are_pickled_by_name():
    for engine in (CPU, AUTO, open_engine("cpu"), open_engine()):
        assert pickle.loads(pickle.dumps(engine)) is engine
        assert copy.deepcopy(engine) is engine


def test_small_work_stays_on_the_cpu(monkeypatch):
    """Below the break-even no device is requested, so nothing is imported for it."""
    monkeypatch.setattr("alignlearn.engine.engines.available", lambda: pytest.fail("asked"))
    al.alignment_statistics(X, y)
