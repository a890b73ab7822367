"""
CKA of two networks from mini-batches
=====================================

Two networks are trained on the same digits from different random weights. Which of their layers
say the same? Activations are taken batch by batch, as one would from networks that do not fit.
"""

import os
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier

import alignlearn as al

small = os.environ.get("ALIGNLEARN_DOCS_SMALL") == "1"
X, y = load_digits(return_X_y=True)
X = X / 16
train, new = slice(0, 900), slice(900, None)


def layers(network, images):
    """Activations of the hidden layers; of a torch model hooks give the same arrays."""
    found = []
    for W, b in zip(network.coefs_[:-1], network.intercepts_[:-1]):
        images = np.maximum(images @ W + b, 0)
        found.append(images)
    return found


# %%
# Four hidden layers each; the fixed number of passes is on purpose, so that warning is left out.
networks = []
for seed in (0, 1):
    network = MLPClassifier([64] * 4, max_iter=10 if small else 40, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        networks.append(network.fit(X[train], y[train]))
    print(f"network {seed}: accuracy {network.score(X[new], y[new]):.3f} on new images")

# %%
# An accumulator averages unbiased HSIC over batches of 8, and never holds more than one.
#
# What did not work: the mean of CKA values of batches, as is often done. Each is too large, as 8
# samples in 64 dimensions look alike by chance; the right picture has the error.
rng = np.random.default_rng(0)
streamed, biased = al.CKAAccumulator(), []
for _ in range(1 if small else 4):
    for batch in np.array_split(rng.permutation(897), 112):
        acts = [layers(network, X[new][batch]) for network in networks]
        streamed.update(acts[0], acts[1])
        biased.append(al.cka_matrix(acts[0], acts[1]))
whole = [layers(network, X[new]) for network in networks]
truth = al.cka_matrix(*whole, unbiased=True)
found, naive = streamed.matrix(), np.mean(biased, axis=0)
errors = abs(found - truth).max(), abs(naive - truth).max()
print("largest error: accumulated {:.4f}, biased batches {:.4f}".format(*errors))

# %%
# Same layers of the two networks are alike, early and late ones are less so.
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
