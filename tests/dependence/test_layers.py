"""Layers of networks recorded during a run: with a stand-in for torch, and with torch itself."""

from types import SimpleNamespace

import numpy as np
import pytest
from refusals import raises

import alignlearn as al
from alignlearn.dependence import on_device
from alignlearn.dependence.representations import _linear_products
from alignlearn.validation import plain


class Tensor:
    """The interface of a torch tensor: methods, and an array only after ``detach``."""

    def __init__(self, values, history=False, kind=None):
        self.values, self.history, self.kind = values, history, kind
        self.shape, self.ndim = np.shape(values), np.ndim(values)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **kwargs):
        if self.history or self.kind:
            raise BufferError("not exported")
        return self.values.__dlpack__(**kwargs)

    def __array__(self, dtype=None, copy=None):
        if self.history or self.kind:
            raise RuntimeError("no array")
        return self.values

    def detach(self):
        return Tensor(self.values, kind=self.kind)

    def is_floating_point(self):
        return self.values.dtype.kind == "f"

    def float(self):
        return Tensor(self.values.astype(np.float32))

    def clone(self):
        return Tensor(self.values.copy(), self.history, self.kind)

    def reshape(self, *shape):
        return Tensor(self.values.reshape(shape))


class OnDevice(np.ndarray):
    """Arrays with the operations that products on a device use, which NumPy names differently."""

    @property
    def __cuda_array_interface__(self):
        return {"typestr": self.dtype.str}

    def __dlpack__(self, **kwargs):
        return np.asarray(self).__dlpack__(**kwargs)

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("copied from the device")

    def detach(self):
        return self

    def clone(self):
        return self.copy()

    def double(self):
        return self.astype(np.float64)

    def cpu(self):
        return self.view(np.ndarray)

    def min(self, axis=None):
        found = super().min(axis)
        return found if axis is None else (found, None)

    def max(self, axis=None):
        found = super().max(axis)
        return found if axis is None else (found, None)

    def new_empty(self, shape):
        return np.empty(shape).view(OnDevice)


class Hooks(list):
    def add(self, hook):
        self.append(hook)
        return SimpleNamespace(remove=lambda: self.remove(hook))


class Module:
    """The interface of a torch module, computing a given function of tensors."""

    def __init__(self, forward=None, **parts):
        self.parts, self.hooks, self.pre = parts, Hooks(), Hooks()
        self.register_forward_hook, self.register_forward_pre_hook = self.hooks.add, self.pre.add
        self.forward = forward or self.forward

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, part in self.parts.items():
            yield from part.named_modules(f"{prefix}.{name}" if prefix else name)

    def children(self):
        return iter(self.parts.values())

    def __call__(self, x):
        for hook in list(self.pre):
            hook(self, (x,))
        out = self.forward(x)
        for hook in list(self.hooks):
            hook(self, (x,), out)
        return out


def layer(weights):
    return Module(lambda x: Tensor(x.values @ weights, history=True))


def in_place(x):
    np.maximum(x.values, 0.0, out=x.values)
    return x


def scalar(x):
    return Tensor(np.float64(x.values.sum()), history=True)


class Network(Module):
    """The same nonlinearity after two layers."""

    def __init__(self, rng, width=6):
        self.weights = rng.normal(size=(4, width)), rng.normal(size=(width, 3))
        one, two = map(layer, self.weights)
        super().__init__(one=one, relu=Module(in_place), two=two, loss=Module(scalar))

    def forward(self, x):
        if x.values.shape[1] != 4:
            raise RuntimeError("shapes do not fit")
        one, relu, two, loss = self.parts.values()
        hidden = relu(one(x))
        out = relu(two(hidden))
        loss(out)
        return out

    def expected(self, x):
        one = x @ self.weights[0]
        relu = np.maximum(one, 0.0)
        two = relu @ self.weights[1]
        return [one, relu, two, np.maximum(two, 0.0)]

    def n_hooks(self):
        return sum(len(m.hooks) + len(m.pre) for _, m in self.named_modules())


def batches(rng, n=3, m=9):
    return [rng.normal(size=(m, 4)) for _ in range(n)]


