"""What scikit-learn expects of an estimator, without importing scikit-learn.

Its classes are used where a program has loaded it already: then its own tools recognise them.
"""

from __future__ import annotations

import sys

from alignlearn._params import ParamsMixin


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


class Estimator(ParamsMixin):
    """Parameters, the check for a fit, and scikit-learn's tags."""

    _estimator_type = None

    def __sklearn_is_fitted__(self):
        return hasattr(self, "_source")

    def _check_is_fitted(self):
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)

    def _accepts_sparse(self):
        """Whether the kernels take SciPy sparse matrices."""
        return False

    def _multi_output(self):
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
            target_tags=TargetTags(required=True, multi_output=self._multi_output()),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(sparse=self._accepts_sparse()),
        )
