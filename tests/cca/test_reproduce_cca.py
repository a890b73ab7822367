"""The reproduction script finds planted dependence, and draws the values that it measured."""

import numpy as np
import pytest


@pytest.fixture(name="script")
def cca(script):
    return script("reproduce/p5_kernels/cca")


def test_planted_dependence_is_found_as_the_sample_grows(script, monkeypatch):
    monkeypatch.setattr(script, "HELD_OUT", 2000)
    sizes = (25, 400)
    measured = script.measure_kcca(sizes, 2)
    found = {name: values.mean(axis=1) for name, values in measured.items()}
    assert found["new"][0] < found["new"][1]
    assert found["new"][1] == pytest.approx(script.EXACT, abs=0.03)
    assert found["found"][1] > 0.97
    assert found["independent"][1] < 0.5 < found["independent"][0]
    assert found["linear"][1] < 0.15
    _, axes = script.shared.new_figure(1, 2, (8.0, 4.0))
    script.draw_kcca(axes[0, 0], sizes, measured)
    script.draw_functions(axes[0, 1], (25, 50))
    assert len(axes[0, 0].lines) == 5
    assert len(axes[0, 1].lines) == 3


def test_exact_correlation_is_that_of_cosines(script):
    first, second = script.angles(200_000, np.random.default_rng(0))
    correlation = np.corrcoef(np.cos(first[:, 0]), np.cos(second[:, 0] - script.SHIFT))[0, 1]
    assert correlation == pytest.approx(script.EXACT, abs=0.005)
    assert abs(np.corrcoef(first[:, 0], second[:, 0])[0, 1]) < 0.05
    assert script.explained(np.cos(first[:, 0] + 1.0), first[:, 0]) == pytest.approx(1.0)


def test_layers_of_two_networks(script):
    found = script.measure_cka(n_samples=200, epochs=3)
    assert found["all"].shape == (6, 6)
    assert found["all"][0, 0] == pytest.approx(1.0)  # pixels are pixels
    np.testing.assert_allclose(found["batches"], found["all"], atol=0.05)
    _, axes = script.shared.new_figure(1, 1, (5.0, 4.0))
    script.draw_cka(axes[0, 0], found)
    assert len(axes[0, 0].texts) == 36
    assert script.paired(np.eye(4)) == 4
