"""What scikit-learn expects of an estimator, without importing scikit-learn.

Its classes are used where a program has loaded it already: then its own tools recognise them.
"""

from __future__ import annotations

import inspect
import sys
from importlib import import_module

import numpy as np

from alignlearn._params import ParamsMixin
from alignlearn.validation import check_choice

# Methods whose arguments beside X and y can be metadata, in scikit-learn's words.
_ROUTED = ("fit", "predict", "decision_function", "score", "transform")
_CONTAINERS = ("default", "pandas", "polars")


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted estimator was called before ``fit``."""


class DataConversionWarning(UserWarning):
    """The input was accepted after a change of shape."""


def _own_or_sklearn(own):
    exceptions = sys.modules.get("sklearn.exceptions")
    return own if exceptions is None else getattr(exceptions, own.__name__)


def not_fitted(estimator):
    """The error to raise for an estimator that is not fitted."""
    name = type(estimator).__name__
    return _own_or_sklearn(NotFittedError)(
        f"This {name} instance is not fitted yet; call fit with training data first."
    )


def data_conversion_warning():
    """The warning class for a column vector y."""
    return _own_or_sklearn(DataConversionWarning)


def _metadata(cls, method):
    """Names of the arguments of a method beside X and y."""
    function = getattr(cls, method, None)
    parameters = [] if function is None else inspect.signature(function).parameters.values()
    named = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return [name for name in named if name not in ("self", "X", "y")]


def _request_setter(method):
    """``set_fit_request`` and its like."""

    def set_request(self, **requests):
        self._metadata_request = _requested(self, method, requests)
        return self

    set_request.__name__ = f"set_{method}_request"
    set_request.__doc__ = f"""Say which arguments of ``{method}`` meta-estimators are to pass on.

        Parameters
        ----------
        **requests : True, False, None or str
            For arguments beside X and y: pass it, do not, raise an error where it is given (the
            default), or pass what is given under this other name.

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
    """The estimator's ``MetadataRequest`` with some requests changed."""
    from sklearn import get_config
    from sklearn.utils.metadata_routing import UNCHANGED

    name, known = type(estimator).__name__, _metadata(type(estimator), method)
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
    return routing


class Estimator(ParamsMixin):
    """Parameters, the check for a fit, scikit-learn's tags and metadata routing."""

    _estimator_type = None
    _fitted_marker = "_predictor"  # the attribute that ``fit`` sets last

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for method in _ROUTED:
            if _metadata(cls, method):
                setattr(cls, f"set_{method}_request", _request_setter(method))

    def get_metadata_routing(self):
        """What scikit-learn's meta-estimators may pass to each method, a ``MetadataRequest``."""
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if hasattr(self, "_metadata_request"):
            return get_routing_for_object(self._metadata_request)
        routing = MetadataRequest(owner=type(self).__name__)
        for method in _ROUTED:
            for argument in _metadata(type(self), method):
                getattr(routing, method).add_request(param=argument, alias=None)
        return routing

    def __sklearn_is_fitted__(self):
        return hasattr(self, self._fitted_marker)

    def _check_is_fitted(self):
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)

    def _accepts_sparse(self):
        """Whether the kernels take SciPy sparse matrices."""
        return False

    def __sklearn_tags__(self):
        from sklearn.utils import (
            ClassifierTags,
            InputTags,
            RegressorTags,
            Tags,
            TargetTags,
            TransformerTags,
        )

        kind = self._estimator_type
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=True, multi_output=kind == "regressor"),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(sparse=self._accepts_sparse()),
        )


class FrameOutput:
    """``set_output`` and names of the output, for estimators with ``transform``.

    The host has ``_n_features_out`` and passes its results through ``_in_container``.
    """

    # Meta-estimators look here for whether they may leave the container to this estimator.
    _sklearn_auto_wrap_output_keys = frozenset({"transform"})

    def set_output(self, *, transform=None):
        """Choose the container of the results of ``transform`` and ``fit_transform``.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            "default" is an array; None changes nothing. Where nothing was chosen, scikit-learn's
            ``set_config(transform_output=...)`` holds, if a program has loaded scikit-learn.

        Returns
        -------
        self
        """
        if transform is not None:
            check_choice("transform", transform, _CONTAINERS)
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features=None):
        """Names of the columns of the output: the class name in lower case and a number.

        Parameters
        ----------
        input_features : array-like of str, optional
            Only compared with the names, or the number, of the features in ``fit``.

        Returns
        -------
        ndarray of str, dtype object
        """
        self._check_is_fitted()
        if input_features is not None:
            given, names = list(input_features), getattr(self, "feature_names_in_", None)
            width = getattr(self, "n_features_in_", len(given))
            if names is not None and list(names) != given:
                raise ValueError("input_features is not equal to feature_names_in_.")
            if len(given) != width:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({width}), got {len(given)}."
                )
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self._n_features_out)], dtype=object)

    def _in_container(self, values, X):
        """The output (n, n_features_out) for X in the container that was chosen."""
        own = getattr(self, "_sklearn_output_config", {}).get("transform")
        sklearn = sys.modules.get("sklearn")
        default = "default" if sklearn is None else sklearn.get_config()["transform_output"]
        chosen = check_choice("transform_output", own or default, _CONTAINERS)
        if chosen == "default":
            return values
        try:
            library = import_module(chosen)
        except ImportError as error:
            raise ImportError(
                f"a transform output of {chosen!r} needs {chosen}, which is not installed."
            ) from error
        names = self.get_feature_names_out()
        if chosen == "polars":
            return library.DataFrame(values, schema=names.tolist(), orient="row")
        index = X.index if isinstance(X, (library.DataFrame, library.Series)) else None
        return library.DataFrame(values, index=index, columns=names, copy=False)
