"""The rules of docs/development/style.md that can be checked."""

import ast
import importlib.util
import re
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from trees import parsed, statements

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG", "paper/paper")]
PAGES += [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "docs/home.md.inc"]
# style.md quotes the words that it replaces.
PAGES = [path for path in PAGES if path.name != "style.md"]
# Pages whose rules on numbers differ, or that quote names of claims.
MORE_PAGES = [*sorted((ROOT / "theory").rglob("proofs.md")), ROOT / "figures/claims.md"]
MORE_PAGES += [ROOT / "tests/README.md", ROOT / "scripts/README.md"]
SOURCES = [
    path
    for part in ("alignlearn", "theory", "docs/gallery")
    for path in (ROOT / part).rglob("*.py")
]
# For developers: these need not begin with a sentence on one line.
MORE_SOURCES = [
    path for part in ("tests", "scripts", "docs/_ext") for path in (ROOT / part).rglob("*.py")
]

pytestmark = pytest.mark.skipif(not PAGES[0].is_file(), reason="needs the source tree")

# Word, or construction, and what to write in its place.
WORDS = {
    r"\b(?:this|the) page (?:says|tells|shows)\b": "name what the page has",
    r"\b(?:says?|tells?|knows?|wants?|said|told) (?!nothing)": "prints, returns, raises, reports",
    r"\blaws? of\b(?! the iterated)|\b(?:one|ten|normal|binomial|finite) laws?\b": "distribution",
    r"\bamounts\b": "real-valued targets, regression",
    r"\blacks?\b|\blacking\b": "has a missing table, missing",
    r"\bbrought to one trace\b": "trace-normalized",
    r"\bpays?\b|\bpaid\b": "helps, improves",
    r"\btexts\b": "strings",
    r"\bas (?:it is|they are)\b": "unchanged",
    r"\bheld out from\b": "not used by",
    r"\bgiven matri(?:x|ces)\b": "precomputed kernel",
    r"\bthe (?:least|most) (?:is|of)\b": "the minimum, the maximum",
    r"\bours\b|\btheirs\b": "name the model",
    r"\b(?:is|are) refused\b|\brefuses\b": "raises an error, is rejected",
    r"\bbounds? of (?:the|a|its|their) (?:risk|error|norm|deviation|complexity|loss)\b": "bound on",
    r"\bcauchy and schwarz\b": "the Cauchy-Schwarz inequality",
    r"\bwhatever\b": "for any",
    r"\bbut for\b": "except",
    r"\d %(?! ?[\d(])": "5%, without a space",
    r"(?<![\w.,\d])[-+]?\.\d": "a zero before the decimal point",
}


# Much quicker than tokenize: a comment begins where no string is open.
STRINGS_AND_COMMENTS = re.compile(
    r'''(?s:""".*?""")|(?s:\'{3}.*?\'{3})|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#.*'''
)


def relative(path):
    return path.relative_to(ROOT).as_posix()


