#!/usr/bin/env python3
"""Section 5 of Cortes, Mohri and Rostamizadeh (2009), L2 regularization for learning kernels.

1. Four UCI sets (breast, ionosphere, sonar, heart) as +-1 regression with three kernels, Gaussian,
linear and polynomial of degree 2. The paper has one misclassification rate per set, states that all
methods are within one standard deviation of it and of each other, and takes its setup from
Lanckriet et al. (2004). Here: columns scaled to [-1, 1], kernels centered and of equal trace, gamma
= 1/d, random splits of 80% and 20%, parameters by 5-fold cross-validation on the training part.

2. Figure 1 on reviews: RMSE against the number N of rank-one bigram kernels (raw counts, and one
constant kernel). Random halves for training and test; parameters are chosen on a fifth of the
training half. Of the paper's four data sets kitchen is registered, and books, which its text names.
The figure was published without numbers, so only its message can be compared: L2-regularized
kernels (mu0 = 1) are better than the evenly weighted sum, which is better than L1-regularized ones,
for many kernels.

All methods are `alignlearn.weights.one_stage.LKRR`: Lambda = 0 is kernel ridge with mu0.

usage: scripts/reproduce/p2_l2/lkrr.py [--quick] [--repeats N] [--out FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import shared

from alignlearn import datasets
from alignlearn.kernels import Gaussian, Linear, Polynomial
from alignlearn.significance import corrected_resampled_t_test
from alignlearn.sources import FeatureFamily
from alignlearn.weights.one_stage import LKRR

UCI = {"breast_cancer_wisconsin": 0.03, "ionosphere": 0.08, "sonar": 0.16, "heart_statlog": 0.17}
DOMAINS = ("books", "kitchen")
SIZES = (200, 500, 1000, 2000, 4000)
METHODS = ("uniform", "l1-krr", "lkrr")
RIDGE = tuple(10.0 ** (k / 2) for k in range(4, -6, -1))
_LOOSE = {"tol": 1e-4}
_LOOSE_L1 = {"tol": 2e-2, "norm": 1}


# UCI sets


def uci_rules(p):
    """Candidates by method; radius and ridge parameter vary."""
    single = np.eye(p)
    return {
        "best single": [LKRR(0.0, e, a) for a in RIDGE for e in single],
        "uniform": [LKRR(0.0, 1.0, a) for a in RIDGE],
        "l1-krr": [LKRR(1.0, 0.0, a, tol=1e-3, norm=1) for a in RIDGE],
        "lkrr": [LKRR(L, 1.0, a * L, **_LOOSE) for a in RIDGE for L in (1.0, 10.0)],
    }


def solve(trial, rule):
    """Losses on the two parts held out."""
    result = rule.solve_grams(trial.family, trial.target)
    return trial.losses(result.weights, result.dual_coef, result.intercept)


class SignTrial(shared.GramTrial):
    """+-1 regression, evaluated by the sign."""

    def loss(self, decision, y):
        """Fraction misclassified."""
        return float(np.mean(np.where(decision + self.offset > 0.0, 1.0, -1.0) != y))


def uci_error(X, y, split, n_folds):
    """Fraction misclassified by every method on one split into training and test samples."""
    train, test = split
    gamma = 1.0 / X.shape[1]
    polynomial = Polynomial(degree=2, gamma=gamma, coef0=1.0)  # (1 + x'z/d)^2
    kernels = [k.resolve(X) for k in (Gaussian(gamma), Linear(), polynomial)]
    options = {"kernels": kernels, "scale": "minmax"}
    rules = uci_rules(len(kernels))
    losses = {method: np.zeros(len(found)) for method, found in rules.items()}
    for f in range(n_folds):
        held = np.arange(len(train)) % n_folds == f
        parts = train[~held], train[held], test
        trial = SignTrial(X, y, parts, "regression", **options)
        for method, found in rules.items():
            losses[method] += [solve(trial, rule)[0] for rule in found]
    final = SignTrial(X, y, (train, test, test), "regression", **options)
    return [solve(final, found[int(losses[m].argmin())])[1] for m, found in rules.items()]


def uci_part(out, args):
    """The first part: table of misclassification rates; (methods, (sets, methods, splits))."""
    repeats, n_folds = (3, 2) if args.quick else (4 * args.repeats, 5)
    methods = tuple(uci_rules(3))
    rows, table = [], []
    for name, paper in list(UCI.items())[2 if args.quick else 0 :]:
        data = datasets.load(name)
        y = data.y.astype(float)
        errors = []
        for seed in range(repeats):
            order = np.random.default_rng(seed).permutation(len(y))
            cut = len(y) // 5
            errors.append(uci_error(data.X, y, (order[cut:], order[:cut]), n_folds))
        errors = np.array(errors).T
        deviation = errors.std(axis=1, ddof=1)
        within = np.abs(errors.mean(axis=1) - paper) <= deviation
        cells = [shared.spread(e.mean(), s) for e, s in zip(errors, deviation)]
        rows.append((name, f"{paper:.2f}", *cells, "agrees" if within.all() else "differs"))
        table.append(errors)
    out.say(
        f"Misclassification on four UCI sets; mean and deviation over {repeats} random splits.",
        "A set agrees where the paper's figure is within one measured deviation of all methods.",
    )
    out.table(("set", "paper", *methods, ""), rows)
    for (name, *_), errors in zip(rows, table):
        best, learned = errors[0].mean(), errors[2:].mean(axis=1)
        spread = errors.std(axis=1, ddof=1).max()
        same = np.abs(learned - best).max() <= spread
        out.say(
            f"  {name}: learned kernels {'are' if same else 'are NOT'} within one deviation of the "
            f"best single one (differences {', '.join(f'{d:+.3f}' for d in learned - best)})"
        )
    out.say("")
    return methods, table


# Reviews


def review_rules(n_kernels, quick):
    """Candidates by method. The sum of N weights of length 1 grows like sqrt(N)."""
    step = 3 if quick else 1
    ridge = tuple(10.0 ** (k / 4) for k in range(11, 2, -step))
    sparse = tuple(10.0 ** (k / 2) for k in range(0, -4, -step))
    radii = [r * np.sqrt(n_kernels) for r in ((1.0,) if quick else (0.3, 1.0, 3.0, 10.0))]
    return {
        "uniform": [LKRR(0.0, 1.0, a) for a in ridge],
        "l1-krr": [LKRR(1.0, 0.0, a, **_LOOSE_L1) for a in sparse],
        "lkrr": [
            LKRR(radius, 1.0, a * (1.0 + 0.5 * radius / np.sqrt(n_kernels)), **_LOOSE)
            for radius in radii
            for a in ridge[:: 1 if quick else 2]
        ],
    }


class ReviewTrial(shared.Trial):
    """Rank-one kernels of columns that are neither centered nor scaled."""

    def __init__(self, X, y, parts):
        super().__init__(y, parts, "regression")
        self.X = [X[part] for part in parts]
        self.family = FeatureFamily(self.X[0], center=False)

    def decisions(self, weights, dual):
        """Of the two parts held out."""
        w = weights * (self.X[0].T @ dual)
        return [Z @ w for Z in self.X[1:]]


def review_errors(X, y, seed, quick):
    """Test RMSE by method on one split into halves."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    cut = len(train) // 5
    choose = ReviewTrial(X, y, (train[cut:], train[:cut], test))
    final = ReviewTrial(X, y, (train, test, test))
    errors = []
    for rules in review_rules(X.shape[1], quick).values():
        losses = [solve(choose, rule)[0] for rule in rules]
        errors.append(solve(final, rules[int(np.argmin(losses))])[1])
    return errors


