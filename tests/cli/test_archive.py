"""`giantstep archive` packs a figure; `giantstep verify` draws and computes it again from there."""

import hashlib
import json
import zipfile

import pytest
import tiny
from PIL import Image

import giantstep
from giantstep.cli.main import main
from giantstep.workflow.archive import METADATA


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
    assert "drawn again:\nthe same bytes" in said
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


def repacked(archive, path, changes):
    """Pack an archive again with other contents of some members."""
    with zipfile.ZipFile(archive) as packed:
        contents = {name: packed.read(name) for name in packed.namelist()} | changes
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in contents.items():
            packed.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"results/scores/fig2.csv": b"1"}, "results/scores/fig2.csv is not what was packed"),
        ({METADATA: b"{"}, "is not an archive of a figure"),
        ({METADATA: b'{"@graph": []}'}, "is not an archive of a figure"),
    ],
)
def test_an_archive_that_was_changed_is_refused(archive, tmp_path, capsys, changes, message):
    assert main(["verify", str(repacked(archive, tmp_path / "changed.zip", changes))]) == 2
    assert message in capsys.readouterr().err


def with_file(archive, path, own, code):
    """Pack an archive again with one more file, which it lists."""
    with zipfile.ZipFile(archive) as packed:
        described = json.loads(packed.read(METADATA))
    described["@graph"].append({"@id": own, "sha256": hashlib.sha256(code).hexdigest()})
    changes = {own: code, METADATA: json.dumps(described).encode()}
    return str(repacked(archive, path, changes))


def test_an_archive_of_other_code_is_not_verified_with_that_which_is_loaded(
    archive, tmp_path, capsys
):
    path = with_file(archive, tmp_path / "other.zip", "src/giantstep/other.py", b"X = 1\n")
    assert main(["verify", path]) == 2
    assert "was made by other code than is loaded: unpack it" in capsys.readouterr().err


def test_an_archives_own_code_runs_only_if_it_is_told_to(archive, tmp_path, capsys):
    own, code = "config/figures/fig2.py", b"raise SystemExit('ran')"
    path = with_file(archive, tmp_path / "own.zip", own, code)
    assert main(["verify", path]) == 2
    assert f"{own}: read it, then give --run-drawings" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="ran"):
        main(["verify", path, "--run-drawings"])


def test_what_is_not_made_yet_is_named_as_a_target(project, tmp_path, capsys):
    (project / "results/scores/fig2.csv").unlink()
    command = ["archive", "fig2", "-o", str(tmp_path / "fig2.zip"), "--project", str(project)]
    assert main([*command, "--configfile", str(project / tiny.TINY)]) == 2
    assert "fig2.csv is not there, or not of this configuration" in capsys.readouterr().err


def test_drawings_say_which_data_they_show(tiny_run):
    source = giantstep.open_figure("fig2", tiny_run).attrs["source"]
    with Image.open(tiny_run / "figures/fig2.png") as picture:
        said = picture.text
    assert said["Source"] == source
    assert said["Software"] == f"giantstep {giantstep.__version__}"
    for result in said["Results"].split():
        assert (tiny_run / result).exists()
    for name in ("fig2.pdf", "fig2.svg"):
        assert source.encode() in (tiny_run / "figures" / name).read_bytes()
