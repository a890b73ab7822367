"""
Many related tasks
==================

Each task is to distinguish one pair of digits from few samples, as in the landmine data with 29
minefields. When are tasks that share a kernel better than separate tasks?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import alignlearn as al

X, digit = load_digits(return_X_y=True)
X = X + 4.0 * np.random.default_rng(1).normal(size=X.shape)
pairs = [(a, b) for b in range(10) for a in range(b)]
n_tasks, sizes, repeats = 10, (4, 8, 16, 32), 3
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    n_tasks, sizes, repeats = 6, (6, 20), 1
# sphinx_gallery_end_ignore
pairs = pairs[:n_tasks]

# %% Kernels on rows and columns of the image, and Gaussians of three widths on all pixels. All
# tasks use the same kernels.
blocks = [list(range(8 * r, 8 * r + 8)) for r in range(8)]
blocks += [list(range(c, 64, 8)) for c in range(8)]
kernels = [al.Columns("rbf", block) for block in blocks]
kernels += al.gaussian_kernels([0.0003, 0.001, 0.003])

# %% Samples of all tasks are stacked; ``task`` holds the task of each sample.
methods = [{"method": name} for name in ("independent", "mkl", "onmkl", "uniform")]
methods[2]["coupling"] = "group"  # without coupling each task is alone here, too
errors = np.zeros((len(methods), len(sizes), repeats))
for s, r in np.ndindex(len(sizes), repeats):
    rng = np.random.default_rng(r)
    parts = {"train": [], "test": []}
    for t, pair in enumerate(pairs):
        rows = rng.permutation(np.flatnonzero(np.isin(digit, pair)))
        first = [np.flatnonzero(digit[rows] == d)[: sizes[s] // 2] for d in pair]
        mine = np.concatenate(first)
        parts["train"].append((rows[mine], np.full(mine.size, t)))
        others = np.delete(rows, mine)[:100]
        parts["test"].append((others, np.full(others.size, t)))
    (train, task), (test, task_test) = (np.hstack(parts[name]) for name in ("train", "test"))
    firsts = np.array([pair[0] for pair in pairs])
    y, y_test = digit[train] == firsts[task], digit[test] == firsts[task_test]
    for k, method in enumerate(methods):
        model = al.MultiTaskMKLClassifier(kernels, **method).fit(X[train], y, task)
        errors[k, s, r] = np.mean(model.predict(X[test], task_test) != y_test)

# %% Means over random samples.
#
# Limitation: weights cannot be learned from few samples. Equal weights are best up to 16 samples
# per task. One set of weights for all tasks is as good at 32 samples; separate weights are not.
# With few samples per task, use ``method="uniform"`` or ``"mkl"``.
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
names = "separate weights per task", "one set of weights"
names += "neighborhood kernels, coupled", "equal weights"
for values, name, color, marker in zip(
    errors.mean(axis=2), names, ("#D55E00", "#0072B2", "#009E73", "#555555"), "os^D"
):
    ax.plot(sizes, 100 * values, f"-{marker}", color=color, label=name)
    print(f"{name}: error {values.round(3)} with {sizes} samples a task")
ax.set(xscale="log", xlabel="training samples of each task", ylabel="error on new samples, %")
ax.set_title("Multi-task learning")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set_ylim(0, None)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, title=f"{len(pairs)} tasks")
