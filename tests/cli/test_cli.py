"""The command line answers in CSV, and refuses what cannot be with one message."""

import csv
import io
import json
import shlex
import signal
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
import xarray as xr

from giantstep.cli.commands import commands
from giantstep.cli.main import main
from giantstep.problems.bulk_kind import TRAINED
from giantstep.problems.grid import Grid
from giantstep.problems.protocol import Protocol
from giantstep.theory.readout.solve import solve

STEP = "--activation tanh --target sin --learning-rate 3 --alpha0 20 --beta 1".split()


SPIKED = "--activation tanh --target sin --bulk-variance 1.2 --spike-strength 1 --beta 1".split()


def run(capsys, *arguments):
    """Run the command line; give its exit code, its rows, and what it said besides."""
    try:
        code = main(list(arguments))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, list(csv.DictReader(io.StringIO(out))), err


def test_theory_prints_a_row_for_every_alpha_and_ridge(capsys):
    arguments = ("--ridge", "0.1", "1", "--alpha", "0.9", "3.0", "--format", "csv")
    code, rows, err = run(capsys, "theory", *STEP, *arguments)
    assert code == 0
    assert "this limit" not in err
    header = (
        "alpha,ridge,total_samples,test_error,training_error,m,zeta,psi,q1,q2,V1,V2,xi"
        ",leave_one_out,gcv,reliability,reliable_dimension,status"
    )
    assert ",".join(rows[0]) == header
    points = [(float(row["alpha"]), float(row["ridge"])) for row in rows]
    assert points == [(0.9, 0.1), (0.9, 1), (3, 0.1), (3, 1)]
    exact = solve(Protocol("tanh", "sin", 3, 20, 1), Grid((0.9, 3.0), (0.1, 1.0)), TRAINED)
    printed = np.array([float(row["q1"]) for row in rows]).reshape(2, 2)
    assert printed == pytest.approx(exact.q1[..., 0, 0], rel=1e-10)
    assert {row["status"] for row in rows} == {"converged"}


def test_several_letters_have_columns_of_their_own_and_the_best_ridge_can_be_asked_for(capsys):
    arguments = ("--readout", "0.5:0.3", "2:0.7", "--alpha", "1", "--ridge", "optimal")
    code, (row,), _ = run(capsys, "theory", *STEP, *arguments, "--certificate")
    assert code == 0
    assert {"m_1", "m_2", "q1_1_2", "V2_2", "residual", "quadrature_error"} <= set(row)
    protocol = Protocol("tanh", "sin", 3, 20, 1, readout=((0.5, 0.3), (2, 0.7)))
    around = [float(row["ridge"]) * x for x in (0.9, 1, 1.1)]
    errors = solve(protocol, Grid((1.0,), tuple(around)), TRAINED).test_error[0]
    assert errors[1] == errors.min() == pytest.approx(float(row["test_error"]), rel=1e-10)


def test_letters_of_equal_shares_are_written_in_short(capsys):
    _, answer, _ = run(capsys, "theory", *STEP, "--readout", "1:0.5", "-1:0.5")
    for short in ("1,-1", "±1", "+-1"):
        assert run(capsys, "theory", *STEP, "--readout", short)[1] == answer


def test_spectrum_and_bounds_are_printed(capsys):
    aligned = (*SPIKED, "--alignment", "1")
    code, rows, _ = run(capsys, "spectrum", *aligned, "--alpha", "2", "--points", "20")
    assert (code, len(rows), rows[0]["mass_at_zero"]) == (0, 20, "0")
    assert {"outlier", "bulk_lower_edge", "bulk_upper_edge"} <= set(rows[0])
    code, (row,), _ = run(capsys, "bounds", *aligned)
    assert code == 0
    assert float(row["lower_bound"]) < float(row["upper_bound"]) < 1


def test_a_failed_point_is_nan_with_its_status_and_advice(capsys):
    code, rows, err = run(capsys, "theory", *STEP, "--alpha", "1", "--ridge", "0")
    assert (code, rows[0]["test_error"], rows[0]["status"]) == (0, "nan", "not_converged")
    assert "take a larger ridge" in err


