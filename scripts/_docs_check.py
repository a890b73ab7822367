"""Checks of a built site: links and anchors, images, HTML, and every page in a browser.

Each fault is a line that names its page. Run by itself: ``_docs_check.py FOLDER``.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from html.parser import HTMLParser
from multiprocessing import get_context
from pathlib import Path
from posixpath import dirname, normpath
from urllib.parse import unquote, urlsplit

# Attributes that name a file; those of the second list make the browser load it.
_LINKS = {("a", "href"), ("area", "href"), ("form", "action")}
_LOADED = {
    ("img", "src"),
    ("script", "src"),
    ("link", "href"),
    ("source", "src"),
    ("object", "data"),
}
_LOADED |= {("iframe", "src"), ("video", "src"), ("audio", "src"), ("embed", "src")}
# Relations of <link> that a browser does not load.
_NAMED = {
    "canonical",
    "search",
    "index",
    "genindex",
    "next",
    "prev",
    "author",
    "copyright",
    "license",
}


class Page(HTMLParser):
    """Ids, links and loaded files of a page, and the faults of the page itself."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loaded, self.faults = set(), [], [], []
        self.formulas = False
        self.feed(text)
        self.close()
        if self.formulas and not any("mathjax" in path for path in self.loaded):
            self.faults.append("formulas, but no MathJax to typeset them")

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        for key in ("id", "name"):
            value = values.get(key)
            if key == "id" and value in self.ids and value:
                self.faults.append(f"two elements have the id {value!r}")
            if value and (key == "id" or tag == "a"):
                self.ids.add(value)
        self.formulas |= "math" in (values.get("class") or "").split()
        if tag == "img" and not (values.get("alt") or "").strip():
            self.faults.append(f"an image without alternative text: {values.get('src', '')[:80]}")
        for key, value in attrs:
            if value and (tag, key) in _LINKS:
                self.links.append(value)
            elif value and (tag, key) in _LOADED:
                relations = set((values.get("rel") or "").split())
                (self.links if relations & _NAMED else self.loaded).append(value)
            elif value and key == "srcset":
                self.loaded += [part.split()[0] for part in value.split(",") if part.strip()]

    handle_startendtag = handle_starttag


def page_names(folder):
    """The paths of the pages within the site, without those of the theme."""
    paths = (path.relative_to(folder) for path in sorted(folder.rglob("*.html")))
    return [path.as_posix() for path in paths if "_static" not in path.parts]


def read_site(folder):
    """{path within the site: `Page`}."""
    return {name: Page((folder / name).read_text(encoding="utf-8")) for name in page_names(folder)}


def link_fault(files, pages, name, link, loaded):
    """The fault of a link of the page `name` of a site with these files, or ""."""
    parts = urlsplit(link)
    if parts.scheme in ("http", "https") or parts.netloc:
        return f"loads from the network: {link}" if loaded else ""
    if parts.scheme:
        known = parts.scheme in ("mailto", "data", "javascript")
        return "" if known else f"a link of no use: {link}"
    target = name
    if parts.path:
        target = normpath(f"{dirname(name)}/{unquote(parts.path)}".lstrip("/"))
    if target.startswith("../"):
        return f"leads out of the site: {link}"
    if target not in files:
        return f"leads nowhere: {link}"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
        return f"no such place in the page: {link}"
    return ""


def html_faults(path):
    """Errors of the HTML5 parser with their lines; none if the parser is not installed."""
    try:
        import html5lib
    except ImportError:
        return []
    parser = html5lib.HTMLParser()
    parser.parse(path.read_text(encoding="utf-8"))
    messages = html5lib.constants.E
    return [
        f"line {place[0]}: not valid HTML: {messages[code] % data}"
        for place, code, data in parser.errors
    ]


def check_site(folder):
    """The faults of a site, each with its page."""
    folder = Path(folder).resolve()
    pages, faults = read_site(folder), []
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    # Processes are not forked: the code of the pages may be running in threads of this one.
    processes = partial(ProcessPoolExecutor, 2, get_context("spawn"))
    with ThreadPoolExecutor(1) if len(pages) < 20 else processes() as pool:
        parsed = opened_pages(pages)
        invalid = pool.map(html_faults, [folder / name for name in parsed], chunksize=8)
        invalid = dict(zip(parsed, invalid, strict=True))
        for name, page in pages.items():
            found = [*page.faults, *invalid.get(name, [])]
            for link in dict.fromkeys(page.links):
                found.append(link_fault(files, pages, name, link, False))
            for link in dict.fromkeys(page.loaded):
                found.append(link_fault(files, pages, name, link, True))
            faults += [f"{name}: {fault}" for fault in dict.fromkeys(found) if fault]
    print(f"{len(pages)} pages, {sum(len(page.links) for page in pages.values())} links")
    return faults


def opened_pages(names):
    """Pages to parse and open: all, but of those of source code three, as they share a template."""
    sources = [name for name in names if name.startswith("_modules/")]
    return [name for name in names if name not in set(sources[3:])]


def open_site(folder, browsers=2):
    """Open the pages in Chromium, several at once; return the faults. None without a Chromium."""
    from _docs_browser import Browser, find_chromium, page_faults, query_faults

    folder, chromium = Path(folder).resolve(), find_chromium()
    if chromium is None:
        print("No Chromium on this machine: pages were not opened.")
        return []
    names = opened_pages(page_names(folder))

    def faults_of(part):
        with Browser(chromium) as browser:
            found = [
                fault
                for name in names[part::browsers]
                for fault in page_faults(browser, folder, name)
            ]
            if part == 0:
                found += query_faults(browser, folder)
            return found

    with ThreadPoolExecutor(browsers) as pool:
        return [fault for found in pool.map(faults_of, range(browsers)) for fault in found]


if __name__ == "__main__":
    found = check_site(sys.argv[1]) + open_site(sys.argv[1])
    print("\n".join(found))
    sys.exit(bool(found))