def prose_of_page(text):
    """The text of a page without code, links' addresses, HTML and the counts of the claims."""
    text = re.sub(r"(?s)<!-- numbers: claims -->.*?<!-- /numbers -->", "", text)
    text = re.sub(r"(?ms)^( *)(```|~~~).*?^\1\2 *$", "", text)
    text = re.sub(r"(?m)^    .*$", "", text)
    text = re.sub(r"(?s)<!--.*?-->|<[^>]+>|`[^`]*`|\$[^$]*\$", " ", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def docstrings(path):
    """(name, docstring) of a module and of what it defines."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in (parsed(path), *statements(parsed(path))):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield getattr(node, "name", "module"), text


@cache
def prose_of_source(path):
    """Docstrings and comments without code."""
    source, parts = path.read_text(encoding="utf-8"), []
    for token in STRINGS_AND_COMMENTS.finditer(source):
        before = source[source.rfind("\n", 0, token.start()) + 1 : token.start()].strip()
        # Much quicker than ast: a docstring has three quotes, and begins its line.
        if token[0][0] == "#" or (token[0].startswith('"""') and before in ("", "r")):
            parts.append(token[0].strip('"'))
    text = "\n".join(parts)
    text = re.sub(r"(?m)^ *(>>>|\.\.\.).*$", "", text)
    return re.sub(r"(?s)``.*?``|`[^`\n]*`|\"[^\"\n]*\"", " ", text)


def faults(text):
    """The words of `WORDS` that a text has, each with its neighbors."""
    flat = re.sub(r"\s+", " ", text)
    small = flat.lower()  # much quicker than patterns that ignore case
    for pattern, instead in WORDS.items():
        for found in re.finditer(pattern, small):
            near = flat[max(0, found.start() - 30) : found.end() + 20]
            yield f"...{near}...: {instead}"


def test_pages_and_sources_use_the_words_of_the_field():
    prose = {path: prose_of_page(path.read_text(encoding="utf-8")) for path in PAGES}
    prose |= {path: prose_of_source(path) for path in SOURCES}
    prose |= {path: prose_of_page(path.read_text(encoding="utf-8")) for path in MORE_PAGES}
    prose |= {path: prose_of_source(path) for path in MORE_SOURCES}
    found = [f"{relative(path)}: {fault}" for path in prose for fault in faults(prose[path])]
    assert found == []


def test_a_docstring_starts_with_one_short_line():
    found = []
    for path in SOURCES:
        # The title of an example is no sentence.
        title = relative(path).startswith("docs/gallery")
        for name, text in list(docstrings(path))[title:]:
            first, *rest = text.splitlines()
            whole = first.rstrip().endswith((".", "?", ":")) and not (rest and rest[0].strip())
            if not whole or len(first.split()) > 25:
                found.append(f"{relative(path)}: {name}: {first}")
    assert found == []


# The attributes of a `Claim` that these functions are; `theory/claim.py` describes each.
ROLES = ("bound", "measure", "cases", "counterexample", "example")


def undescribed(path):
    """The functions of a module without docstring whose name does not end with a role."""
    for node in parsed(path).body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        overload = any(ast.unparse(mark).endswith("overload") for mark in node.decorator_list)
        if not (ast.get_docstring(node) or overload or node.name.split("_")[-1] in ROLES):
            yield node.name


def test_functions_are_described_unless_a_claim_does_it():
    paths = [path for path in SOURCES if "gallery" not in path.parts]
    assert [f"{relative(path)}: {name}" for path in paths for name in undescribed(path)] == []


def test_a_function_without_a_description_is_found(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def bound(case):\n    pass\n\n\ndef price(case):\n    pass\n")
    assert list(undescribed(path)) == ["price"]


def entries(text):
    """(names, description) of the parameters and attributes of a docstring."""
    for part in re.split(r"(?m)^(?=\w[\w ]*\n-+$)", text):
        if part.startswith(("Parameters\n", "Attributes\n")):
            for entry in re.split(r"(?m)^(?=\S)", part)[3:]:
                names, _, rest = entry.replace("\\\n", "").partition("\n")
                yield names, rest.strip()


def exported():
    """The names that packages of the library list in ``__all__``."""
    for path in (ROOT / "alignlearn").rglob("__init__.py"):
        for node in parsed(path).body:
            if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
                with suppress(ValueError):  # computed from other lists
                    yield from ast.literal_eval(node.value)


def functions(path):
    """Names of the functions of a file."""
    return {node.name for node in parsed(path).body if isinstance(node, ast.FunctionDef)}


def described(path, public):
    """(name, docstring) of the classes of a file, and of functions and methods of the reference."""
    for node in parsed(path).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, ast.get_docstring(node) or ""
            for part in node.body if node.name in public else ():
                if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
                    yield f"{node.name}.{part.name}", ast.get_docstring(part) or ""
        elif isinstance(node, ast.FunctionDef) and node.name in public:
            yield node.name, ast.get_docstring(node) or ""


CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"  # of classes: their methods describe parameters in full


def test_public_names_describe_their_own_parameters_and_attributes():
    public = set(exported())
    assert {"MKLClassifier", "hsic", "holm"} <= public
    found = []
    for path in SOURCES:
        names = functions(path) if "bounds" in path.parts else public
        for name, docstring in described(path, names):
            for names, text in entries(docstring):
                if re.match(r"As (?:in|of|for) ", text):
                    found.append(f"{relative(path)}: {name}, {names}: {text}")
            if re.search(r"(?m)^Parameters\b.* as (?:in|of) ", docstring) and name[0] in CAPITALS:
                found.append(f"{relative(path)}: {name}")
    assert found == []


def test_a_description_that_refers_to_another_class_is_found():
    text = "Fit.\n\nParameters\n----------\ntol, a\n    As in `SVC`.\nb : int\n    A number.\n"
    assert list(entries(text)) == [("tol, a", "As in `SVC`."), ("b : int", "A number.")]


def test_spelling_is_american(tmp_path):
    if importlib.util.find_spec("codespell_lib") is None:
        pytest.skip("needs codespell")
    pages = [*PAGES, *MORE_PAGES]
    for path in [*pages, *SOURCES, *MORE_SOURCES]:
        text = path.read_text(encoding="utf-8")
        text = prose_of_page(text) if path in MORE_PAGES else text
        text = text if path in pages else prose_of_source(path)
        (tmp_path / relative(path).replace("/", "-")).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "codespell_lib", "--config", str(ROOT / "setup.cfg"), "."]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert found.stdout == ""


def test_a_private_word_is_found():
    for text, count in (
        ("Samples that lack a table.", 1),
        ("The score is .81 at `x=.5`, and 0.81 at version 1.2.", 1),
        ("Missing tables raise `ValueError`. The mean is 0.5.", 0),
        ("A bound of the risk, whatever the law of the iterated logarithm gives, 5 %.", 3),
        ("A bound on the risk. The bound of section 5 at 5% is `7 % 2`; 7 % 2 is 1.", 0),
    ):
        assert len(list(faults(prose_of_page(text)))) == count


# Numbers of benchmarks


@pytest.fixture(scope="module")
def fill_pages():
    spec = importlib.util.spec_from_file_location("fill_pages", ROOT / "scripts/fill_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_of_measurements_are_those_of_the_files(fill_pages, capsys):
    assert fill_pages.main(["--check"]) == 0, capsys.readouterr().out


# Pages for developers quote what was measured when a decision was taken, and a script writes
# benchmarks.md as a whole.
WITH_NUMBERS = [
    path
    for path in PAGES
    if path.name not in ("CHANGELOG.md", "CONTRIBUTING.md", "benchmarks.md", "support.md")
    and path.parent.name != "development"
]
GALLERY = [path for path in SOURCES if "gallery" in path.parts]
FILLED = "∎"  # stands for a number that is filled in
SCORES = (
    r"(?:R²|R\^2|[Aa]ccurac(?:y|ies)|AUC|CKA|RMSE|F1|[Pp]owers?|[Cc]overages?|[Cc]overs?|[Cc]overed"
    r"|[Ee]rrors?|[Ee]rror rates?|[Ll]oss|[Cc]orrelations?|[Ss]cores?)"
)
UNITS = r"(?:s|ms|[µu]s|ns|h|min|seconds?|minutes?|hours?|days?|(?:percentage )?points|[GMk]i?B)"
MEASURED = re.compile(
    "|".join(
        (
            r"(?<![\w.,])\d+\.\d{3,}",
            r"(?<![\w.,])\d+(?:\.\d+)?e-\d+",
            rf"(?<![\w.,])\d[\d,.]* ?{UNITS}\b",
            r"(?<![\w.,])\d[\d,.]*(?:-fold\b|(?= times\b)|(?= ?(?:[x×](?!\w)(?! ?\d))))",
            r"\d+(?:\.\d+)? ?(?:→|±)",
            r"\b1/\d+ of the (?:time|memory)|\b(?:half|quarter of) an? (?:second|minute|hour)\b",
            r"\b(?:half|tenth|twentieth|thirtieth|hundredth) (?:of )?the (?:time|memory)\b",
            rf"\b{SCORES}\b(?:(?!nominal|\bfor\b|{FILLED})[^.|]){{0,40}}?(?<![\w.])[01]?\.\d+",
            rf"\b(?:{SCORES}|classif\w+|rejects?|rejected|gains?|improves?)\b[^.|;:]{{0,30}}?\d ?%",
            r"\d ?% (?:of new|correct\w*|faster|slower|better|worse|higher|lower|less|more)\b",
            r"(?m:^\|.*\d\.\d.*\d\.\d.*)",
        )
    )
)
# A quantile, settings, messages that a page quotes, sizes of arrays and files, what a figure of a
# theorem is, and a standard error that a table's number of runs has.
NOT_MEASURED = {
    "error-bars.md": {"1.645", "instead of 0.9", "errors are about 0.01"},
    "troubleshooting.md": {"KKT violation", "0.999", "10 s", "GiB", "800MB"},
    "model-files.md": {"size of a fitted model", "4 GiB", "64 MiB"},
    "alignment-intervals.md": {"asymptotic 95%"},
    "many-samples.md": {"1 GB", "2 GB"},
    "plot_many_samples.py": {"GB"},
    "plot_error_bars.py": {"1.645", "0% of new", "coverage of 90%"},
    "plot_bound_refuted.py": {"half of the time"},
    "kernels.md": {"16"},
    "raw-tables.md": {"160 MB"},
    "paper.md": {"torch_cka"},
    "guarantees.md": {"1e-7"},
    "gram-matrices.md": {"1e-8"},
    "install.md": {"1e-9"},
    "technical-note.md": {"error of 0.16"},
    "tests-of-dependence.md": {"should be 0.05", "power, 30%", "rates are within 0.01"},
}


def measurements(text, known=()):
    """The numbers in the text of a page that look measured and are not filled in from a file."""
    for mark in ("numbers: ", "n: ", "claims"):
        end = mark.strip(": ")
        text = re.sub(rf"(?s)<!-- {mark}.*?<!-- /{end} -->", FILLED, text)
    # A sentence may go on in the next line; a table or a list may not.
    text = re.sub(r"(?m)(?<=\S) *\n(?=[^\s|*#<-])", " ", prose_of_page(text))
    found = MEASURED.finditer(text)
    return [match[0] for match in found if not any(word in match[0] for word in known)]


@pytest.mark.parametrize("path", [*WITH_NUMBERS, *GALLERY], ids=relative)
def test_no_measurement_stands_in_text(path):
    text = prose_of_source(path) if path in GALLERY else path.read_text(encoding="utf-8")
    assert measurements(text, NOT_MEASURED.get(path.name, ())) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("A fit takes 2.6 s.", 1),
        ("It is 8 to 19 times as fast, with an accuracy of 0.812.", 2),
        ("| data | score |\n|---|---|\n| iris | 0.94 | 0.95 |\n", 1),
        ("A gain of 1.9 points, 13.8 ± 0.5.", 2),
        ("A fit takes <!-- n: text.a.b -->2.6<!-- /n --> s.", 0),
        ("<!-- numbers: a -->\nA fit takes 2.6 s.\n<!-- /numbers -->\n", 0),
        ("With `tol=0.001` and C = 0.1, version 0.4.11, at level 0.05, on 300 samples.", 0),
        ("It is 3.5 times faster, a 2.5-fold gain, 8x, 3× faster, in 1/50 of the time.", 5),
        ("An R² of 0.94, accuracies\nof 0.9, AUC 0.9; power is 0.60, and the error was 0.05.", 5),
        ("It takes 12s, 12 h, 12 s, 4 µs, 1,200 ms, half the time and 1.7 GB of memory.", 7),
        ("It classifies 93% of new images; a test rejected 31 to 50% of samples, 12% faster.", 3),
        ("The CKA is 0.95. The first call takes half a second.", 2),
        ("The predictions differ by 5e-13, by 0.7 percentage points and 2.6→0.19 s.", 4),
        ("A test at the 5% level, 95% intervals, 20% for validation, 30% of the samples.", 0),
        ("A coverage for a nominal 0.9 of 400 x 20 samples, five folds and 3 x 3 matrices.", 0),
    ],
)
def test_a_measurement_in_text_is_found(text, count):
    assert len(measurements(text)) == count


