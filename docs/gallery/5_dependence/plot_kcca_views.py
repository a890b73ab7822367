"""
KCCA of two views
=================

The left and the right half of an image of a digit are two views with different pixels. What
information do they share?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import alignlearn as al

X, y = load_digits(return_X_y=True)
images = X.reshape(-1, 8, 8) / 16
left, right = (images[:, :, half].reshape(len(y), -1) for half in (slice(4), slice(4, 8)))
n_train = 900
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    n_train = 400
# sphinx_gallery_end_ignore
train = np.arange(len(y)) < n_train

# %% Kernel CCA finds maximally correlated functions of the left half and of the right half, without
# labels. Correlations are evaluated on held-out images.
kernel_cca = al.KernelCCA(n_components=6, kappa=0.02).fit(left[train], right[train])
linear = CCA(n_components=6, max_iter=2000).fit(left[train], right[train])
held_out, views = {}, {}
for name, model in {"kernels": kernel_cca, "linear": linear}.items():
    views[name] = U, V = model.transform(left, right)
    held_out[name] = [np.corrcoef(u, v)[0, 1] for u, v in zip(U[~train].T, V[~train].T)]
    print(f"{name}: correlations of new images {np.round(held_out[name], 3)}")

# %% Does the shared information identify the digit? Nearest neighbors use the six components of the
# left half.
#
# Limitation: the six components, learned without labels, classify fewer digits correctly than the
# 32 pixels of the half, but far more than those of linear CCA.
for name, (U, _) in views.items():
    neighbors = KNeighborsClassifier().fit(U[train], y[train])
    print(f"{name}: {neighbors.score(U[~train], y[~train]):.3f} of the digits from the left half")
raw = KNeighborsClassifier().fit(left[train], y[train]).score(left[~train], y[~train])
print(f"all 32 pixels of the left half: {raw:.3f}")

# %% Left: the first function of each half, on new images. Right: held-out correlations.
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.8), layout="constrained")
U, V = views["kernels"]
for digit in range(10):
    rows = ~train & (y == digit)
    color = plt.cm.viridis(digit / 10)
    axes[0].scatter(U[rows, 0], V[rows, 0], s=24, color=color, marker=f"${digit}$", linewidths=0.2)
axes[0].set(xlabel="canonical function, left half", ylabel="canonical function, right half")
axes[0].locator_params(nbins=5)
axes[0].set_title("New digits")
at = np.arange(6)
axes[1].bar(at - 0.2, held_out["kernels"], 0.38, color="#0072B2", label="KernelCCA")
axes[1].bar(at + 0.2, held_out["linear"], 0.38, color="#E69F00", label="linear CCA")
axes[1].set_xticks(at, at + 1)
axes[1].set(xlabel="component", ylabel="correlation on new images", ylim=(0, 1.2))
axes[1].set_title("Correlation of the halves")
axes[1].legend(frameon=False, ncols=2, loc="upper center")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
