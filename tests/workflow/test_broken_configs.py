"""Snakemake refuses a broken config, and starts nothing."""

import pytest
import tiny


def listing(root):
    return sorted(path for path in root.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("config/config.yaml", "seed: 1\nseed: 2\n", "config/config.yaml: top level: not readable"),
        (
            "config/config.yaml",
            '__use_yte__: true\n__definitions__: [\'open("giantstep_broken", "w")\']\n',
            "unknown key '__definitions__', '__use_yte__'",
        ),
        (
            "config/tiny.yaml",
            '__use_yte__: true\n__definitions__: [\'open("giantstep_broken", "w")\']\n',
            "config/tiny.yaml: top level: unknown key __definitions__, __use_yte__",
        ),
        ("config/tiny.yaml", "figures: [../fig2]\n", "figures.0: '../fig2' must be a name"),
        (
            "config/figures/fig2.yaml",
            "a: &a [*a]\n",
            "config/figures/fig2.yaml: top level: not readable",
        ),
    ],
)
def test_snakemake_says_so_too_and_starts_nothing(tmp_path, file, text, words):
    project = tiny.make(tmp_path / "project")
    (project / file).write_text(text)
    before = listing(project)
    said = tiny.snakemake(project, code=1)
    assert words in said
    assert "Traceback" not in said
    assert [path for path in listing(project) if ".snakemake" not in path.parts] == before