# Of docstrings: narrower than `MEASURED`, because these have formulas, defaults and tolerances.
MEASURED_IN_DOCSTRINGS = re.compile(
    "|".join(
        (
            r"(?<![\w.,/])\d[\d,.]*\s(?:ms|[µu]s|ns|seconds|minutes|hours)\b",
            r"(?<![\w.,/])\d[\d,.]*\ss(?=[.;:)]|,? (?:on|in|for|to|once|per|with|against)\b)",
            r"\d(?:-fold| times (?:as|faster|slower)|%? (?:faster|slower|percentage points))\b",
            rf"\b{SCORES} (?:[a-z]+ ){{0,4}}(?:is|was|are|were|of|from) (?:about )?[01]?\.\d",
            r"\b(?:gain(?:s|ed)?|cover(?:s|ed)?|reject(?:s|ed)?|los(?:es|t)) (?:about )?\d",
        )
    )
)


def measured_in(text):
    """The numbers in a docstring that look measured."""
    text = re.sub(r"(?s)``.*?``|`[^`]*`|\"[^\"\n]*\"|(?m:^ *(?:>>>|\.\.\.).*)", " ", text)
    return [match[0] for match in MEASURED_IN_DOCSTRINGS.finditer(re.sub(r"\s+", " ", text))]


