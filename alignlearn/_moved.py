"""Old import paths: what stood there is found at its new place, when it is asked for."""

from importlib import import_module
from sys import modules
from types import ModuleType

_REFERENCE = ("exchange", "learners", "library", "matrices", "problems")
_FIGURES = ("curves", "drawing", "style", "table")

# Old module: where its names are now, the main part first.
MOVED = {
    "alignment": ("statistics.measures",),
    "compare": ("comparison",),
    "onestage": ("weights.one_stage", "machines", "sources"),
    "plotting": ("comparison.figure",),
    "streaming": ("sources",),
    "targets": ("statistics.targets",),
    **{f"theory.{name}": (f"theory.reference.{name}",) for name in _REFERENCE},
    **{f"theory.figures_{name}": (f"theory.figures.{name}",) for name in _FIGURES},
    "theory.sources": ("theory.papers",),
}


def register(package):
    """Put a module that forwards into ``sys.modules`` for every old path.

    It is there before anyone imports it, so the import system never sets it as an attribute of the
    package: `alignlearn.alignment` and `alignlearn.compare` stay functions.
    """
    for old, new in MOVED.items():
        module = ModuleType(f"{package}.{old}", f"Moved to `{package}.{new[0]}`.")
        module.__getattr__ = _forward(module.__name__, [f"{package}.{name}" for name in new])
        modules[module.__name__] = module


def _forward(old, places):
    def find(name):
        for place in places:
            module = import_module(place)
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(f"module {old!r} has no attribute {name!r}")

    return find
