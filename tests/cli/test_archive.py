"""`giantstep archive` packs a figure; `giantstep verify` draws and computes it again from there."""

import json
import shutil
import zipfile

import pytest
import tiny
from PIL import Image

from giantstep import __version__
from giantstep.cli.main import main
from giantstep.workflow.archive import METADATA
from giantstep.workflow.open_figure import merged_name


@pytest.fixture(scope="module")
def archive(tiny_run, tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "fig2.zip"
    overlay = ["--configfile", str(tiny_run / tiny.TINY)]
    assert main(["archive", "fig2", "-o", str(path), "--project", str(tiny_run), *overlay]) == 0
    return path


def test_an_archive_is_drawn_again_to_the_same_bytes_and_computed_again(archive, capsys):
    assert main(["verify", str(archive), "--sample", "1", "--seed", "1"]) == 0
    said = capsys.readouterr().out
    assert "all files are what was packed" in said
    assert said.count("the same bytes") == 3
    assert "all are identical, bit for bit" in said


def test_an_archive_says_what_it_holds(archive):
    with zipfile.ZipFile(archive) as packed:
        names = set(packed.namelist())
        graph = json.loads(packed.read(METADATA))["@graph"]
    entities = {entity["@id"]: entity for entity in graph}
    root = entities["./"]
    assert entities[METADATA]["about"] == {"@id": "./"}
    assert {part["@id"] for part in root["hasPart"]} == names - {METADATA}
    assert {"figures/fig2.pdf", "results/figures/fig2.nc", "requirements.lock"} < names
    assert {"workflow/scripts/figure.py", "src/giantstep/figures/default.py"} < names
    assert {found["@id"] for found in entities["#run"]["result"]} < names


def test_an_archive_that_was_changed_is_refused(archive, tmp_path, capsys):
    changed = shutil.copy(archive, tmp_path)
    with zipfile.ZipFile(archive) as packed:
        contents = {name: packed.read(name) for name in packed.namelist()}
    contents["results/scores/fig2.csv"] += b"1\n"
    with zipfile.ZipFile(changed, "w") as packed:
        for name, content in contents.items():
            packed.writestr(name, content)
    assert main(["verify", str(changed)]) == 2
    assert "results/scores/fig2.csv is not what was packed" in capsys.readouterr().err
    shutil.copy(tiny.ROOT / "README.md", changed)
    assert main(["verify", str(changed)]) == 2
    assert "is not an archive of a figure" in capsys.readouterr().err


def test_what_is_not_made_yet_is_named_as_a_target(project, tmp_path, capsys):
    (project / "results/scores/fig2.csv").unlink()
    command = ["archive", "fig2", "-o", str(tmp_path / "fig2.zip"), "--project", str(project)]
    assert main([*command, "--configfile", str(project / tiny.TINY)]) == 2
    assert "run `snakemake --cores all results/scores/fig2.csv` first" in capsys.readouterr().err


def test_drawings_say_which_data_they_show(tiny_run):
    source = merged_name("fig2", tiny_run)
    with Image.open(tiny_run / "figures/fig2.png") as picture:
        said = picture.text
    assert said["Source"] == source
    assert said["Software"] == f"giantstep {__version__}"
    for result in said["Results"].split():
        folder, _, replicates = result.rpartition("/")
        assert (tiny_run / result).is_file() or (
            replicates == "0-3" and (tiny_run / folder).is_dir()
        )
    for name in ("fig2.pdf", "fig2.svg"):
        assert source.encode() in (tiny_run / "figures" / name).read_bytes()
