"""The tools of the site name every fault, and the reference has every public name."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import alignlearn

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="needs the source tree")


@pytest.fixture(scope="module")
def tools():
    """A function that imports a module of scripts/ or docs/_ext."""
    added = [str(ROOT / "scripts"), str(ROOT / "docs/_ext")]
    sys.path[:0] = added
    yield import_module
    for path in added:
        sys.path.remove(path)


def reference():
    """The names of the reference, with those of pages of modules."""
    text = (ROOT / "docs/reference/index.md").read_text(encoding="utf-8")
    return re.findall(r"(?m)^   alignlearn\.(\S+)$", text)


# Packages whose names are for users; of other packages the reference has some names.
PACKAGES = (
    "cca comparison datasets dependence estimators hyper inspection large machines multitask "
)
PACKAGES += "online persistence significance theory weights"
# Names that these packages share.
SHARED = {
    *("comparison.ALPHA_GRID", "comparison.C_GRID", "comparison.DEFAULT_METHODS"),
    *("comparison.METHODS", "comparison.split"),
    *("inspection.tick_labels", "inspection.tidy", "theory.CLAIMS", "weights.get_weighting"),
    *("weights.uses_samples", "weights.without_target"),
}


def test_every_public_name_has_one_place_in_the_reference():
    named = reference()
    assert len(named) == len(set(named))
    wanted = {name for name in alignlearn.__all__ if name not in ("datasets", "theory")}
    for package in PACKAGES.split():
        for name in import_module(f"alignlearn.{package}").__all__:
            if name not in wanted and f"{package}.{name}" not in SHARED:
                wanted.add(f"{package}.{name}")
    assert wanted - set(named) == set()
    for name in set(named) - wanted:
        module, _, last = name.rpartition(".")
        assert hasattr(import_module(f"alignlearn.{module}"), last), name


def test_every_module_of_bounds_has_a_page():
    text = (ROOT / "docs/reference/bounds.md").read_text(encoding="utf-8")
    # The guarantees are classes of the reference; the checks are for the others.
    for folder, left_out in (
        ("alignlearn/bounds", {"checks", "guarantee"}),
        ("theory/bounds", set()),
    ):
        modules = {path.stem for path in (ROOT / folder).glob("[!_]*.py")}
        package = "alignlearn." + folder.removeprefix("alignlearn/").replace("/", ".")
        found = set(re.findall(rf"\b{re.escape(package)}\.(\w+)", text))
        assert found == modules - left_out


PAGE = """<!DOCTYPE html><html lang="en"><head><title>t</title></head><body>
<p id="here">Text</p>{}</body></html>"""


FAULTS = {
    '<a href="other.html">x</a> <a href="sub/a.html#here">y</a><img src="sub/i.png" alt="A">': None,
    '<a href="gone.html">x</a>': "leads nowhere: gone.html",
    '<a href="sub/a.html#there">x</a>': "no such place in the page: sub/a.html#there",
    '<a href="../../etc/passwd">x</a>': "leads out of the site: ../../etc/passwd",
    '<img src="sub/i.png" alt=" ">': "an image without alternative text: sub/i.png",
    '<p id="here"></p>': "two elements have the id 'here'",
    '<span class="math notranslate">x</span>': "formulas, but no MathJax to typeset them",
}


def test_faults_of_a_page_are_named_with_the_page(tools, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/i.png").write_bytes(b"")
    (tmp_path / "sub/a.html").write_text(PAGE.format('<a href="../index.html#here">up</a>'))
    (tmp_path / "other.html").write_text(PAGE.format(""))
    for body, fault in FAULTS.items():
        (tmp_path / "index.html").write_text(PAGE.format(body))
        expected = [] if fault is None else [f"index.html: {fault}"]
        assert tools("_docs_check").check_site(tmp_path) == expected


GUIDE = """# A page

```python
a = 1
```

- in a list

  ```python
  a += 1
  ```

```python
# not run: it takes an hour
a = None
```

```python
{}
```
"""


def test_code_of_a_page_runs_in_order_and_its_fault_has_a_line(tools, tmp_path):
    (tmp_path / "docs").mkdir()
    for last, fault in (
        ("assert a == 2", []),
        ("a / 0", ["docs/p.md:19: ZeroDivisionError: division by zero"]),
        ("import warnings; warnings.warn('odd')", ["docs/p.md:19: UserWarning: odd"]),
        ("import pathlib; assert not list(pathlib.Path().glob('*.md'))", []),
    ):
        (tmp_path / "docs/p.md").write_text(GUIDE.format(last))
        assert tools("_docs_run").run_all(tmp_path / "docs") == fault


def test_a_broken_example_is_named_and_one_without_its_package_left_out(tools, tmp_path, capsys):
    gallery = tmp_path / "docs/gallery"
    gallery.mkdir(parents=True)
    small = "import os\nassert os.environ['ALIGNLEARN_DOCS_SMALL'] == '1'\n"
    (gallery / "plot_good.py").write_text(small)
    (gallery / "plot_bad.py").write_text(f"{small}raise ValueError('no such column')\n")
    (gallery / "plot_far.py").write_text("import no_such_package.part\n")
    (bad,) = tools("_docs_run").run_all(tmp_path / "docs")
    assert bad == "docs/gallery/plot_bad.py:3: ValueError: no such column"
    assert "not run: docs/gallery/plot_far.py, which needs the package no_such_package" in (
        capsys.readouterr().out
    )


def test_code_that_ran_runs_again_once_it_or_the_library_changes(tools, tmp_path, capsys):
    run_all, seen = tools("_docs_run").run_all, tmp_path / "build/seen.json"
    (tmp_path / "alignlearn").mkdir()
    library, page = tmp_path / "alignlearn/part.py", tmp_path / "docs/p.md"
    page.parent.mkdir()
    log = tmp_path / "log"
    library.write_text("")

    def runs(code):
        log.write_text("")
        page.write_text(f"```python\nopen({str(log)!r}, 'a').write('ran')\n{code}\n```\n")
        faults = run_all(page.parent, seen)
        return log.read_text() == "ran", len(faults)

    assert runs("a = 1") == (True, 0)
    assert runs("a = 1") == (False, 0)
    assert "1 pages and examples are unchanged" in capsys.readouterr().out
    assert runs("a / 0") == (True, 1)
    assert runs("a / 0") == (True, 1)  # a fault is never cached
    assert runs("a = 1") == (True, 0)
    library.write_text("x = 1")
    assert runs("a = 1") == (True, 0)
    seen.write_text("damaged")
    assert runs("a = 1") == (True, 0)
