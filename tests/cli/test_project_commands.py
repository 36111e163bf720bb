"""`giantstep verify` computes again what a figure shows; `giantstep prune` removes the rest."""

import re
import shutil
import warnings
from io import StringIO

import pytest
import tiny
import xarray as xr

import giantstep
from giantstep.cli.main import main
from giantstep.workflow import store


def run(capsys, command, project, *arguments):
    overlay = ("--project", str(project), "--configfile", str(project / "config/tiny.yaml"))
    code = main([command, *arguments, *overlay])
    return code, capsys.readouterr()


def test_a_figures_file_is_verified_bit_for_bit(capsys, tiny_run):
    code, said = run(capsys, "verify", tiny_run, "fig2", "--sample", "60%", "--seed", "1")
    assert code == 0, said
    assert "recomputing 1 of 1 parameters, " in said.out
    for counts in ("1 of 1 limit", "2 of 4 eigenvalues", "2 of 4 replicates"):
        assert counts in said.out
    assert "repeat with --seed 1" in said.out
    assert "all are identical, bit for bit" in said.out


def test_open_lists_every_variable_with_symbol_and_equation(capsys, tiny_run):
    assert main(["open", "fig2", "--project", str(tiny_run)]) == 0
    title, _, _, *lines = capsys.readouterr().out.splitlines()
    assert title.startswith("Tiny (")
    cells = [re.split(" {2,}", line) for line in lines]
    variables = giantstep.open_figure("fig2", tiny_run).variables
    assert sorted(row[0] for row in cells) == sorted(variables)
    (error,) = (row for row in cells if row[0] == "test_error")
    meaning = "test error, without label noise"
    assert error[1:] == [r"\epsilon_g", "(25)", "curve, theory, alpha", meaning]
    assert main(["open", "fig9", "--project", str(tiny_run)]) == 2
    assert "giantstep open: error: there is no" in capsys.readouterr().err


def test_scores_compares_simulations_with_both_theories(capsys, paper):
    assert main(["scores", "fig7", "fig6", "--project", str(paper)]) == 0
    header, rule, *rows = capsys.readouterr().out.splitlines()
    assert "| largest z | largest z, finite d | mean z | mean z, finite d |" in header
    assert {row.count("|") for row in (rule, *rows)} == {header.count("|")}
    errors = [row.split(" | ") for row in rows if "| fig6 | vocabulary" in row]
    errors = [row for row in errors if row[2] == "test_error"]
    limit, finite = (abs(float(errors[-1][place].rstrip(" |"))) for place in (5, 6))
    assert finite < limit  # three letters: the readout's means are large


def test_scores_without_a_figure_say_so(capsys, tmp_path):
    assert main(["scores", "--project", str(tmp_path)]) == 2
    assert "no figure has been made" in capsys.readouterr().err


def test_a_number_off_by_a_rounding_is_told(capsys, project):
    off = {
        "test_error": "left, limit",
        "simulated_q2": "left, replicates",
        "density": "left, spectrum",
    }
    path = project / "results/figures/fig2.nc"
    data = xr.load_dataset(path)
    for variable in off:
        data[variable] = data[variable] * (1 + 4e-16)
    store.write(data, path)
    code, said = run(capsys, "verify", project, "fig2", "--sample", "100%")
    assert code == 1
    told = [line for line in said.out.splitlines() if "differs by" in line]
    assert {name for name in off if any(f": {name} differs" in line for line in told)} == set(off)
    for line in told:
        (part,) = (part for name, part in off.items() if f": {name} differs" in line)
        assert line.startswith(part)


def test_a_figure_of_an_earlier_configuration_is_told_and_given(capsys, project):
    before = tiny.made(project)
    (mark,) = (project / "results/keys/fig4").glob("data-*")
    mark.rename(mark.with_name("data-0123456789ab"))
    tiny.edit(project / "config/figures/fig2.yaml", "alpha0: 1,", "alpha0: [1, 2],")
    shows = warnings.showwarning
    for name in "fig2", "fig4":
        assert main(["open", name, "--project", str(project)]) == 0
        said = capsys.readouterr()
        assert "configuration or code: a run makes it anew" in said.err
        assert said.err.startswith(f"{project}/results/figures/")
        assert "UserWarning" not in said.err
        assert warnings.showwarning is shows
        assert "test_error" in said.out
        with pytest.warns(UserWarning, match="made from an earlier configuration"):
            giantstep.open_figure(name, project)
    tiny.edit(project / tiny.TINY, "networks: 4", "networks: 5")
    assert main(["scores", "--project", str(project)]) == 0
    for command in ("verify", "archive"):
        code, said = run(capsys, command, project, "fig4")
        assert code == 2
        assert "not made from this configuration by this code" in said.err
    mark.with_name("data-0123456789ab").rename(mark)
    assert tiny.made(project) == before


