"""Figures on stability: two stages, one stage, and where algorithm 1 converges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..bounds import stability
from ..p1_alignment import theorem_16
from ..p2_l2 import prop_3
from ..reference import exchange
from ..reference.learners import interpolated_iteration, lkrr_weights
from ..reference.matrices import combine
from ..reference.problems import gaussian_kernel
from . import style
from .curves import mixture

BANDWIDTHS = (0.5, 1.0, 2.0)


class Change(NamedTuple):
    """Values of sup_x |h' - h| and of its bounds, one entry for each m."""

    m: np.ndarray
    observed: np.ndarray
    printed: np.ndarray
    corrected: np.ndarray


def _over(sizes, make) -> Change:
    """Collect the maxima over the cases that ``make(m)`` yields for each m."""
    rows = [np.max([row for row in make(int(m))], axis=0) for m in sizes]
    return Change(np.asarray(sizes), *np.array(rows).T)


def _two_stage(case):
    corrected = np.max(theorem_16.corrected_bound(case))
    return theorem_16.measure(case).max(), theorem_16.bound(case), corrected


def flipped_label_change(sizes, lam0=10.0) -> Change:
    """Change of alignf's predictor when one flipped label moves all weight to another kernel."""
    return _over(sizes, lambda m: [_two_stage(exchange.flipped_label(m, lam0))])


def one_kernel_change(sizes) -> Change:
    """Change for one fixed kernel, where the residual exceeds the label bound."""
    return _over(sizes, lambda m: [_two_stage(theorem_16.residual_counterexample(m))])


def _mixture_pairs(m, pairs, lam0, random_state=0):
    """Samples of the mixture in which a point changes place and label, and 40 test points."""
    rng = np.random.default_rng([random_state, m])
    for _ in range(pairs):
        X, y = mixture().sample(m + 41, rng)
        kernels = np.array([gaussian_kernel(X, width) for width in BANDWIDTHS])
        # The exchanged point gets the wrong label, which changes more than a fresh point.
        yield {"kernels": kernels, "y": y[:m], "y_new": -y[m], "lam0": lam0}


def mixture_change(sizes, pairs, lam0=0.1) -> Change:
    """Change of alignf on samples of the mixture with three Gaussian kernels."""

    def make(m):
        for case in _mixture_pairs(m, pairs, lam0):
            for key, rows, y in zip(
                ("mu", "mu_new"), exchange.rows_of(case), exchange.labels_of(case)
            ):
                case[key] = exchange.alignf_weights(case["kernels"], rows, y)
            yield _two_stage(case)

    return _over(sizes, make)


# -- two stages ------------------------------------------------------------------------


def two_stage(quick=False):
    """Draw two stages, weights then ridge: observed change, theorem 16 and its correction."""
    top = 100 if quick else 700
    figure, axes = style.new_figure(3, height=11.0)
    labels = "Theorem 16 as printed (false)", "corrected", r"observed $\sup_x|h'(x)-h(x)|$"
    panels = (
        (
            flipped_label_change(style.log_grid(3, top, 10)),
            1 / np.sqrt(10.0),
            "(a) alignf, one flipped label, $\\lambda_0=10$:\nthe change does not tend to 0",
        ),
        (
            one_kernel_change(style.log_grid(5, 2 * top, 10)),
            10.0,
            "(b) one kernel $xx'$, $\\lambda_0=1/100$:\nthe residual exceeds the label bound",
        ),
        (
            mixture_change(style.log_grid(8, 60 if quick else 400, 8), 2 if quick else 25),
            1 / np.sqrt(0.1),
            "(c) alignf, three Gaussian kernels, two normal\ndistributions, one label flipped, "
            "$\\lambda_0=0.1$",
        ),
    )
    for ax, (found, level, title) in zip(axes, panels):
        _draw_change(ax, found, level, title, labels)
    words = "Theorem 16 is lower here,\nbut (a) and (b) violate it"
    axes[2].text(0.03, 0.04, words, transform=axes[2].transAxes, fontsize=9.5, color=style.RED)
    figure.suptitle(
        "Two-stage kernel ridge regression: change of the predictor when one of $m$ points is "
        "replaced",
        fontsize=11,
    )
    return figure


def _draw_change(ax, found, level, title, labels):
    printed, corrected, observed = labels
    ax.plot(found.m, found.printed, label=printed, **style.PRINTED)
    ax.plot(found.m, found.corrected, label=corrected, **style.CORRECTED)
    ax.plot(found.m, found.observed, label=observed, **style.OBSERVED)
    wrong = found.observed > found.printed * (1 + 1e-9)
    if wrong.any():
        look = {"mfc": "none", "mec": style.RED, "markersize": 9, "mew": 1.5, "linestyle": ""}
        name = "violates the printed bound"
        ax.plot(found.m[wrong], found.observed[wrong], "o", label=name, **look)
    style.finish(ax, y="change of the predictor, units of $y$", title=title, legend=None)
    low, high = ax.get_ylim()
    ax.set_ylim(low / 1.5, max(high, 3 * level))
    # Both predictors are at most half of this for any samples.
    name = r"M(\kappa/\lambda_0)^{1/2}"
    style.shade_vacuous(ax, level, f"shaded: vacuous, more than ${name}$")
    style.legend_below(ax)


