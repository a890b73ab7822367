"""Figure on algorithm 1 of the 2009 paper: where the interpolated iteration converges."""

from __future__ import annotations

import numpy as np

from . import style

TOLERANCE = 1e-7
MOST_STEPS = 4000  # of a random problem; near a change from cycle to limit any number is needed


def iteration_counts(eta, radius, steps=1000, y=(1.0, 1.1), lam=1.0):
    """Number of steps until the relative step is below 1e-7, for kernels diag(1, 0) and diag(0, 1).

    Parameters
    ----------
    eta, radius : arrays that broadcast
    steps : int
        Maximum number of steps.
    y : pair of float
    lam : float

    Returns
    -------
    int array; 0 where the iteration did not converge.
    """
    eta, radius = np.broadcast_arrays(np.asarray(eta, float), np.asarray(radius, float))
    eta, radius = eta[..., None], radius[..., None]
    y = np.asarray(y)
    alpha = np.broadcast_to(y / (1 + lam), (*eta.shape[:-1], 2)).copy()
    made = np.zeros(eta.shape[:-1], dtype=int)
    for step in range(1, steps + 1):
        v = alpha**2
        mu = 1 + radius * v / np.linalg.norm(v, axis=-1, keepdims=True)
        new = eta * alpha + (1 - eta) * y / (mu + lam)
        relative = np.linalg.norm(new - alpha, axis=-1) / np.linalg.norm(alpha, axis=-1)
        made[(made == 0) & (relative <= TOLERANCE)] = step
        alpha = new
    return made


def random_counts(eta, problems, steps=MOST_STEPS, random_state=0):
    """Number of steps for random problems: 4 points, 3 kernels, Lambda/lam from 1 to 10^6.

    The kernels have rank 2.

    Returns
    -------
    int array (len(eta), problems); 0 where the iteration did not converge.
    """
    rng = np.random.default_rng(random_state)
    features = rng.standard_normal((problems, 3, 4, 2))
    kernels = features @ features.transpose(0, 1, 3, 2)
    y = rng.standard_normal((problems, 4))
    radius = 10 ** rng.uniform(0, 6, problems)
    made = [_batch(value, kernels, y, radius, steps) for value in eta]
    return np.array(made)


def _batch(eta, kernels, y, radius, steps):
    """Run algorithm 1 with lam = 1, mu0 = 1 on a batch of problems, which converged ones leave."""
    made = np.zeros(len(y), dtype=int)
    open_ = np.arange(len(y))
    alpha = _ridge(kernels, np.ones(kernels.shape[:2]), y)
    for step in range(1, steps + 1):
        K, a = kernels[open_], alpha[open_]
        v = np.einsum("ni,nkij,nj->nk", a, K, a)
        mu = 1 + radius[open_, None] * v / np.linalg.norm(v, axis=1, keepdims=True)
        new = eta * a + (1 - eta) * _ridge(K, mu, y[open_])
        done = np.linalg.norm(new - a, axis=1) <= TOLERANCE * np.linalg.norm(a, axis=1)
        alpha[open_] = new
        made[open_[done]] = step
        open_ = open_[~done]
        if not len(open_):
            break
    return made


def _ridge(kernels, mu, y):
    K = np.einsum("nk,nkij->nij", mu, kernels) + np.eye(y.shape[1])
    return np.linalg.solve(K, y[:, :, None])[:, :, 0]


def algorithm_1(quick=False):
    """Draw where algorithm 1 converges, over eta and Lambda, and in how many steps."""
    figure, (left, right) = style.new_figure(2, columns=1, height=10.0)
    _draw_map(figure, left, quick)
    _draw_speed(right, quick)
    figure.suptitle(
        r"Interpolated iteration "
        r"$\alpha\leftarrow\eta\,\alpha+(1-\eta)(K(\alpha)+\lambda I)^{-1}y$",
        fontsize=11,
    )
    return figure


def _draw_map(figure, ax, quick):
    from matplotlib.colors import LogNorm

    eta = np.linspace(0.005, 0.975, 67 if quick else 195)
    radius = np.geomspace(0.1, 1e7, 41 if quick else 129)
    made = iteration_counts(eta[:, None], radius[None, :], 300 if quick else 1500)
    shown = np.ma.masked_equal(made, 0)
    ax.grid(False)
    ax.set_facecolor("#BBBBBB")
    norm = LogNorm(3, 1500)
    mesh = ax.pcolormesh(radius, eta, shown, norm=norm, cmap="cividis_r", rasterized=True)
    bar = figure.colorbar(mesh, ax=ax, pad=0.02)
    bar.set_label("iterations to a relative change of $10^{-7}$")
    for value, text in ((1 / 3, r"$\eta=1/3$"), (1 / 2, r"$\eta=1/2$")):
        ax.axhline(value, color=style.BLACK, linestyle=(0, (4, 3)), linewidth=1.1)
        ax.text(0.13, value + 0.012, text, fontsize=10, color=style.BLACK)
    ax.text(
        0.97, 0.13, "no convergence:\n2-cycle", transform=ax.transAxes, fontsize=10.5, ha="right"
    )
    title = r"(a) $K_1=\mathrm{diag}(1,0)$, $K_2=\mathrm{diag}(0,1)$, $y=(1,1.1)$, $\lambda=1$"
    style.finish(
        ax, x=r"radius $\Lambda$", y=r"interpolation $\eta$", title=title, log="x", legend=None
    )
    ax.set_xlim(0.1, 1e7)
    ax.set_ylim(0, 0.975)


def _draw_speed(ax, quick):
    eta = np.linspace(0.02, 0.9, 17 if quick else 33)
    made = random_counts(eta, *((100, 400) if quick else (500, MOST_STEPS)))
    share = (made > 0).mean(1)
    count = np.where(made > 0, made, np.nan)
    useful = share > 0
    median = np.nanmedian(count[useful], axis=1)
    slow = np.nanquantile(count[useful], 0.95, axis=1)
    ax.plot(eta[useful], median, label="median", **style.CORRECTED)
    name = "95% quantile of the problems that converge"
    ax.plot(eta[useful], slow, label=name, **style.REFINED)
    ax.set_ylim(3, 2000)
    style.finish(
        ax, x=r"interpolation $\eta$", y="iterations to a relative change of $10^{-7}$",
        title=f"(b) {made.shape[1]} random problems, $1\\leq\\Lambda/\\lambda\\leq 10^6$", log="y",
        legend=None,
    )  # fmt: skip
    ax.axvspan(0, 1 / 3, color="#000000", alpha=0.07, linewidth=0, zorder=0)
    words = "$\\eta<1/3$: may\nnot converge"
    ax.text(0.165, 3.5, words, fontsize=9.5, color="#444444", ha="center")
    twin = ax.twinx()
    twin.spines[["top", "left"]].set_visible(False)
    twin.plot(eta, 100 * (1 - share), **style.PRINTED)
    steps = "400" if quick else style.count(MOST_STEPS)
    twin.set_ylabel(f"problems not converged in {steps} iterations (%)", color=style.RED)
    twin.set_ylim(-1, max(20.0, 105 * (1 - share).max()))
    twin.tick_params(axis="y", colors=style.RED)
    ax.plot([], [], label="problems not converged (right axis)", **style.PRINTED)
    ax.set_xlim(0, 0.92)
    style.legend_below(ax, 2)
