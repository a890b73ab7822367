"""The script that reproduces table 1 and figure 1, on a part of the data."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

DATA = Path(os.environ.get("ALIGNLEARN_DATA") or "no such folder")

pytestmark = pytest.mark.skipif(
    not all((DATA / f"{name}.npz").is_file() for name in ("landmine", "gefcom2012_weeks")),
    reason="needs landmine and gefcom2012_weeks in ALIGNLEARN_DATA",
)


def test_quick_run(script, tmp_path):
    means = script("reproduce/p3_multitask/multitask").main(["--quick", "--out", str(tmp_path)])
    assert means["landmine"].shape == (3, 9)
    assert means["load"].shape == (2, 9)
    assert np.all((means["landmine"] > 0.4) & (means["landmine"] < 1.0))
    # The mean predictor has a squared error near 1; the previous hour alone is much better.
    assert means["load"].max() < 0.5
    text = (tmp_path / "reproduce_multitask.txt").read_text()
    assert "Friedman" in text
    assert re.search(r"\d+ hold,", text)
    assert (tmp_path / "reproduce_multitask.png").stat().st_size > 5000
