"""Models in one file that holds data and no code: ``save`` and ``load``.

The format is described in docs/guide/model-files.md.
"""

from ._files import ModelFileError, load, save

__all__ = ["ModelFileError", "load", "save"]