def test_explain_tells_which_figures_are_not_listed(capsys, project):
    explain = ["explain", "--project", str(project), "--configfile", str(project / tiny.TINY)]
    (project / "config/figures/mine.yaml").write_text(tiny.FIGURE)
    assert main(explain) == 0
    told = capsys.readouterr().out.splitlines()[-1]
    assert told.startswith("not made, because the configuration does not list them: ")
    assert "mine" in told


def test_damaged_drawings_scores_and_shards_are_told_with_what_draws_them_anew(capsys, project):
    scores = project / "results/scores/fig2.csv"
    scores.write_text("0")
    (project / "figures/fig2.png").write_bytes(b"")
    (project / "figures/fig2.pdf").unlink()
    (project / "figures/fig2.pdf").mkdir()
    shard = next((project / "results/montecarlo").rglob("*.nc"))
    shard.write_bytes(shard.read_bytes()[:-100])
    code, said = run(capsys, "verify", project, "fig2", "--sample", "1")
    assert code == 1
    assert f"{shard} is damaged" in said.err
    assert "all are identical" in said.out
    for path in ("figures/fig2.png", "figures/fig2.pdf", "results/scores/fig2.csv"):
        assert f"`snakemake --cores all --force {path}` draws it anew" in said.out
    assert "fig2.svg" not in said.out
    assert scores.read_text() == "0"
    assert run(capsys, "archive", project, "fig2")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fig2", "--sample", "0"), "--sample 0: must be a share such as 5%"),
        (("fig2", "--seed", "-1"), "--seed -1: must be a whole number"),
        (("fig9",), "there is no such figure; those of the project are fig1, fig2, "),
        (("../../etc",), "figures.0: '../../etc'"),
    ],
)
def test_what_cannot_be_verified_is_refused(capsys, tiny_run, arguments, words):
    code, said = run(capsys, "verify", tiny_run, *arguments)
    assert (code, said.out) == (2, "")
    assert words in said.err


def test_what_nothing_refers_to_is_listed_and_removed_once_told_to(capsys, project, monkeypatch):
    used = tiny.made(project)
    for unmade in (project / "config/figures").glob("figs*.yaml"):
        unmade.unlink()
    own = [project / "results/notes.txt", project / "results/figures/mine/plot.png"]
    own[1].parent.mkdir()
    for path in own:
        path.write_text("Not the workflow's.")
    shard = next((project / "results/montecarlo").rglob("*.nc"))
    old = [
        project / "results/theory/old-0123456789ab.nc",
        project / "results/montecarlo/old-0123456789ab/0-3.nc",
        shard.with_name(shard.name + ".damaged"),
        project / "results/scores/fig99.csv",
    ]
    for path in old:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytes(1000))
    half = shard.with_name("90-99.nc")
    half.write_bytes(b"of a configuration with more networks")
    monkeypatch.setattr("sys.stdin", StringIO("n"))
    code, said = run(capsys, "prune", project)
    assert code == 0, said
    assert all(f"0.001 MB  {path}" in said.out for path in old)
    assert "nothing was removed" in said.out
    assert all(path.exists() for path in old)
    code, said = run(capsys, "prune", project, "--yes")
    assert not any(path.exists() for path in old)
    assert not old[1].parent.exists()
    half.unlink()
    for path in own:
        path.unlink()
    assert tiny.made(project) == used


@pytest.mark.parametrize("what", ["nothing", "a file", "a link to nothing", "a faulty figure"])
def test_without_figures_that_can_be_read_nothing_is_removed(capsys, project, what):
    figures, used = project / "config/figures", tiny.made(project)
    if what == "a faulty figure":
        (figures / "fig8.yaml").write_text("title: 1\npanels: {}\n")
    else:
        shutil.rmtree(figures)
    if what == "a file":
        figures.touch()
    if what == "a link to nothing":
        figures.symlink_to("nothing")
    code, said = run(capsys, "prune", project, "--yes")
    assert code == 2
    assert str(figures) in said.err or "config/figures/fig8.yaml: title: 1" in said.err
    assert tiny.made(project) == used
