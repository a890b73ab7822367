"""Named parts that are indexed by sample: the base of several tables and of several matrices."""

from __future__ import annotations

import numpy as np

from alignlearn._text import listed
from alignlearn._versions import Versioned


class NamedParts(Versioned):
    """Named parts that are indexed by sample, as scikit-learn's splitters do it."""

    _what = "parts"

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        shown = listed(self.names, 5, show=str)
        return f"{type(self).__name__}({self.shape[0]} samples, {self._what} {shown})"

    def __getitem__(self, index):
        """Select samples by a slice, an index array, a mask or one number."""
        if isinstance(index, tuple):
            if len(index) != 2 or index[1] is not Ellipsis:
                raise TypeError(
                    f"{type(self).__name__} is indexed by sample, got {index!r:.80}; accepted: a "
                    "slice, numbers or a mask."
                )
            index = index[0]
        return self._some(np.atleast_1d(np.arange(len(self))[index]))

    def take(self, indices, axis=0):
        """Select samples, equal to ``self[indices]``; ``axis`` must be 0."""
        if axis != 0:
            raise ValueError(f"axis={axis!r}; accepted: 0, the samples.")
        return self[np.asarray(indices)]


def check_part_names(what, known, given):
    """Raise an error for names that differ from those of ``fit``."""
    unknown = [name for name in given if name not in known]
    missing = [name for name in known if name not in given]
    parts = [
        f"{verb} {listed(names)}" for verb, names in (("has", unknown), ("lacks", missing)) if names
    ]
    if parts:
        raise ValueError(
            f"X {' and '.join(parts)}; accepted: a {what} for each name of fit, {listed(known)}."
        )
