"""The three lists of requirements are one, and name no place to get them from."""

import json
import re
import tomllib

import pytest
import yaml
from tiny import ROOT

import giantstep
from giantstep import extras

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


LOCK = (ROOT / "requirements.lock").read_text()


EXTRAS = PROJECT["optional-dependencies"]


def of_others(requirements):
    """Leave out extras of this project that an extra includes."""
    return [text for text in requirements if not text.startswith("giantstep[")]


def minimum(requirement):
    name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement.strip()).groups()
    return name.lower().replace("_", "-"), tuple(map(int, version.split(".")))


def test_environment_and_project_require_the_same():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    listed = [entry for entry in environment if isinstance(entry, str) and entry != "pip"]
    assert f"python{PROJECT['requires-python']}" in listed
    listed.remove(f"python{PROJECT['requires-python']}")
    needed = PROJECT["dependencies"] + EXTRAS["figures"] + of_others(EXTRAS["workflow"])
    assert sorted(listed) == sorted(needed)


def test_all_metadata_have_the_version_and_the_conda_package_the_requirements():
    recipe = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    codemeta = json.loads((ROOT / "codemeta.json").read_text())
    versions = (recipe["context"]["version"], citation["version"], codemeta["version"])
    assert versions == 3 * (giantstep.__version__,)
    assert citation["date-released"] == codemeta["dateModified"]
    needed = [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
    assert [text.replace(" ", "") for text in recipe["requirements"]["run"]] == needed
    assert codemeta["softwareRequirements"] == PROJECT["dependencies"]


def test_the_lock_pins_with_hashes_all_that_the_project_requires():
    pins = dict(re.findall(r"^([\w.-]+)==([\w.]+)", LOCK, flags=re.MULTILINE))
    required = PROJECT["dependencies"] + of_others(sum(EXTRAS.values(), []))
    for name, lowest in map(minimum, required):
        pinned = tuple(int(part) for part in re.findall(r"\d+", pins[name])[: len(lowest)])
        assert pinned >= lowest, name
    blocks = re.split(r"\n(?=\S)", LOCK.strip())
    assert all("--hash=sha256:" in block for block in blocks)


@pytest.mark.parametrize(("library", "extra"), extras.EXTRAS.items())
def test_a_missing_library_is_named_with_the_extra_that_installs_it(monkeypatch, library, extra):
    assert library.lower() in {minimum(text)[0] for text in of_others(EXTRAS[extra])}
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(extras.MissingExtraError, match=rf'{library}.*pip install "\.\[{extra}\]"'):
        extras.require(library)


def test_the_lock_names_no_index():
    assert "://" not in LOCK
    assert not re.search(r"^\s*--(?!hash)", LOCK, flags=re.MULTILINE)
