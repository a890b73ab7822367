r"""
Choosing among quantum kernels under shots
==========================================

The value of a quantum kernel is a probability, :math:`|\langle\phi(x),\phi(x')\rangle|^2`, which a
device estimates from a number of shots. How many shots are needed to find the better circuits?
"""

import functools

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import alignlearn as al

m, n, qubits = 100, 200, 4
X, y = load_breast_cancer(return_X_y=True)
X = make_pipeline(StandardScaler(), PCA(qubits, whiten=True)).fit_transform(X)
rows = np.random.default_rng(0).permutation(len(y))[: m + n]
X, y = X[rows], y[rows]
bits = 1 - 2 * (np.arange(2**qubits)[:, None] >> np.arange(qubits) & 1)  # Z of each basis state


def states(X, bandwidth, layers):
    """Return the states of a circuit of Hadamard gates and ZZ phases, one row per sample."""
    single = (X * bandwidth) @ bits.T
    a, b = np.tril_indices(qubits, -1)
    pairs = (bandwidth**2 * X[:, a] * X[:, b]) @ (bits[:, a] * bits[:, b]).T
    hadamard = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    H = functools.reduce(np.kron, [hadamard] * qubits)
    phi = np.eye(2**qubits)[:1] * np.ones((len(X), 1))
    for _ in range(layers):
        phi = phi @ H * np.exp(1j * (single + pairs))
    return phi


# %%
# Eight circuits: four bandwidths, one or two layers.
circuits = [(b, k) for k in (1, 2) for b in (0.1, 0.3, 1.0, 3.0)]
exact = [abs(p @ p.conj().T) ** 2 for p in (states(X, *c) for c in circuits)]
best = np.argmax([al.alignment(K[:m, :m], y[:m]) for K in exact])
print("best circuit, exactly: bandwidth {}, layers {}".format(*circuits[best]))

# %% Shots make the matrices indefinite. ``fix="clip"`` makes them positive semidefinite, and
# transforms rows of new samples accordingly.
rng = np.random.default_rng(1)
shots, repeats = (3, 10, 30, 100, 1000), 8
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    shots, repeats = (10, 100), 2
# sphinx_gallery_end_ignore
accuracy = np.zeros((3, len(shots), repeats))
for s, r in np.ndindex(len(shots), repeats):
    noisy = [rng.binomial(shots[s], np.clip(K, 0, 1)) / shots[s] for K in exact]
    square = [np.triu(K[:m, :m], 1) + np.triu(K[:m, :m], 1).T + np.eye(m) for K in noisy]
    one = np.argmax([al.alignment(K, y[:m]) for K in square])
    for j, chosen in enumerate((range(8), [one], range(8))):
        rule = al.Uniform() if j == 2 else "alignf"
        given = [al.Precomputed(square[k], fix="clip") for k in chosen]
        model = al.MKLClassifier("precomputed", weighting=rule).fit(given, y[:m])
        accuracy[j, s, r] = model.score([noisy[k][m:, :m] for k in chosen], y[m:])

# %% Lines are means over repeated measurements, bands are one standard deviation.
#
# Limitation: 10 to 100 shots are not enough to learn weights. Equal weights average the noise of
# all circuits and are as good or better: use ``weighting="uniform"``. The better circuits can be
# identified from about 1000 shots.
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
names = "learned weights of eight", "circuit of largest alignment", "equal weights"
for values, name, color, marker in zip(accuracy, names, ("#0072B2", "#E69F00", "#555555"), "os^"):
    mean, spread = values.mean(axis=1), values.std(axis=1)
    ax.plot(shots, mean, f"-{marker}", color=color, label=name)
    ax.fill_between(shots, mean - spread, mean + spread, color=color, alpha=0.15, linewidth=0)
    print(f"{name}: {mean.round(3)} at {shots} shots")
ax.set(xscale="log", xlabel="shots per kernel value", ylabel="accuracy on new samples")
ax.set_title("Eight quantum kernels")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
