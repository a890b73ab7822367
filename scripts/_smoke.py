#!/usr/bin/env python3
"""Check an installed package before its release, in some seconds of compiled code.

`scripts/release` and the workflows run this file outside of the source tree, so that the installed
package is imported. It needs only the package's own requirements. It draws a figure if matplotlib
is installed, and uses scikit-learn's tools if that is installed.

usage: python _smoke.py [VERSION]        fails unless VERSION is the one installed
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

import alignlearn as al


def samples():
    """A circle in the plane among two columns of noise, and labels of its inside."""
    X = np.random.default_rng(0).uniform(-1.0, 1.0, (240, 4))
    return X[:160], X[160:], (X**2)[:160, :2].sum(1) < 0.6, (X**2)[160:, :2].sum(1) < 0.6


def check_models(folder):
    """Fit, predict, save, load: the same predictions, and better ones than a guess."""
    X, X_new, y, y_new = samples()
    kernels = [*al.gaussian_kernels([0.1, 1.0, 10.0]), "linear"]
    for model, target, truth in (
        (al.MKLClassifier(kernels), y, y_new),
        (al.MKLRegressor(kernels), (X**2).sum(1), (X_new**2).sum(1)),
    ):
        score = model.fit(X, target).score(X_new, truth)
        assert score > 0.8, (model, score)
        al.save(model, folder / "a.model")
        again = al.load(folder / "a.model").predict(X_new)
        assert np.array_equal(again, model.predict(X_new)), model


def check_functions():
    """An invariance of CKA, an interval that contains the true value, and a detected dependence."""
    X, _, y, _ = samples()
    turned = X @ np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    # A rotation of the features changes nothing.
    assert abs(al.cka(X @ X.T, turned @ turned.T) - 1.0) < 1e-10
    found = al.alignment_interval(X, y, al.Gaussian(1.0))
    assert 0.0 <= found.low < found.high <= 1.0, found
    assert al.hsic_test(X[:, 0], X[:, 0] ** 2, random_state=0).p_value < 0.05


def check_command():
    """The command line starts, and prints the version."""
    printed = subprocess.run(
        [sys.executable, "-m", "alignlearn", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.split() == ["alignlearn", al.__version__], printed.stdout


def check_optional():
    """A figure and a cross-validation, if their packages are installed; return their names."""
    X, _, y, _ = samples()
    clf = al.MKLClassifier(al.gaussian_kernels([0.1, 1.0])).fit(X, y)
    found = [name for name in ("matplotlib", "sklearn") if importlib.util.find_spec(name)]
    if "matplotlib" in found:
        import matplotlib

        matplotlib.use("Agg")
        al.KernelWeightsDisplay.from_estimator(clf)
    if "sklearn" in found:
        from sklearn.model_selection import cross_val_score

        assert cross_val_score(clf, X, y).mean() > 0.8
    return found


def main(argv=None):
    """Run all checks; return the exit code."""
    wanted = (sys.argv[1:] if argv is None else argv)[:1]
    assert not wanted or wanted[0] == al.__version__ == version("alignlearn"), al.__version__
    with tempfile.TemporaryDirectory() as folder:
        check_models(Path(folder))
    check_functions()
    check_command()
    optional = check_optional()
    names = (
        "numpy",
        "scipy",
        "numba",
        *("scikit-learn" if n == "sklearn" else n for n in optional),
    )
    with_ = ", ".join(f"{name} {version(name)}" for name in names)
    print(f"alignlearn {al.__version__} works: Python {sys.version.split()[0]}, {with_}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
