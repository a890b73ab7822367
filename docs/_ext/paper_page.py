"""The page of the paper, made from paper/paper.md and paper/paper.bib when the site is built."""

from __future__ import annotations

import re
from pathlib import Path

_ENTRY = re.compile(r"@\w+\{(\w+),\n(.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?$", re.MULTILINE)


def read_bib(text):
    """{key: {field: value}} of BibTeX text with one field on each line."""
    return {key: dict(_FIELD.findall(fields)) for key, fields in _ENTRY.findall(text)}


def _surnames(entry):
    return [name.split(",")[0].strip() for name in entry["author"].split(" and ")]


def citation(entry):
    """Authors and year, such as "Lam et al. 2015"."""
    names = _surnames(entry)
    many = len(names) > 2 or names[-1] == "others"
    who = f"{names[0]} et al." if many else " and ".join(names)
    return f"{who} {entry['year']}"


def reference(entry):
    """The entry of the list of references."""
    names = [name for name in _surnames(entry) if name != "others"]
    who = ", ".join(names) + (" and others" if "others" in entry["author"].split() else "")
    where = entry.get("journal") or entry.get("booktitle", "")
    volume = f" {entry['volume']}" if "volume" in entry else ""
    return f"- {who} ({entry['year']}), {entry['title']}, {where}{volume}."


def page(paper, bib):
    """The Markdown of the page: without the front matter, citations and references in words."""
    entries = read_bib(bib)
    front, text = paper.split("---\n", 2)[1:]
    title = re.search(r'^title: "(.*)"$', front, re.MULTILINE)[1]

    def cite(match):
        keys = match[1].replace("@", "").split("; ")
        return f"({'; '.join(citation(entries[key]) for key in keys)})"

    text = re.sub(r"\[(@[\w@; ]+)\]", cite, text)
    text = re.sub(r"(?m)^# ", "## ", text)
    listed = "\n".join(reference(entries[key]) for key in sorted(entries))
    return f"# {title}\n\n{text.strip()}\n\n{listed}\n"


def _write(app):
    source = Path(app.srcdir)
    folder = source.parent / "paper"
    text = page(*((folder / f"paper.{end}").read_text(encoding="utf-8") for end in ("md", "bib")))
    path = source / "paper.md"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app):
    """Called by Sphinx."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
