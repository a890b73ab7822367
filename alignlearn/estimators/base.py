"""Base classes of all estimators: the interface for users and for scikit-learn.

Parameters, the mark of a fit, columns and their names, scores, tags and metadata routing, without
importing scikit-learn; its classes are used where a program has loaded it already: then its own
tools recognize them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from alignlearn._limits import MAX_FEATURES
from alignlearn._params import ParamsMixin
from alignlearn.machines.scores import LabelScore, TargetScore
from alignlearn.solvers.multiclass import predicted_labels
from alignlearn.sources import GramStack, Tables, as_fitted, as_tables, with_absent
from alignlearn.validation import (
    not_fitted,
    row_labels,
    stored_labels,
    warn,
    wrap_methods,
)
from alignlearn.validation.frames import is_frame

from ._html import estimator_html
from .inputs import feature_names, take_sparse
from .prepared_columns import PreparedMatrix, as_prepared
from .routing import ROUTED, metadata_of, request_setter

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform
else:

    def dataclass_transform(**_):
        """Nothing at run time: type checkers read it."""
        return lambda decorator: decorator


OF_COLUMNS = (
    "n_features_in_",
    "feature_names_in_",
    "table_names_in_",
    "table_widths_in_",
    "sample_numbers_in_",
    "n_stacked_in_",
    "sample_labels_in_",
    "preparation_",
)


class Shared(NamedTuple):
    """A parameter that many estimators have."""

    default: Any
    text: str


# Parameters with the same default and description in many estimators, in their common order; the
# last four come last in every estimator. Docstrings omit them and get these descriptions inserted,
# unless the class documents one of them itself.
SHARED = {
    "strategy": Shared(
        None,
        """\
strategy : {"auto", "best", "thorough"}, optional
    Candidates of ``weighting="auto"``, see Notes. Setting it implies ``weighting="auto"``.
    "auto", the default: nine candidate kernels on two folds, and the best two on all folds. The
    result is the average of these two or, if it is better by more than noise, the best one, one
    on single columns, or an average with it. "best": all candidates on all folds, and the best
    one. "thorough": ten candidates on all folds, and the average of the best three.""",
    ),
    "ensemble": Shared(
        True,
        """\
ensemble : bool, default True
    Whether a strategy may average models; False uses the best one.""",
    ),
    "unbiased": Shared(
        False,
        """\
unbiased : bool, default False
    Learn the weights from U-statistics, which omit the diagonal of the kernels. The diagonal
    inflates the alignment of narrow kernels. Alignments are then unbiased estimates. A narrow
    kernel, whose off-diagonal values are small, may get a large weight, and its diagonal then
    acts as a ridge penalty. Not available with ``sample_weight``.""",
    ),
    "missing": Shared(
        None,
        """\
missing : {"tables"} or None, default None
    "tables": samples may have missing tables, marked by a row of NaN, in ``fit`` and for new
    samples. Stage 1 sums over the pairs of samples that have a kernel's table. For stage 2, a
    missing table is imputed by ridge regression on the sample's other tables
    (`docs/guide/missing-tables.md`). ``completion_`` and ``summary()`` report the quality.
    None: missing tables raise an error.""",
    ),
    "verbose": Shared(
        None,
        """\
verbose : bool or callable, default None
    True prints on stderr, from two seconds on and every two seconds, how much of the work is done.
    None does so where stderr is a terminal, False never. A function is called as
    ``verbose(done, total, what)`` in the thread that called ``fit``, at most ten times a second for
    each part of the work, and at the end of the part with ``done == total``. If it raises an
    exception, the fit ends, and the estimator is not fitted. Clones share the
    function; pickles omit it.""",
    ),
    "device": Shared(
        "auto",
        """\
device : {"auto", "cpu", "cuda"}, default "auto"
    Device that evaluates pairs of samples. "auto" uses a CUDA device, if there is one, for work
    that is large enough to benefit.""",
    ),
    "client": Shared(
        None,
        """\
