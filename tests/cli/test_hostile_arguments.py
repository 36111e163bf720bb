"""Hostile command lines are refused at once, in one sentence and with exit code 2."""

import shutil

import pytest
from time_limits import at_once
from tiny import ROOT

from giantstep.cli.main import main

STEPS = "--activation tanh --target sign --learning-rate 1 --alpha0 1 --beta 1"
SPIKED = (
    "--activation tanh --target sign --bulk-variance 1.5 --spike-strength 1 --alignment 0.5"
    " --beta 1"
)
GRID = "--alpha 1 --ridge 0.1"
QUESTIONS = {
    "theory": f"theory {STEPS} {GRID}",
    "spiked": f"theory {SPIKED} {GRID}",
    "optimal": f"theory {STEPS} --alpha 1 --ridge optimal",
    "optimise": f"optimise --activation tanh --target sign --alpha0 1 --beta 1 {GRID}",
    "simulate": f"simulate {STEPS} {GRID}",
    "networks": f"simulate {SPIKED} {GRID}",
    "spectrum": f"spectrum {SPIKED} --alpha 1",
    "map": f"map {STEPS} --y ridge=0.1,1",
}
# ODD are numbers that are not written in decimal ASCII digits.
LISTS = {
    "ODD": ["1_0", "010", "\u0661", "\uff11", "0x10", "1e3_0", " 1", "1 ", "1e", " -1"],
    "FAR": ["nan", "-inf", "1e300", "1e400", "9" * 400, "one", "", "1,5", "-1e300"],
    "SIZES": ["0", "-1", "1.5", "1e-3", "nan", "9" * 30, "9" * 5000, "one", ""],
}
# Flags after a question, and their hostile values; ~ is a blank.
HOSTILE = """
theory --learning-rate ODD FAR -1 inf 1e150
theory --alpha0 010 1e-300 5e-324 -1
theory --beta ODD FAR 0 1e-300
theory --ridge ODD FAR -1 1e16
theory --readout 1e308:1 1e7:1 0_1:1 \uff11:1 nan:1 1:nan 1:1e308 1:0 1 : 1:1:1
theory --loss huber:1e300 huber:0 huber:1_0 huber:~1 huber:nan huber: hinge:2 cubic
theory --target polynomial:1e300 polynomial:nan polynomial:0,1_0 polynomial: polynomial:0 he6
theory --activation polynomial:0,1e9 sign ~ ../tanh
theory --bulk cubic ~
theory --steps 0 1001 1000000000 999999999999999999999999999999
theory --max-hours 0 1e-9 -1 nan soon
spiked --bulk-variance 0 1e-300 1e150 1e9
spiked --spike-strength inf 1e13
spiked --alignment 1.1 -1e300 nan
spiked --bias 1e300:1 0:0.5 nan:1 0
optimal --alpha 0 1e300 nan
map --x alpha alpha=1 alpha= alpha=1,,2 alpha=1..2 ridge=1,2 beta2=1,2
optimise --dimension 1 nan 1e13
simulate --dimension ODD SIZES 1 1000001 1000000
simulate --replicates SIZES 1000000000000 10000000
simulate --test-samples SIZES 1000000000000 exactly
simulate --threads SIZES 100000
simulate --seed -1 1.5 999999999999999999999999999999
simulate --alpha 1e6 1e-9 1e300 0
simulate --inputs student_t:2 student_t:nan student_t:1_0 student_t:1e999 cauchy
simulate --max-memory 0 1e-6 -1 nan
networks --spike-strength 1e300 1e13
spectrum --points SIZES 7 100000 1000000000
"""
VALUES = [
    (question, flag, value)
    for question, flag, *words in map(str.split, HOSTILE.strip().splitlines())
    for word in words
    for value in LISTS.get(word, [word.replace("~", " ")])
]
POINTS = " ".join(f"{k}" for k in range(1, 1002))
LINES = {
    "a hundred million points": f"theory {STEPS} --alpha 1:2:10000 --ridge 1:2:10000",
    "points of a convex loss": f"theory {STEPS} --alpha {POINTS} --ridge 1:10:10 --loss hinge",
    "points at the best ridge": f"theory {STEPS} --alpha {' '.join([POINTS] * 50)} --ridge optimal",
    "nothing": "",
    "both kinds": f"theory {STEPS} --alignment 1 {GRID}",
    "a bulk too narrow": f"spectrum {STEPS} --alpha 1e-9",
    "a figure elsewhere": "open ../../etc/passwd",
    "no project": "explain --project /nonexistent",
    "a file for a project": "prune --project /dev/null",
    "no overlay": "explain --configfile missing.yaml",
}


def run(arguments):
    with at_once():
        try:
            return main(arguments)
        except SystemExit as stop:
            return stop.code


def refused(capsys, arguments):
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert "Traceback" not in err
    assert "Warning" not in err
    said = err.strip().removesuffix("See giantstep --help").splitlines()
    assert len(said) <= 2
    assert 20 < len(said[0]) < 6000
    return err


@pytest.mark.parametrize(
    ("question", "flag", "value"),
    [pytest.param(*one, id=f"{one[0]} {one[1]} {one[2][:30]}") for one in VALUES],
)
def test_a_hostile_value_gets_one_sentence(capsys, question, flag, value):
    err = refused(capsys, [*QUESTIONS[question].split(), flag, value])
    assert flag in err or "must be" in err


@pytest.mark.parametrize("name", LINES)
def test_a_hostile_line_gets_one_sentence(capsys, tmp_path, monkeypatch, name):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    refused(capsys, LINES[name].split())


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--learning-rate", "4400"),  # weights as long as are allowed
        ("--target", "polynomial:0,1e-200"),  # whose square is 0
    ],
)
def test_numbers_at_the_edge_are_answered_or_refused(capsys, flag, value):
    assert run([*QUESTIONS["theory"].split(), flag, value]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
