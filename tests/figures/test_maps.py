"""Level lines show what varies, over any range and on any axes."""

import matplotlib
import numpy as np
import pytest

from giantstep.figures.maps import level_lines


@pytest.mark.parametrize("percent", [True, False])
@pytest.mark.parametrize(("low", "high"), [(0.1, 2000.0), (-0.08, 0.03), (0.2, 0.3)])
def test_any_range_has_several_lines_whose_labels_leave_most_of_them(low, high, percent):
    axes = matplotlib.figure.Figure().subplots()
    x, y = np.geomspace(0.1, 100, 30), np.geomspace(1, 10, 20)
    values = np.linspace(low, high, 30) * np.ones((20, 1))
    level_lines(axes, x, y, values, percent=percent)
    assert axes.get_xscale() == "log"
    texts = [text.get_text() for text in axes.texts]
    assert 2 <= len(set(texts)) <= 12
    drawn = axes.collections[-1]
    heights = [np.diff(np.log(path.vertices[:, 1])) for path in drawn.get_paths() if len(path)]
    assert max(np.abs(part).max() for part in heights) < 0.5 * np.log(10)
