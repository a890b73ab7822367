"""The script that reproduces table 1 and figure 1, on a part of the data."""

import importlib
import os
import re
from pathlib import Path

import numpy as np
import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
DATA = Path(os.environ.get("ALIGNLEARN_DATA") or "no such folder")

pytestmark = pytest.mark.skipif(
    not SCRIPTS.is_dir()
    or not all((DATA / f"{name}.npz").is_file() for name in ("landmine", "gefcom2012_weeks")),
    reason="needs the source tree, and landmine and gefcom2012_weeks in ALIGNLEARN_DATA",
)


def test_quick_run(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    script = importlib.import_module("reproduce_multitask")
    means = script.main(["--quick", "--out", str(tmp_path)])
    assert means["landmine"].shape == (3, 9)
    assert means["load"].shape == (2, 9)
    assert np.all((means["landmine"] > 0.4) & (means["landmine"] < 1.0))
    # The mean predictor has a squared error near 1; the last hour alone is far better.
    assert means["load"].max() < 0.5
    text = (tmp_path / "reproduce_multitask.txt").read_text()
    assert "Friedman" in text
    assert re.search(r"\d+ hold,", text)
    assert (tmp_path / "reproduce_multitask.png").stat().st_size > 5000


def test_area_under_the_curve(monkeypatch):
    metrics = pytest.importorskip("sklearn.metrics")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    script = importlib.import_module("reproduce_multitask")
    rng = np.random.default_rng(0)
    y, decision = rng.choice([-1, 1], 60), np.round(rng.normal(size=60), 1)
    assert script.auc(y, decision) == pytest.approx(metrics.roc_auc_score(y, decision))
