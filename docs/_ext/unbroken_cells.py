"""Keep numbers of a table's cell, such as "+1.1 ± 0.4" and "0.9538, 0.41", on one line."""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

_NUMBERS = re.compile(r"[-+]?[\d.,]+( ± | to |, )[\d.,]+")


def unbroken(text):
    """The text with no-break spaces if it is a pair of numbers, otherwise unchanged."""
    return text.replace(" ", "\N{NO-BREAK SPACE}") if _NUMBERS.fullmatch(text) else text


class UnbrokenCells(SphinxPostTransform):
    """Replace spaces between numbers in the cells of all tables."""

    default_priority = 700

    def run(self, **_):
        for cell in self.document.findall(nodes.entry):
            for text in list(cell.findall(nodes.Text)):
                found = unbroken(text.astext())
                if found != text.astext():
                    text.parent.replace(text, nodes.Text(found))


def setup(app):
    """Register the transform with Sphinx."""
    app.add_post_transform(UnbrokenCells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
