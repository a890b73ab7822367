"""A release: its checks, versions, recipe, constraints, citation and workflows."""

import configparser
import importlib.util
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "scripts" / "_release.py"

pytestmark = pytest.mark.skipif(not SCRIPT.is_file(), reason="needs the source tree")


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("_release", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def floors():
    """The oldest version of each package that setup.cfg allows, run time and figures."""
    config = configparser.ConfigParser()
    config.read_string(text("setup.cfg"))
    lines = config["options"]["install_requires"] + config["options.extras_require"]["demo"]
    found = {}
    for line in lines.split():
        name, low = re.match(r"([\w-]+)>=([\d.]+)", line).groups()
        found[name] = low
    return found, config


def test_the_oldest_versions_of_the_constraints_are_the_floors():
    found, _ = floors()
    lines = text("constraints/oldest-py310.txt").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert list(pinned) == list(found)
    for name, version in pinned.items():
        assert version == found[name] + ".0", name


def recipe():
    """The recipe as conda-build reads it: Jinja first, then YAML."""
    jinja2, yaml = pytest.importorskip("jinja2"), pytest.importorskip("yaml")
    undefined = jinja2.StrictUndefined
    source = jinja2.Environment(undefined=undefined).from_string(text("recipe/meta.yaml"))
    return yaml.safe_load(source.render(PYTHON="python"))


def test_the_recipe_needs_what_setup_cfg_needs_and_starts_what_it_starts():
    read, (_, config) = recipe(), floors()
    needs = [line.replace(" ", "") for line in read["requirements"]["run"]]
    python = "python" + config["options"]["python_requires"]
    assert sorted(needs) == sorted([python, *config["options"]["install_requires"].split()])
    assert read["requirements"]["host"][0] == "python " + config["options"]["python_requires"]
    backend = re.search(r'requires = \["(setuptools)(>=\d+)"\]', text("pyproject.toml"))
    assert " ".join(backend.groups()) in read["requirements"]["host"]
    (script,) = read["build"]["entry_points"]
    assert script == config["options.entry_points"]["console_scripts"].strip()
    assert read["package"] == {"name": "alignlearn", "version": config["metadata"]["version"]}
    assert read["about"]["license"] == config["metadata"]["license"]
    assert all((ROOT / name).is_file() for name in read["test"]["source_files"])


def test_the_citation_is_valid():
    yaml = pytest.importorskip("yaml")
    read = yaml.safe_load(text("CITATION.cff"))
    # Fields that the schema of the Citation File Format 1.2.0 requires, and the optional ones in
    # use.
    assert {"cff-version", "message", "title", "authors"} <= set(read)
    assert read["cff-version"] == "1.2.0"
    assert read["type"] == "software"
    assert all(
        "name" in one or {"family-names", "given-names"} <= set(one) for one in read["authors"]
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", read["date-released"])
    for reference in read["references"]:
        assert {"type", "title", "authors"} <= set(reference)
    assert read["license"] == floors()[1]["metadata"]["license"]
    assert read["version"] == floors()[1]["metadata"]["version"]


def test_the_workflows_and_the_script_try_every_python(release):
    for name in ("test", "wheels"):
        (listed,) = re.findall(r"python: \[(.*)\]", text(f".github/workflows/{name}.yml"))
        assert re.findall(r"[\d.]+", listed) == list(release.PYTHONS)
    assert f">={release.PYTHONS[0]}" == floors()[1]["options"]["python_requires"]


def test_support_names_the_floors_of_today():
    page = text("docs/support.md")
    found, config = floors()
    for name, low in found.items():
        assert re.search(rf"^\| {name} \| {re.escape(low)} \|", page, re.MULTILINE | re.I), name
    python = config["options"]["python_requires"].removeprefix(">=")
    assert f"| Python | {python} |" in page


def git(tree, *command):
    name = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *name, *command], cwd=tree, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path, release):
    """The files that a release is checked with, committed in a repository of their own."""
    for name in release._PLACES:
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text(name), encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "all")
    return tmp_path


def change(tree, name, old, new):
    before = (tree / name).read_text(encoding="utf-8")
    assert old in before
    (tree / name).write_text(before.replace(old, new, 1), encoding="utf-8")


def refused(check, *arguments):
    """The reason that a check gives."""
    with pytest.raises(Exception, match=r"\.$") as caught:
        check(*arguments)
    assert type(caught.value).__name__ == "NotReady"
    return str(caught.value)


def test_a_tree_that_is_ready_passes(release, tree):
    assert release.check_versions(tree).startswith(release.version())
    assert re.fullmatch(r"\d+ changes, dated \d{4}-\d\d-\d\d", release.check_changelog(tree))
    assert release.check_tree(tree) == "everything is committed"
    assert release.check_tag(tree) == f"v{release.version()} is free"
    assert "not checked" in release.check_docs(tree)


def test_versions_that_differ_and_a_missing_changelog_entry_are_named(release, tree):
    now = release.version()
    for name in ("alignlearn/__init__.py", "CITATION.cff", "recipe/meta.yaml"):
        change(tree, name, now, "9.9.9")
        assert f"{name}: 9.9.9" in refused(release.check_versions, tree)
        change(tree, name, "9.9.9", now)
    change(tree, "setup.cfg", now, "9.9.9")
    assert "has no dated entry '## [9.9.9]" in refused(release.check_changelog, tree)
    entry = f"## [{now}] - "
    change(tree, "CHANGELOG.md", entry, f"## [9.9.9] - 2999-01-01\n\n{entry}")
    assert "the entry 9.9.9 of CHANGELOG.md is empty" in refused(release.check_changelog, tree)
    change(tree, "CHANGELOG.md", "2999-01-01\n", "2999-01-01\n\n- A change.\n")
    assert "date-released" in refused(release.check_changelog, tree)
    change(tree, "CHANGELOG.md", "## [9.9.9]", "## [Unreleased]\n\n- More.\n\n## [9.9.9]")
    assert "under [Unreleased]" in refused(release.check_changelog, tree)


def test_a_tree_with_changes_and_a_tag_that_exists_are_refused(release, tree):
    change(tree, "setup.cfg", "name", "name ")
    (tree / "new").touch()
    assert "2 files are not committed" in refused(release.check_tree, tree)
    git(tree, "tag", f"v{release.version()}")
    assert f"the tag v{release.version()} exists" in refused(release.check_tag, tree)
