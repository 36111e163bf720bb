"""Drawings are readable in a column, and name what varies."""

import subprocess
import sys
import warnings
from itertools import combinations

import in_process
import numpy as np
import pytest
from matplotlib import rc_context
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from tiny import ROOT

import giantstep
from giantstep.explore.palette import FINITE, LINEAR, LOWER, UPPER
from giantstep.figures import style
from giantstep.figures.default import draw
from giantstep.workflow.config import load_yaml
from giantstep.workflow.drawing import load_drawing

YAMLS = sorted((ROOT / "config/figures").glob("*.yaml"))
# What deuteranopes and protanopes see of linear red, green and blue (Machado et al. 2009).
VISIONS = {
    "usual": np.eye(3),
    "deuteranope": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanope": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour, vision):
    """The lightness of a colour and its two chromatic coordinates, as it is seen."""
    rgb = np.array(to_rgb(colour))
    linear = np.where(rgb < 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(XYZ @ np.clip(vision @ linear, 0, 1) / XYZ.sum(1))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_go_from_dark_to_light_and_all_can_be_told_apart(vision):
    seen = [lab(colour, np.array(VISIONS[vision])) for colour in style.COLOURS]
    steps = np.diff([lightness for lightness, _, _ in seen])
    assert min(steps) > 3
    apart = [np.linalg.norm(a - b) for a, b in combinations(seen, 2)]
    assert min(apart) > 15


def test_dashes_mean_the_same_in_the_explorer():
    bounds = (style.BOUNDS["upper_bound"], UPPER), (style.BOUNDS["lower_bound"], LOWER)
    for ours, theirs in (*bounds, (style.REFERENCE, LINEAR), (style.FINITE_SIZE, FINITE)):
        long = [length > 2 for length in ours["linestyle"][1]]
        assert long == [length > 2 for length in theirs]


@pytest.mark.parametrize("path", YAMLS, ids=lambda path: path.stem)
def test_a_caption_is_short_and_every_drawing_loads_in_any_folder(path, tmp_path, monkeypatch):
    assert len(load_yaml(path, path.name)["caption"].split()) < 120
    monkeypatch.chdir(tmp_path)
    assert callable(load_drawing(ROOT, path.stem))


@pytest.mark.parametrize("name", in_process.FIGURES)
def test_a_figure_is_readable_in_a_column_and_its_legend_off_its_data(paper, name):
    config = load_yaml(paper / f"config/figures/{name}.yaml", name)
    with style.settings(), warnings.catch_warnings():
        warnings.simplefilter("error")
        data = giantstep.open_figure(name, paper)
        figure = load_drawing(paper, name)(data, config)
        figure.draw_without_rendering()
        assert figure.get_figwidth() in (style.TEXT_WIDTH, style.COLUMN_WIDTH)
        for axes in figure.axes:
            box = axes.get_tightbbox()
            assert box.x0 >= -1
            assert box.x1 <= figure.bbox.width + 1
            assert len(figure.axes) == 1 or axes.get_title(loc="left")
            assert axes.get_xlabel() or name == "fig8"
            assert all(text.get_fontsize() >= 7 for text in axes.findobj(Text) if text.get_text())
            if legend := axes.get_legend():
                frame = legend.get_window_extent()
                assert 0 <= frame.x0 < frame.x1 <= figure.bbox.width + 1
                for line in axes.lines:
                    points = line.get_transform().transform(line.get_xydata())
                    assert not len(points) or frame.count_contains(points) == 0


def test_theory_at_finite_dimension_is_a_thin_dashed_line_with_one_entry(paper):
    config = load_yaml(paper / "config/figures/fig2.yaml", "fig2")
    data = giantstep.open_figure("fig2", paper)
    dashes = Line2D([], [], **style.FINITE_SIZE).get_linestyle()
    for shown, lines, entries in ((data, 4, 1), (data.sel(theory=["limit"]), 0, 0)):
        for axes in draw(shown, config).axes:
            dashed = [line for line in axes.lines if line.get_linewidth() == 0.8]
            drawn = [line.get_ydata() for line in dashed if len(line.get_xdata())]
            texts = [text.get_text() for text in axes.get_legend().get_texts()]
            assert {line.get_linestyle() for line in dashed} <= {dashes}
            assert (len(drawn), sum("$d = 100$" in text for text in texts)) == (lines, entries)


def test_a_drawing_that_does_not_fit_on_its_page_is_not_saved(tmp_path):
    def draw():
        figure = Figure(figsize=(0.2, 0.2))
        figure.subplots().set_xlabel("a long label")
        return figure

    with pytest.raises(UserWarning, match="layout not applied"):
        style.draw_and_save(draw, [tmp_path / "small.png"], [])
    assert not list(tmp_path.iterdir())


def test_the_example_redraws_a_panel(paper, tmp_path):
    script = ROOT / "examples/redraw_panel.py"
    command = [sys.executable, str(script), "fig2", "right", str(tmp_path / "panel.png")]
    subprocess.run(command, cwd=paper, check=True)
    assert (tmp_path / "panel.png").stat().st_size > 5000


def test_a_users_settings_of_matplotlib_change_no_byte(tmp_path):
    def drawn(name):
        with style.settings():
            figure = Figure()
            figure.subplots().plot([1, 2], [1, 4], label="line")
            figure.legend()
            style.save(figure, tmp_path / name)
        return (tmp_path / name).read_bytes()

    users = {"axes.facecolor": "red", "lines.linestyle": ":", "savefig.pad_inches": 1}
    for suffix in ("pdf", "svg", "png"):
        plain = drawn(f"plain.{suffix}")
        with rc_context(users):
            assert drawn(f"users.{suffix}") == plain
