"""What README and the docs claim stands in them, is measured, and holds."""

import subprocess
import sys
import tomllib

import pytest
from tiny import ROOT

CLAIMS = tomllib.loads((ROOT / "docs/claims.toml").read_text())["claim"]


def words(text):
    return " ".join(text.split())


def test_every_claim_stands_in_its_page_and_can_fail():
    for claim in CLAIMS:
        assert words(claim["says"]) in words((ROOT / claim["page"]).read_text()), claim["name"]
        low, high = claim["bounds"]
        assert low < high
        assert ("command" in claim) != ("python" in claim), claim["name"]
    assert len({claim["name"] for claim in CLAIMS}) == len(CLAIMS) <= 65


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 110


@pytest.mark.slow
def test_claims_that_take_seconds_hold():
    command = [sys.executable, "benchmarks/claims.py"]
    measured = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert measured.returncode == 0, measured.stdout
    assert " 0 failed" in measured.stdout