def review_part(out, args):
    """The second part; {domain: errors (sizes, methods, splits)} and the sizes."""
    from scipy import sparse

    sizes = (200, 500) if args.quick else SIZES
    repeats = 2 if args.quick else args.repeats
    found = {}
    for domain in DOMAINS[1:] if args.quick else DOMAINS:
        data = datasets.load(f"sentiment_bigrams_{domain}")
        constant = np.ones((len(data.y), 1))
        errors = []
        for n in sizes:
            X = sparse.hstack([data.X[:, :n], constant]).tocsr()
            errors.append(
                np.transpose([review_errors(X, data.y, s, args.quick) for s in range(repeats)])
            )
        found[domain] = np.array(errors)
        review_table(out, domain, sizes, found[domain])
    return sizes, found


def review_table(out, domain, sizes, errors):
    """RMSE by N, and relative to the evenly weighted sum."""
    repeats = errors.shape[2]
    out.say(f"{domain}: RMSE (stars) against N, mean and deviation over {repeats} splits in halves")
    rows = []
    for n, by_method in zip(sizes, errors):
        relative = by_method / by_method[0]
        cells = [shared.spread(e.mean(), e.std(ddof=1)) for e in by_method]
        cells += [shared.spread(r.mean(), r.std(ddof=1)) for r in relative[1:]]
        # Half of the sample trains and half tests.
        p = [
            corrected_resampled_t_test(a, b, n_train=1, n_test=1).p_value
            for a, b in ((by_method[2], by_method[0]), (by_method[0], by_method[1]))
        ]
        rows.append((n, *cells, *(f"{value:.2g}" for value in p)))
    header = ("N", *METHODS, "l1-krr / uniform", "lkrr / uniform")
    out.table((*header, "p lkrr < uniform", "p uniform < l1-krr"), rows)
    mean = errors.mean(axis=2)
    better, worse = mean[:, 2] < mean[:, 0], mean[:, 1] > mean[:, 0]
    out.say(
        f"  lkrr better than uniform on the mean for N = {listed(sizes, better)}; "
        f"l1-krr worse for N = {listed(sizes, worse)}.",
        "",
    )


