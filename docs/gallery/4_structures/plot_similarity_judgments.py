"""
A similarity learned from judgments
===================================

For some pairs of images it is known whether they show the same digit, but no digit is labeled. How
many judgments does a learned kernel need to be better than the best Gaussian on new images?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

import alignlearn as al

m = 300
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    m = 150
# sphinx_gallery_end_ignore
X, y = load_digits(return_X_y=True)
X, new, y, y_new = X[:m] / 16, X[600:1000] / 16, y[:m], y[600:1000]
same = np.equal.outer(y_new, y).ravel()

# %% Similarities of pairs without a judgment are NaN. Two hyper-kernels (kernels on pairs): a
# single Gaussian, and a ladder of widths.
i, j = np.triu_indices(m, 1)
shares = 0.005, 0.01, 0.02, 0.05, 0.1, 0.2
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    shares = 0.02, 0.1
# sphinx_gallery_end_ignore
hypers = {
    "one hyper-kernel": al.GaussianHyperKernel(sigma2=4.5, sigma_h2=2.2),
    "ladder": al.hyper_kernels(reach=0.12),
}
auc = {name: [] for name in hypers}
draw = np.random.default_rng(0).random(i.size)  # larger sets of judgments contain the smaller ones
for share in shares:
    judged = draw < share
    K = np.full((m, m), np.nan)
    K[i[judged], j[judged]] = y[i[judged]] == y[j[judged]]
    np.fill_diagonal(K, 1.0)
    for name, hyper in hypers.items():
        with warnings.catch_warnings():  # of a share of the trace that 1000 landmark pairs leave
            warnings.simplefilter("ignore", al.ConvergenceWarning)
            model = al.HyperKRR(hyper, alpha=0.01, max_rank=1000).fit(X, K)
        auc[name].append(roc_auc_score(same, model.kernel_(new, X).ravel()))

# %% A Gaussian ranks pairs by distance for any width. The AUC is the probability that a pair of the
# same digit ranks above a pair of different digits, on new images.
#
# Limitation: with a few hundred judgments the ladder is worse than any Gaussian, and a small rank
# reduces the AUC: with ``max_rank=300`` more judgments may make it worse.
gaussian = roc_auc_score(same, al.Gaussian(0.1)(new, X).ravel())
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
counts = np.array(shares) * i.size
for (name, values), color, marker in zip(auc.items(), ("#0072B2", "#009E73"), "os"):
    ax.plot(counts, values, f"-{marker}", color=color, label=f"learned, {name}")
    print(f"{name}: AUC {np.round(values, 3)} from {counts.astype(int)} pairs")
ax.axhline(gaussian, color="#555555", linestyle="--", label="Gaussian of any width")
print(f"any Gaussian: AUC {gaussian:.3f}")
ax.set(xscale="log", xlabel="pairs judged", ylabel="AUC, pairs with new images")
ax.set_title("Ranking pairs of new images")
ax.set_xticks(counts, counts.astype(int))
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
