"""Whatever a configuration says, it is read, or refused with file, place and remedy."""

import copy
import math
from datetime import date

import pytest
import tiny
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tricks import TRICKS

from giantstep.workflow.config import InvalidConfigError, load_config, load_yaml
from giantstep.workflow.figure_config import read_figures

CONFIG = load_config(tiny.ROOT) | {"figures": ["fig2"]}
FIGURE = load_yaml(tiny.ROOT / "config/figures/fig2.yaml", "fig2.yaml")
NUMBERS = [0, -0.0, -1, 1e-320, 1e308, math.inf, -math.inf, math.nan, 10**30, -(10**400), True]
VALUES = st.one_of(
    st.sampled_from([*TRICKS, *NUMBERS]),
    st.sampled_from([None, date(2024, 2, 4), b"bytes", [], {}, [[]], [{}], {"": {}}, {1: 1}]),
    st.text(max_size=20),
    st.lists(st.one_of(st.floats(), st.text(max_size=3)), max_size=5),
    st.dictionaries(st.one_of(st.text(max_size=5), st.integers()), st.integers(), max_size=3),
)
KEYS = st.one_of(st.sampled_from([*TRICKS, 1, None, 2.5]), st.text())
WAYS, ACTIONS = st.lists(st.integers(0, 9), max_size=4), st.sampled_from(["replace", "drop", "add"])
EDITS = st.lists(st.tuples(WAYS, ACTIONS, KEYS, VALUES), min_size=1, max_size=3)
TEXTS = [
    *(b"", b"\xff\xfe\x00", b"- a\n- list\n", b"title: [", b"title: a\ntitle: b\n", b"\x00", b"42"),
    b"!!python/object/apply:os.system ['touch giantstep_broken']",
    *(b"a: &a [*a]\n", b"a: &a {b: *a}\n", b"[" * 10_000, b"a: " * 5000, b"? {a: b}\n: c\n"),
    *(b"<<: 3\n", b"a: *unknown\n", b"---\na: 1\n---\nb: 2\n", b"a: 9" + b"9" * 5000, b"a: 0x\n"),
]


def broken(sound, edits):
    """Replace, leave out or add some things of a config."""
    config = copy.deepcopy(sound)
    for way, what, name, value in edits:
        parent, key, place = None, None, config
        for step in way:
            if not (isinstance(place, dict | list) and place):
                break
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            parent, key = place, keys[step % len(keys)]
            place = parent[key]
        if parent is None:
            return value
        if what == "drop":
            del parent[key]
        elif what == "add" and isinstance(parent, dict):
            parent[name] = copy.deepcopy(value)
        else:
            parent[key] = copy.deepcopy(value)
    return config


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("broken")
    (root / "config/figures").mkdir(parents=True)
    return root


def refused(project, config, text):
    """Check whether a config is refused, as it should be."""
    path = project / "config/figures/fig2.yaml"
    path.write_bytes(text)
    try:
        read_figures(project, config)
    except InvalidConfigError as error:
        for fault in error.faults:
            assert fault.startswith("config/")
            assert 30 < len(fault) < 2200
            assert "\n" not in fault
        str(error).encode()
        return True
    finally:
        assert list(project.rglob("*.*")) == [path]
    return False


@pytest.mark.parametrize("which", ["main", "figure"])
def test_a_broken_config_is_refused(project, which):
    outcomes = []

    @settings(suppress_health_check=list(HealthCheck), deadline=None)
    @given(edits=EDITS)
    def is_read_or_refused(edits):
        config = broken(CONFIG, edits) if which == "main" else CONFIG
        figure = broken(FIGURE, edits) if which == "figure" else FIGURE
        text = yaml.dump(figure, allow_unicode=True, sort_keys=False)
        outcomes.append(refused(project, config, text.encode("utf-8", "surrogatepass")))

    is_read_or_refused()
    assert sum(outcomes) > 0.7 * len(outcomes)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_file_that_is_no_config_is_refused(project, text):
    assert refused(project, CONFIG, text)
    assert not (project / "giantstep_broken").exists()


def test_snakemake_says_so_too_and_starts_nothing(tmp_path):
    project = tiny.make(tmp_path / "project")
    with (project / tiny.TINY).open("a") as overlay:
        overlay.write("seed: 1\nseed: 2\n")
    said = tiny.snakemake(project, code=1)
    assert "config/tiny.yaml: top level: not readable: key 'seed'" in said
    assert "Traceback" not in said
    assert not (project / "results").exists()