def test_no_measurement_stands_in_a_docstring():
    paths = [path for path in SOURCES if path not in GALLERY]
    assert [
        f"{relative(path)}: {name}: {found}"
        for path in paths
        for name, text in docstrings(path)
        for found in measured_in(text)
    ] == []


def test_a_measurement_in_a_docstring_is_found():
    text = """Sum of kernels, R <= 2 s g for s = 0.5, to an accuracy of 1e-6.

    It takes 2.3 ns a pair, 16 s with
    all columns (0.7 s), and is 1.7 times as fast, 3 times faster or 12% slower. With 300 digits
    the AUC is 0.912 and the mean
    error was 0.05; intervals covered 0.76 instead of 0.9, and it gained 0.03.

    coverage : float, default 0.9
        A time such as ``"30 s"``.
    """
    assert len(measured_in(text)) == 10


@pytest.mark.parametrize("path", WITH_NUMBERS, ids=relative)
def test_no_line_starts_with_the_mark_of_a_number(path):
    # In Markdown such a line ends its paragraph.
    assert re.findall(r"(?m)^ *<!-- n: .*", path.read_text(encoding="utf-8")) == []


def test_a_number_in_a_sentence_is_that_of_the_file(fill_pages, monkeypatch):
    files = {
        "text.json": {"compilation": {"first": "11"}},
        "parts.json": {"digits": {"ratio": [0.9, 1.6], "memory": 214}},
    }
    monkeypatch.setattr(fill_pages, "read", files.get)
    stale = "It takes <!-- n: text.compilation.first -->0.9<!-- /n --> s."
    assert fill_pages.filled(stale) == stale.replace("0.9", "11")
    assert fill_pages.number("parts.digits.ratio") == "0.9 to 1.6"
    assert fill_pages.number("parts.digits.memory") == "214"
    with pytest.raises(KeyError):
        fill_pages.filled("<!-- n: text.compilation.no -->0.9<!-- /n -->")


