"""
Graphs: precomputed kernels
===========================

MUTAG has 188 molecules, some of which cause mutations. Graph kernels compare atoms, bonds, shortest
paths, or neighborhoods of increasing size. Which kernel, or which weights, predict best?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
from pathlib import Path

import grakel
import matplotlib.pyplot as plt
import numpy as np
from grakel.kernels import EdgeHistogram, ShortestPath, VertexHistogram, WeisfeilerLehman
from sklearn.model_selection import RepeatedStratifiedKFold

import alignlearn as al

# %% The files come with the tests of ``grakel``: one row per atom, with the number of its graph.
folder = Path(grakel.__file__).parent / "tests" / "data" / "MUTAG"
names = "graph_indicator", "A", "node_labels", "edge_labels", "graph_labels"
files = [np.loadtxt(folder / f"MUTAG_{name}.txt", delimiter=",", dtype=int) for name in names]
owner, edges, atoms, bonds, y = files
graphs = [[set(), {}, {}] for _ in y]
for i, (graph, atom) in enumerate(zip(owner.tolist(), atoms.tolist())):
    graphs[graph - 1][1][i + 1] = atom
for (i, j), bond in zip(edges.tolist(), bonds.tolist()):
    graphs[owner[i - 1] - 1][0].add((i, j))
    graphs[owner[i - 1] - 1][2][i, j] = bond

# %% Any library can compute the matrices. ``Precomputed`` wraps each, and the samples are row
# numbers, so scikit-learn's folds work.
made = {
    "atoms": VertexHistogram(normalize=True),
    "bonds": EdgeHistogram(normalize=True),
    "paths": ShortestPath(normalize=True),
    "neighborhoods, 1 step": WeisfeilerLehman(n_iter=1, normalize=True),
    "neighborhoods, 3 steps": WeisfeilerLehman(n_iter=3, normalize=True),
}
kernels = {name: al.Precomputed(kernel.fit_transform(graphs)) for name, kernel in made.items()}
models = {name: al.MKLClassifier([kernel], C=10.0) for name, kernel in kernels.items()}
every = list(kernels.values())
models["equal weights"] = al.MKLClassifier(every, weighting="uniform", C=10.0)
models["learned weights"] = al.MKLClassifier(every, weighting="alignf", C=10.0)
rows = np.arange(len(y))[:, None]
folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0)
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0)
# sphinx_gallery_end_ignore
accuracy = {name: [] for name in models}
for train, test in folds.split(rows, y):
    for name, model in models.items():
        accuracy[name].append(model.fit(rows[train], y[train]).score(rows[test], y[test]))
accuracy = {name: np.array(values) for name, values in accuracy.items()}
print("learned:", dict(zip(kernels, models["learned weights"].weights_.round(2).tolist())))

# %% Limitation: the kernel of paths has the largest alignment and does not predict best, so learned
# weights are worse than equal weights here. Compare both as in this figure, and use
# ``weighting="uniform"`` in such a case.
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for k, (name, values) in enumerate(accuracy.items()):
    color = {"equal weights": "#0072B2", "learned weights": "#D55E00"}.get(name, "#888888")
    error = values.std(ddof=1) / np.sqrt(values.size)
    ax.errorbar(values.mean(), -k, xerr=error, fmt="o", color=color, capsize=3)
    print(f"{name:23s} {values.mean():.3f} +- {error:.3f}")
ax.axvline(np.mean(y == 1), color="#222222", linestyle=":", linewidth=1)
ax.annotate(" largest class", (np.mean(y == 1), -6.3), fontsize=9)
ax.set_yticks(-np.arange(len(accuracy)), list(accuracy))
ax.set(xlabel="accuracy on new molecules (bars: one standard error)", ylim=(-6.6, 0.4))
ax.set_title("Mutagenic molecules by kernels on graphs")
ax.spines[["top", "right", "left"]].set_visible(False)
