"""
Coverage of an interval against sample size
===========================================

An interval for the alignment of a kernel in the population, from a sample: how often does it hold
what it should, and how long is it? The population here is known: it is a data set, drawn from with
replacement, so that samples are independent and some are copies.
"""

import os
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import alignlearn as al

small = os.environ.get("ALIGNLEARN_DOCS_SMALL") == "1"
X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
kernel = al.Gaussian(1 / 30)
K = kernel(X)
truth = al.alignment(K, y)  # all 569 samples are the population

# %%
# For each sample size we draw many samples and ask three methods for an interval of 95 %.
# Of copies the library warns, as they are usually a mistake.
warnings.simplefilter("ignore", al.DoubtfulResultWarning)
rng = np.random.default_rng(0)
methods = ("betting", "closed", "asymptotic")
sizes, repeats = ((50, 200), 15) if small else ((25, 50, 100, 200, 400), 60)
covered = np.zeros((len(methods), len(sizes)))
length = np.zeros_like(covered)
for s, m in enumerate(sizes):
    for _ in range(repeats):
        rows = rng.integers(len(y), size=m)
        gram = K[np.ix_(rows, rows)]
        for k, method in enumerate(methods):
            found = al.alignment_interval(gram, y[rows], "precomputed", radius2=1.0, method=method)
            covered[k, s] += found.low <= truth <= found.high
            length[k, s] += (found.high - found.low) / repeats

covered /= repeats

# %%
# What did not work: guarantees at these sizes. Intervals that hold for every law always hold, but
# say next to nothing before some hundreds of samples. The approximate one is short, and a little
# below what it promises, by about as much as these repeats can tell (bars: two standard errors).
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
for k, (color, marker) in enumerate(zip(("#0072B2", "#009E73", "#D55E00"), "os^")):
    half = 2 * np.sqrt(covered[k] * (1 - covered[k]) / repeats)
    at = np.array(sizes) * 1.08 ** (k - 1)
    axes[0].errorbar(at, covered[k], half, fmt=f"-{marker}", color=color, capsize=3)
    axes[1].plot(sizes, length[k], f"-{marker}", color=color, label=methods[k])
axes[0].axhline(0.95, color="#222222", linestyle="--", linewidth=0.8)
axes[0].set(ylabel="share that holds the truth", ylim=(min(0.8, covered.min() - 0.05), 1.02))
axes[0].set_title("Coverage (dashed: promised)")
axes[1].set(ylabel="mean length", yscale="log", title="Length")
axes[1].set_yticks([0.1, 0.2, 0.5, 1], [0.1, 0.2, 0.5, 1])
for ax in axes:
    ax.set(xscale="log", xlabel="samples")
    ax.set_xticks(sizes, sizes, minor=False)
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)
axes[1].legend(frameon=False)
for name, share, size in zip(methods, covered, length):
    print(f"{name:10s} covered {share.round(2)}, length {size.round(3)}")
