"""Run the code of the site at small size: the Python blocks of each page, and each example.

The blocks of a page run in their order, in one namespace and in a temporary folder. Warnings are
errors. A block whose first line is ``# not run: REASON`` is left out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distributions
from multiprocessing import get_context
from pathlib import Path

_BLOCK = re.compile(r"(?ms)^( *)(`{3,})(?:python|\{code-block\} python)[ ]*\n(.*?)^\1\2[ ]*$")
_SECONDS = 240  # seconds for one page or example, on a busy machine
# Imported once, by the server from which the process of each page or example is forked.
_PRELOADED = ("alignlearn.estimators", "matplotlib.pyplot", "numba", "pandas", "scipy.linalg")
_PRELOADED += tuple(f"sklearn.{name}" for name in ("datasets", "model_selection", "pipeline"))


def execute(name, code, folder, output):
    """Run code in a folder, with warnings as errors; what it prints goes into a file."""
    with open(output, "w", encoding="utf-8") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    os.environ["ALIGNLEARN_DOCS_SMALL"] = "1"
    warnings.simplefilter("error")
    # Warnings of other packages about themselves are ignored.
    for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, SyntaxWarning):
        warnings.filterwarnings("ignore", category=kind)
        warnings.filterwarnings("error", category=kind, module=r"__main__|alignlearn")
    warnings.filterwarnings("ignore", category=ResourceWarning)
    sys.argv = [name]
    exec(compile(code, name, "exec"), {"__name__": "__main__", "__file__": name})


def page_code(text):
    """The Python blocks of a page as one text, at their line numbers in the page."""
    lines = [""] * (text.count("\n") + 1)
    for block in _BLOCK.finditer(text):
        indent, body = len(block[1]), block[3].splitlines()
        if body and body[0].strip().startswith("# not run:"):
            continue
        first = text.count("\n", 0, block.start(3))
        for i, line in enumerate(body):
            lines[first + i] = line[indent:] if line[:indent].isspace() or not indent else line
    return "\n".join(lines).rstrip() + "\n" if any(lines) else ""


def pieces(docs):
    """{name: code} of the pages with code and of the examples of a folder docs/."""
    found = {}
    for path in sorted(docs.rglob("*.md")) + sorted(docs.rglob("*.inc")):
        name = path.relative_to(docs.parent).as_posix()
        code = page_code(path.read_text(encoding="utf-8"))
        if code and "development" not in path.parts:
            found[name] = code
    for path in sorted((docs / "gallery").rglob("plot_*.py")):
        found[path.relative_to(docs.parent).as_posix()] = path.read_text(encoding="utf-8")
    return found


def run_piece(name, code, seconds=_SECONDS):
    """Run the code; return (the fault or "", the missing package or "")."""
    with tempfile.TemporaryDirectory() as folder:
        work, output = Path(folder) / "work", Path(folder) / "output.txt"
        work.mkdir()
        arguments = name, code, str(work), str(output)
        process = get_context("forkserver").Process(target=execute, args=arguments)
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
            return f"{name}: not done within {seconds} seconds", ""
        said = output.read_text(encoding="utf-8") if output.is_file() else ""
    if process.exitcode == 0:
        return "", ""
    lost = re.search(r"(?m)^ModuleNotFoundError: No module named '([\w.]+)'", said)
    if lost and lost[1].partition(".")[0] != "alignlearn":
        return "", lost[1]
    place = re.findall(rf'File "{re.escape(name)}", line (\d+)', said)
    last = said.strip().splitlines()[-1] if said.strip() else f"{process.exitcode}"
    return f"{name}{':' + place[-1] if place else ''}: {last}", ""


def surroundings(docs):
    """A digest of everything that the pages' code depends on: library, Python and packages."""
    digest = hashlib.sha256(sys.version.encode())
    for folder in ("alignlearn", "theory"):
        for path in sorted((docs.parent / folder).rglob("*.py")):
            digest.update(path.as_posix().encode() + path.read_bytes())
    packages = sorted(f"{found.name} {found.version}" for found in distributions())
    digest.update("\n".join(packages).encode())
    return digest.hexdigest()


def read_seen(path):
    """{name: digest} of the blocks that ran without a fault in an earlier check."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}


def run_all(docs, seen=None, processes=2):
    """Run everything and return the list of faults; name blocks that need a missing package.

    ``seen`` is a file with the blocks that ran without a fault. They run again when their code, the
    library or a package changes.
    """
    found, failed = pieces(docs), []
    common = surroundings(docs) if seen else ""
    digests = {n: hashlib.sha256((common + code).encode()).hexdigest() for n, code in found.items()}
    before = read_seen(seen) if seen else {}
    found = {name: code for name, code in found.items() if before.get(name) != digests[name]}
    kept = {name: digests[name] for name in digests if name not in found}
    if kept:
        print(f"docs: {len(kept)} pages and examples are unchanged and were not run", flush=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["MPLBACKEND"] = "agg"
    get_context("forkserver").set_forkserver_preload(list(_PRELOADED))
    with ThreadPoolExecutor(processes) as pool:
        for name, (fault, lost) in zip(found, pool.map(run_piece, found, found.values())):
            failed += [fault] if fault else []
            if fault:
                print(f"docs: broken: {fault}", flush=True)
            elif lost:
                print(f"docs: not run: {name}, which needs the package {lost}", flush=True)
            else:
                kept[name] = digests[name]
    if seen:
        seen.parent.mkdir(exist_ok=True)
        seen.write_text(json.dumps(kept), encoding="utf-8")
    return failed
