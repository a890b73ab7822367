"""Whether learning helps: a sign test on samples that come after the training samples.

Not in the paper, whose appendix C has paired t-tests over folds. Let z_1, ..., z_m be independent
and identically distributed, both predictors at z_i functions of the samples before its block, D_i
in {-1, 0, 1} the difference of their 0-1 losses and Delta_i its mean given the past. With n* fixed
before and T the number of + among the first n* of the D_i that are not 0 (those that do not come
count as -), p = P(Bin(n*, 1/2) >= T): if Delta_i <= 0 for all i, P(p <= a) <= a; proofs.md, section
23. Checked: how often T exceeds its critical value for differences whose distribution depends on
the past in any way, also where the method stops differing as soon as it leads enough. Verdict:
holds; with a random number of trials it fails (negative control: 10% at 5%).

`p1-prequential-betting`. How much learning helps: a lower bound without a hypothesis. Not in the
paper. For D_i in [-1, 1] and a finite set of lambda in (0, 1), sum log(1 + lambda D_i) - lambda sum
Delta_i <= log(|set|/a) for all lambda at once, with probability 1 - a; also for the means of both
sums over random orders of the samples; proofs.md, section 23. Checked: how often the largest
exceeds the bound, for differences whose distribution depends on the past, and for a predictor that
learns the most frequent value, in one order and in five. Verdict: holds.
"""

import numpy as np

from alignlearn.significance.prequential import binomial_tail

from ..prelude import P1, Claim, Mutant, NegativeControl, Status, once

TRIALS = 1000
LEADS = 3  # the distribution depends on the lead, from -3 to 3 and beyond


def cases(draw):
    return {
        "n_samples": draw.integer(1, 60),
        "n_star": draw.integer(1, 30),
        "delta": draw.choice((0.05, 0.1, 0.3, 0.5)),
        "differs": np.array([draw.real(0.0, 1.0) for _ in range(2 * LEADS + 1)]),
        "wins": np.array([draw.real(0.0, 0.5) for _ in range(2 * LEADS + 1)]),
        "stops": bool(draw.integer(0, 1)),
        "seed": draw.integer(0, 2**32 - 1),
    }


def critical(n, delta):
    """The largest T with P(Bin(n, 1/2) >= T) > delta, of an array of n."""
    table = [
        sum(binomial_tail(k, wins) > delta for wins in range(1, k + 1))
        for k in range(int(np.max(n)) + 1)
    ]
    return np.array(table)[n]


@once
def signs(case):
    """(wins among the first n*, all wins, all nonzero differences), (TRIALS,) each."""
    rng, lead = np.random.default_rng(case["seed"]), np.zeros(TRIALS, dtype=int)
    counted, wins, n = np.zeros((3, TRIALS), dtype=int)
    stop = critical(np.arange(case["n_samples"] + 1), case["delta"])
    for _ in range(case["n_samples"]):
        state = np.clip(lead, -LEADS, LEADS) + LEADS
        differs = rng.random(TRIALS) < case["differs"][state]
        if case["stops"]:
            differs &= wins <= stop[n]
        won = differs & (rng.random(TRIALS) < case["wins"][state])
        counted += won & (n < case["n_star"])
        wins, n, lead = wins + won, n + differs, lead + won - (differs & ~won)
    return counted, wins, n


def bound(case):
    return float(critical(case["n_star"], case["delta"]))


def measure(case):
    return signs(case)[0].astype(float)


def random_bound(case):
    """The wrong bound that takes the random number of trials as fixed."""
    return critical(signs(case)[2], case["delta"]).astype(float)


def random_measure(case):
    return signs(case)[1].astype(float)


def stopping(n_samples=20, n_star=10, delta=0.05):
    """Fair signs that stop once the lead would be significant."""
    coins = {"differs": np.ones(2 * LEADS + 1), "wins": np.full(2 * LEADS + 1, 0.5)}
    rest = {"n_samples": n_samples, "n_star": n_star, "delta": delta, "stops": True, "seed": 1}
    return coins | rest


CLAIM = Claim(
    name="p1-prequential",
    source=f"{P1}, appendix C, new",
    status=Status.NEW,
    statement=(
        r"\Delta_i \le 0\ \forall i \Rightarrow \Pr\big[\Pr(\mathrm{Bin}(n^*, \tfrac12) \ge T)"
        r"\le \alpha\big] \le \alpha"
    ),
    hypotheses="Independent points of one distribution; predictors and n* functions of the past.",
    kind="upper",
    bound=bound,
    measure=measure,
    cases=cases,
    confidence=0.95,
    trivial=lambda case: case["n_star"],
    extremes=lambda: [stopping(), stopping(60, 2, 0.5) | {"stops": False}],
    mutants=(
        Mutant("as many trials as there are", random_bound, random_measure),
        Mutant("n* - 1 for n*", lambda c: float(critical(c["n_star"] - 1, c["delta"]))),
    ),
    negative_control=NegativeControl(
        stopping, bound=random_bound, measure=random_measure, note="a random number of trials"
    ),
    proof="23",
)