BAD = [
    ("theory --activation tahn", "--activation tahn: must be one of tanh"),
    ("theory --ridge -1e-3", "--ridge -0.001: must be a number from 0 to"),
    ("theory --alpha", "argument --alpha: expected at least one argument"),
    ("theory --alignment 1", "--alignment: not for gradient steps"),
    ("theory --learning-rate 1e12", "must be so small that rows"),
    ("compare --dimension 9 --ridge optimal 0.1", "--ridge optimal: must be alone"),
    ("theory --readout 1", "'1' must be VALUE:FRACTION such as 1:0.5, or"),
    ("theory --stop-at 1 --ridge 0.1", "--ridge 0.1: must be left out with stop_at"),
    ("simulate --model conditional_gaussian", "--model: not for gradient steps"),
    ("simulate --alpha0 inf --dimension 9", "64 or more, for the population"),
    ("simulate --learning-rate 1e12 --readout 1e6:1 --dimension 50", "stay below 1e+12"),
    ("optimise --over ridge --ridge 1 2", "must be left out: optimise chooses it"),
    ("optimise --over ridge --stop-at 1 2", "--stop-at 1 2: must be left out: optimise"),
    ("optimise --learning-rate 1 2", "--learning-rate 1 2: must be left out: optimise"),
    ("plan --samples 6 --over learning_rate", "--alpha0 20: must be left out: plan chooses it"),
    ("map --x alpha=1:2:3 --y alpha=1:2:3", "--x and --y must differ, both are alpha"),
    ("sweep --columns total_samples", "--columns total_samples: must be one of"),
    ("theroy", "there is no command 'theroy'; did you mean theory?"),
    ("srf --alpha 9 --lerning-rate 3", "--alpha0?; there is no --lerning-rate; did you mean --lea"),
    ("theory --eta 3", "there is no --eta; did you mean --learning-rate?"),
    ("simulate --lr 3 --n0 9", "mean --learning-rate?; there is no --n0; did you mean --alpha0?"),
    ("theory --target sni", "did you mean sin?"),
    ("theory --alpha 1:3", "must be a range start:stop:count"),
    ("theory --alpha 0:2:3log", "and > 0 for equal ratios"),
    ("map --x alhpa=1:2:3 --y beta=1:2:3", "did you mean alpha?"),
    ("theory -o answer.doc", "must end in .nc, .csv, .json, .tex"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_input_gets_one_message(capsys, arguments, words):
    command, *rest = arguments.split()
    code, rows, err = run(capsys, command, *STEP, *rest)
    assert (code, err.count("error:"), rows) == (2, 1, [])
    assert words in err
    assert "Traceback" not in err


def test_a_reader_that_closes_early_ends_a_command_quietly():
    command = [sys.executable, "-m", "giantstep", "theory", *STEP, "--dimension", "1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 128 + signal.SIGPIPE


def test_every_combination_of_values_and_ranges_is_answered(capsys):
    arguments = ("--learning-rate", "1", "3", "--lambda", "0.1:10:3log", "--alpha", "1:2:2")
    _, rows, _ = run(capsys, "theory", *STEP, *arguments)
    names = "learning_rate", "alpha", "ridge"
    points = [tuple(float(row[name]) for name in names) for row in rows]
    assert points == list(product((1, 3), (1, 2), (0.1, 1, 10)))
    at = Grid((2.0,), (10.0,))
    one = solve(Protocol("tanh", "sin", 3, 20, 1), at, TRAINED).test_error.item()
    assert float(rows[-1]["test_error"]) == pytest.approx(one, rel=1e-10)


def test_answers_are_files_that_hold_the_same(capsys, tmp_path):
    arguments = ("--bulk", "isotropic", "--alpha", "1", "2", "--readout", "0.5:0.3", "2:0.7")
    _, rows, _ = run(capsys, "theory", *STEP, *arguments)
    for suffix in ("nc", "csv", "json", "tex"):
        code, printed, _ = run(capsys, "theory", *STEP, *arguments, "-o", f"{tmp_path}/a.{suffix}")
        assert (code, printed) == (0, [])
    assert xr.open_dataset(tmp_path / "a.nc").m.dims == ("alpha", "group")
    assert (tmp_path / "a.csv").read_text().splitlines()[1].startswith("1,0.1,")
    saved = json.loads((tmp_path / "a.json").read_text())["rows"]
    assert [row["m_2"] for row in saved] == pytest.approx([float(row["m_2"]) for row in rows])
    assert r"${q_1}_{1,2}$ &" in (tmp_path / "a.tex").read_text()


def test_a_map_shows_where_a_step_gains(capsys):
    arguments = "--activation tanh --target sin --beta 1 --x alpha0=0:8:2 --y learning-rate=1,3"
    code, rows, _ = run(capsys, "map", *arguments.split(), "--show", "gain_over_no_step")
    assert code == 0
    gains = {(row["learning_rate"], row["alpha0"]): float(row["gain_over_no_step"]) for row in rows}
    assert gains["1", "0"] == gains["3", "0"] == 0
    assert 0 < gains["1", "8"] < 1


@pytest.mark.slow
def test_the_examples_of_help_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, command in commands().items():
        # The plot is of the file that sweep's example writes; data need files.
        if (command.question and name not in ("data", "features")) or name == "plot":
            assert main([name, *shlex.split(command.example.replace("\\\n", " "))]) == 0
            out, err = capsys.readouterr()
            assert out or err or "sweep.nc" in command.example
    assert {path.name for path in tmp_path.iterdir()} == {
        "theory.png", "sweep.nc", "map.png", "spectrum.png", "learned-function.png", "gain.pdf"
    }  # fmt: skip


def test_an_answer_that_was_saved_is_drawn_like_a_new_one(capsys, tmp_path):
    sizes = ("--dimension", "64", "--replicates", "2", "--test-samples", "200")
    files = ("--plot", f"{tmp_path}/new.png", "-o", f"{tmp_path}/a.nc")
    assert run(capsys, "compare", *STEP, "--alpha", "1", "2", *sizes, *files)[0] == 0
    assert main(["plot", f"{tmp_path}/a.nc", "--plot", f"{tmp_path}/saved.png"]) == 0
    assert (tmp_path / "saved.png").read_bytes() == (tmp_path / "new.png").read_bytes()


def test_a_table_has_all_columns_in_lines_of_a_hundred_characters(capsys):
    question = "--activation tanh --target sign --learning-rate 3 --alpha0 2 --beta 1".split()
    columns = "--columns", "test_error", "training_error"
    tables = (
        ["theory"],
        ["theory", "--alpha", "1:3:20"],
        ["theory", *columns],
        [*"compare --dimension 40 --networks 2".split()],
    )
    for given in tables:
        assert main([*given, *question, "--format", "table"]) == 0
        table = capsys.readouterr().out
        assert max(map(len, table.splitlines())) <= 100
        _, rows, _ = run(capsys, *given, *question)
        lines = [line.split() for line in table.split("\n")]
        heads = {word for block in table.split("\n\n") for word in block.split("\n")[0].split()}
        assert {*rows[0]} in (heads, {line[0] for line in lines if line})


def test_coordinates_may_be_columns_and_names_of_parameters_are_spelled_as_flags(capsys):
    several = ("--learning-rate", "1", "3", "--alpha", "1", "2", "--zip", "learning-rate", "alpha")
    code, rows, _ = run(
        capsys, "sweep", *STEP, *several, "--columns", "test_error", "total_samples"
    )
    assert (code, len(rows), list(rows[0])[-2:]) == (0, 2, ["total_samples", "test_error"])


def test_problems_with_and_without_later_steps_are_answered_beside_each_other(capsys):
    code, rows, _ = run(
        capsys, "srf", *STEP, "--target", "z1*z2", "sin", "z1+z2*z3", "--format", "csv"
    )
    assert (code, len(rows)) == (0, 3)
