#!/usr/bin/env python3
"""The checks of a release, one function each; `scripts/release` makes their environment."""

from __future__ import annotations

import argparse
import configparser
import functools
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
_OPTIONAL = ("matplotlib", "scikit-learn")
OLDEST = ("3.10", ROOT / "constraints" / "oldest-py310.txt")
_PLACES = {
    "setup.cfg": r"^version = (\S+)$",
    "alignlearn/__init__.py": r'^__version__ = "([^"]+)"$',
    "CITATION.cff": r"^version: (\S+)$",
    "recipe/meta.yaml": r'^{% set version = "([^"]+)" %}$',
    "CHANGELOG.md": r"^## \[(\d[^\]]*)\]",
    "docs/conf.py": r'^(?:version|release) = "([^"]+)"$',
}


class NotReady(Exception):
    """A reason not to release; the message states what to do about it."""


def read(name, root=ROOT):
    """The text of a file of the tree, "" if it does not exist."""
    path = root / name
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def versions(root=ROOT):
    """The version in each file, by the name of the file; for the changelog its newest version.

    docs/conf.py may read the version from the package, and is then left out.
    """
    found = {}
    for name, pattern in _PLACES.items():
        match = re.search(pattern, read(name, root), flags=re.MULTILINE)
        if match or name != "docs/conf.py":
            found[name] = match[1] if match else None
    return found


def version(root=ROOT):
    """The version to release, of setup.cfg."""
    config = configparser.ConfigParser()
    config.read_string(read("setup.cfg", root))
    return config["metadata"]["version"]


def check_versions(root=ROOT):
    """Every file states the same version."""
    found = versions(root)
    if len(set(found.values())) > 1 or None in found.values():
        said = ", ".join(f"{name}: {number or 'none'}" for name, number in found.items())
        raise NotReady(f"the files do not state one version ({said}).")
    return f"{version(root)} in {', '.join(found)}"


def check_changelog(root=ROOT):
    """The version has an entry with the date of CITATION.cff, and no unreleased part is above."""
    entry = rf"^## \[{re.escape(version(root))}\] - (\d{{4}}-\d\d-\d\d)$(.*?)(?=^## |\Z)"
    text = read("CHANGELOG.md", root)
    match = re.search(entry, text, flags=re.MULTILINE | re.DOTALL)
    if not match:
        raise NotReady(f"CHANGELOG.md has no dated entry '## [{version(root)}] - YYYY-MM-DD'.")
    lines = len(re.findall(r"^- ", match[2], flags=re.MULTILINE))
    if not lines:
        raise NotReady(f"the entry {version(root)} of CHANGELOG.md is empty.")
    if re.search(r"^## \[Unreleased\]\s+^(?!## )", text, flags=re.MULTILINE):
        raise NotReady("CHANGELOG.md has changes under [Unreleased]; move them to the version.")
    cited = re.search(r'^date-released: "?([\d-]+)"?$', read("CITATION.cff", root), re.MULTILINE)
    if not cited or cited[1] != match[1]:
        raise NotReady(
            f"CITATION.cff says date-released {cited[1] if cited else 'nothing'}, "
            f"CHANGELOG.md {match[1]}."
        )
    return f"{lines} changes, dated {match[1]}"


def check_tree(root=ROOT):
    """Everything is committed."""
    changed = run(["git", "-C", str(root), "status", "--porcelain"]).splitlines()
    if changed:
        raise NotReady(f"{len(changed)} files are not committed, {changed[0][3:]} the first.")
    return "everything is committed"


def check_tag(root=ROOT):
    """The tag of the version is free."""
    tag = f"v{version(root)}"
    if run(["git", "-C", str(root), "tag", "--list", tag]).strip():
        raise NotReady(f"the tag {tag} exists, and a released version is never built again.")
    return f"{tag} is free"


def check_claims():
    """Every claim of the theory has the outcome that is recorded for it."""
    return run([sys.executable, "-m", "alignlearn", "verify"]).strip().splitlines()[-1]


def check_docs(root=ROOT):
    """The site's fast check, if its tools are in the tree."""
    script = root / "scripts" / "docs"
    if not script.is_file():
        return "no scripts/docs in this tree: not checked"
    run([str(script), "--check"])
    return "checked"


def check_build():
    """Build the sdist, and the wheel from the sdist."""
    for name in ("build", "twine"):
        found = importlib.util.find_spec(name)
        if not (found and found.origin):  # a folder of that name has no origin
            raise NotReady(f"the package `{name}` is not installed: pip install -e '.[release]'.")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    (ROOT / "dist").mkdir()
    with tempfile.TemporaryDirectory() as folder:
        run([sys.executable, "-m", "build", "--outdir", folder, str(ROOT)])
        made = sorted(path.name for path in Path(folder).iterdir())
        for name in made:
            shutil.copy(Path(folder, name), ROOT / "dist")
    wanted = [f"alignlearn-{version()}-py3-none-any.whl", f"alignlearn-{version()}.tar.gz"]
    if made != wanted:
        raise NotReady(f"built {made}, not {wanted}.")
    files = [str(ROOT / "dist" / name) for name in made]
    run([sys.executable, "-m", "twine", "check", "--strict", *files])
    return ", ".join(made)


