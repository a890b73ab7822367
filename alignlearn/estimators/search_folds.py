"""The folds of a search, and their restriction to the samples of positive weight."""

from __future__ import annotations

import numpy as np

from alignlearn.folds import make_folds
from alignlearn.validation import warn


def splits(cv, y, groups=None, *, stratify, random_state, leave_one_out=False, weight=None):
    """Return the folds (train, test) of a search, or None for leave-one-out.

    A number of folds divides only the samples of positive weight.

    Parameters
    ----------
    cv : None (5 folds), int, m labels, iterable of (train, test), or object with ``split(X, y)``
    y : ndarray of shape (m,) or (m, q)
    groups : array-like of shape (m,), optional
        A warning is given if ``cv`` does not use them.
    stratify : bool
    random_state : int, Generator or None
    leave_one_out : bool, default False
    weight : ndarray of shape (m,), optional
    """
    splitter = hasattr(cv, "split") and not isinstance(cv, str)
    if groups is not None and not splitter:
        warn(
            (
                f"groups are given, but cv={cv!r:.40} does not use them; accepted: a "
                "splitter such as GroupKFold, or cv=groups for one fold per group."
            ),
            UserWarning,
        )
    if leave_one_out:
        return None
    cv = 5 if cv is None else cv
    number = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if not number or weight is None or weight.all():
        return make_folds(cv, y, stratify, random_state, groups)
    rows = np.flatnonzero(weight)
    folds = make_folds(cv, y[rows], stratify, random_state)
    return [tuple(rows[part] for part in fold) for fold in folds]


def request_groups(routing, cv):
    """Return a ``MetadataRequest`` whose ``fit`` requests groups if the splitter ``cv`` does.

    ``set_fit_request(groups=True)`` requests them for every ``cv``.
    """
    from sklearn.utils.metadata_routing import get_routing_for_object

    if routing.fit.requests["groups"] is None:
        request = get_routing_for_object(cv).split.requests.get("groups")
        routing.fit.add_request(param="groups", alias=request)
    return routing


def used_part(source, y, folds):
    """Return the source, the targets and the splits of the samples of positive weight."""
    if source.weight is None or source.weight.all():
        return source, y, folds
    return source.used(), y[source.weight > 0.0], used_splits(folds, source.weight)


def used_splits(folds, weight):
    """Return splits as positions among the samples of positive weight; None for None."""
    if folds is None:
        return None
    position = np.cumsum(weight > 0.0) - 1
    found = [tuple(position[rows[weight[rows] > 0.0]] for rows in fold) for fold in folds]
    for which, (train, test) in enumerate(found):
        for name, rows in (("training", train), ("test", test)):
            if not rows.size:
                raise ValueError(
                    f"sample_weight is zero in all of the {name} set of fold {which} of cv; "
                    "accepted: folds with a positive one in both sets."
                )
    return found


def check_training_classes(labels, folds, weight):
    """Raise if zero sample weights leave a training set with one class."""
    if weight is None and labels.ndim == 1:
        return  # already checked by the folds
    weight = np.ones(len(labels)) if weight is None else weight
    for which, (train, _) in enumerate(folds):
        found = np.unique(labels[train][weight[train] > 0.0], axis=0)
        if labels.ndim == 2 and len(found) == 1:
            raise ValueError(
                f"cv: all labels are constant in the training set of fold {which}; accepted: fewer "
                "or other folds."
            )
        if len(found) == 1:
            raise ValueError(
                f"cv: samples of positive sample_weight in the training set of fold {which} are of "
                f"1 class only, {found[0].item()!r}; accepted: fewer or other folds."
            )


def used_targets(y, weight, splits):
    """Return targets, weights and splits of the samples of positive weight."""
    if weight is None:
        return y, None, splits
    return y[weight > 0.0], weight[weight > 0.0], used_splits(splits, weight)