client : dask.distributed.Client, optional
    The client's workers evaluate the pairs. Clones share the client; pickles omit it.""",
    ),
    "random_state": Shared(
        None,
        """\
random_state : int or numpy.random.Generator, optional
    None means the seed 0, so results are reproducible.""",
    ),
}
LAST = ("verbose", "device", "client", "random_state")
_PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=\n\n\w+\n---|\Z)", re.MULTILINE | re.DOTALL)


def shared(name):
    """The default of a parameter that is in `SHARED`."""
    return SHARED[name].default


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def parameters(cls):
    """Class decorator: the annotated defaults of an estimator are its constructor's parameters.

    They have the order in which the class lists them. They are keywords; the first ones may be
    positional, by ``field(default=..., kw_only=False)``. A default that many estimators share is
    ``shared(name)``, and its text comes into the docstring by itself. Bases have no parameters:
    what a base reads it annotates without a value.
    """
    doc = cls.__doc__
    cls = dataclass(eq=False, repr=False, kw_only=True)(cls)
    if doc is not None:  # it is under python -OO
        cls.__doc__ = _with_shared_texts(doc, list(inspect.signature(cls).parameters))
    return cls


def svm_options(estimator):
    """The parameters of a support vector classifier, except C, that an estimator has."""
    names = ("multiclass", "class_weight", "tol", "max_iter")
    return {name: getattr(estimator, name) for name in names}


def _with_shared_texts(doc, names):
    """Insert the descriptions of the shared parameters among ``names`` into a docstring, in order.

    Parameters that the docstring documents are not changed.
    """
    doc = inspect.cleandoc(doc)
    found = _PARAMETERS.search(doc)
    if found is None:
        return doc
    entries = [(_documented(text), text) for text in re.split(r"\n(?=\w)", found[1])]
    own = {name for heads, _ in entries for name in heads}
    for place, name in enumerate(names):
        if name in SHARED and name not in own:
            later = (k for k, (heads, _) in enumerate(entries) if heads[0] in names[place:])
            entries.insert(next(later, len(entries)), ([name], SHARED[name].text))
    return doc[: found.start(1)] + "\n".join(text for _, text in entries) + doc[found.end() :]


def _documented(entry):
    """Names of the parameters that an entry of a docstring documents."""
    return [name.strip() for name in entry.partition("\n")[0].partition(" :")[0].split(",")]


