"""
An encoding model of voxels
===========================

To which feature space of an image does each voxel respond? The voxels are simulated, so the answer
is known: pixels, category, both, or nothing.
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import alignlearn as al

rng = np.random.default_rng(0)
m, n_voxels = 900, 200
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    m, n_voxels = 300, 40
# sphinx_gallery_end_ignore

# %% The images are digits. One feature space is their pixels, the other one the category.
images, digit = load_digits(return_X_y=True)
spaces = {"pixels": images / 16, "category": np.eye(10)[digit]}
signals = []
for X in spaces.values():
    Z = (X - X.mean(axis=0)) @ rng.normal(size=(X.shape[1], n_voxels))
    signals.append(Z / Z.std(axis=0))
kind = np.arange(n_voxels) % 4  # 0 pixels, 1 category, 2 both, 3 noise alone
share = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [0.0, 0.0]])[kind]
signal = sum(np.sqrt(share[:, k]) * signals[k] for k in range(2))
Y = signal + 1.2 * rng.normal(size=signal.shape)
train, new = slice(0, m), slice(m, m + 600)

# %% Every voxel gets its own weights and penalty by leave-one-out.
tables = {name: X[train] for name, X in spaces.items()}
shown = {name: X[new] for name, X in spaces.items()}
kernels = dict.fromkeys(spaces, "linear")
model = al.MKLRegressorCV(kernels, per_target=True).fit(tables, Y[train])
equal = al.MKLRegressorCV(kernels, weighting="uniform").fit(tables, Y[train])


def r2(reg):
    """Return the explained variance of each voxel on new images."""
    error = ((Y[new] - reg.predict(shown)) ** 2).mean(axis=0)
    return 1 - error / Y[new].var(axis=0)


own, same = r2(model), r2(equal)
ceiling = signal[new].var(axis=0) / Y[new].var(axis=0)
parts = model.contributions(shown, Y[new], groups={"pixels": [0], "category": [1]})
names = ("pixels", "category", "both", "noise")
for k, name in enumerate(names):
    rows = kind == k
    print(
        f"{name}: R^2 {own[rows].mean():.3f}, equal weights {same[rows].mean():.3f}, "
        f"possible {ceiling[rows].mean():.3f}"
    )

# %% The contributions of the two feature spaces sum to R² on new images.
#
# Limitation: the gain is small. Equal weights are as good for voxels that respond to both spaces,
# and the R² of noise voxels stays slightly below 0. With its own weights, a voxel can omit a space.
values = np.asarray(parts.values)
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
for k, color, marker in zip(range(4), ("#0072B2", "#D55E00", "#009E73", "#555555"), "os^D"):
    rows = kind == k
    axes[0].scatter(*values[:, rows], s=14, color=color, marker=marker, label=names[k])
    axes[1].scatter(same[rows], own[rows], s=14, color=color, marker=marker)
axes[0].set(xlabel="R² due to pixels", ylabel="R² due to the category", title="Contributions")
axes[0].legend(title="planted", frameon=False, fontsize=9)
axes[1].axline((0, 0), slope=1, color="#222222", linewidth=0.8)
axes[1].set(xlabel="R² with equal weights", ylabel="R² with weights per voxel")
axes[1].set_title("Weights per voxel and equal weights")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
