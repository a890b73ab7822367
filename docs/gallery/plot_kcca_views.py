"""
KCCA of two views
=================

Two views of a digit, its left and its right half, are different pixels. What do they say alike?
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import alignlearn as al

small = os.environ.get("ALIGNLEARN_DOCS_SMALL") == "1"
X, y = load_digits(return_X_y=True)
images = X.reshape(-1, 8, 8) / 16
left, right = (images[:, :, half].reshape(len(y), -1) for half in (slice(4), slice(4, 8)))
train = np.arange(len(y)) < (400 if small else 900)

# %%
# Functions of the left half and of the right half are found that are correlated as much as
# possible, without any label. Correlations on images that took no part are what counts.
kernel_cca = al.KernelCCA(n_components=6, kappa=0.02).fit(left[train], right[train])
linear = CCA(n_components=6, max_iter=2000).fit(left[train], right[train])
held_out, views = {}, {}
for name, model in {"kernels": kernel_cca, "linear": linear}.items():
    views[name] = U, V = model.transform(left, right)
    held_out[name] = [np.corrcoef(u, v)[0, 1] for u, v in zip(U[~train].T, V[~train].T)]
    print(f"{name}: correlations of new images {np.round(held_out[name], 3)}")

# %%
# Does what both halves say name the digit? Neighbors in the six components of the left half.
#
# What did not work: to beat the pixels. Six numbers that were found without labels name fewer
# digits than the 32 pixels of the half do, though far more than those of linear CCA.
for name, (U, _) in views.items():
    neighbors = KNeighborsClassifier().fit(U[train], y[train])
    print(f"{name}: {neighbors.score(U[~train], y[~train]):.3f} of the digits from the left half")
raw = KNeighborsClassifier().fit(left[train], y[train]).score(left[~train], y[~train])
print(f"all 32 pixels of the left half: {raw:.3f}")

# %%
# Left: the first function of either half, on new images. Right: held-out correlations.
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.8), layout="constrained")
U, V = views["kernels"]
for digit in range(10):
    rows = ~train & (y == digit)
    color = plt.cm.viridis(digit / 10)
    axes[0].scatter(U[rows, 0], V[rows, 0], s=24, color=color, marker=f"${digit}$", linewidths=0.2)
axes[0].set(xlabel="first function, left half", ylabel="first function, right half")
axes[0].locator_params(nbins=5)
axes[0].set_title("New digits")
at = np.arange(6)
axes[1].bar(at - 0.2, held_out["kernels"], 0.38, color="#0072B2", label="KernelCCA")
axes[1].bar(at + 0.2, held_out["linear"], 0.38, color="#E69F00", label="linear CCA")
axes[1].set_xticks(at, at + 1)
axes[1].set(xlabel="component", ylabel="correlation on new images", ylim=(0, 1.2))
axes[1].set_title("What two halves share")
axes[1].legend(frameon=False, ncols=2, loc="upper center")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