class Estimator(ParamsMixin):
    """The check for a fit, scikit-learn's tags and metadata routing."""

    weights_: np.ndarray  # of fits that have ``kernels_``

    _estimator_type = None
    _members = ()  # models whose decisions a fit averages
    _fitted_marker = "_predictor"  # the attribute that ``fit`` sets last

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        for method in ROUTED:
            if metadata_of(cls, method):
                setattr(cls, f"set_{method}_request", request_setter(method))
        wrap_methods(cls)

    def get_metadata_routing(self):
        """Return the ``MetadataRequest`` for the arguments of each method."""
        from sklearn.utils.metadata_routing import MetadataRequest

        asked = getattr(self, "_requests", None)
        if asked is None:
            asked = {method: dict.fromkeys(metadata_of(type(self), method)) for method in ROUTED}
        routing = MetadataRequest(owner=type(self).__name__)
        for method, requests in asked.items():
            for argument, request in requests.items():
                getattr(routing, method).add_request(param=argument, alias=request)
        return routing

    def __sklearn_is_fitted__(self):
        return hasattr(self, self._fitted_marker)

    def check_loaded(self):
        """Raise a ValueError if the columns in a file from any author are inconsistent."""
        labels, width = (vars(self).get(n) for n in ("sample_labels_in_", "n_stacked_in_"))
        if labels is not None and width is not None and labels.shape != (width,):
            raise ValueError(f"sample_labels_in_ has shape {labels.shape}; accepted: ({width},)")
        names, widths = (vars(self).get(f"table_{n}_in_") for n in ("names", "widths"))
        if widths is not None and len(widths) != len(names or ()):
            raise ValueError(f"table_widths_in_={widths}; accepted: one for each table")
        n = getattr(self, "n_features_in_", None)
        if n is None:
            return
        if not 0 <= n <= MAX_FEATURES:
            raise ValueError(f"n_features_in_={n}; accepted: 0 to {MAX_FEATURES}")
        names = getattr(self, "feature_names_in_", None)
        if names is not None and names.shape != (n,):
            raise ValueError(f"feature_names_in_ has shape {names.shape}; accepted: ({n},)")

    def _check_is_fitted(self):
        if not self.__sklearn_is_fitted__():
            raise not_fitted(self)

    def _repr_html_(self):
        """HTML for notebooks: the parameters and, after ``fit``, the weights of the kernels."""
        return estimator_html(self)

    def _kernel_weights(self):
        """One weight for each of ``kernels_`` for display, and a description if they are means."""
        return self.weights_, ""

    def _kernel_model(self):
        """The fitted plain estimator that has the statistics of the kernels."""
        return self

    def _forget(self, *names):
        """Remove the results of an earlier fit, so that a failed fit leaves an unfitted estimator.

        ``names`` are further attributes to drop.
        """
        for name in (self._fitted_marker, *OF_COLUMNS, *names):
            self.__dict__.pop(name, None)

    def _store_columns(self, X, n_features):
        """Store the number of columns of X in ``fit`` (None without columns) and their names.

        For several tables or named matrices, store their names; for a part of a `GramStack`, its
        samples.
        """
        for name in OF_COLUMNS:
            self.__dict__.pop(name, None)
        if isinstance(X, PreparedMatrix):
            self.preparation_ = X.preparation
            X = self.preparation_  # with the columns of the frame
            n_features = len(X.columns)
        X = as_tables(X, getattr(self, "kernels", None))
        if isinstance(X, (Tables, GramStack)):
            self.table_names_in_ = X.names
        if isinstance(X, Tables):
            self.table_widths_in_ = tuple(len(span) for span in X.spans().values())
        if isinstance(X, GramStack):
            self.sample_numbers_in_, self.n_stacked_in_ = X.rows, X.shape[1]
            labels = X.labels
        else:
            kernels, labels = getattr(self, "kernels", None), None
            if (
                isinstance(kernels, str)
                and kernels == "precomputed"
                and isinstance(X, (list, tuple))
            ):
                known = (row_labels(one) for one in X)
                labels = stored_labels(next((own for own in known if own is not None), None))
        if labels is not None:
            self.sample_labels_in_ = labels
        names = feature_names(X)
        if n_features is not None:
            self.n_features_in_ = n_features
            if names is not None:
                self.feature_names_in_ = names

    def _check_columns(self, X, check, extra=0):
        """``check(X)`` of new samples, which must have the columns of ``fit``, if there were any.

        ``extra`` is the number of columns that ``check`` removes.
        """
        self._check_is_fitted()
        X = self._as_fitted(X)
        if isinstance(X, PreparedMatrix) or not hasattr(self, "n_features_in_"):
            return check(X)
        self._check_names(X)
        X = X.joined(self._takes_gaps()) if isinstance(X, Tables) else X
        X = check(X)
        if X.shape[1] + extra != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1] + extra} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        return X

    def _takes_gaps(self):
        """Whether new samples may have missing tables."""
        return False

    def _as_fitted(self, X):
        """X with its tables or matrices, if there are several, by name and in the order of fit.

        After the fit of a data frame that was prepared, its `PreparedMatrix`.
        """
        preparation = getattr(self, "preparation_", None)
        if preparation is not None:
            if hasattr(X, "to_frame") and not is_frame(X):
                raise ValueError(
                    f"X is a {type(X).__name__}, which is one row or one column; accepted: a data "
                    "frame with the columns of fit. One row is frame.iloc[[0]] in pandas, and "
                    "frame[:1] in polars."
                )
            if not is_frame(X) and not isinstance(X, PreparedMatrix):
                self._check_names(X)
            return as_prepared(preparation, X, type(self).__name__)
        rows = getattr(self, "sample_numbers_in_", None)
        stack = None if rows is None else (rows, self.n_stacked_in_)
        labels = getattr(self, "sample_labels_in_", None)
        if getattr(self, "missing", None) == "tables" and hasattr(self, "table_widths_in_"):
            X = with_absent(X, self._columns_of_tables())
        return as_fitted(X, getattr(self, "table_names_in_", None), stack, labels)

    def _columns_of_tables(self):
        """Names of the columns of each table in ``fit``, or numbers if it had no names."""
        names, found = iter(self.feature_names_in_), {}
        for table, width in zip(self.table_names_in_, self.table_widths_in_):
            own = [next(names).removeprefix(f"{table}__") for _ in range(width)]
            found[table] = range(width) if own == [str(k) for k in range(width)] else own
        return found

    def _joined(self, X):
        """`_as_fitted` as one matrix, the input of the fitted kernels."""
        X = self._as_fitted(X)
        return X.joined() if isinstance(X, Tables) else X

    def _check_names(self, X):
        """Compare the column names of a data frame with those of ``fit``."""
        if isinstance(X, PreparedMatrix):
            return
        fitted, given = getattr(self, "feature_names_in_", None), feature_names(X)
        name = type(self).__name__
        if fitted is None and given is not None:
            warn(f"X has feature names, but {name} was fitted without feature names")
        elif fitted is not None and given is None:
            warn(f"X does not have valid feature names, but {name} was fitted with feature names")
        check_same_names(fitted, given)

    def _accepts_sparse(self):
        """Whether the kernels take SciPy sparse matrices."""
        known = self.get_params(deep=False)
        if "kernel" in known:
            return take_sparse([known["kernel"]])
        return "kernels" in known and take_sparse(known["kernels"])

    def _needs_target(self):
        """Whether ``fit`` needs y."""
        return True

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
            target_tags=TargetTags(required=self._needs_target(), multi_output=kind == "regressor"),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            classifier_tags=ClassifierTags() if kind == "classifier" else None,
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(sparse=self._accepts_sparse()),
        )


