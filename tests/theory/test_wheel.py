"""The wheel: the theory's folders and their text files are in it, and it imports on its own."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "setup.cfg").exists(), reason="needs the source tree")

_PROBE = """
import sys
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import alignlearn
import alignlearn.bounds as bounds
from alignlearn.theory import CLAIMS, check
from alignlearn.theory.draws import RandomDraw
from alignlearn.theory.figures import FIGURES, curves
from alignlearn.theory.registry import proof_file

unpacked = Path(sys.argv[1]).resolve()
figures = [import_module(f"alignlearn.theory.figures.{name}") for name in ("alignment", "table")]
modules = [alignlearn, curves, *figures, *map(CLAIMS.module, CLAIMS)]
for module in (*modules, bounds):
    assert unpacked in Path(module.__file__).resolve().parents, module.__file__
for folder in {CLAIMS.module(name).__package__ for name in CLAIMS}:
    assert (files(folder) / "proofs.md").read_text(encoding="utf-8").startswith("# Proofs")
assert all((files("alignlearn") / name).is_file() for name in ("py.typed", "__init__.pyi"))
assert proof_file("p1-lemma-6").read_text(encoding="utf-8").startswith("(* Lemma 6")
claim = CLAIMS["p1-lemma-1"]
assert check(claim, claim.cases(RandomDraw(0))).outcome == "holds"
"""


@pytest.fixture
def unpacked(tmp_path):
    """The wheel of a copy of the tree, unpacked; building leaves nothing in the tree itself."""
    folder = tmp_path / "wheel"
    (folder / "tree").mkdir(parents=True)
    for name in ("pyproject.toml", "setup.cfg", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / "tree")
    for name in ("alignlearn", "theory"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / "tree" / name, ignore=ignore)
    options = ["--no-deps", "--no-build-isolation", "-w", str(folder)]  # downloads nothing
    command = [sys.executable, "-m", "pip", "wheel", *options, str(folder / "tree")]
    built = subprocess.run(command, capture_output=True, text=True, timeout=1200)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("alignlearn-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


def _probe(folder):
    """Run the probe with the folder and the installed dependencies only.

    Without ``site`` (-S) no .pth file is read, so a package that is installed in place is not
    found.
    """
    paths = (str(folder), sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
    command = [sys.executable, "-S", "-W", "error", "-c", _PROBE, str(folder)]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_wheel_imports_and_has_the_proofs_and_what_is_missing_is_noticed(unpacked, tmp_path):
    """One test, so that one wheel is built."""
    done = _probe(unpacked)
    assert done.returncode == 0, done.stderr
    for missing in ("alignlearn/bounds", "alignlearn/theory/p2_l2/proofs.md"):
        (unpacked / missing).rename(tmp_path / "away")
        done = _probe(unpacked)
        assert done.returncode == 1
        assert Path(missing).name in done.stderr
        (tmp_path / "away").rename(unpacked / missing)
