#!/usr/bin/env python3
"""Figure 3 of Cortes, Mohri and Rostamizadeh (2012): weights of one-stage against two-stage.

On kinematics (kin8nm, its first 1000 points; seven Gaussians), the weights of aligned-krr, the
one-stage rule of section 3.4 with gamma, gamma' and gamma'' chosen on the validation fold, against
those of alignf on the same training folds. The paper finds that they coincide closely. Both weight
vectors have length 1; kernels are centered and of equal trace. The paper has only the picture, so
the table has the distance of the two weight vectors and their errors.

usage: scripts/reproduce/p1_alignment/figure3.py [--quick] [--repeats N] [--out FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared
from table2 import ROWS, aligned_rules

from alignlearn.significance import corrected_resampled_t_test
from alignlearn.solvers.nnqp import nonnegative_qp


def measure(row, repeats):
    """Two-stage and one-stage: unit weights (trials, 2, kernels), errors (trials, 2), alignment.

    The last, (trials,), is the centered alignment of the two combined kernels with each other.
    """
    X, y, kernels = row.data()
    weights, errors, same = [], [], []
    for seed in range(repeats):
        for parts in shared.rotations(y, row.task, seed):
            trial = shared.GramTrial(X, y, parts, row.task, kernels=kernels)
            error, _, result = trial.choose(aligned_rules(trial))
            # alignf is the minimizer over v >= 0 of v'Mv - 2 v'a.
            a, M = trial.family.products(trial.target[None])
            two = nonnegative_qp(M, a).v
            both = np.array([two, result.weights])
            products = both @ M @ both.T
            same.append(products[0, 1] / np.sqrt(products[0, 0] * products[1, 1]))
            weights.append([w / np.linalg.norm(w) for w in both])
            errors.append((trial.machine(two)[0], error))
    return np.array(weights), np.array(errors), np.array(same)


def draw(row, weights):
    """The scatter of the paper, a marker per kernel."""
    figure, axes = shared.new_figure(1, 1, (5.6, 4.8))
    ax = axes[0, 0]
    colors = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000")
    top = 1.05 * weights.max()
    ax.plot([0.0, top], [0.0, top], color="#999999", linewidth=1.0, zorder=1)
    low = row.exponents[0]
    for k, (color, marker) in enumerate(zip(colors, "os^Dv<P")):
        label = f"$2^{{{low + k}}}$"
        ax.plot(*weights[:, :, k].T, marker, color=color, alpha=0.75, mew=0, label=label)
    ax.legend(title=r"$\gamma$", frameon=False, fontsize=9)
    ax.set(
        xlabel="kernel weight, alignf (two-stage)", ylabel="kernel weight, aligned-krr (one-stage)"
    )
    ax.set_title("kinematics: one marker per kernel and trial, weights of norm 1", fontsize=11)
    return figure


def main(argv=None):
    """Print and draw; return the correlation of the weights over all trials and kernels."""
    args = shared.arguments(__doc__, argv, 4)
    out = shared.Output("figure3", args, __file__)
    row = ROWS[1] if args.quick else ROWS[0]
    weights, errors, same = measure(row, args.repeats)
    cosine = np.einsum("tk,tk->t", weights[:, 0], weights[:, 1])
    p = corrected_resampled_t_test(errors[:, 1], errors[:, 0], n_train=3, n_test=1).p_value
    correlation = np.corrcoef(weights[:, 0].ravel(), weights[:, 1].ravel())[0, 1]
    out.say(
        "Figure 3 of Cortes, Mohri and Rostamizadeh (2012): weights of one-stage and two-stage.",
        f"{row.title}; {len(weights)} trials.",
        "",
    )
    low, high = row.exponents
    rows = [
        (f"gamma 2^{e}", *(shared.spread(w.mean(), w.std(ddof=1)) for w in weights[:, :, k].T))
        for k, e in enumerate(range(low, high + 1))
    ]
    out.table(("weight, mean +- sd over trials", "alignf", "aligned-krr"), rows)
    out.say(
        f"  correlation of the weights over trials and kernels: {correlation:.3f}",
        f"  cosine of the two vectors, median {np.median(cosine):.3f}, minimum {cosine.min():.3f}",
        f"  alignment of the two combined kernels with each other, median {np.median(same):.3f}, "
        f"minimum {same.min():.3f}",
        f"  RMSE: alignf {errors[:, 0].mean():.4f}, aligned-krr {errors[:, 1].mean():.4f}"
        f" (corrected resampled p {p:.2g}; the paper: no significant improvement)",
    )
    if not args.quick:
        out.text("figure3-explanation")
    out.write(draw(row, weights))
    return correlation


if __name__ == "__main__":
    shared.run(main)
