"""Hostile configs are refused at once, each in sentences that name file, place and remedy."""

import contextlib
import os
import shutil
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from snakemake.exceptions import WorkflowError
from snakemake.settings import types
from time_limits import at_once
from tiny import ROOT
from yte import process_yaml

from giantstep.pipeline.planning.config import InvalidConfigError, load_config, load_yaml
from giantstep.pipeline.planning.plan import make_plan
from giantstep.pipeline.runtime.overlays import read_overlays_strictly

# What versions of YAML read differently; and what is not one plain value.
ODD = "010 -010 00 0o17 0b11 1_0 1_000.5 1:30 190:20:30 yes No on OFF".split()
NOT_PLAIN = ["null", "~", "''", "{}", "[]", "[[1]]", "{a: 1}", "!!int x", "!!set {a}", "!x 1", "*a"]
NOT_NUMBERS = ["'1'", "one", "1,5", "0x", "true", "2024-02-04", "1 2", ".nan", "-.inf", "-1e400"]
HUGE = ["1e16", "1e150", "1e308", "1e400", "9" * 400]
NUMBERS = [*ODD, *NOT_PLAIN, *NOT_NUMBERS, *HUGE, "-1"]
WHOLE = [*ODD, *NOT_PLAIN, *NOT_NUMBERS, "1.0", "0.5", "1e3", "0", "-1", "9" * 30, "9" * 400]

MAIN = {
    "figures": "[fig2]",
    "seed": "1",
    "simulation": {
        "dimension": "100",
        "networks": "4",
        "trainings": "1",
        "test_samples": "100",
        "networks_per_job": "2",
    },
}
STEPS = {
    "activation": "tanh",
    "target": "sign",
    "learning_rate": "1",
    "alpha0": "1",
    "beta": "1",
    "ridge": "0.1",
}
SPIKED = {
    "activation": "tanh",
    "target": "sign",
    "bulk_variance": "1.5",
    "spike_strength": "1",
    "alignment": "0.5",
    "beta": "1",
    "ridge": "0.1",
}
TEACHER = {
    "activation": "elu",
    "teacher": "z1",
    "learning_rate": "1",
    "alpha0": "2",
    "width": "8",
}
FIGURE = {
    "title": "T",
    "caption": "C",
    "theory": {"alpha": {"start": "0.5", "stop": "2", "points": "3"}},
    "simulation": {"alpha": "[0.5, 2]"},
    "panels": {"left": STEPS, "right": SPIKED, "seen": TEACHER},
}
NUMBERS_1_TO_1000 = "[" + ", ".join(f"{k}" for k in range(1, 1001)) + "]"

