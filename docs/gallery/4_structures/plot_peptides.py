"""
Peptides by their substrings
============================

The samples are anticancer peptides and random ones, strings of 8 to 28 amino acids. Which length of
substrings is best for a spectrum kernel, and do learned weights help?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from modlamp.datasets import load_ACPvsRandom
from sklearn.model_selection import StratifiedKFold

import alignlearn as al

data = load_ACPvsRandom()
peptides, y = np.array(data.sequences), np.array(data.target)
rows = np.random.default_rng(0).permutation(len(y))
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    rows = rows[:200]
# sphinx_gallery_end_ignore
peptides, y = peptides[rows], y[rows]
print(f"{len(y)} peptides, such as {peptides[0]}")

# %% A spectrum kernel counts the common substrings of length k of two peptides.
lengths = (1, 2, 3, 4, 5)
kernels = [al.StringSpectrum(k, normalize=True) for k in lengths]
models = {f"k = {k}": al.MKLClassifier([kernel]) for k, kernel in zip(lengths, kernels)}
models["equal weights"] = al.MKLClassifier(kernels, weighting="uniform")
models["learned weights"] = al.MKLClassifier(kernels)

# %% The same ten folds for all models. The samples are an array of strings.
folds = StratifiedKFold(10, shuffle=True, random_state=0)
accuracy = {name: [] for name in models}
for train, test in folds.split(peptides, y):
    for name, model in models.items():
        model.fit(peptides[train], y[train])
        accuracy[name].append(model.score(peptides[test], y[test]))
accuracy = {name: np.array(values) for name, values in accuracy.items()}
for name, values in accuracy.items():
    print(f"{name:15s} {values.mean():.3f}")
gain = accuracy["learned weights"] - accuracy["equal weights"]
print(models["learned weights"].summary())

# %% Limitation: learned weights do not help. All lengths together are at least as good as any
# single one, and equal weights are at least as good as learned weights; the difference is printed
# with its standard error. Use ``weighting="uniform"`` in such a case.
print(f"learned - equal: {gain.mean():+.4f} +- {gain.std(ddof=1) / np.sqrt(gain.size):.4f}")
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
colors = ["#999999"] * len(lengths) + ["#0072B2", "#E69F00"]
for k, values in enumerate(accuracy.values()):
    error = values.std(ddof=1) / np.sqrt(values.size)
    ax.errorbar(values.mean(), -k, xerr=error, fmt="o", color=colors[k], capsize=3)
ax.set_yticks(-np.arange(len(accuracy)), list(accuracy))
ax.set(xlabel="accuracy on new peptides (bars: one standard error)")
ax.set_title("Kernels on substrings of length k, alone and combined")
ax.grid(axis="x", color="#DDDDDD")
ax.set_axisbelow(True)
ax.spines[["top", "right", "left"]].set_visible(False)
