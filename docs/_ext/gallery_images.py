"""The gallery's index: one curve and alternative text for its thumbnails, and one list of tags.

sphinx-gallery shrinks a whole figure to a thumbnail, leaves the alternative text empty, and gives
every section a list of tags with the same id.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import numpy as np

_TITLE = re.compile(r'sphx-glr-thumbnail-title">(.*?)</div>', re.S)
# Examples have no tags.
_TAGS = "<div id='sg-tag-list' class='sphx-glr-tag-list'></div>"


def _name(app, doctree):
    from docutils import nodes

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


BLUE, LIGHT = "#0072b2", "#bbbbbb"  # the library's model in the figures, and guides


def curves(ax):
    """The curves of an axes as lists of artists: each line or error bar of two points or more."""
    found, in_bars = [], set()
    for container in ax.containers:
        lines = [artist for artist in container.get_children() if hasattr(artist, "get_color")]
        in_bars.update(map(id, lines))
        if hasattr(container, "has_yerr") and len(container.lines[0].get_xdata()) > 1:
            found.append(lines)
    found += [[line] for line in ax.lines if id(line) not in in_bars and not _is_guide(line)]
    return found


def _is_guide(line):
    """Whether a line is a point, a light line that joins points, or runs along an axis."""
    from matplotlib.colors import same_color

    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    along = len(x) == 2 and (x[0] == x[1] or y[0] == y[1])
    return len(x) < 2 or along or same_color(line.get_color(), LIGHT)


def simplified(figure):
    """Reduce a figure to its first axes and there to one curve, without words; the figure.

    The curve is the blue one, else the first. Bars, rows of single points and images are one curve.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import same_color

    ax, *rest = figure.axes
    for other in rest:
        other.remove()
    found = curves(ax)
    blue = [curve for curve in found if same_color(curve[0].get_color(), BLUE)]
    kept = (blue or found)[:1]
    for curve in found:
        for artist in curve:
            artist.set_visible(curve in kept)
    for band in ax.collections:
        if found and isinstance(band, PolyCollection):
            band.set_visible(False)
    for curve in kept:
        for artist in curve:
            artist.set_linewidth(4.0)
            if hasattr(artist, "set_markersize"):
                artist.set_markersize(2.0 * artist.get_markersize())
    for legend in [ax.get_legend(), *figure.legends]:
        if legend is not None:
            legend.remove()
    for text in [*ax.texts, *figure.texts]:
        text.set_visible(False)
    ax.set(title="", xlabel="", ylabel="")
    ax.tick_params(which="both", length=0, labelleft=False, labelbottom=False)
    if kept:
        ax.relim(visible_only=True)
        ax.autoscale()
    figure.set_layout_engine("none")
    figure.set_size_inches(4.0, 2.8)
    ax.set_subplotspec(figure.add_gridspec(1, 1, left=0.03, right=0.97, bottom=0.03, top=0.97)[0])
    return figure


def _scraper(block, variables, configuration):
    """Save the figures of a block, and the first one of an example as its thumbnail."""
    from matplotlib import pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    figures = [plt.figure(number) for number in plt.get_fignums()]
    text = matplotlib_scraper(block, variables, configuration)
    thumbnail = _thumbnail(Path(variables["image_path_iterator"].image_path), variables["src_file"])
    is_first = len(variables["image_path_iterator"]) == len(figures)
    if figures and is_first:
        thumbnail.parent.mkdir(parents=True, exist_ok=True)
        simplified(figures[0]).savefig(thumbnail, dpi=100)
    return text


def _get_sg_image_scraper():
    """Called by sphinx-gallery, which finds this module by its name."""
    return _scraper


def _thumbnail(image, source):
    return image.parent / "thumb" / f"sphx_glr_{Path(source).stem}_curve.png"


def _use_thumbnails(app):
    for made in Path(app.srcdir).glob("auto_gallery/**/thumb/*_curve.png"):
        made.replace(made.with_name(made.name.replace("_curve.png", "_thumb.png")))


def setup(app):
    """Called by Sphinx."""
    app.connect("builder-inited", _use_thumbnails, priority=900)  # after sphinx-gallery
    app.connect("doctree-read", _name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