def test_every_paragraph_and_table_is_on_a_page(fill_pages):
    text = "".join(path.read_text(encoding="utf-8") for path in fill_pages.pages())
    shown = set(re.findall("<!-- numbers: (.*?) -->", text))
    known = {*fill_pages.paragraphs(), *fill_pages.LAYOUTS, *fill_pages.read("tables.json")}
    assert known == shown


def test_every_number_is_on_a_page(fill_pages):
    text = "".join(path.read_text(encoding="utf-8") for path in fill_pages.pages())
    paragraphs = "".join(fill_pages.paragraphs().values())
    for key, entry in fill_pages.read("text.json").items():
        for name in entry.keys() - {"script", "archived", "run"}:
            assert f"text.{key}.{name} " in text or f"text[{key}][{name}]" in paragraphs, name


def test_the_list_of_scripts_names_the_pages_that_quote_them(fill_pages):
    """A row of scripts/README.md has a link to each page that a number of the script is on."""
    files = {name: fill_pages.read(f"{name}.json") for name in ("text", "tables", "parts")}
    known, folder = fill_pages.paragraphs(), ROOT / "scripts"
    rows = re.findall(r"(?m)^\|(.*?)\|.*\|(.*)\|$", (folder / "README.md").read_text("utf-8"))
    missing = set()
    for path in fill_pages.pages():
        text = path.read_text(encoding="utf-8")
        blocks = re.findall(r"<!-- numbers: ([\w-]+) -->", text)
        named = [name.split(".")[:2] for name in re.findall(r"<!-- n: ([\w.-]+) -->", text)]
        named += [("tables", block) for block in blocks if block in files["tables"]]
        named += [("parts", key) for key in files["parts"] if "parts" in blocks]
        for block in blocks:
            named += re.findall(r"\{(parts|text)\[([\w-]+)\]", known.get(block, ""))
        entries = [files[file][key] for file, key in named]
        for script in {entry["script"] for entry in entries if "script" in entry}:
            name = Path(script).name
            cells = [quoted for names, quoted in rows if f"{name}`" in names]
            page = "README" if path.name == "README.md" else f"{path.relative_to(ROOT).as_posix()})"
            if not any(page in cell for cell in cells):
                missing.add(f"{script}: {page}")
    assert missing == set()
