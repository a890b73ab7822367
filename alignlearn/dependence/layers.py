"""Recording of the layers of torch networks during forward passes, for their similarity."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack

from alignlearn._text import listed
from alignlearn.validation import detached

from .representations import CKAAccumulator

_OF_MODULES = ("named_modules", "register_forward_hook", "register_forward_pre_hook")


class CKARecorder:
    """CKA of the layers of one or two networks, recorded during forward passes on mini-batches.

    A context manager in which every forward pass of the network is a batch of a `CKAAccumulator`:
    hooks record the outputs of the layers. With two networks, a batch is one pass of each, in
    either order. The hooks are removed at the end, also after an error. ::

        with al.CKARecorder(model, other) as recorder:
            for x, _ in loader:
                model(x), other(x)
        recorder.matrix()

    Parameters
    ----------
    model : torch.nn.Module
    other : torch.nn.Module, optional
        A second network, whose layers are the columns.
    layers, other_layers : sequence of str, optional
        Names as in ``model.named_modules()``. Default: all modules without submodules that return
        tensors.
    kernels : as in :func:`cka_matrix`, default "linear"

    Attributes
    ----------
    accumulator : CKAAccumulator
    names, other_names : list of str
        Names of rows and of columns, available after the first batch; "name:2" is the second call
        of a module in one pass. ``other_names`` is None for one network.

    Raises
    ------
    TypeError, ValueError
        Not modules; a layer that does not exist or returns no tensor; in a pass: fewer than 4
        samples, a layer that is not called, layers with a different number of rows, or one of two
        networks called twice in a row.

    Notes
    -----
    The output of a layer is copied, since the next layer may work in place. If a layer returns
    several objects, as recurrent layers do, the first is used. With linear kernels, tensors on a
    CUDA device stay there. Weights are not changed, and gradients may be tracked;
    ``torch.no_grad()`` is faster.

    Examples
    --------
    >>> import torch
    >>> from alignlearn import CKARecorder
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    >>> with CKARecorder(model) as recorder, torch.no_grad():
    ...     for _ in range(5):
    ...         _ = model(torch.randn(16, 4))
    ...
    >>> recorder.names, recorder.matrix().shape
    (['0', '1', '2'], (3, 3))
    """

    def __init__(self, model, other=None, *, layers=None, other_layers=None, kernels="linear"):
        if other is None and other_layers is not None:
            raise ValueError("other_layers is given without other; accepted: both or neither.")
        self.accumulator = CKAAccumulator(kernels)
        self._networks = [_Network("model", model, "layers", layers)]
        if other is not None:
            if other is model:
                raise ValueError(
                    "other and model are the same network; accepted: another network, or "
                    "other=None to compare the layers of model."
                )
            self._networks.append(_Network("other", other, "other_layers", other_layers))
        self._hooks = ExitStack()

    def __repr__(self):
        networks = ", ".join(type(n.module).__name__ for n in self._networks)
        return f"CKARecorder({networks}, n_batches={self.accumulator.n_batches})"

    names = property(lambda self: self._networks[0].names)
    other_names = property(lambda self: self._networks[-1].names if self._networks[1:] else None)

    def __enter__(self):
        with ExitStack() as hooks:
            for network in self._networks:
                network.attach(hooks, self._ended)
            self._hooks = hooks.pop_all()
        return self

    def __exit__(self, *error):
        self._hooks.close()
        for network in self._networks:
            network.forget()

    def matrix(self):
        """The CKA matrix of the batches so far, as of `CKAAccumulator`."""
        return self.accumulator.matrix()

    def _ended(self):
        """Called after a pass: add the batch if all networks were called."""
        if not all(network.done for network in self._networks):
            return
        try:
            self.accumulator.update(*(network.batch() for network in self._networks))
        finally:
            for network in self._networks:
                network.forget()


class _Network:
    """A network, its recorded layers, and their outputs in this pass."""

    def __init__(self, name, module, argument, layers):
        if not all(hasattr(module, method) for method in _OF_MODULES):
            raise TypeError(f"{name} must be a torch.nn.Module, got {module!r:.80}.")
        self.name, self.module, self.names = name, module, None
        self._chosen = layers is not None
        self._modules = _modules(module, argument, layers)
        self.forget()

    def attach(self, hooks, ended):
        """Register hooks, which ``hooks`` removes; ``ended()`` is called after every pass."""

        def begin(module, args):
            if self.done:
                self.forget()
                raise ValueError(
                    f"{self.name} was called twice in a row; accepted: one call of each "
                    "of the two networks per mini-batch."
                )
            self.forget()

        def end(module, args, output):
            self.done = True
            ended()

        handles = hooks.callback
        handles(self.module.register_forward_pre_hook(begin).remove)
        for name, module in self._modules.items():
            handles(module.register_forward_hook(self._recording(name)).remove)
        handles(self.module.register_forward_hook(end).remove)

    def _recording(self, name):
        def record(module, args, output):
            tensor = _tensor(output)
            if tensor is not None:
                n = self._calls[name] = self._calls.get(name, 0) + 1
                self._given[name if n == 1 else f"{name}:{n}"] = tensor
            elif self._chosen:
                raise TypeError(
                    f"layer {name!r} of {self.name} gives a {type(output).__name__}; accepted: a "
                    "tensor with a row per sample, or a sequence whose first item is one."
                )

        return record

    def forget(self):
        """Reset the state: no layer was called."""
        self.done, self._given, self._calls = False, {}, {}

    def batch(self):
        """Outputs of the layers in this pass; all passes have the same layers."""
        missing = [name for name in self._modules if name not in self._given]
        if (self._chosen and missing) or not self._given:
            raise ValueError(
                f"the layers {listed(missing)} of {self.name} were not called; "
                "accepted: layers that every forward pass calls."
            )
        if self.names is None:
            self.names = list(self._given)
        if self.names != list(self._given):
            raise ValueError(
                f"{self.name} called the layers {listed(list(self._given))}, but "
                f"{listed(self.names)} in earlier passes; accepted: the same layers in "
                "every pass, for instance those chosen with layers=."
            )
        return self._given


def _modules(module, argument, layers):
    """The modules that are recorded, by their names."""
    named = dict(module.named_modules())
    if layers is None:
        return {name: m for name, m in named.items() if next(iter(m.children()), None) is None}
    layers = [layers] if isinstance(layers, str) else list(layers)
    unknown = [name for name in layers if name not in named]
    if unknown or not layers or len(set(layers)) < len(layers):
        raise ValueError(
            f"{argument}: got {listed(layers)}; accepted: different names among "
            f"{listed(list(named))}."
        )
    return {name: named[name] for name in layers}


def _tensor(output):
    """A copy of the first tensor in a layer's output, a row per sample; None if there is none."""
    while isinstance(output, (tuple, list, Mapping)) and len(output):
        output = next(iter(output.values() if isinstance(output, Mapping) else output))
    if not hasattr(output, "detach") or output.ndim == 0:
        return None
    tensor = detached(output).clone()
    return tensor if tensor.ndim > 1 else tensor.reshape(-1, 1)
