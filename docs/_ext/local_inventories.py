"""Links to other projects without the network: inventories of the names that the pages use.

``_inventories/names.txt`` holds, for each project, its address and lines "role name page"; the
page may have a ``$`` for the name.
"""

from __future__ import annotations

import zlib
from pathlib import Path

_NAMES = Path(__file__).resolve().parent.parent / "_inventories" / "names.txt"
_HEAD = "# Sphinx inventory version 2\n# Project: {}\n# Version: \n"
_HEAD += "# The remainder of this file is compressed using zlib.\n"


def read(text):
    """{project: (address, lines of an inventory)} of the text of names.txt."""
    found = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if len(words) == 2 and words[0].startswith("["):
            lines = []
            found[words[0].strip("[]")] = words[1], lines
        elif words:
            role, name, page = words
            lines.append(f"{name} {role} 1 {page} -")
    return found


def _write(app, config):
    folder = Path(app.doctreedir).parent / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for project, (address, lines) in read(_NAMES.read_text(encoding="utf-8")).items():
        body = zlib.compress("\n".join([*lines, ""]).encode())
        path = folder / f"{project}.inv"
        path.write_bytes(_HEAD.format(project).encode() + body)
        mapping[project] = (address, str(path))
    config.intersphinx_mapping = mapping


def setup(app):
    """Called by Sphinx."""
    # Before intersphinx reads its options.
    app.connect("config-inited", _write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
