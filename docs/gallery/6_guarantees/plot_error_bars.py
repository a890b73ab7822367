"""
Error bars: coverage by group
=============================

A prediction interval for the progression of diabetes should contain the measurement of 90% of new
patients. Does it, and does it for all groups of patients?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import ShuffleSplit

import alignlearn as al

X, y = load_diabetes(return_X_y=True, scaled=True)
X = X / X.std(axis=0)
m, repeats = 250, 20
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    m, repeats = 150, 4
# sphinx_gallery_end_ignore

# %% Two kinds of intervals from one fit: the jackknife+, which only assumes exchangeable samples,
# and 1.645 standard deviations of a Gaussian process with noise.
names = "jackknife+", "Gaussian process"
lows, highs, thirds, truths = [], [], [], []
for train, test in ShuffleSplit(repeats, train_size=m, random_state=0).split(X):
    reg = al.MKLRegressor(["linear", *al.gaussian_kernels([0.01, 0.03])], alpha=3.0)
    reg.fit(X[train], y[train])
    mean, std = reg.predict(X[test], return_std=True, noise=True)
    low, high = reg.predict_interval(X[test], coverage=0.9)
    lows.append([low, mean - 1.645 * std])
    highs.append([high, mean + 1.645 * std])
    truths.append(y[test])
    thirds.append(np.digitize(mean, np.quantile(mean, [1 / 3, 2 / 3])))
low, high = np.concatenate(lows, axis=1), np.concatenate(highs, axis=1)
truth, third = np.concatenate(truths), np.concatenate(thirds)
held = (low <= truth) & (truth <= high)
by_third = np.array([held[:, third == k].mean(axis=1) for k in range(3)])

# %% Limitation: the coverage of 90% holds on average. Both intervals have about the same width for
# everybody, but patients with little progression vary less: their intervals are too wide, and those
# of others too short.
for name, all_, parts in zip(names, held.mean(axis=1), by_third.T):
    print(f"{name}: holds for {all_:.3f}, in thirds by prediction {parts.round(3)}")
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained", width_ratios=(3, 2))
order = np.argsort(mean)[:: len(mean) // 60 + 1]
at = np.arange(order.size)
ends = lows[-1][0][order], highs[-1][0][order]
inside = (ends[0] <= truths[-1][order]) & (truths[-1][order] <= ends[1])
axes[0].vlines(at, *ends, color="#9CC8E5", linewidth=2, label="interval, jackknife+")
axes[0].plot(at, mean[order], "_", color="#0072B2", label="prediction")
axes[0].plot(at[inside], truths[-1][order][inside], "o", color="#222222", ms=3, label="target")
axes[0].plot(at[~inside], truths[-1][order][~inside], "D", color="#D55E00", ms=5, label="outside")
axes[0].set(xlabel="new patients, ordered by prediction", ylabel="progression", title="One split")
axes[0].set_ylim(None, 1.35 * high.max())
axes[0].legend(frameon=False, fontsize=9, ncols=2, loc="upper left")
for k, (name, color, marker) in enumerate(zip(names, ("#0072B2", "#E69F00"), "os")):
    axes[1].plot(range(3), by_third[:, k], f"-{marker}", color=color, label=name)
axes[1].axhline(0.9, color="#222222", linestyle="--", linewidth=0.8)
axes[1].set_xticks(range(3), ["low", "middle", "high"])
axes[1].set(xlabel="prediction (thirds)", ylabel="coverage", title="All splits", ylim=(0.75, 1))
axes[1].legend(frameon=False, fontsize=9)
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
