"""Build and check the site; `scripts/docs` runs this file in its environment."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import _docs_check
import _docs_run

ROOT = Path(__file__).resolve().parents[1]
_TOOLS = ("sphinx", "pydata_sphinx_theme", "sphinx_gallery", "numpydoc", "myst_parser")
_TOOLS += ("sphinx_design", "sphinx-mathjax-offline", "html5lib", "matplotlib", "sklearn")
# Written beside the sources by the build; reused by the next build.
_MADE = ("auto_gallery", "claims", "paper.md", "reference/generated")
_BESIDE = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "README.md")


def refuse_without_tools():
    """Report which package to install if a tool is missing."""
    missing = [name for name in _TOOLS if find_spec(name) is None]
    if missing:
        sys.exit(f"docs: no {', '.join(missing)} here; install with: pip install -e '.[docs]'")


def mirror(source, target, keep=()):
    """Copy changed files from one folder to another, and delete files missing in the first."""
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    wanted = {path for path in wanted if "__pycache__" not in path.parts}
    wanted = {path for path in wanted if not any(path.is_relative_to(made) for made in keep)}
    for path in sorted(wanted):
        old, new = target / path, (source / path).read_bytes()
        if not old.is_file() or old.read_bytes() != new:
            old.parent.mkdir(parents=True, exist_ok=True)
            old.write_bytes(new)
    for path in [path for path in target.rglob("*") if path.is_file()]:
        name = path.relative_to(target)
        if name not in wanted and not any(name.is_relative_to(folder) for folder in keep):
            path.unlink()


def drop_old_examples(examples, pages):
    """Delete the page of each example that is gone; the build would find it in no list of pages."""
    for page in sorted(pages.rglob("plot_*.rst")):
        if not (examples / page.relative_to(pages)).with_suffix(".py").is_file():
            page.unlink()


def build(name, *options):
    """Build into build/NAME, and return whether it succeeded. Messages name the files of docs/."""
    work, out = ROOT / "build" / f"{name}-source", ROOT / "build" / name
    mirror(ROOT / "docs", work / "docs", keep=_MADE)
    drop_old_examples(ROOT / "docs/gallery", work / "docs/auto_gallery")
    for beside in _BESIDE:
        if (ROOT / beside).is_file():
            shutil.copy2(ROOT / beside, work / beside)
    for folder in ("figures", "paper"):
        mirror(ROOT / folder, work / folder)
    # Pages of deleted sources would stay; writing all pages again takes seconds.
    for made in (work / "docs/reference/generated", out):
        shutil.rmtree(made, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-n", "-q", "-j", "2"]
    command += ["-W", "--keep-going"]
    command += ["-d", str(work / "doctrees"), *options, str(work / "docs"), str(out)]
    env = {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg", **os.environ}
    made = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, cwd=ROOT
    )
    for line in made.stdout:
        print(line.replace(f"{work}{os.sep}", ""), end="", flush=True)
    return made.wait() == 0


def timed(words, part, *args):
    """Run a part, print its duration, and return its result."""
    start = perf_counter()
    result = part(*args)
    print(f"{words}: {perf_counter() - start:.0f} s", flush=True)
    return result


def built_site(name, *options):
    """Build the site and check it; return the list of faults."""
    out, failed = ROOT / "build" / name, []
    if not timed("pages", build, name, *options):
        failed.append("the pages were not built without warnings")
    if (out / "index.html").is_file():
        failed += timed("links, images and HTML", _docs_check.check_site, out)
        failed += timed("pages opened in a browser", _docs_check.open_site, out)
    return failed


def checked_code():
    """Run the code of the pages and the gallery; return the list of faults."""
    seen = ROOT / "build" / "docs-check-code.json"
    words = "code of the pages and the gallery"
    return timed(words, _docs_run.run_all, ROOT / "docs", seen)


def main(arguments):
    refuse_without_tools()
    check = arguments == ["--check"]
    name = "docs-check" if check else "docs"
    if check:  # the parts often wait, so they run side by side
        with ThreadPoolExecutor(1) as pool:
            code = pool.submit(checked_code)
            failed = built_site(name, "-D", "plot_gallery=False") + code.result()
    else:
        failed = built_site(name)
    for message in failed:
        print(f"docs: {message}", file=sys.stderr)
    if failed:
        sys.exit(f"docs: failed: {len(failed)} faults, named above")
    print(f"The site is {ROOT / 'build' / name / 'index.html'}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
