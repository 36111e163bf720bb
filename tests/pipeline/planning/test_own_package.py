"""The code that computes is the project's own, or nothing is computed."""

import shutil
from pathlib import Path

import pytest

import giantstep
from giantstep.cli.main import main
from giantstep.pipeline.planning.own_package import ForeignPackageError, check_own_package

LOADED = Path(giantstep.__file__).parent


def test_a_project_with_other_code_than_is_loaded_is_refused_with_both_paths(tmp_path, capsys):
    check_own_package(tmp_path)  # it has no code: the package that is installed serves it
    own = tmp_path / "src/giantstep"
    shutil.copytree(LOADED, own, ignore=shutil.ignore_patterns("__pycache__"))
    check_own_package(tmp_path)
    with (own / "theory/readout/solve.py").open("a") as code:
        code.write("edited = True\n")
    with pytest.raises(ForeignPackageError) as caught:
        check_own_package(tmp_path)
    shutil.copytree(LOADED.parents[1] / "config", tmp_path / "config")
    assert main(["explain", "--project", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert str(caught.value) in said
    assert str(LOADED) in said
    assert str(own) in said
