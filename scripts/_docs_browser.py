"""A headless Chromium driven through its debugging pipe, with the standard library alone."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from time import monotonic, sleep
from urllib.parse import quote

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SECONDS = 60
PHONE, DESK = 390, 1280
# The two ends of the pipe become file descriptors 3 and 4 of the browser; copies beyond both, since
# either may be 3 or 4.
_START = """
import fcntl, os, sys
down, up = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(down, 3)
os.dup2(up, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
# Scripts of the page are done: formulas are typeset, and nothing is wider than the window.
_SETTLE = """(async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  await new Promise((done) => setTimeout(done, 20));
  const wrong = [...document.querySelectorAll("[data-mjx-error], merror")]
    .map((e) => "a formula that is not understood: "
      + (e.getAttribute("data-mjx-error") || e.textContent).slice(0, 120));
  const edge = document.documentElement.clientWidth;
  const scrolls = (e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
  const out = [...document.querySelectorAll("main article *")].filter((e) => {
    const box = e.getBoundingClientRect();
    if (box.right <= edge + 1 || !box.width || !box.height || e.closest("svg")) return false;
    for (let p = e; p && p.tagName !== "ARTICLE"; p = p.parentElement) if (scrolls(p)) return false;
    return true;
  });
  if (out.length) {
    const e = out[out.length - 1];
    wrong.push("wider than a phone: " + e.tagName.toLowerCase() + " "
      + (e.className || "") + " " + e.textContent.trim().slice(0, 60));
  }
  return wrong;
})()"""


def find_chromium():
    """The path of a Chromium, or None; the variable CHROMIUM has precedence."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)


class Browser:
    """One tab of a Chromium that talks over the file descriptors 3 and 4."""

    def __init__(self, path):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        down, self._out = os.pipe()
        self._in, up = os.pipe()
        flags = [
            "--headless=new",
            "--disable-renderer-backgrounding",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
        ]
        flags += ["--allow-file-access-from-files", f"--user-data-dir={self._folder.name}"]
        flags += ["--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(down), str(up), path, *flags],
            pass_fds=(down, up),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(down)
        os.close(up)
        self._text, self._number, self._session, self.events = b"", 0, None, []

    def __enter__(self):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        found = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = found["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        os.close(self._out)
        os.close(self._in)
        self._folder.cleanup()

    def _message(self, until):
        while b"\0" not in self._text:
            ready = select.select([self._in], [], [], max(0.0, until - monotonic()))[0]
            part = os.read(self._in, 1 << 16) if ready else b""
            if not part:
                raise RuntimeError("Chromium does not answer")
            self._text += part
        text, _, self._text = self._text.partition(b"\0")
        return json.loads(text)

    def ask(self, method, **params):
        """The result of a command of the debugging protocol; events are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = monotonic() + _SECONDS
        while True:
            answer = self._message(until)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        """Load a page and wait until it is loaded."""
        self.events.clear()
        self.ask("Page.navigate", url=url)
        until = monotonic() + _SECONDS
        # Polled, since the load event may wait for a window that is drawn.
        while self.value("document.readyState") != "complete":
            if monotonic() > until:
                raise RuntimeError(f"Chromium does not load {url}")
            sleep(0.02)

    def value(self, code):
        """Evaluate JavaScript and return its value; promises are awaited."""
        found = self.ask("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        return found["result"].get("value")

    def resize(self, width, height=900):
        """Give the window a size in pixels."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )


def _errors(events):
    for event in events:
        params = event.get("params", {})
        if event["method"] == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            yield details.get("exception", {}).get("description", details["text"]).split("\n")[0]
        elif event["method"] == "Runtime.consoleAPICalled" and params["type"] == "error":
            yield " ".join(str(arg.get("value", "")) for arg in params["args"])
        elif event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
            yield f"{params['entry']['text']} {params['entry'].get('url', '')}".strip()


def page_faults(browser, folder, name):
    """Faults of a page at the width of a phone."""
    browser.resize(PHONE)
    browser.open((folder / name).as_uri())
    found = browser.value(_SETTLE) or []
    return [f"{name}: in the browser: {words}" for words in [*_errors(browser.events), *found]]


# Queries that people type, and a page that has to be among the first three results.
QUERIES = {
    "missing values": "guide/missing-tables",
    "imputation": "guide/missing-tables",
    "multi-view": "guide/tables",
    "multi-omics": "guide/tables",
    "multiple kernel learning": "guide/index",
    "categorical": "guide/which-estimator",
    "large scale": "guide/many-samples",
    "probabilities": "guide/error-bars",
    "feature importance": "guide/reading-weights",
    "banded ridge": "guide/many-targets",
}
_RESULTS = """(() => {
  const summary = document.querySelector(".search-summary");
  if (!summary || !/[0-9]/.test(summary.textContent)) return "";
  const found = [...document.querySelectorAll("#search-results ul.search li a:first-child")];
  return found.slice(0, 3).map((e) => e.getAttribute("href")).join(" ");
})()"""


def query_faults(browser, folder):
    """Each of `QUERIES` has to find its page among the first three results."""
    if not (folder / "search.html").is_file():
        return []
    faults = []
    for query, page in QUERIES.items():
        browser.open(f"{(folder / 'search.html').as_uri()}?q={quote(query)}")
        until = monotonic() + _SECONDS
        while not (found := browser.value(_RESULTS)) and monotonic() < until:
            sleep(0.1)
        if f"{page}.html" not in found:
            faults.append(f"search.html: {query!r} finds {found or 'nothing'}, not {page} first")
    return faults