# Places of the main config, and what may not stand there.
HOSTILE_MAIN = {
    "figures": ["[fig2, fig2]", "fig2", "[../fig2]", "[]", "[yes]", "[010]", "[nosuchfigure]"],
    "seed": [text for text in WHOLE if text != "0"],
    "simulation.dimension": WHOLE,
    "simulation.networks": [*ODD, "0", "1000001", "1000000000000", "9" * 400],
    "simulation.trainings": ["0", "1_0", "1000001", "9" * 30],
    "simulation.test_samples": ["0", "1:00", "100000001", "1000000000000", "most"],
    "simulation.networks_per_job": ["0", "0o1", "-5", "1.5"],
    "limits": [
        "{core_hours: 0}",
        "{jobs: -1}",
        "{memory: .nan}",
        "{hours: 1}",
        "3",
        "{networks: 1_0}",
    ],
    "extra": ["1"],
    "__use_yte__": ["true"],
}
# Places of a figure.
HOSTILE_FIGURE = {
    "panels.left.learning_rate": NUMBERS,
    "panels.left.alpha0": [x for x in NUMBERS if x not in ("1e400", "9" * 400)],
    "panels.left.beta": ["0", "1e-10", "1e10", "1e-300", *ODD],
    "panels.left.noise": ["1e13", "1e300", ".inf", "-1", "1_0"],
    "panels.left.outlier_variance": ["1e13", "1e300"],
    "panels.left.ridge": ["1e16", "-1", "[0.1, 0.1]", "yes", NUMBERS_1_TO_1000[:-1]],
    "panels.left.loss": ["huber:1e300", "huber:1e-300", "huber:0", "huber:nan", "huber:", "0o1"],
    "panels.left.readout": [
        "{1e308: 1}",
        "{1: 1e308}",
        "{1: .nan}",
        "{1_0: 1}",
        "{[1]: 1}",
        "{1: 0}",
    ],
    "panels.left.activation": [
        "polynomial:0,1e300",
        "polynomial:nan",
        "on",
        "'polynomial:'",
        "[tanh, tanh]",
    ],
    "panels.left.target": ["polynomial:1e7", "no", "''", "[]"],
    "panels.left.inputs": ["student_t:2", "student_t:nan", "student_t:", "off"],
    "panels.left.steps": ["0", "1001", "1000000000", "010", "1.0"],
    "panels.left.dimension": ["1", "1000001", "1_00", "9" * 400],
    "panels.left.networks": ["1000001", "0", "1:00"],
    "panels.left.test_samples": ["1000000000000", "0b1"],
    "panels.left.optimal": ["yes", "on", "1", "'true'"],
    "panels.right.bulk_variance": ["1e300", "1e-300", "0", "1e7", "1_0"],
    "panels.right.spike_strength": ["1e13", "-1e300", ".inf", "0x_1"],
    "panels.right.alignment": ["1.5", "-1:30", ".nan"],
    "panels.right.bias": ["{1e7: 1}", "{0: 0.5}"],
    "panels.seen.teacher": ["z4", "z1*z1", "1e300*z1", "yes"],
    "panels.seen.width": ["7", "100000001", "010"],
    "panels.seen.alpha0": ["1e300", "1e-300", ".inf"],
    "panels.seen.exponent": ["5", "1e300"],
    "theory.alpha.points": ["1", "100001", "1000000000000", "1e5", "0o10"],
    "theory.alpha.start": ["0", "2", "1e-300", ".nan"],
    "theory.alpha.stop": [".inf", "1e300", "0.1"],
    "simulation.alpha": ["[1e6, 1e7]", "[0]", "[1e-300]", "[1:30]", "1", "[]", "[1, 1]"],
    "spectrum": ["{alpha: 1e-9}", "{alpha: 1e300}", "{}", "1"],
}
# Sizes that could never run, and what they take too much of.
OVERSIZED = {
    "a million networks, one a job": (
        {"simulation.networks": "1000000", "simulation.networks_per_job": "1"},
        {},
        "jobs",
    ),
    "more networks than could be listed": ({"simulation.networks": "1000000"}, {}, "networks"),
    "more memory than there is": ({"simulation.dimension": "1000000"}, {}, "GiB"),
    "a hundred million test samples": (
        {
            "limits": "{core_hours: 100}",
            "simulation.test_samples": "100000000",
            "simulation.networks": "100000",
            "simulation.networks_per_job": "100",
            "simulation.dimension": "1000",
        },
        {},
        "core-hours",
    ),
    "a limit of one's own": ({"limits": "{networks: 3}"}, {}, "networks"),
    "a million curves": (
        {},
        {"panels.left.alpha0": NUMBERS_1_TO_1000, "panels.left.beta": NUMBERS_1_TO_1000},
        "1000 at most",
    ),
    "a grid of millions of points": (
        {},
        {"theory.alpha.points": "100000", "panels.left.ridge": NUMBERS_1_TO_1000},
        "points of the theory",
    ),
    "points that convex losses never finish": (
        {"limits": "{points: 100000000, core_hours: 100}"},
        {
            "theory.alpha.points": "100000",
            "panels.left.loss": "huber",
            "panels.left.alpha0": NUMBERS_1_TO_1000[:2000] + "1001]",
        },
        "core-hours",
    ),
}
TEXTS = {
    "latin-1": "title: é".encode("latin-1"),
    "utf-16": "title: a".encode("utf-16"),
    "deep": b"a: " + b"[" * 100_000,
    "deep mappings": b"{a: " * 30_000,
    "many values": b"[" + b"1," * 140_000 + b"]",
    "many keys": b"{" + b",".join(b"k%d: 1" % k for k in range(20_000)) + b"}",
    "large": b"#" * 10_000_000,
    "twice": b"a: 1\na: 2",
    "bomb": b"a: &a [x, x]\n"
    + b"".join(b"%c: &%c [*%c, *%c]\n" % (98 + k, 98 + k, 97 + k, 97 + k) for k in range(24)),
    "within itself": b"&a [*a]",
    "code": b"!!python/object/apply:os.system ['touch hostile']",
    "null bytes": b"\0" * 100,
    "unclosed": b"a: 'b",
    "key of a list": b"? [a]\n: b",
}


