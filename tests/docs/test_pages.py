"""What pages name exists: links, options, commands, files, figures, functions."""

import json
import re
import shlex
from functools import cache
from runpy import run_path

import pytest
from tiny import ROOT

import giantstep
from giantstep.cli.commands import commands
from giantstep.cli.parser import make_parser, parse

# CHANGELOG names what is gone.
OUTSIDE = "README.md CONTRIBUTING.md CODE_OF_CONDUCT.md config/README.md paper/paper.md".split()
INSIDE = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / name for name in OUTSIDE]
PAGES += [page for page in INSIDE if not {"generated", "build"} & set(page.parts)]
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
LINK = re.compile(r"""(?:\]\(|src=")(?!https?:)([^)"\s#]*)(#[^)"\s]*)?[)"]""")
QUOTED = re.compile(r"`([^`\n]+)`")
EXAMPLE = re.compile(r"^(?: {4}|\$ )(giantstep \w.*)$|`(giantstep [a-z]+ [^`]*)`", re.MULTILINE)
OPTION = re.compile(r"(?<![\w-])--([a-z][\w-]*)")
# Of Snakemake; of pip, uv and rattler-build.
FOREIGN = """
cores configfile config profile report dag lint list-rules jobs force printshellcmds verbose
group-components
editable no-deps require-hashes python recipe
""".split()
PATH = re.compile(
    r"(?:[\w-]+/)*[\w.-]+\.(?:py|md|yaml|yml|toml|csv|smk|cff|json|lock|bib|sh|txt)|(?:[\w-]+/)+"
)
# What a run or a reader writes, and what is made up.
WRITTEN = ("results/", "figures/", "logs/", ".snakemake/", "docs/build/", "build/", "NAME", "FILE")
MADE_UP = """
answer.csv sweep.csv data.csv spectrum.csv X.csv y.csv mine.py mine.yaml batch.yaml
config/figures/mine.py config/figures/mine.yaml config/figures/batch.yaml
config/figures/example.yaml config/figures/data.csv data/measured.csv ro-crate-metadata.json
""".split()
FIGURE = re.compile(r"[Ff]igures? (S?\d+)\b|\bfig(s?\d+)\b")
ROOTS = ["", *"docs src src/giantstep workflow config benchmarks tests docs/curves".split()]


def slug(heading):
    """The anchor that forges give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", "")).replace(" ", "-")


@cache
def anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)}


@cache
def options():
    """All options of `giantstep`, and of Snakemake and others those that pages may name."""
    known = set(FOREIGN)
    for name in commands():
        for action in make_parser(name)[1]._actions:
            known |= {flag.lstrip("-") for flag in action.option_strings}
    for program in (ROOT / "benchmarks").glob("*.py"):
        known |= set(re.findall(r'add_argument\(\s*"--([\w-]+)"', program.read_text()))
    return known


@cache
def exists(path, folder):
    """Whether a page in a folder may name this file: by its path, or by a name that a file has."""
    roots = (folder, *(ROOT / root for root in ROOTS))
    return any((root / path).exists() for root in roots) or path in names()


@cache
def names():
    folders = ("src", "docs", "tests", "config", "workflow")
    return {path.name for folder in folders for path in (ROOT / folder).rglob("*.*")}


def joined(text):
    return re.sub(r"\\\n\s*", "", text)


@pytest.mark.parametrize("name", TEXTS)
def test_a_page_reads_on_a_forge(name):
    assert "```{" not in TEXTS[name], "a directive, which forges show as code"
    for path, fragment in LINK.findall(TEXTS[name]):
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), f"{path} leads nowhere"
        if fragment and target.suffix == ".md":
            assert fragment[1:] in anchors(target), f"{path}{fragment} leads nowhere"


@pytest.mark.parametrize("name", TEXTS)
def test_a_page_names_options_and_files_that_exist(name):
    text = joined(re.sub(r"^```diff.*?^```", "", TEXTS[name], flags=re.M | re.S))
    assert {f"--{option}" for option in OPTION.findall(text) if option not in options()} == set()
    unknown = []
    for quoted in QUOTED.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        for word in quoted.split():
            path = word.rstrip(",:;")
            if not PATH.fullmatch(path) or path in MADE_UP or any(one in path for one in WRITTEN):
                continue
            if not exists(path, (ROOT / name).parent):
                unknown.append(path)
    assert unknown == []


@pytest.mark.parametrize("name", TEXTS)
def test_a_page_names_figures_targets_and_functions_that_exist(name):
    text = TEXTS[name]
    for numbers in FIGURE.findall(text):
        number = "".join(numbers).lower()
        assert (ROOT / f"config/figures/fig{number}.yaml").exists(), f"no figure {number}"
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"(?:`|^ {4})make ([a-z][\w-]*)", text, re.M):
        assert re.search(rf"^{target}:", makefile, re.M), f"no make {target}"
    for function in re.findall(r"\bgiantstep\.([a-z]\w+)\(", text):
        assert function in giantstep.__all__, f"no giantstep.{function}"
    for benchmark in re.findall(r"python (benchmarks/\w+\.py)", text):
        assert (ROOT / benchmark).exists()


@pytest.mark.parametrize("name", TEXTS)
def test_a_page_shows_commands_that_the_command_line_takes(name):
    for block, inline in EXAMPLE.findall(joined(TEXTS[name])):
        words = shlex.split(block or inline, comments=True)[1:]
        assert words[0] in commands(), f"no giantstep {words[0]}"
        if block and not {"...", "FOLDER"} & set(words):
            parse(words)


def test_the_theory_has_the_sections_that_docstrings_cite():
    pytest.importorskip("sphinx")
    links = run_path(str(ROOT / "docs/extensions/theory_links.py"))
    chapters = "".join(text for name, text in TEXTS.items() if "docs/theory/" in name)
    sections = {int(number) for number, _ in links["TITLE"].findall(chapters)}
    assert {section for section, *_ in links["citations"]()} <= sections


def test_the_page_of_commands_lists_all_of_them():
    page = TEXTS["docs/how-to/command-line.md"]
    for command in commands():
        assert re.search(rf"`{command}[` ]", page), f"no {command}"


def test_the_page_on_figures_lists_all_fields_of_a_panel():
    schema = json.loads((ROOT / "workflow/schemas/figure.schema.json").read_text())["$defs"]
    page = TEXTS["docs/how-to/own-figure.md"]
    for kind in schema.values():
        if "activation" in kind["properties"]:
            missing = [key for key in kind["properties"] if not re.search(rf"\b{key}\b", page)]
            assert not missing


def test_the_pages_count_the_figures_that_there_are():
    further = sorted((ROOT / "config/figures").glob("figs*.yaml"))
    last = f"S{len(further)}"
    for name, text in TEXTS.items():
        for counted in re.findall(r"S1 to (S\d+)", text):
            assert counted == last, f"{name}: {counted}, and not {last}"
    for number in re.findall(r"and (\d+) more with another", TEXTS["paper/paper.md"]):
        assert int(number) == len(further)
