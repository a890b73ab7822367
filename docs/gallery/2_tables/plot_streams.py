"""
Streams: learning from each sample once
=======================================

How much accuracy does a budget cost when samples arrive one by one, and what does it gain if the
distribution changes?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import alignlearn as al

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
rows = rng.permutation(len(y))
rows = np.concatenate([rows, rng.permutation(len(y))])
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    rows = rows[:1600]
# sphinx_gallery_end_ignore
X, labels = X[rows] / 16, y[rows]

# %% The label is whether a digit is odd. In the middle of the stream, the labels are swapped.
change = len(rows) // 2
odd = (labels % 2 == 1) ^ (np.arange(len(rows)) >= change)

# %% The kernel is learned on the first 300 samples. Every block is predicted before the model
# learns from it, so errors are on new samples.
kernels = al.gaussian_kernels([0.01, 0.03, 0.1, 0.3])
kernel = al.MKLClassifier(kernels).fit(X[:300], odd[:300]).kernel_
budgets = {"all samples kept": None, "budget 400": 400, "budget 100": 100}
block, errors = 50, {}
for name, budget in budgets.items():
    model = al.KernelSGDClassifier(kernel, alpha=1e-3, budget=budget)
    model.partial_fit(X[:block], odd[:block], classes=[False, True])
    wrong = []
    for start in range(block, len(rows), block):
        part = slice(start, start + block)
        wrong.append(np.mean(model.predict(X[part]) != odd[part]))
        model.partial_fit(X[part], odd[part])
    errors[name] = np.array(wrong)
    middle = change // block - 1
    before, after = errors[name][middle // 2 : middle].mean(), errors[name][-10:].mean()
    print(f"{name}: error {before:.3f} before, {after:.3f} at the end, {len(model.support_)} kept")

# %% Errors on blocks of 50 samples, as running means of five blocks.
#
# Limitation: a budget of 100 is too small and drops samples too early. A budget of 400 costs little
# accuracy before the change and gains after it, since it drops outdated samples.
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for (name, wrong), color in zip(errors.items(), ("#555555", "#0072B2", "#D55E00")):
    smooth = np.convolve(wrong, np.ones(5) / 5, mode="valid")
    ax.plot(block * (np.arange(smooth.size) + 6), smooth, color=color, label=name)
ax.axvline(change, color="#222222", linestyle=":", linewidth=1)
ax.annotate(" labels are\n exchanged", (change, 0.9), fontsize=9)
ax.axhline(0.5, color="#BBBBBB", linewidth=0.8)
ax.set(xlabel="samples seen", ylabel="error on the next samples", ylim=(0, 1))
ax.set_title("Odd or even, in a stream")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
