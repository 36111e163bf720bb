"""A figure may be asked for without being listed in a configuration."""

import pytest
from tiny import configured

from giantstep.pipeline.planning.config import InvalidConfigError
from giantstep.pipeline.planning.requests import figures_asked_for, unlisted_figures


def test_a_figure_with_a_yaml_file_need_not_be_listed(tmp_path):
    project = configured(tmp_path)
    asked = figures_asked_for(["--cores", "2", "./figures/figs1.pdf", "results/figures/fig2.nc"])
    assert unlisted_figures(project, {"figures": ["fig2"]}, asked) == ["figs1"]


def test_a_figure_without_one_is_refused_with_the_nearest_name(tmp_path):
    with pytest.raises(InvalidConfigError, match="fgi2.yaml: .* did you mean fig2"):
        unlisted_figures(configured(tmp_path), {"figures": []}, ["fgi2"])