def listed(sizes, which):
    """The chosen sizes as text."""
    return ", ".join(str(n) for n, yes in zip(sizes, which) if yes) or "none"


def draw(sizes, reviews, methods, uci):
    """RMSE, RMSE by that of the sum (as in Figure 1), and the UCI rates."""
    figure, axes = shared.new_figure(2, len(reviews) + 1, (3.0 * (len(reviews) + 1), 5.8))
    for (top, bottom), (domain, errors) in zip(axes.T, reviews.items()):
        for ax, values in ((top, errors), (bottom, errors / errors[:, :1])):
            for k, method in enumerate(METHODS):
                color, marker = shared.STYLES[method]
                e = values[:, k]
                x = np.array(sizes) * (1.0 + 0.02 * (k - 1))
                ax.errorbar(
                    x, e.mean(axis=1), e.std(axis=1, ddof=1), fmt=f"-{marker}", color=color,
                    markersize=6, capsize=2, linewidth=1.2, label=method,
                )  # fmt: skip
            ax.set_xlabel("number of bigram kernels N")
        top.set(
            title=f"{domain}, mean and standard\ndeviation over the splits", ylabel="RMSE (stars)"
        )
        bottom.set_ylabel("RMSE / RMSE of equal weights")
        top.legend(frameon=False, fontsize=8)
    names = [name.partition("_")[0] for name in list(UCI)[-len(uci) :]]
    ax = axes[0, -1]
    looks = (("#0072B2", "o"), *(shared.STYLES[m] for m in METHODS))
    for i, (errors, paper) in enumerate(zip(uci, list(UCI.values())[-len(uci) :])):
        for k, (e, (color, marker)) in enumerate(zip(errors, looks)):
            ax.errorbar(
                i + 0.14 * (k - 1.5), e.mean(), e.std(ddof=1), fmt=marker, color=color, capsize=2,
                markersize=6, label=methods[k] if i == 0 else None,
            )  # fmt: skip
        label = "paper" if i == 0 else None
        ax.plot(
            [i - 0.4, i + 0.4], [paper, paper], "-", color="#000000", linewidth=1.2, label=label
        )
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
    ax.set(
        title="UCI, mean and standard\ndeviation over the splits", ylabel="fraction misclassified"
    )
    ax.set_ylim(bottom=0.0)
    axes[1, -1].axis("off")
    axes[1, -1].legend(*ax.get_legend_handles_labels(), loc="upper left", frameon=False)
    return figure


def main(argv=None):
    """Print and draw; return the UCI errors and those of the reviews."""
    args = shared.arguments(__doc__, argv, 5)  # splits of reviews; four times as many of UCI
    out = shared.Output("lkrr", args, __file__)
    out.say("Section 5 of Cortes, Mohri and Rostamizadeh (2009): L2 regularized kernel ridge.", "")
    methods, uci = uci_part(out, args)
    sizes, reviews = review_part(out, args)
    if not args.quick:
        out.text("explanation")
    out.write(draw(sizes, reviews, methods, uci))
    return uci, reviews


if __name__ == "__main__":
    shared.run(main)
