"""Replace links to files outside docs/ by the file's name, so that the site is complete."""

from __future__ import annotations

import re
from pathlib import Path

_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)\s#]*)(#[^)\s]*)?\)")
# A file beside docs/ that the site has as a page.
PAGES = {"figures/claims.md": "claims/index.md", "CHANGELOG.md": "changelog.md"}


def rewritten(text, page, source):
    """The text of a page (its path from `source`, the folder docs/) with such links replaced."""

    def replace(match):
        target = (source / page).parent.joinpath(match[2]).resolve()
        if target.is_relative_to(source.resolve()):
            return match[0]
        name = target.relative_to(source.resolve().parent).as_posix()
        if name in PAGES:
            up = "../" * page.as_posix().count("/")
            return f"[{match[1]}]({up}{PAGES[name]})"
        return f"{match[1]} (`{name}`)" if match[1].strip("`") != name else f"`{name}`"

    return _LINK.sub(replace, text)


def _read(app, docname, content):
    path = Path(app.env.doc2path(docname, base=False))
    if path.suffix == ".md":
        content[0] = rewritten(content[0], path, Path(app.srcdir))


def setup(app):
    """Called by Sphinx."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
