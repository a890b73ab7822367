"""`CLAIMS`: every claim in paper order, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

# File names in the order in which the statements appear in the papers.
_FILES = (
    "p1_lemma_1",
    "p1_lemma_3",
    "p1_figure_1",
    "p1_eq_3",
    "p1_lemma_6",
    "p1_prop_7",
    "p1_prop_8",
    "p1_prop_9",
    "p1_prop_9_svm",
    "p1_rho_0",
    "p1_prop_10",
    "p1_overall_problem",
    "p1_eq_9",
    "p1_eq_9_convex",
    "p1_eq_9_iteration",
    "p1_prop_11",
    "p1_theorem_12",
    "p1_interval",
    "p1_u_statistic",
    "p1_theorem_12_rate",
    "p1_theorem_13",
    "p1_theorem_13_binary",
    "p1_footnote_4",
    "p1_theorem_14",
    "p1_theorem_14_footnote",
    "p1_h_s",
    "p1_h_s_rate",
    "p1_theorem_15",
    "p1_theorem_16",
    "p1_theorem_17",
    "p1_hypothesis_bound",
    "p1_trace_inequality",
    "p1_trace_degenerate",
    "p1_alignf_stability",
    "p1_l1_l2",
    "p1_lemma_18",
    "p1_covariance_change",
    "p1_lemma_19",
    "p1_lemma_19_table",
    "p1_lemma_20",
    "p1_prop_21",
    "p2_theorem_1",
    "p2_theorem_2",
    "p2_lemma_1",
    "p2_prop_1",
    "p2_prop_2",
    "p2_eq_20",
    "p2_y_norm",
    "p2_prop_3",
    "p2_theorem_3",
    "p2_algorithm_1",
    "p2_algorithm_1_spectrum",
)


class _Registry(Mapping):
    """Name -> Claim, ordered, read-only; a claim's file is imported on first access."""

    def __init__(self, files):
        self._files = {name.replace("_", "-"): name for name in files}

    def __getitem__(self, name):
        if name not in self._files:
            raise KeyError(f"{name!r} is not a claim; accepted: {', '.join(self._files)}.")
        return import_module(f".{self._files[name]}", __package__).CLAIM

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


CLAIMS = _Registry(_FILES)


def all_claims():
    """Yield every printed claim, each followed by its corrected or sharpened form."""
    for claim in CLAIMS.values():
        while claim is not None:
            yield claim
            claim = claim.corrected
