"""The three lists of requirements are one, and name no place to get them from."""

import re
import tomllib

import yaml
from tiny import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


LOCK = (ROOT / "requirements.lock").read_text()


def minimum(requirement):
    name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement.strip()).groups()
    return name.lower().replace("_", "-"), tuple(map(int, version.split(".")))


def test_environment_and_project_require_the_same():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    listed = [entry for entry in environment if isinstance(entry, str) and entry != "pip"]
    assert f"python{PROJECT['requires-python']}" in listed
    listed.remove(f"python{PROJECT['requires-python']}")
    assert sorted(listed) == sorted(PROJECT["dependencies"])


def test_the_lock_pins_with_hashes_all_that_the_project_requires():
    pins = dict(re.findall(r"^([\w.-]+)==([\w.]+)", LOCK, flags=re.MULTILINE))
    required = PROJECT["dependencies"] + sum(PROJECT["optional-dependencies"].values(), [])
    for name, lowest in map(minimum, required):
        pinned = tuple(int(part) for part in re.findall(r"\d+", pins[name])[: len(lowest)])
        assert pinned >= lowest, name
    blocks = re.split(r"\n(?=\S)", LOCK.strip())
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_lock_names_no_index():
    assert "://" not in LOCK
    assert not re.search(r"^\s*--(?!hash)", LOCK, flags=re.MULTILINE)
