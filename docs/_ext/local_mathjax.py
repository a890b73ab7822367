"""Formulas from the file system: the copy of MathJax that a Python package ships."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

# SVG needs no fonts, which a browser may not load from a file; \\commands of rarer packages are
# loaded on use.
_PARTS = ("tex-svg.js", "input/tex/extensions")


def _copy(app, exception):
    if app.builder.format != "html" or exception:
        return
    package = find_spec("sphinx-mathjax-offline").submodule_search_locations[0]
    source, target = Path(package) / "static/mathjax", Path(app.outdir) / "_static/mathjax"
    for part in _PARTS:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, dirs_exist_ok=True)
        else:
            shutil.copy(source / part, target / part)


def setup(app):
    """Called by Sphinx."""
    app.config.mathjax_path = "mathjax/tex-svg.js"
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
