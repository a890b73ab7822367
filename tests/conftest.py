"""Hypothesis profiles, and no window for figures.

Its folder is on the import path of the tests, which is how they find ``oracle`` and ``strategies``.
"""

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")
# scikit-learn checks array-API input only where SciPy was imported with this.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

settings.register_profile("local", deadline=None, print_blob=True)
# The same examples at every run: a failure there can be repeated here. More are tried locally.
settings.register_profile(
    "ci", max_examples=40, deadline=None, print_blob=True, derandomize=True, database=None
)
settings.load_profile("ci" if os.environ.get("CI") else "local")
