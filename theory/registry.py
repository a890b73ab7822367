"""`CLAIMS`: every claim in paper order, imported on first access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from .claim import Claim

# The papers in order. The first part of a folder's name begins the names of its claims, and its
# ``FILES`` lists them in the order of the paper: "lemma_1" is "p1-lemma-1" and has its own file,
# "prop_7:prop_7_linear" is "p1-prop-7-linear", a variant in the file prop_7.py.
_FOLDERS = ("p1_alignment", "p2_l2", "p3_multitask", "p4_hyperkernels", "p5_kernels")


class _Registry(Mapping):
    """Name -> Claim, ordered, read-only; a claim's file is imported on first access."""

    def __init__(self, folders):
        self._modules = {}
        for folder in folders:
            paper = folder.partition("_")[0]
            for entry in import_module(f".{folder}", __package__).FILES:
                file, _, variant = entry.partition(":")
                name = f"{paper}_{variant or file}".replace("_", "-")
                self._modules[name] = f".{folder}.{file}"

    def __getitem__(self, name):
        found = vars(self.module(name)).values()
        return next(claim for claim in found if isinstance(claim, Claim) and claim.name == name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)

    def module(self, name):
        """Return the module of a claim, which also has its cases and its variants.

        Raises
        ------
        KeyError
            For a name that is not a claim.
        """
        if name not in self._modules:
            raise KeyError(f"{name!r} is not a claim; accepted: {', '.join(self._modules)}.")
        return import_module(self._modules[name], __package__)


CLAIMS = _Registry(_FOLDERS)


def proof_file(name) -> Path | None:
    """Return the machine-checked proof of a claim, a Coq file beside the claim's, or None.

    ``scripts/lab/check_proofs`` checks these files; their heads list which forms of the claim they
    prove.

    Parameters
    ----------
    name : str
        Key of `CLAIMS`.

    Raises
    ------
    KeyError
        For a name that is not a claim.
    """
    file = Path(CLAIMS.module(name).__file__)
    file = file.with_name(name.partition("-")[2].replace("-", "_") + ".v")
    return file if file.exists() else None


def all_claims():
    """Yield every printed claim, each followed by its corrected or sharpened form.

    Examples
    --------
    >>> from alignlearn.theory import CLAIMS, all_claims
    >>> sum(1 for _ in all_claims()) > len(CLAIMS)
    True
    """
    for claim in CLAIMS.values():
        while claim is not None:
            yield claim
            claim = claim.corrected
