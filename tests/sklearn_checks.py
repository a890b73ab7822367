"""scikit-learn's own checks of estimators, one test for each estimator."""

import inspect
import traceback
import unittest
import warnings

import pytest

# The checks that fit data and compare results: for variants of a class that is checked in full with
# other parameters.
DATA = (
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_outliers_train",
    "check_regressors_train",
    "check_sample_weight_equivalence",
    "check_transformer_general",
)


def name_of(estimator):
    """The class of an estimator and its parameters, for the name of a test."""
    parameters = inspect.signature(type(estimator)).parameters
    changed = {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if repr(value) != repr(parameters[name].default)
    }
    words = ",".join(f"{name}={value!r}" for name, value in changed.items())
    return f"{type(estimator).__name__}({words})"


def each_estimator(estimators):
    """Parametrize a test by ``estimator`` and ``chosen``: all checks, or those that compare data.

    The first estimator of a class gets all checks.
    """
    classes, cases = set(), []
    for estimator in estimators:
        chosen = DATA if type(estimator) in classes else None
        classes.add(type(estimator))
        cases.append(pytest.param(estimator, chosen, id=name_of(estimator)))
    return pytest.mark.parametrize(("estimator", "chosen"), cases)


def run_checks(estimator, chosen=None, left_out=(), prepare=None):
    """Return the failing checks, as text, and the number of checks that ran.

    ``chosen`` and ``left_out`` are parts of names of checks. ``prepare(estimator, name)`` returns
    the estimator that a check gets.
    """
    from sklearn.utils.estimator_checks import estimator_checks_generator

    failed, count = [], 0
    with warnings.catch_warnings():
        # It does not inherit, since scikit-learn is not a run-time dependency.
        warnings.filterwarnings("ignore", message="Estimator .* does not inherit from")
        checks = list(estimator_checks_generator(estimator))
    for one, check in checks:
        name = str(getattr(check, "func", check).__name__)
        if any(part in name for part in left_out):
            continue
        if chosen is not None and not any(part in name for part in chosen):
            continue
        try:
            with warnings.catch_warnings():
                check(prepare(one, name) if prepare else one)
        except unittest.SkipTest:
            continue
        except Exception:
            failed.append(f"{name}:\n{traceback.format_exc()}")
        count += 1
    return "\n".join(failed), count


def assert_checks(estimator, chosen=None, **options):
    """Fail with the names of the failing checks."""
    failed, count = run_checks(estimator, chosen, **options)
    assert failed == ""
    assert count >= (30 if chosen is None else 6)
