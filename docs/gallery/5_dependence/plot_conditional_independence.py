"""
Conditional independence
========================

Most of ten measurements of diabetes patients are related to the progression of the disease within a
year. Which of them are related to it given the nine others?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import pearsonr
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression

import alignlearn as al

data = load_diabetes()
m, n_decoys, n_draws = 300, 3, 999
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    m, n_decoys, n_draws = 150, 1, 199
# sphinx_gallery_end_ignore
rng = np.random.default_rng(0)
rows = rng.permutation(len(data.target))[:m]
X, y = data.data[rows] / data.data.std(axis=0), data.target[rows]

# %% ``hsic_test`` tests whether a measurement and the progression are dependent, and ``kci_test``
# whether they are dependent given the others. Decoys are a control: the prediction of the
# measurement from the others plus its residuals in random order, which are unrelated to the
# progression.
names = ["age", "sex", "body mass", "pressure", "cholesterol", "LDL", "HDL", "ratio", "lipids"]
names.append("glucose")
alone, given, linear, decoys = [], [], [], []
for k, name in enumerate(names):
    x, others = X[:, k], np.delete(X, k, axis=1)
    alone.append(al.hsic_test(x, y, n_permutations=n_draws, random_state=0).p_value)
    given.append(al.kci_test(x, y, others, n_draws=n_draws, random_state=0).p_value)
    line, line_y = (LinearRegression().fit(others, v).predict(others) for v in (x, y))
    linear.append(pearsonr(x - line, y - line_y).pvalue)
    decoys.append([])
    for _ in range(n_decoys):
        decoy = line + rng.permutation(x - line)
        decoys[-1].append(al.kci_test(decoy, y, others, n_draws=n_draws, random_state=0).p_value)
    found = f"alone {alone[-1]:.3f}, given the others {given[-1]:.3f}, linear {linear[-1]:.4f}"
    print(f"{name:12s} p {found}")
decoys = np.array(decoys)

# %% Limitation: conditioning on nine columns reduces the power. A linear partial correlation, which
# assumes more, also detects the lipids, and the kernel test does not. A large p-value does not
# prove independence.
print(f"decoys with p <= 0.05: {np.mean(decoys <= 0.05):.3f} of {decoys.size}")
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
at = -np.arange(len(names))
ax.plot(decoys, at, "x", color="#999999", markersize=5)
ax.plot([], [], "x", color="#999999", label="kernel, conditional (decoys)")
ax.plot(alone, at, "o", color="#E69F00", markersize=7, label="kernel, unconditional")
ax.plot(given, at, "s", color="#0072B2", markersize=7, label="kernel, conditional")
ax.plot(
    np.maximum(linear, 1e-3),
    at,
    "^",
    color="#009E73",
    markersize=6,
    label="linear, conditional",
)
ax.axvline(0.05, color="#222222", linestyle="--", linewidth=0.8)
ax.set_yticks(at, names)
ax.set(
    xscale="log",
    xlabel="p-value, at least 0.001 (dashed: 0.05)",
    title="Progression of diabetes",
)
ax.spines[["top", "right", "left"]].set_visible(False)
fig.legend(frameon=False, fontsize=9, loc="outside lower center", ncols=2)
