import pytest
import tiny


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """A tiny project whose run nothing disturbed; not to be changed."""
    project = tiny.make(tmp_path_factory.mktemp("tiny") / "project")
    tiny.snakemake(project)
    return project