def changed(tree, change):
    """Lay texts over the leaves of a tree, by their paths."""
    tree = {k: dict(v) if isinstance(v, dict) else v for k, v in tree.items()}
    for path, text in change.items():
        head, _, rest = path.partition(".")
        tree[head] = changed(tree[head], {rest: text}) if rest else text
    return tree


def written(tree):
    """Write a tree of texts as YAML."""
    if not isinstance(tree, dict):
        return tree
    return "{" + ", ".join(f"{k}: {written(v)}" for k, v in tree.items()) + "}"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The configs of a project, for the module; each test writes what it reads."""
    root = tmp_path_factory.mktemp("hostile")
    (root / "config/figures").mkdir(parents=True)
    shutil.copytree(ROOT / "workflow/scripts", root / "workflow/scripts")
    return root


def refusal(project, main=(), figure=()):
    """Plan changed configs, and return what they are refused with."""
    (project / "config/config.yaml").write_text(written(changed(MAIN, dict(main))))
    (project / "config/figures/fig2.yaml").write_text(written(changed(FIGURE, dict(figure))))
    with at_once(), pytest.raises(InvalidConfigError) as raised:
        make_plan(project, load_config(project))
    for fault in raised.value.faults:
        assert fault.file.startswith("config/")
        assert len(str(fault)) < 1000
        assert "\n" not in fault.problem
        assert any(
            w in fault.problem for w in ("must", "key", "not readable", "there is no", "stands")
        )
    return str(raised.value)


def cases(table):
    return [pytest.param(p, text, id=f"{p}={text[:30]}") for p in table for text in table[p]]


@pytest.mark.parametrize(("place", "text"), cases(HOSTILE_MAIN))
def test_a_hostile_main_config_is_refused(project, place, text):
    refusal(project, {place: text})


@pytest.mark.parametrize(("place", "text"), cases(HOSTILE_FIGURE))
def test_a_hostile_figure_is_refused(project, place, text):
    assert "config/figures/fig2.yaml" in refusal(project, figure={place: text})


@pytest.mark.parametrize("case", OVERSIZED)
def test_what_could_never_run_is_refused_with_what_it_would_take(project, case):
    main, figure, words = OVERSIZED[case]
    assert words in refusal(project, main, figure)


def test_what_is_changed_was_sound_before(project):
    """So each refusal is that of the change: the only fault is that of a limit of one's own."""
    assert refusal(project, {"limits": "{networks: 3}"}).startswith("1 fault")


@pytest.mark.parametrize("ends", ["010", "yes", "1:30"])
def test_a_value_that_yaml_versions_read_differently_needs_a_plain_one(tmp_path, ends):
    path = tmp_path / "a.yaml"
    path.write_text(f"a: {ends}")
    with pytest.raises(InvalidConfigError, match=f"line 1, column 4: .* read {ends} differently"):
        load_yaml(path, "a.yaml")


