"""The version in a pickle or a model file, and the warning if another version loads it."""

from __future__ import annotations

import re

import alignlearn
from alignlearn.validation import VersionWarning, warn

CHANGES: dict[str, tuple[str, ...]] = {}
"""Version -> sentences about models of earlier versions whose state or results differ in it."""
KEY = "_alignlearn_version"  # of the state in a pickle


def is_version(version):
    """Whether a string is a version, such as "0.2.0" or "1.0.0rc1+local"."""
    return isinstance(version, str) and re.fullmatch(r"\d[\w.+-]{0,40}", version, re.A) is not None


def _number(version):
    """The leading numbers of a version, for comparisons."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def warn_of_version(version):
    """Warn about the changes since ``version`` if it is not the running version."""
    current = alignlearn.__version__
    if version == current:
        return
    old, new = _number(version), _number(current)
    since = sorted((v for v in CHANGES if old < _number(v) <= new), key=_number)
    if old > new:
        said = "what a later version changed is not known here; update alignlearn, or fit again."
    elif since:
        said = " ".join(f"Since {v}: {line}" for v in since for line in CHANGES[v])
    else:
        said = "no change of models between them is recorded."
    warn(
        f"A model written by alignlearn {version} is loaded by alignlearn {current}: {said}",
        VersionWarning,
    )


class Versioned:
    """Mixin: pickles contain the version; loading them in another one warns (`VersionWarning`)."""

    def __getstate__(self):
        return {**vars(self), KEY: alignlearn.__version__}

    def __setstate__(self, state):
        state = dict(state)
        version = state.pop(KEY, None)
        vars(self).update(state)
        if version is not None:
            warn_of_version(version)