# -- one stage -------------------------------------------------------------------------


def _one_stage(case):
    """Observed change, proposition 3 and its correction, from one solution on each sample."""
    kernels, mu0, radius = case["kernels"], case["mu0"], case["radius"]
    lam0, m = case["lam0"], len(case["y"])
    rows, labels = exchange.rows_of(case), exchange.labels_of(case)
    weights = [
        _learn(kernels[:, r][:, :, r], y, lam0 * m, mu0, radius) for r, y in zip(rows, labels)
    ]
    h, h_new = (
        exchange.fit_predict(combine(mu, kernels), r, y, lam0)
        for mu, r, y in zip(weights, rows, labels)
    )
    k = np.diagonal(kernels, axis1=1, axis2=2).T
    residual = max(np.abs(f[r] - y).max() for f in (h, h_new) for r, y in zip(rows, labels))
    kappa = (k @ np.array(weights).T).max()
    printed = stability.lkrr_stability_printed(m, lam0, residual, kappa, radius, len(mu0))
    exchanged = max(abs(h[m - 1] - labels[0][-1]), abs(h_new[m] - labels[1][-1]))
    kappa_d = stability.lkrr_capacity(k, mu0, radius).stability
    corrected = stability.lkrr_stability(m, lam0, exchanged, kappa_d)
    return np.abs(h_new - h).max(), printed, corrected


def _learn(blocks, y, lam, mu0, radius):
    """Weights of the one-stage learner; each step of the iteration halves the error."""
    options = {"steps": 200, "tol": 1e-11}
    alpha, _, _ = interpolated_iteration(blocks, y, lam, mu0, radius, **options)
    return lkrr_weights(blocks, alpha, mu0, radius)


def scaled_family_change(sizes, scale=1e4, lam0=1e8, radius=1.0) -> Change:
    """Change on the counterexample to proposition 3, extended to every m."""

    def make(m):
        case = prop_3.sharp_case(m, radius, lam0)
        yield _one_stage(case | {"kernels": scale * case["kernels"]})

    return _over(sizes, make)


def sharp_family_change(sizes) -> Change:
    """Change on the family that attains the corrected bound."""
    return _over(sizes, lambda m: [_one_stage(prop_3.sharp_case(m))])


def lkrr_mixture_change(sizes, pairs, lam0=0.1) -> Change:
    """Change on samples of the mixture with three Gaussian kernels."""

    def make(m):
        for case in _mixture_pairs(m, pairs, lam0):
            yield _one_stage(case | {"mu0": np.ones(len(BANDWIDTHS)), "radius": 1.0})

    return _over(sizes, make)


def lkrr_stability(quick=False):
    """Draw L2-regularized kernel learning: observed change, proposition 3 and its correction."""
    top = 40 if quick else 300
    figure, axes = style.new_figure(3, height=11.0)
    labels = "Proposition 3 as printed (false)", "corrected", r"observed $\sup_x|h'(x)-h(x)|$"
    # K_mu(x, x) <= kappa of each setting, in the ball of radius 1 or 10^6 around mu0 = (1, ...).
    wide = stability.lkrr_capacity(np.ones((1, 2)), np.ones(2), 1e6).kernel
    near = stability.lkrr_capacity(np.ones((1, 2)), np.ones(2), 1.0).kernel
    three = stability.lkrr_capacity(np.ones((1, 3)), np.ones(3), 1.0).kernel
    panels = (
        (
            scaled_family_change(style.log_grid(2, top, 10)),
            np.sqrt(near * 1e4 / 1e8),
            "(a) two rank-one kernels, $K_k(x,x)=10^4$, $\\Lambda=1$,\n"
            r"$\lambda_0=10^8$: the printed bound fails",
        ),
        (
            sharp_family_change(style.log_grid(2, top, 10)),
            np.sqrt(wide / 1e12),
            "(b) as (a), with $K_k(x,x)=1$, $\\Lambda=10^6$,\n"
            r"$\lambda_0=10^{12}$: the corrected bound is sharp",
        ),
        (
            lkrr_mixture_change(style.log_grid(8, top, 6), 2 if quick else 20),
            np.sqrt(three / 0.1),
            "(c) three Gaussian kernels, two normal\ndistributions, one label flipped, "
            "$\\Lambda=1$, $\\lambda_0=0.1$",
        ),
    )
    for ax, (found, level, title) in zip(axes, panels):
        _draw_change(ax, found, level, title, labels)
    figure.suptitle(
        "L2-regularized kernel learning: change of the predictor when one of $m$ points is "
        "replaced",
        fontsize=11,
    )
    return figure
