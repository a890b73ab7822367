"""
Molecules by three fingerprints
===============================

FreeSolv has the measured hydration free energy of 642 molecules. Which of three fingerprints
predicts it best, and does a combination help?
"""

# sphinx_gallery_start_ignore
import os

# sphinx_gallery_end_ignore
import datamol as dm
import matplotlib.pyplot as plt
import numpy as np
from rdkit.Chem import MACCSkeys
from rdkit.Chem.rdFingerprintGenerator import GetAtomPairGenerator, GetMorganGenerator
from sklearn.model_selection import ShuffleSplit

import alignlearn as al

data = dm.data.freesolv()
molecules = [dm.to_mol(text) for text in data["smiles"]]
y = data["expt"].to_numpy()  # kcal / mol

# %% Each fingerprint is a table of 0 and 1, and the ``Tanimoto`` kernel counts common bits.
morgan, pairs = GetMorganGenerator(radius=2, fpSize=1024), GetAtomPairGenerator(fpSize=1024)
tables = {
    "Morgan": [morgan.GetFingerprintAsNumPy(molecule) for molecule in molecules],
    "atom pairs": [pairs.GetFingerprintAsNumPy(molecule) for molecule in molecules],
    "MACCS keys": [list(MACCSkeys.GenMACCSKeys(molecule)) for molecule in molecules],
}
tables = {name: np.array(rows, dtype=np.float32) for name, rows in tables.items()}
choices = {name: ([name], "uniform") for name in tables}
choices["equal weights"] = list(tables), "uniform"
choices["learned weights"] = list(tables), "alignf"

# %% Ridge regression; leave-one-out on the training molecules selects the penalty.
sizes, draws = (64, 128, 256, 512), 2
# sphinx_gallery_start_ignore
if os.environ.get("ALIGNLEARN_DOCS_SMALL"):  # less work, for the tests
    sizes, draws = (64, 128), 1
# sphinx_gallery_end_ignore
rmse = np.zeros((len(choices), len(sizes), draws))
for s, size in enumerate(sizes):
    splitter = ShuffleSplit(draws, train_size=size, test_size=128, random_state=0)
    for r, (train, test) in enumerate(splitter.split(y)):
        for k, (names, rule) in enumerate(choices.values()):
            model = al.MKLRegressorCV(dict.fromkeys(names, "tanimoto"), weighting=rule)
            model.fit({name: tables[name][train] for name in names}, y[train])
            found = model.predict({name: tables[name][test] for name in names})
            rmse[k, s, r] = np.sqrt(np.mean((found - y[test]) ** 2))
physics = np.sqrt(np.mean((data["calc"] - y) ** 2))
for name, row in zip(choices, rmse.mean(axis=2)):
    print(f"{name:15s} RMSE {row.round(2)}")
print("learned weights:", dict(zip(tables, model.weights_.round(3).tolist())))

# %% Limitation: the combination does not help. Learned weights select one fingerprint, so the two
# lines coincide. Equal weights are worse, since two of the three fingerprints are worse.
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
colors = "#999999", "#E69F00", "#009E73", "#555555", "#0072B2"
for k, (name, row) in enumerate(zip(choices, rmse.mean(axis=2))):
    style = ("--" if k == 4 else "-") + "os^Dv"[k]
    ax.plot(
        sizes, row, style, color=colors[k], label=name, markerfacecolor="none" if k == 4 else None
    )
ax.axhline(physics, color="#222222", linewidth=0.8, linestyle=":")
ax.annotate("molecular dynamics, without training data", (sizes[0], physics - 0.18), fontsize=9)
ax.set(xscale="log", xlabel="training molecules", ylabel="RMSE on new molecules, kcal/mol")
ax.set_title("Hydration free energy from fingerprints")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.spines[["top", "right"]].set_visible(False)
ax.set_ylim(0.0, None)
ax.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0.0, 0.02), ncols=2)
