"""The gallery's index: alternative text for its small pictures, and one list of tags.

sphinx-gallery leaves the text empty, and gives every section a list of tags with the same id.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from docutils import nodes

_TITLE = re.compile(r'sphx-glr-thumbnail-title">(.*?)</div>', re.S)
# Examples have no tags.
_TAGS = "<div id='sg-tag-list' class='sphx-glr-tag-list'></div>"


def _name(app, doctree):
    title = None
    for node in reversed(list(doctree.findall())):
        if isinstance(node, nodes.raw):
            found = _TITLE.search(node.astext())
            title = found[1].strip() if found else title
            if _TAGS in node.astext():
                node.children = [nodes.Text(node.astext().replace(_TAGS, ""))]
                node.rawsource = node.astext()
        elif isinstance(node, nodes.image) and not node.get("alt"):
            example = PurePosixPath(node["uri"]).stem
            if example.startswith("sphx_glr_") and example.endswith("_thumb"):
                node["alt"] = f"Picture of the example: {title}"


def setup(app):
    """Called by Sphinx."""
    app.connect("doctree-read", _name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
