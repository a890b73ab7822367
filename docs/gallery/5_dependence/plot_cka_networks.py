"""
CKA of two networks from mini-batches
=====================================

Two networks are trained on the same digits from different random weights. Which of their layers are
similar? Activations are recorded batch by batch, as for networks whose activations do not fit into
memory.
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import alignlearn as al

X, y = load_digits(return_X_y=True)
n_epochs, n_rounds = 40, 4
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    n_epochs, n_rounds = 10, 1
# sphinx_gallery_end_ignore
X = X / 16
train, new = slice(0, 900), slice(900, None)


def layers(network, images):
    """Return the activations of the hidden layers, as hooks of a torch model would."""
    found = []
    for W, b in zip(network.coefs_[:-1], network.intercepts_[:-1]):
        images = np.maximum(images @ W + b, 0)
        found.append(images)
    return found


# %% Four hidden layers each. The number of epochs is fixed, so the convergence warning is ignored.
networks = []
for seed in (0, 1):
    network = MLPClassifier([64] * 4, max_iter=n_epochs, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        networks.append(network.fit(X[train], y[train]))
    print(f"network {seed}: accuracy {network.score(X[new], y[new]):.3f} on new images")

# %% An accumulator averages the unbiased HSIC over batches of 8 and holds one batch at a time.
#
# Limitation: the mean of the CKA values of batches, which is often used, is too large, because 8
# samples in 64 dimensions are similar by chance. The right panel shows the error.
rng = np.random.default_rng(0)
streamed, biased = al.CKAAccumulator(), []
for _ in range(n_rounds):
    for batch in np.array_split(rng.permutation(897), 112):
        acts = [layers(network, X[new][batch]) for network in networks]
        streamed.update(acts[0], acts[1])
        biased.append(al.cka_matrix(acts[0], acts[1]))
whole = [layers(network, X[new]) for network in networks]
truth = al.cka_matrix(*whole, unbiased=True)
found, naive = streamed.matrix(), np.mean(biased, axis=0)
errors = abs(found - truth).max(), abs(naive - truth).max()
print("largest error: accumulated {:.4f}, biased batches {:.4f}".format(*errors))

# %% Corresponding layers of the two networks are similar; early and late layers are less similar.
fig, axes = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained", sharey=True)
titles = "batches of 8, unbiased", "error of biased batches"
for ax, values, title in zip(axes, (found, naive - truth), titles):
    image = ax.imshow(values, cmap="viridis", origin="lower")
    ax.set_xticks(range(4), range(1, 5))
    ax.set_yticks(range(4), range(1, 5))
    ax.set(title=title, xlabel="layer of network 1")
    for i, j in np.ndindex(4, 4):
        dark = values[i, j] < values.min() + 0.6 * np.ptp(values)
        ax.text(j, i, f"{values[i, j]:.2f}", ha="center", va="center", color="w" if dark else "k")
    fig.colorbar(image, ax=ax, shrink=0.8, label="CKA" if ax is axes[0] else "difference of CKA")
axes[0].set_ylabel("layer of network 0")