def test_layers_of_one_network_are_a_batch_for_every_pass():
    rng = np.random.default_rng(0)
    model, data = Network(rng), batches(rng)
    expected = al.CKAAccumulator()
    with al.CKARecorder(model) as recorder:
        for x in data:
            model(Tensor(x))
            expected.update(model.expected(x))
    assert recorder.names == ["one", "relu", "two", "relu:2"]
    assert recorder.other_names is None
    assert recorder.accumulator.n_batches == 3
    assert repr(recorder) == "CKARecorder(Network, n_batches=3)"
    np.testing.assert_allclose(recorder.matrix(), expected.matrix(), atol=1e-12)
    assert model.n_hooks() == 0
    model(Tensor(data[0]))
    assert recorder.accumulator.n_batches == 3
    with recorder:
        model(Tensor(data[0]))
    assert recorder.accumulator.n_batches == 4


def test_two_networks_on_the_same_batches_in_either_order():
    rng = np.random.default_rng(1)
    model, other, data = Network(rng), Network(rng, 8), batches(rng)
    expected = al.CKAAccumulator("rbf")
    options = {"layers": ["one", "two"], "other_layers": ["relu"], "kernels": "rbf"}
    with al.CKARecorder(model, other, **options) as recorder:
        for k, x in enumerate(data):
            for network in (model, other)[:: 1 if k % 2 else -1]:
                network(Tensor(x))
            a, b = model.expected(x), other.expected(x)
            expected.update([a[0], a[2]], [b[1]])
    # A module that is named is recorded at each of its calls.
    assert (recorder.names, recorder.other_names) == (["one", "two"], ["relu", "relu:2"])
    assert recorder.matrix().shape == (2, 2)
    np.testing.assert_allclose(recorder.matrix()[:, :1], expected.matrix(), atol=1e-10)


@pytest.mark.parametrize("when", ["inside", "user", "enter"])
def test_hooks_are_removed_after_an_error(when):
    rng = np.random.default_rng(2)
    model, other = Network(rng), Network(rng)
    recorder = al.CKARecorder(model, other)
    if when == "enter":
        other.register_forward_pre_hook = None
        with pytest.raises(TypeError), recorder:
            pass
    else:
        with pytest.raises(RuntimeError), recorder:  # noqa: PT012
            model(Tensor(np.ones((5, 3 if when == "inside" else 4))))
            raise RuntimeError
    assert model.n_hooks() + other.n_hooks() == 0
    if when != "enter":  # half a batch is forgotten
        with recorder:
            for network in (model, other):
                network(Tensor(rng.normal(size=(6, 4))))
        assert recorder.accumulator.n_batches == 1


def test_bad_networks_layers_and_passes_are_named():
    rng = np.random.default_rng(3)
    model, other, x = Network(rng), Network(rng), Tensor(rng.normal(size=(6, 4)))
    raises(TypeError, r"model must be a torch\.nn\.Module, got 3", al.CKARecorder, 3)
    raises(TypeError, r"other must be a torch\.nn\.Module", al.CKARecorder, model, np.eye(2))
    raises(ValueError, "other and model are the same", al.CKARecorder, model, model)
    words = "other_layers is given without other"
    raises(ValueError, words, al.CKARecorder, model, other_layers=["one"])
    for layers in (["three"], [], ["one", "one"], "three"):
        words = r"layers: got .*; accepted: different names among"
        raises(ValueError, words, al.CKARecorder, model, layers=layers)
    with al.CKARecorder(model, layers=["loss"]):
        raises(TypeError, "layer 'loss' of model gives a Tensor", model, x)
    with al.CKARecorder(model, other):
        model(x)
        raises(ValueError, "model was called twice", model, x)
    with al.CKARecorder(model) as recorder:
        raises(ValueError, "at least 4 samples", model, Tensor(x.values[:3]))
        raises(ValueError, "contains NaN", model, Tensor(x.values * np.nan))
        model(x)
        model.parts["two"].forward = lambda x: (_ for _ in ()).throw(KeyError("stop"))
        raises(KeyError, "stop", model, x)
    assert recorder.accumulator.n_batches == 1
    unused = Module(layer(np.eye(4)), a=layer(np.eye(4)), b=layer(np.eye(4)))
    unused.forward = unused.parts["a"]
    with al.CKARecorder(unused, layers=["a", "b"]), pytest.raises(ValueError, match="'b' of"):
        unused(x)
    several = Module(lambda x: (x, [x]))
    with al.CKARecorder(several, kernels="rbf") as recorder:
        several(x)
    assert recorder.matrix() == pytest.approx(1.0)


