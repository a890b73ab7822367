"""
Categories and numbers in one kernel
====================================

Penguins have a species, an island and four measurements in different units. Does a kernel on the
unprocessed table predict the sex as well as kernels on encoded columns?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from palmerpenguins import load_penguins
from sklearn.model_selection import StratifiedShuffleSplit

import alignlearn as al

# %% ``Gower`` accepts a data frame. It compares strings for equality, and numbers relative to their
# range in the training samples. The alternative has one binary column per category and standardized
# numbers. (They are standardized on all penguins here, which is to its advantage.)
penguins = load_penguins().dropna().drop(columns="year")
y = penguins.pop("sex").to_numpy()
numbers = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
scaled = penguins.assign(**(penguins[numbers] - penguins[numbers].mean()) / penguins[numbers].std())
ladder = al.gaussian_kernels([0.03, 0.1, 0.3])
models = {
    "Gower, unprocessed table": (penguins, [al.Gower()]),
    "Gaussians, encoded categories": (pd.get_dummies(scaled, dtype=float), ladder),
    "Gaussians, numbers only": (scaled[numbers], ladder),
    "Gower and Gaussians, learned weights": (
        scaled,
        [al.Gower(), *(al.Columns(kernel, numbers) for kernel in ladder)],
    ),
}

# %% Twenty random training sets of each size; the other penguins are for testing.
sizes, draws = (30, 60, 120, 240), 20
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    sizes, draws = (30, 120), 3
# sphinx_gallery_end_ignore
accuracy = np.zeros((len(models), len(sizes), draws))
for s, size in enumerate(sizes):
    splitter = StratifiedShuffleSplit(draws, train_size=size, random_state=0)
    for r, (train, test) in enumerate(splitter.split(penguins, y)):
        for k, (table, kernels) in enumerate(models.values()):
            model = al.MKLClassifier(kernels, C=10.0).fit(table.iloc[train], y[train])
            accuracy[k, s, r] = model.score(table.iloc[test], y[test])
for name, row in zip(models, accuracy.mean(axis=2)):
    print(f"{name:37s} {row.round(3)}")

print("learned:", model.weights_.round(3))

# %% Limitation: learned weights do not help with both kinds of kernels. Gaussians are better
# aligned with the sex, so ``Gower`` gets the weight 0, and predictions are those of the numbers
# alone. Use ``weighting="uniform"``, or ``MKLClassifierCV`` with ``weighting=["uniform",
# "alignf"]``, which selects by cross-validation.
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
colors = "#0072B2", "#E69F00", "#555555", "#D55E00"
for k, (name, row) in enumerate(zip(models, accuracy)):
    ax.errorbar(
        np.array(sizes) * 1.03 ** (k - 1.5),
        row.mean(axis=1),
        row.std(axis=1, ddof=1) / np.sqrt(draws),
        fmt="-" + "os^D"[k],
        color=colors[k],
        label=name,
        capsize=2,
    )
ax.set(xscale="log", xlabel="training penguins", ylabel="accuracy on the others")
ax.set_title("Sex of penguins from mixed columns")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, fontsize=9, loc="lower right")
