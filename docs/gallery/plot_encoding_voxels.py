"""
An encoding model of voxels
===========================

Which feature space of what is shown does each voxel respond to? Voxels are simulated, so the
answer is known: pixels, shapes, both, or nothing.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import alignlearn as al

small = os.environ.get("ALIGNLEARN_DOCS_SMALL") == "1"
rng = np.random.default_rng(0)
m, n_voxels = (300, 40) if small else (900, 200)

# %%
# What is shown are digits. One space is their pixels, the other one the category.
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

# %%
# Every voxel gets weights and a penalty of its own, by leave-one-out.
tables = {name: X[train] for name, X in spaces.items()}
shown = {name: X[new] for name, X in spaces.items()}
kernels = dict.fromkeys(spaces, "linear")
model = al.MKLRegressorCV(kernels, per_target=True).fit(tables, Y[train])
equal = al.MKLRegressorCV(kernels, weighting="uniform").fit(tables, Y[train])


def r2(reg):
    """Explained variance of each voxel on new images."""
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

# %%
# Contributions of the two spaces add up to R^2 of new images.
#
# What did not work: to gain much. Where both spaces matter equal weights are as good, and voxels
# of noise stay a little below 0. Weights of its own let a voxel leave a space out.
values = np.asarray(parts.values)
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
for k, color, marker in zip(range(4), ("#0072B2", "#D55E00", "#009E73", "#555555"), "os^D"):
    rows = kind == k
    axes[0].scatter(*values[:, rows], s=14, color=color, marker=marker, label=names[k])
    axes[1].scatter(same[rows], own[rows], s=14, color=color, marker=marker)
axes[0].set(xlabel="R² that pixels add", ylabel="R² that the category adds", title="Contributions")
axes[0].legend(title="planted", frameon=False, fontsize=9)
axes[1].axline((0, 0), slope=1, color="#222222", linewidth=0.8)
axes[1].set(xlabel="R², equal weights for all", ylabel="R², weights of each voxel")
axes[1].set_title("Against equal weights")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