def check_install():
    """The wheel with the newest versions, on every Python that is found; the sdist on one."""
    found = {name: path for name in PYTHONS if (path := interpreter(name))}
    tries = [(path, built("*.whl"), ()) for path in found.values()]
    tries += [(path, built("*.tar.gz"), _OPTIONAL) for path in list(found.values())[-1:]]
    for python, artifact, more in tries:
        say(f"    {artifact.name}\n        {smoke(python, artifact, more)}")
    missing = [name for name in PYTHONS if name not in found]
    tail = f"; not found, so not tried: Python {', '.join(missing)}" if missing else ""
    return f"{len(tries)} environments{tail}"


def check_oldest():
    """The wheel with the oldest versions that setup.cfg allows, all at once."""
    name, file = OLDEST
    python = interpreter(name)
    if python is None:
        raise NotReady(f"Python {name} is not found, which the oldest versions need.")
    return smoke(python, built("*.whl"), ("-c", str(file), *_OPTIONAL))


def built(pattern):
    """The file of dist/ with this ending."""
    found = sorted((ROOT / "dist").glob(pattern))
    if len(found) != 1:
        raise NotReady(
            f"dist/ has {len(found)} files {pattern}, not 1: run the check `build` first."
        )
    return found[0]


def interpreter(name):
    """A Python of this version: on the path, or from pyenv; None if there is neither."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [shutil.which(f"python{name}"), *sorted(pyenv.glob(f"{name}.*/bin/python"))]
    for path in filter(None, places):
        said = subprocess.run([str(path), "-V"], capture_output=True, text=True)
        if said.returncode == 0 and said.stdout.startswith(f"Python {name}."):
            return str(path)
    return None


def smoke(python, artifact, more=()):
    """Install the artifact in an empty environment, and run the smoke test outside of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        run([python, "-m", "venv", folder + "/env"])
        bin_ = Path(folder, "env", "Scripts" if os.name == "nt" else "bin")
        run([str(bin_ / "python"), "-m", "pip", "install", "-q", str(artifact), *more])
        shutil.copy(ROOT / "scripts" / "_smoke.py", folder)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment["NUMBA_CACHE_DIR"] = folder + "/numba"
        command = [str(bin_ / "python"), "_smoke.py", version()]
        return run(command, cwd=folder, env=environment).strip().splitlines()[-1]


def run(command, **options):
    """The output of a command; `NotReady` with its last lines if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        said = "\n        ".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        raise NotReady(f"{' '.join(command)} failed:\n        {said}")
    return done.stdout


say = functools.partial(print, flush=True)


CHECKS = {
    "versions": check_versions,
    "changelog": check_changelog,
    "tree": check_tree,
    "tag": check_tag,
    "claims": check_claims,
    "docs": check_docs,
    "build": check_build,
    "install": check_install,
    "oldest": check_oldest,
}
NEXT = """
Ready. What is left to do, by hand:
    git tag -a v{0} -m "alignlearn {0}" && git push origin v{0}
    .venv-release/bin/python -m twine upload dist/*  # once: a version can not be uploaded again
    recipe/meta.yaml: put in the sha256 of the sdist, and send it to conda-forge
        sha256 {1}
    then start the next version: setup.cfg, alignlearn/__init__.py, CITATION.cff, recipe/meta.yaml,
    and a heading in CHANGELOG.md"""


_QUICK = ("versions", "changelog", "tree", "tag")


def main(argv=None):
    """Run the checks; the slow ones only after the quick ones pass. Return 1 if any failed."""
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS), metavar="NAME")
    names = parser.parse_args(argv).only
    failed = []
    for name in [name for name in CHECKS if name in names]:
        if name not in _QUICK and set(failed) & set(_QUICK):
            say(f"{name}: not run")
            continue
        start = time.perf_counter()
        try:
            said = CHECKS[name]()
        except NotReady as reason:
            failed.append(name)
            said = f"NOT READY: {reason}"
        say(f"{name} ({time.perf_counter() - start:.0f} s): {said}")
    if failed:
        say(f"\nNot ready: {', '.join(failed)}.")
    elif len(names) == len(CHECKS):
        say(NEXT.format(version(), digest()))
    return int(bool(failed))


def digest():
    """The sha256 of the sdist."""
    return hashlib.sha256(built("*.tar.gz").read_bytes()).hexdigest()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
