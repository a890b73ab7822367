"""Sphinx configuration of the site; `scripts/docs` calls it."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

# Two cores are enough for a build, and BLAS must not use them again in each example.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import alignlearn  # noqa: E402

SMALL = bool(os.environ.get("ALIGNLEARN_DOCS_SMALL"))

project = "alignlearn"
author = "The alignlearn developers"
project_copyright = "2026, the alignlearn developers"
version = release = alignlearn.__version__
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "local_mathjax",
    "local_inventories",
    "claims_pages",
    "unbroken_cells",
    "gallery_images",
    "reference_members",
    "outside_links",
    "paper_page",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_*", "gallery/*", "**/README*"]
templates_path = ["_templates"]
nitpicky = True
default_role = "literal"  # `name` in a docstring
toc_object_entries_show_parents = "hide"

# -- Markdown --------------------------------------------------------------------------

myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_enable_extensions += ["dollarmath"]
myst_heading_anchors = 4

# -- the reference ---------------------------------------------------------------------

autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# -- pages -----------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = f"alignlearn {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "alignlearn"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Pages without subpages have no sidebar, so tables have more room.
ALONE = ["index", "install", "benchmarks", "coming-from", "command-line", "troubleshooting"]
ALONE += ["technical-note", "paper"]
html_sidebars = {page: [] for page in [*ALONE, "support", "cite", "changelog"]}

# -- the gallery -----------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": str(HERE / "gallery"),
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "plot_gallery": "True",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "parallel": min(2, os.cpu_count() or 1),
    "min_reported_time": 1,
    "remove_config_comments": True,
    "show_signature": False,
    "image_srcset": ["2x"],
    "image_scrapers": ("gallery_images",),
    "within_subsection_order": "FileNameSortKey",
    "capture_repr": (),
    "reference_url": {"alignlearn": None},
    "doc_module": ("alignlearn",),
    "backreferences_dir": None,
}