def test_tensors_with_a_gradient_and_of_types_that_numpy_lacks():
    values = np.random.default_rng(4).normal(size=(9, 3)).astype(np.float32)
    with_history = Tensor(values, history=True)
    assert np.shares_memory(plain("X", with_history), values)
    brain = Tensor(values, history=True, kind="bfloat16")
    assert plain("X", brain).dtype == np.float32
    assert np.array_equal(al.Gaussian(0.5)(brain), al.Gaussian(0.5)(values))
    assert np.array_equal(al.cka_matrix([with_history, brain]), al.cka_matrix([values, values]))
    half = Tensor(values.astype(np.float16), history=True)
    assert al.hsic_test(half, values[:, 0], n_permutations=9).n_samples == 9
    whole = Tensor(np.arange(3), kind="sparse")
    raises(TypeError, "X is a Tensor that cannot be read", plain, "X", whole)


# On a device


@pytest.mark.parametrize("m", [6, 40])
def test_products_on_a_device_are_those_of_arrays(m, monkeypatch):
    """Features, and blocks of rows of Gram matrices; nothing else is copied."""
    monkeypatch.setattr(on_device, "_ENTRIES", 300)
    rng = np.random.default_rng(5)
    sets = [3.0 + rng.normal(size=(m, d)) for d in (2, 7, 5)]
    sets[1][:, 0] = 0.1
    there = [A.view(OnDevice) for A in sets]
    for unbiased in (False, True):
        found, expected = (_linear_products(s, unbiased) for s in (there, sets))
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    found = al.cka_matrix([1e-200 * A for A in there], unbiased=True)
    np.testing.assert_allclose(found, al.cka_matrix(sets, unbiased=True), atol=1e-12)
    found = al.CKAAccumulator().update([A.reshape(m, -1, 1) for A in there], there[:1])
    expected = al.CKAAccumulator().update(sets, sets[:1])
    np.testing.assert_allclose(found.matrix(), expected.matrix(), atol=1e-12)
    for words, second in (
        (r"features\[1\]: X contains NaN", there[1] * np.nan),
        (r"features\[1\] has 5 rows, but features\[0\] has", there[1][:5]),
        (r"features\[1\] has shape", there[1][:, :0]),
    ):
        raises(ValueError, words, al.cka_matrix, [there[0], second])


# Torch itself, where it is installed


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def test_tensors_of_torch(torch, monkeypatch):
    torch.manual_seed(0)
    X = torch.randn(20, 3, requires_grad=True)
    values = X.detach().numpy()
    assert np.array_equal(al.Gaussian(0.5)(X), al.Gaussian(0.5)(values))
    brain = X.bfloat16()
    assert np.array_equal(plain("X", brain), brain.detach().float().numpy())
    assert np.array_equal(plain("X", X.half()), X.detach().half().numpy())
    model, theirs = (al.MKLRegressor(["rbf"]).fit(A, A[:, 0]) for A in (X, values))
    assert np.array_equal(model.predict(X), theirs.predict(values))
    sets = [X.double(), X.double()[:, :2], torch.tanh(X.double() @ torch.randn(3, 40).double())]
    there = [A.detach() for A in sets]
    arrays = [A.numpy() - A.numpy().mean(axis=0) for A in there]
    expected = [[np.square(A.T @ B).sum() for B in arrays] for A in arrays]
    for n, parts in ((300, there), (10**6, there), (300, there[:2])):
        monkeypatch.setattr(on_device, "_ENTRIES", n)
        M, lengths = on_device.products([on_device.matrix("X", A) for A in parts])
        k = len(parts)
        np.testing.assert_allclose(M, np.array(expected)[:k, :k], rtol=1e-10)
        np.testing.assert_allclose(lengths, [np.square(A).sum(axis=1) for A in arrays[:k]])


def test_networks_of_torch(torch):
    torch.manual_seed(0)
    nn = torch.nn
    relu = nn.ReLU(inplace=True)
    model = nn.Sequential(nn.Linear(4, 8), relu, nn.Linear(8, 5), relu)
    other = nn.LSTM(4, 6, batch_first=True)
    data, expected = [torch.randn(12, 4) for _ in range(2)], al.CKAAccumulator()
    with al.CKARecorder(model, other) as recorder:
        for x in data:
            model(x).sum().backward()
            hidden = other(x[:, None])[0]
            one = model[0](x)
            two = model[2](torch.relu(one))
            layers = [one, torch.relu(one), two, torch.relu(two)]
            expected.update([A.detach().numpy() for A in layers], [hidden.detach().numpy()])
    assert recorder.names == ["0", "1", "2", "1:2"]
    np.testing.assert_allclose(recorder.matrix(), expected.matrix(), atol=1e-6)
    assert model[0].weight.grad is not None
    for module in (*model.modules(), other):
        assert not module._forward_hooks
        assert not module._forward_pre_hooks
