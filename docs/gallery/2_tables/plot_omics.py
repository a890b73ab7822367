"""
Several tables: which one predicts?
===================================

In 399 patients with COVID-19, eleven kinds of antibodies were measured against six antigens of the
virus: six tables of the same samples. Which table predicts death, and are all tables better than
one?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from tensorly.datasets.data_imports import load_covid19_serology

import alignlearn as al

data = load_covid19_serology()  # of Zohar and others (2020), with the package tensorly
state = np.array(data.ticks[0], dtype=str)
ill = state != "Negative"
values, y = np.asarray(data.tensor)[ill], state[ill] == "Deceased"
names = data.ticks[1]
tables = {name: values[:, k] for k, name in enumerate(names)}
print(f"{len(y)} patients, {y.sum()} died; tables {names}")

# %% One Gaussian per table. Area under the ROC curve (AUC) of held-out patients, with the same
# folds for all models.
choices = {name: ([name], "uniform") for name in names}
choices["all, equal weights"] = names, "uniform"
choices["all, learned weights"] = names, "alignf"
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0)
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=1, random_state=0)
# sphinx_gallery_end_ignore
auc = {name: [] for name in choices}
weights = []
for train, test in folds.split(y, y):
    for name, (used, rule) in choices.items():
        model = al.MKLClassifier(dict.fromkeys(used, "rbf"), weighting=rule)
        model.fit({key: tables[key][train] for key in used}, y[train])
        scores = model.decision_function({key: tables[key][test] for key in used})
        auc[name].append(roc_auc_score(y[test], scores))
    weights.append(model.weights_ / model.weights_.sum())
weights = np.array(weights)

# %% Limitation: learned weights do not help. Most of the weight is on S2 and varies between folds
# (bars: one standard deviation); equal weights predict at least as well. In such a case use
# ``weighting="uniform"``, or let ``MKLClassifierCV`` choose. No model predicts well.
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained", width_ratios=(3, 2))
for k, (name, found) in enumerate(auc.items()):
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    color = "#888888" if k < len(names) else ("#E69F00", "#0072B2")[k - len(names)]
    axes[0].errorbar(np.mean(found), -k, xerr=error, fmt="o", color=color, capsize=3)
    print(f"{name:21s} AUC {np.mean(found):.3f} +- {error:.3f}")
axes[0].set_yticks(-np.arange(len(auc)), list(auc))
axes[0].set(xlabel="AUC, new patients", title="Predicting death")
at = -np.arange(len(names))
axes[1].barh(at, weights.mean(axis=0), xerr=weights.std(axis=0), color="#0072B2", capsize=3)
axes[1].set_yticks(at, names)
axes[1].set(xlabel="share of the weights", title="Learned weights")
for ax in axes:
    ax.spines[["top", "right", "left"]].set_visible(False)
