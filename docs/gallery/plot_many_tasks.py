"""
Many related tasks
==================

29 minefields in the landmine data, each with few samples; here the tasks are like them and known:
each tells one pair of digits apart. When do tasks that share a kernel do better than each alone?
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import alignlearn as al

small = os.environ.get("ALIGNLEARN_DOCS_SMALL") == "1"
X, digit = load_digits(return_X_y=True)
X = X + 4.0 * np.random.default_rng(1).normal(size=X.shape)
pairs = [(a, b) for b in range(10) for a in range(b)]
pairs = pairs[:6] if small else pairs[:10]
sizes, repeats = ((6, 20), 1) if small else ((4, 8, 16, 32), 3)

# %%
# Kernels on rows and columns of the image, of three widths: which matter is the same for all tasks.
blocks = [list(range(8 * r, 8 * r + 8)) for r in range(8)]
blocks += [list(range(c, 64, 8)) for c in range(8)]
kernels = [al.Columns("rbf", block) for block in blocks]
kernels += al.gaussian_kernels([0.0003, 0.001, 0.003])

# %%
# Samples of all tasks are stacked; ``task`` says whose each is.
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

# %%
# Means over draws of the samples.
#
# What did not work: to learn weights from few samples. Equal weights are best up to 16 samples of a
# task; tasks that learn one set of weights together catch up at 32, each alone does not.
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
names = "weights of each task alone", "one set of weights for all"
names += "neighborhood kernels, coupled", "equal weights"
for values, name, color, marker in zip(
    errors.mean(axis=2), names, ("#D55E00", "#0072B2", "#009E73", "#555555"), "os^D"
):
    ax.plot(sizes, 100 * values, f"-{marker}", color=color, label=name)
    print(f"{name}: error {values.round(3)} with {sizes} samples a task")
ax.set(xscale="log", xlabel="training samples of each task", ylabel="error on new samples, %")
ax.set_title("Tasks that share a kernel, or do not")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.set_ylim(0, None)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, title=f"{len(pairs)} tasks")
