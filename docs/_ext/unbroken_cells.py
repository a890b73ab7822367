"""Keep numbers of a table's cell, such as "+1.1 ± 0.4" and "0.9538, 0.41", on one line."""

from __future__ import annotations

import re

_NUMBER = r"[-+]?[\d.,]*\d"
_NUMBERS = re.compile(f"{_NUMBER}( ± | to |, ){_NUMBER}")


def unbroken(text):
    """The text with no-break spaces if it is a pair of numbers, otherwise unchanged."""
    return text.replace(" ", "\N{NO-BREAK SPACE}") if _NUMBERS.fullmatch(text) else text


def replace_in_cells(document, nodes):
    """Replace spaces between numbers in the cells of all tables; `nodes` is that of docutils."""
    for cell in document.findall(nodes.entry):
        for text in list(cell.findall(nodes.Text)):
            found = unbroken(text.astext())
            if found != text.astext():
                text.parent.replace(text, nodes.Text(found))


def setup(app):
    """Register the transform with Sphinx, which is imported here so that tests need no Sphinx."""
    from docutils import nodes
    from sphinx.transforms.post_transforms import SphinxPostTransform

    class UnbrokenCells(SphinxPostTransform):
        """Replace spaces between numbers in the cells of all tables."""

        default_priority = 700

        def run(self, **_):
            replace_in_cells(self.document, nodes)

    app.add_post_transform(UnbrokenCells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
