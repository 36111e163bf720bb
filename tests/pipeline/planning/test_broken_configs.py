"""Whatever a config says, it is planned, or refused with file, place and remedy; never run."""

import copy
import math
from datetime import date
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny import ROOT, configured
from tricks import TRICKS

from giantstep.pipeline.planning.config import InvalidConfigError
from giantstep.pipeline.planning.plan import make_plan

CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text()) | {"figures": ["fig2"]}


FIGURE = yaml.safe_load((ROOT / "config/figures/fig2.yaml").read_text())


NUMBERS = [
    0,
    -0.0,
    -1,
    1e-320,
    1e308,
    math.inf,
    -math.inf,
    math.nan,
    10**30,
    -(10**400),
    2**63,
    True,
]


VALUES = st.one_of(
    st.sampled_from(TRICKS),
    st.sampled_from(NUMBERS),
    st.sampled_from([None, date(2024, 2, 4), b"bytes", [], {}, [[]], [{}], {"": {}}, {1: 1}]),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.lists(st.one_of(st.floats(), st.text(max_size=3)), max_size=5),
    st.dictionaries(st.one_of(st.text(max_size=5), st.integers()), st.integers(), max_size=3),
    st.just([1.0 + k / 1000 for k in range(2000)]),
    st.recursive(st.none(), lambda inner: st.lists(inner, min_size=1, max_size=2), max_leaves=20),
)


KEYS = st.one_of(st.sampled_from([*TRICKS, 1, None, 2.5]), st.text())


EDITS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 9), max_size=4),  # the way down
        st.sampled_from(["replace", "replace", "drop", "add"]),
        KEYS,
        VALUES,
    ),
    min_size=1,
    max_size=3,
)


def broken(sound, edits):
    """Replace, leave out or add some things of a config."""
    config = copy.deepcopy(sound)
    for way, what, name, value in edits:
        value = copy.deepcopy(value)
        parent, key = None, None
        place = config
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
            parent[name] = value
        else:
            parent[key] = value
    return config


TEXTS = [
    b"",
    b"\xff\xfe\x00",
    b"\x80\x81",
    b"- a\n- list\n",
    b"title: [",
    b"title: a\ntitle: b\n",
    b"\x00",
    b"42",
    b"!!python/object/apply:os.system ['touch giantstep_broken']",
    b"a: !!python/name:os.system ''\n",
    b"a: &a [x, x, x]\n"
    + b"".join(b"%c: &%c [*%c, *%c]\n" % (98 + k, 98 + k, 97 + k, 97 + k) for k in range(24)),
    b"a: &a [*a]\n",
    b"a: &a {b: *a}\n",
    b"[" * 10_000,
    b"a: " * 5000,
    b"{a: " * 3000,
    b"x" * 2_000_000,
    b"? {a: b}\n: c\n",
    b"? [a]\n: c\n",
    b"<<: 3\n",
    b"a: *unknown\n",
    b"---\na: 1\n---\nb: 2\n",
    b"%YAML 9.9\n---\na: 1",
    b"a: 9" + b"9" * 5000,
    b"a: 2024-99-99\n",
    b"a: 0x\n",
    b"a: !!int x\n",
    b"a: !!float {}\n",
    b"a: !!binary ***\n",
    b"a: !!set {b, c}\n",
    b"a: 1:99:99\n",
    b"a: !!timestamp x\n",
    b"!!map [a]\n",
    b"a: !unknown x\n",
    "a: \u2028".encode(),
    b"\xef\xbb\xbf",
    b"\t",
    b"a:\tb\n\tc: d",
]


REMEDIES = ("must", "key", "not readable", "no such", "there is no", "needs", "stands", "is for")


def check(told):
    """Each fault names its file, a place, and what is allowed, in a line of readable length."""
    assert told.faults
    for fault in told.faults:
        assert fault.file.startswith("config/")
        assert len(fault.problem) > 10
        assert len(str(fault)) < 2000
        assert any(word in fault.problem for word in REMEDIES), fault
    str(told).encode()


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project's configs alone, whose figure 2 is to be broken."""
    root = configured(tmp_path_factory.mktemp("broken"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("empty"))
        yield root


def listing(root):
    return sorted(path for path in root.rglob("*") if path.is_file())


def refused(project, config):
    """Check whether a config is refused, as it should be; nothing is written either way."""
    before = listing(project)
    try:
        make_plan(project, config)
    except InvalidConfigError as error:
        check(error)
        return True
    finally:
        assert listing(project) == before
        assert not list(Path().iterdir())
    return False


ODD = settings(suppress_health_check=list(HealthCheck))


def test_a_broken_main_config_is_refused(project):
    outcomes = []

    @ODD
    @given(edits=EDITS)
    def is_planned_or_refused(edits):
        outcomes.append(refused(project, broken(CONFIG, edits)))

    is_planned_or_refused()
    assert sum(outcomes) > 0.7 * len(outcomes)


def test_a_broken_figure_is_refused(project):
    outcomes, path = [], project / "config/figures/fig2.yaml"

    @ODD
    @given(edits=EDITS)
    def is_planned_or_refused(edits):
        text = yaml.dump(broken(FIGURE, edits), allow_unicode=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        outcomes.append(refused(project, CONFIG))

    is_planned_or_refused()
    assert sum(outcomes) > 0.7 * len(outcomes)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_file_that_is_no_config_is_refused(project, text):
    path = project / "config/figures/fig2.yaml"
    path.write_bytes(text)
    with pytest.raises(InvalidConfigError) as raised:
        make_plan(project, CONFIG)
    check(raised.value)
    assert not Path("giantstep_broken").exists()