class Classifier(LabelScore):
    """Mixin: scikit-learn's interface of a classifier."""

    _estimator_type = "classifier"
    classes_: np.ndarray
    decision_function: Callable[..., np.ndarray]

    def predict(self, X) -> np.ndarray:
        """Label of the largest confidence for each of n samples, shape (n,)."""
        return predicted_labels(self.decision_function(X), self.classes_)


class Regressor(TargetScore):
    """Mixin: scikit-learn's interface of a regressor."""

    _estimator_type = "regressor"


class OutlierDetector(Estimator):
    """Mixin: scikit-learn's interface of an outlier detector."""

    _estimator_type = "outlier_detector"

    def _needs_target(self):
        return False

    def fit(self, X, y=None, **params) -> Self:
        """Fit to X; return the estimator."""
        raise NotImplementedError

    def fit_predict(self, X, y=None, **params) -> np.ndarray:
        """Fit to X and return for each sample whether it is inside (1) or outside (-1).

        Parameters
        ----------
        X : as in ``fit``
        y : ignored
        **params
            To ``fit``, such as ``sample_weight``.

        Returns
        -------
        ndarray of int of shape (m,)
        """
        return self.fit(X, **params).predict(X)


def check_same_names(fitted, given):
    """Check that column names equal those of ``fit``, in order, if both are known."""
    if fitted is not None and given is not None and list(fitted) != list(given):
        raise ValueError(
            "The feature names should match those that were passed during fit.\n"
            + _name_differences(set(fitted), set(given))
        )


def _name_differences(fitted, given):
    text = ""
    titles = "Feature names unseen at fit time:", "Feature names seen at fit time, yet now missing:"
    for title, names in zip(titles, (given - fitted, fitted - given)):
        if names:
            shown = [*(f"- {n}" for n in sorted(names)[:5]), *(["- ..."] if len(names) > 5 else [])]
            text += "\n".join([title, *shown, ""])
    return text or "Feature names must be in the same order as they were in fit.\n"
