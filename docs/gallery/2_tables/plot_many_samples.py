"""
50,000 samples in 1 GB
======================

A Gram matrix of 50,000 samples takes 20 GB. A model in the span of 500 Nystrom centers uses all
samples without it. How does its accuracy compare?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
from time import process_time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import alignlearn as al

sizes = 1000, 5000, 50_000
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    sizes = 1000, 2000, 4000
# sphinx_gallery_end_ignore

# %% The digits of scikit-learn with random noise: 1200 images for training, the others for testing.
rng = np.random.default_rng(0)
X, y = load_digits(return_X_y=True)
X, odd = X / 16, y % 2
order = rng.permutation(len(y))


def noisy(images, n):
    """n samples of those images, each with noise of its own."""
    rows = rng.choice(images, n)
    seen = X[rows] + 0.3 * rng.normal(size=(n, 64))
    return seen.astype(np.float32), odd[rows]


test, y_test = noisy(order[1200:], 2000)

# %% The weights are learned on 1000 samples, the classifier on all of them, within ``memory=``.
kernels = al.gaussian_kernels([0.01, 0.03, 0.1, 0.3])
rows = []
for m in sizes:
    train, y_train = noisy(order[:1200], m)
    start = process_time()
    learned = al.MKLClassifier(kernels).fit(train[:1000], y_train[:1000])
    model = al.NystromSVC(learned.kernel_, n_centers=500, C=1.0, memory="300MB", random_state=0)
    model.fit(train, y_train)
    taken = process_time() - start
    megabytes = (train.nbytes + 4 * m * 500) / 1e6
    rows.append((taken, 8 * m**2 / 1e6, megabytes, 1 - model.score(test, y_test)))
    print(f"m = {m}: {taken:.1f} s of a processor, {megabytes:.0f} MB, error {rows[-1][3]:.4f}")

    if m == sizes[1]:
        exact = 1 - al.MKLClassifier([learned.kernel_]).fit(train, y_train).score(test, y_test)
        print(f"m = {m}: all pairs, error {exact:.4f}")

# %% Data and features need 0.1 GB, while the Gram matrix would need 20 GB.
#
# Limitation: if all pairs fit into memory, they are more accurate than 500 centers, as on 5000
# samples. Centers are better only with more samples than a Gram matrix can hold.
time, gram, features, error = np.transpose(rows)
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.4), layout="constrained")
axes[0].plot(sizes, gram, "^--", color="#555555", label="Gram matrix")
axes[0].plot(sizes, features, "o-", color="#0072B2", label="data and features")
axes[0].axhline(1000, color="#D55E00", linewidth=0.8)
axes[0].annotate("1 GB", (sizes[0], 1150), color="#D55E00", fontsize=9)
axes[0].set(ylabel="memory, MB", yscale="log", title="Memory")
axes[0].legend(frameon=False, fontsize=9, loc="lower right")
axes[1].plot(sizes, 100 * error, "o-", color="#0072B2", label="500 centers")
axes[1].plot(sizes[1], 100 * exact, "D", color="#D55E00", label="all pairs")
axes[1].legend(frameon=False, fontsize=9, loc="lower left")
axes[1].set(ylabel="error on new images, %", ylim=(0, None), title="Error")
for ax in axes:
    ax.set(xlabel="training samples", xscale="log")
    ax.spines[["top", "right"]].set_visible(False)
