"""Odd arguments get a message, never a traceback."""

from io import StringIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tricks import TRICKS

from giantstep.cli.main import main

WORDS = (
    "theory simulate spectrum bounds open scores verify prune fig2 --activation tanh --target sign"
    " --learning-rate 1 --alpha0 inf --beta --alpha --ridge 0 -1 nan 1e999 --readout 1:x --x"
    " --sample 5% --seed --configfile --project --yes -- - -h"
).split()
ARGUMENTS = st.lists(
    st.one_of(
        st.sampled_from(WORDS),
        st.sampled_from([x for x in TRICKS if x.isprintable() and len(x) < 100]),
        st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8),
    ),
    max_size=8,
)


@settings(suppress_health_check=list(HealthCheck))
@given(arguments=ARGUMENTS)
def test_odd_arguments_get_a_message(tmp_path_factory, capsys, arguments):
    empty = tmp_path_factory.mktemp("empty")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(empty)
        patch.setattr("sys.stdin", StringIO("n"))
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code
    assert code in (0, 2)
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    assert err or code == 0
    assert not list(empty.iterdir())