def test_numbers_are_those_of_yaml_1_2(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("[8, -3, 0x1F, 1e-4, 1.0e4, .5, 2., +.inf, 'yes', '010', 2024-01-01, true, ~]")
    read = [8, -3, 31, 1e-4, 1e4, 0.5, 2.0, float("inf"), "yes", "010", "2024-01-01", True, None]
    found = load_yaml(path, "a.yaml")
    assert found == read
    assert list(map(type, found)) == list(map(type, read))


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_text_is_refused(tmp_path, name):
    path = tmp_path / "a.yaml"
    path.write_bytes(TEXTS[name])
    with at_once(), pytest.raises(InvalidConfigError, match="not readable") as raised:
        load_yaml(path, "a.yaml")
    assert len(str(raised.value)) < 600


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(path.name)


# Ways to make something that is no file to read, and the words of its refusal.
NO_FILES = {
    "nothing": (lambda path: None, "there is no such file"),
    "a pipe": (os.mkfifo, "it is a pipe"),
    "a folder": (Path.mkdir, "it is a folder"),
    "a socket": (make_socket, "it is a pipe, a socket or a device"),
    "zeros": (lambda path: path.symlink_to("/dev/zero"), "it is a pipe, a socket or a device"),
    "a terminal": (lambda path: path.symlink_to("/dev/null"), "it is a pipe, a socket or a device"),
    "a circle": (lambda path: path.symlink_to(path.name), "leads in a circle"),
    "a dangling link": (lambda path: path.symlink_to("gone"), "its link leads nowhere"),
    "a link to a folder": (lambda path: path.symlink_to("."), "it is a folder"),
    "a locked file": (lambda path: path.touch(0), "you may not read it"),
    "below a file": (lambda path: path.parent.joinpath("file").touch(), "must be a regular file"),
}
WHERE = ["overlay", "main", "figure", "snakemake"]


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("kind", NO_FILES)
def test_only_regular_files_are_read(tmp_path, monkeypatch, kind, where):
    monkeypatch.chdir(tmp_path)
    make, words = NO_FILES[kind]
    (tmp_path / "config/figures").mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text(written(MAIN))
    path = {
        "main": tmp_path / "config/config.yaml",
        "figure": tmp_path / "config/figures/fig2.yaml",
    }.get(where, tmp_path / "overlay.yaml")
    path.unlink(missing_ok=True)
    make(path)
    if kind == "below a file":
        if where != "overlay":
            pytest.skip("only an overlay may be named so")
        path = tmp_path / "file/overlay.yaml"
    if kind == "a socket" and where != "overlay":
        pytest.skip("sockets are made in the folder of the overlay")
    locked = kind == "a locked file"
    refused = pytest.raises((InvalidConfigError, WorkflowError))
    with unprivileged(tmp_path, locked), at_once(), refused as raised:
        if where == "snakemake":
            strictly(path)
        overlays = [path] if where == "overlay" else []
        make_plan(tmp_path, load_config(tmp_path, overlays))
    assert words in str(raised.value)
    assert path.name in str(raised.value)


@contextlib.contextmanager
def unprivileged(folder, wanted):
    """Let permissions count, which root may ignore."""
    if not (wanted and os.geteuid() == 0):
        yield
        return
    for parent in (folder, *folder.parents):
        if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def strictly(path):
    """Read an overlay as Snakemake does once the profile has been read."""
    before = types.load_configfile
    try:
        read_overlays_strictly()
        return types.ConfigSettings(configfiles=[path]).overwrite_config
    finally:
        types.load_configfile = before


def test_an_overlay_runs_no_code(tmp_path):
    path, made = tmp_path / "a.yaml", tmp_path / "made"
    path.write_text(f"__use_yte__: true\n__definitions__:\n  - open({str(made)!r}, 'w')\n")
    with pytest.raises(WorkflowError, match="unknown key __definitions__, __use_yte__"):
        strictly(path)
    assert not made.exists()
    path.write_text("seed: 3\nsimulation: {networks: 2}")
    assert strictly(path) == {"seed": 3, "simulation": {"networks": 2}}


def test_the_profile_reads_overlays_strictly_before_snakemake_does():
    text = (ROOT / "profiles/default/config.yaml").read_text()
    before = types.load_configfile
    try:
        profile = process_yaml(text, require_use_yte=True)
        assert types.load_configfile is not before
    finally:
        types.load_configfile = before
    assert profile["rerun-triggers"] == ["input"]


@settings(suppress_health_check=list(HealthCheck))
@given(
    where=st.sampled_from([*HOSTILE_MAIN, *HOSTILE_FIGURE]),
    text=st.one_of(
        st.from_regex(r"[-+0-9a-fxob_:.eE]{1,12}", fullmatch=True),
        st.sampled_from(["{}: 1", "[", "*", "&a", "!", "%"]),
        st.floats().map(repr),
        st.integers().map(str),
    ),
)
def test_any_text_anywhere_is_planned_or_refused(project, where, text):
    main, figure = ({where: text}, {}) if where in HOSTILE_MAIN else ({}, {where: text})
    (project / "config/config.yaml").write_text(written(changed(MAIN, main)))
    (project / "config/figures/fig2.yaml").write_text(written(changed(FIGURE, figure)))
    with at_once(), contextlib.suppress(InvalidConfigError):
        make_plan(project, load_config(project))
