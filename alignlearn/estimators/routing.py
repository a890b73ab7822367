"""Metadata routing of scikit-learn: which arguments of its methods an estimator requests."""

from __future__ import annotations

import inspect

# Methods whose arguments beside X and y can be metadata, in scikit-learn's words.
ROUTED = ("fit", "predict", "decision_function", "score", "transform")


def metadata_of(cls, method):
    """Names of the arguments of a method beside X and y."""
    function = getattr(cls, method, None)
    parameters = [] if function is None else inspect.signature(function).parameters.values()
    named = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return [name for name in named if name not in ("self", "X", "y")]


def request_setter(method):
    """``set_fit_request`` and its like."""

    def set_request(self, **requests):
        self._requests = _requested(self, method, requests)
        return self

    set_request.__name__ = f"set_{method}_request"
    set_request.__doc__ = f"""Set which arguments of ``{method}`` meta-estimators pass on.

        Parameters
        ----------
        **requests : True, False, None or str
            For each argument other than X and y. True: pass it. False: do not pass it. None
            (default): raise an error if it is given. str: pass the argument of this name.

        Returns
        -------
        self

        Raises
        ------
        RuntimeError
            scikit-learn's metadata routing is not enabled.
        TypeError, ValueError
            ``{method}`` has no such argument, or a value is none of these.
        """
    return set_request


def _requested(estimator, method, requests):
    """The requests of all methods, some changed, as data: {method: {argument: request}}."""
    from sklearn import get_config
    from sklearn.utils.metadata_routing import UNCHANGED

    name, known = type(estimator).__name__, metadata_of(type(estimator), method)
    if not get_config().get("enable_metadata_routing", False):
        raise RuntimeError(
            f"set_{method}_request is for metadata routing, which is not enabled; call "
            "sklearn.set_config(enable_metadata_routing=True) first."
        )
    routing = estimator.get_metadata_routing()
    for argument, request in requests.items():
        if argument not in known:
            raise TypeError(
                f"set_{method}_request: {name}.{method} has no argument {argument!r}; accepted: "
                f"{', '.join(known)}."
            )
        if request != UNCHANGED:
            getattr(routing, method).add_request(param=argument, alias=request)
    return {method: dict(getattr(routing, method).requests) for method in ROUTED}
