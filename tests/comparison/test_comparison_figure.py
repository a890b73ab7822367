"""The figure of the comparison shows the values of the comparison."""

import subprocess
import sys

import numpy as np

from alignlearn.comparison import Comparison, Protocol
from alignlearn.comparison.columns import COLUMNS
from alignlearn.comparison.figure import plot_comparison, tick_labels

METHODS = ("best-single", "uniform", "align", "alignf")


def comparison(p=4, methods=METHODS, task="classification", names=None):
    rng = np.random.default_rng(0)
    n, f = len(methods), 5
    weights = rng.dirichlet(np.ones(p), size=(n, f))
    numbers = {name: rng.random((n, f)) for name in COLUMNS}
    names = names or tuple(f"gaussian(gamma={2.0**k:.4g})" for k in range(p))
    return Comparison(methods, names, task, numbers, weights, (50, 3), Protocol())


def test_bars_are_mean_weights_with_their_range():
    found = comparison()
    left = plot_comparison(found).axes[0]
    heights = np.array([bar.get_height() for bar in left.patches]).reshape(2, 4)
    np.testing.assert_allclose(heights, found.weights[2:].mean(axis=1))
    segments = [c.get_segments() for c in left.collections]
    ranges = np.array([[s[:, 1] for s in group] for group in segments])
    np.testing.assert_allclose(ranges[..., 0], found.weights[2:].min(axis=1))
    np.testing.assert_allclose(ranges[..., 1], found.weights[2:].max(axis=1))
    dashed = [line for line in left.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(dashed[0].get_ydata(), 0.25)
    assert [t.get_text() for t in left.get_xticklabels()] == [f"$2^{{{k}}}$" for k in range(4)]


def test_points_are_folds_and_means_with_distinct_markers_and_colors():
    found = comparison()
    figure = plot_comparison(found, title="data")
    right = figure.axes[1]
    marked = [line for line in right.lines if line.get_marker() != "None"]
    small, large = marked[0::2], marked[1::2]
    for i, (folds, mean) in enumerate(zip(small, large)):
        np.testing.assert_array_equal(folds.get_xdata(), found.alignment[i])
        np.testing.assert_array_equal(folds.get_ydata(), found.error[i])
        assert mean.get_xdata()[0] == found.alignment[i].mean()
        assert mean.get_ydata()[0] == found.error[i].mean()
        assert mean.get_markersize() > folds.get_markersize()
    assert len({line.get_marker() for line in large}) == 4
    assert len({line.get_color() for line in large}) == 4
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["best single kernel", "uniform combination", "align", "alignf"]
    assert "fraction misclassified" in right.get_ylabel()
    assert "alignment" in right.get_xlabel()
    assert figure.get_suptitle() == "data"


def test_files_are_written(tmp_path):
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        path = tmp_path / f"figure.{ending}"
        plot_comparison(comparison(task="regression"), path)
        assert path.read_bytes().startswith(start)


def test_of_many_kernels_the_heaviest_are_shown():
    found = comparison(p=50, names=tuple(f"column {k}" for k in range(50)))
    left = plot_comparison(found).axes[0]
    labels = [t.get_text() for t in left.get_xticklabels()]
    mean = found.weights[2:].mean(axis=1).max(axis=0)
    assert labels == [f"column {k}" for k in np.argsort(-mean)[:20]]
    assert "20 of 50, largest" in left.get_xlabel()
    # Without learned methods the others are drawn.
    left = plot_comparison(comparison(methods=("best-single", "uniform"))).axes[0]
    assert len(left.patches) == 8


def test_tick_labels():
    relative = ["gaussian(gamma=scale * 0.0625)", "gaussian(gamma=scale)"]
    labels, what = tick_labels(relative)
    assert labels == ["$2^{-4}$", "$2^{0}$"]
    assert "features" in what
    labels, what = tick_labels(["gaussian(gamma=0.03125)", "gaussian(gamma=0.3)"])
    assert labels == ["$2^{-5}$", "0.3"]
    assert "units of X" not in what
    assert "squared unit of X" in what
    mixed, what = tick_labels(["linear", *relative, "laplacian(gamma=scale * 2)"])
    assert mixed == ["linear", "gaussian $2^{-4}$", "gaussian $2^{0}$", "laplacian $2^{1}$"]
    assert "features" in what
    found = tick_labels(["linear", "gaussian(gamma=4)"])
    assert found == (["linear", "gaussian $2^{2}$"], "kernel, gamma")
    # Values of gamma in different units are not drawn on one axis.
    absolute = "gaussian(gamma=0.3)"
    assert tick_labels([relative[1], absolute]) == (["gaussian(gamma=sc...", absolute], "kernel")
    assert tick_labels(["x" * 50]) == (["x" * 17 + "..."], "kernel")


def test_no_window_system_is_touched():
    code = (
        "import sys; sys.path.insert(0, 'tests/comparison')\n"
        "import alignlearn.comparison; assert 'matplotlib' not in sys.modules\n"
        "from test_comparison_figure import comparison\n"
        "alignlearn.comparison.plot_comparison(comparison())\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    root = __file__.rsplit("tests", 1)[0]
    subprocess.run([sys.executable, "-c", code], check=True, cwd=root)
