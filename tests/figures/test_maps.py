"""Level lines show what varies, over any range and on any axes."""

from itertools import groupby

import matplotlib
import numpy as np
import pytest

from giantstep.figures.maps import level_lines


@pytest.mark.parametrize(
    ("low", "high", "percent"),
    [(0.1, 2000, False), (0.2, 0.3, False), (-0.08, 0.03, True), (-5, 0.7, True)],
)
def test_any_range_has_several_lines_whose_labels_leave_most_of_them(low, high, percent):
    axes = matplotlib.figure.Figure().subplots()
    x = y = np.geomspace(0.1, 30, 40)
    values = low + (high - low) * np.log(np.outer(y, x) / 0.01) / np.log(90000)
    level_lines(axes, x, y, values, percent=percent)
    assert axes.get_xscale() == "log"
    texts = [text.get_text() for text in axes.texts]
    assert 2 <= len(set(texts)) <= 12
    lines = [path.vertices for path in axes.collections[-1].get_paths() if len(path)]
    gaps = [np.abs(np.diff(np.log(line), axis=0)).max() for line in lines]
    assert max(gaps) < np.log(3)


@pytest.mark.parametrize(
    ("low", "high", "preferred", "colours"),
    [(-5, 0.7, (), "rb"), (-0.3, 0.3, (-0.2, -0.1, 0.1, 0.2), "rwb"), (1, 2, (), "wb")],
)
def test_what_is_below_zero_is_red_where_values_have_both_signs(low, high, preferred, colours):
    axes = matplotlib.figure.Figure().subplots()
    x = np.linspace(0, 1, 30)
    level_lines(axes, x, x, low + (high - low) * np.add.outer(x, x) / 2, wanted=preferred)
    faces = axes.collections[0].get_facecolor()
    seen = ["w" if red == blue else "rb"[int(blue > red)] for red, _, blue, _ in faces]
    assert "".join(colour for colour, _ in groupby(seen)) == colours
