"""
The default on a raw table
==========================

A table with categories, numbers and missing values: does the default search of the library predict
as well as gradient boosting?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from palmerpenguins import load_penguins
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedShuffleSplit

import alignlearn as al

# %%
# The sex of penguins, from species, island, year and four measurements. Both models get the data
# frame. ``MKLClassifierCV`` encodes categories, standardizes numbers and imputes missing values on
# each training set; boosting reads the column types.
penguins = load_penguins()
penguins = penguins[penguins["sex"].notna()]
y = penguins.pop("sex").to_numpy()
penguins = penguins.astype({"species": "category", "island": "category"})
models = {
    "MKLClassifierCV()": al.MKLClassifierCV(random_state=0),
    "HistGradientBoosting": HistGradientBoostingClassifier(
        categorical_features="from_dtype", random_state=0
    ),
}

# %%
# Random training sets of each size; the other penguins are for testing.
sizes, draws = (30, 60, 120, 240), 10
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    sizes, draws = (60, 120), 2
# sphinx_gallery_end_ignore
accuracy = np.zeros((len(models), len(sizes), draws))
for s, size in enumerate(sizes):
    splitter = StratifiedShuffleSplit(draws, train_size=size, random_state=0)
    for r, (train, test) in enumerate(splitter.split(penguins, y)):
        for k, model in enumerate(models.values()):
            model.fit(penguins.iloc[train], y[train])
            accuracy[k, s, r] = model.score(penguins.iloc[test], y[test])

# %%
# Bars are one standard error over the random training sets.
#
# Limitation: this table is small, and few of its columns are categories. On tables with many
# categorical columns, boosting is often better (:doc:`/guide/speed`).
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for (name, values), color, marker in zip(
    zip(models, accuracy), ("#0072B2", "#555555"), "os", strict=True
):
    error = values.std(axis=1, ddof=1) / np.sqrt(draws)
    ax.errorbar(sizes, values.mean(axis=1), error, fmt=f"-{marker}", color=color, label=name)
    print(f"{name}: accuracy {values.mean(axis=1).round(3)} with {sizes} training samples")
ax.set(xscale="log", xlabel="training samples", ylabel="accuracy on new samples")
ax.set_title("Sex of penguins from a raw table")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