# -- p1-prequential-betting ------------------------------------------------------------


VALUES = np.array([-1.0, -0.4, 0.0, 0.5, 1.0])
ATOMS = 4


def betting_cases(draw):
    return {
        "n_samples": draw.integer(1, 60),
        "bets": np.array(draw.choice(((0.5,), (0.1, 0.9), (0.1, 0.25, 0.5, 0.75)))),
        "delta": draw.choice((0.05, 0.2, 0.5)),
        "law": np.array([draw.weights(len(VALUES)) for _ in range(3)]),
        "atoms": draw.weights(ATOMS),
        "orders": draw.choice((0, 1, 5)),
        "until": draw.choice((np.inf, 2.0, 5.0, 20.0)),
        "seed": draw.integer(0, 2**32 - 1),
    }


@once
def wealth(case):
    """(sum log(1 + lambda D) (bets, trials), sum Delta (trials,)), means over the orders."""
    rng = np.random.default_rng(case["seed"])
    return (_learning if case["orders"] else _adversary)(case, rng)


def _adversary(case, rng):
    """Differences whose distribution depends on whether their sum is negative, 0 or positive."""
    logs, means, total = np.zeros((len(case["bets"]), TRIALS)), np.zeros(TRIALS), np.zeros(TRIALS)
    law, expected = case["law"].cumsum(1), case["law"] @ VALUES
    for _ in range(case["n_samples"]):
        state = np.sign(total.round(6)).astype(int) + 1
        drawn = (rng.random(TRIALS)[:, None] > law[state, :-1]).sum(1)
        plays = (logs - case["bets"][:, None] * means).max(0) < np.log(case["until"])
        D = np.where(plays, VALUES[drawn], 0.0)
        logs, total = logs + np.log1p(case["bets"][:, None] * D), total + D
        means = means + np.where(plays, expected[state], 0.0)
    return logs, means


def _learning(case, rng):
    """Most frequent past value against the first value, on samples of a finite distribution."""
    n, p = 2 * case["n_samples"], case["atoms"]
    samples = rng.choice(ATOMS, (TRIALS, n), p=p)
    logs, means = np.zeros((len(case["bets"]), TRIALS)), np.zeros(TRIALS)
    for _ in range(case["orders"]):
        z = rng.permuted(samples, axis=1)
        seen = np.cumsum(z[:, :, None] == np.arange(ATOMS), axis=1)
        learned = seen.argmax(2)[:, n // 2 - 1 : -1]
        new = z[:, n // 2 :]
        D = (new != 0).astype(float) - (new != learned)
        logs += np.log1p(case["bets"][:, None, None] * D).sum(2)
        means += (p[learned] - p[0]).sum(1)
    return logs / case["orders"], means / case["orders"]


def betting_bound(case):
    return float(np.log(len(case["bets"]) / case["delta"]))


def betting_measure(case):
    logs, means = wealth(case)
    return (logs - case["bets"][:, None] * means).max(0)


def _fair(bets=(0.2, 0.95), until=5.0):
    """Fair signs that stop once some bet has won this much."""
    law = np.tile([0.5, 0.0, 0.0, 0.0, 0.5], (3, 1))
    rest = {"atoms": np.full(ATOMS, 1 / ATOMS), "orders": 0, "until": until, "seed": 1}
    return {"n_samples": 400, "bets": np.array(bets), "delta": 0.2, "law": law} | rest


def _better():
    """Differences of mean 0.75."""
    law = np.tile([0.125, 0.0, 0.0, 0.0, 0.875], (3, 1))
    return _fair((0.5,)) | {"law": law, "until": np.inf, "n_samples": 20}


BETTING = Claim(
    name="p1-prequential-betting",
    source=f"{P1}, appendix C, new",
    status=Status.NEW,
    statement=(
        r"\Pr\Big[\forall \lambda \in \Lambda:\ \tfrac1N \sum_i \Delta_i \ge \tfrac{1}{\lambda N}"
        r"\Big(\sum_i \log(1 + \lambda D_i) - \log\tfrac{|\Lambda|}{\alpha}\Big)\Big]"
        r"\ge 1 - \alpha"
    ),
    hypotheses="Independent points of one distribution; predictors functions of the past.",
    kind="upper",
    bound=betting_bound,
    measure=betting_measure,
    cases=betting_cases,
    confidence=0.95,
    extremes=lambda: [_fair(), _better()],
    mutants=(
        Mutant("without the number of bets", lambda case: float(np.log(1 / case["delta"]))),
        Mutant("without the means", measure=lambda case: wealth(case)[0].max(0)),
    ),
    negative_control=NegativeControl(
        lambda: _fair((0.5,), 5.0**0.6),
        bound=lambda c: 0.6 * betting_bound(c),
        note=".6 of the log",
    ),
    proof="23",
)
