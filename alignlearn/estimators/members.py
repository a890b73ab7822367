"""The models that a strategy averages: the best on the folds, alone or together."""

from __future__ import annotations

import numpy as np

from alignlearn._pairs import mean_size

from .results_table import first_best

_BLOCKS = 10  # parts of the test samples for the standard error of a gain
_NOISE = 0.5  # minimum gain in standard errors for an average, if a fit takes long
_CLEAR = 2.0  # standard errors by which other members must beat the usual average


def units_of(found, task):
    """Return the mean absolute decision of each chosen candidate."""
    if task == "regression" or len(found.chosen) == 1:
        return [1.0] * len(found.chosen)
    return [np.mean([mean_size(f) for f in folds]) or 1.0 for folds in found.kept]


def members_of(found, plan, score, task):
    """Return the best candidates to average, or others that are clearly better on the folds.

    Averages have less variance than single candidates, and candidates on columns seldom help:
    other members must be better by more than the noise.
    """
    ways = [plan.ways[w] for w, _ in found.chosen]
    own = [k for k, way in enumerate(ways) if not way.least_squares]
    whole = [k for k in own if not ways[k].columns][: plan.averaged]
    first = [k for k in own if ways[k].columns][:1]
    options = []
    for one in (whole, whole[:1], first, whole[:1] + first, whole + first):
        if one and one not in options and (len(one) == 1 or plan.averaged > 1):
            options.append(one)
    options = [_both_machines(one, ways) for one in options]
    units = units_of(found, task)

    def scores(members):
        averages = (
            sum(found.kept[k][t] / units[k] for k in members) / len(members)
            for t in range(len(found.folds))
        )
        return np.array([score(t, one)[0] for t, one in zip(found.folds, averages)])

    usual = scores(options[0])
    gains = np.array([scores(one) - usual for one in options])
    error = gains.std(axis=1, ddof=min(1, len(usual) - 1)) / np.sqrt(len(usual))
    gains = np.where(gains.mean(axis=1) > _CLEAR * error, gains.mean(axis=1), 0.0)
    return found.of(options[first_best(gains)])


def with_partner(found, plan, score, task, blocks, few):
    """Return the best candidate and, if better by more than noise, a partner to average with.

    The noise is estimated over ``blocks``, parts of the test samples of the first fold. With
    ``few`` samples the average is used unless it is clearly worse. This is the greedy ensemble
    selection of Caruana, Niculescu-Mizil, Crew and Ksikes (2004).
    """
    t, units = found.folds[0], units_of(found, task)
    ways = [plan.ways[w] for w, _ in found.chosen]
    own = [k for k, way in enumerate(ways) if not way.least_squares]

    def scores(predicted):
        return np.array([score(t, predicted, rows)[0] for rows in blocks])

    if not few and len(own) < len(ways):  # some candidates have both machines
        own = _better_machines(found, ways, score, scores)
    sized = [found.kept[k][0] / units[k] for k in own]
    averages = [0.5 * (sized[0] + other) for other in sized[1:]]
    if not averages or len(blocks) < 2:
        return found.of(_both_machines(own[:1], ways) if few else own[:1])
    best = first_best(np.array([score(t, average)[0] for average in averages]))
    gains = scores(averages[best]) - scores(sized[0])
    better = _exceeds(gains, -_CLEAR if few else _NOISE)
    chosen = [own[0], own[best + 1]] if better else own[:1]
    return found.of(_both_machines(chosen, ways) if few else chosen)


def _better_machines(found, ways, score, scores):
    """Return for each kernel the better machine, best kernels first.

    Least squares replace support vector machines only if they are better by more than noise,
    because predictions then need all samples. ``scores`` are those on parts of the test samples.
    """
    predicted = [kept[0] for kept in found.kept]
    partners = {way.parent: k for k, way in enumerate(ways) if way.least_squares}
    better = []
    for k, way in enumerate(ways):
        other = partners.get(way.name)
        if other is not None:
            gains = scores(predicted[other]) - scores(predicted[k])
            better.append(other if _exceeds(gains, _NOISE) else k)
        elif not way.least_squares:
            better.append(k)
    return sorted(better, key=lambda k: -score(found.folds[0], predicted[k])[0])


def _exceeds(gains, n_errors):
    """Whether the mean of gains on parts of the samples is more than some standard errors."""
    return gains.mean() > n_errors * gains.std(ddof=min(1, len(gains) - 1)) / np.sqrt(len(gains))


def _both_machines(chosen, ways):
    """Return some candidates, by number, followed by their least-squares partners."""
    partners = {way.parent: k for k, way in enumerate(ways) if way.least_squares}
    names = [ways[k].name for k in chosen]
    return chosen + [partners[name] for name in names if name in partners]


def noise_blocks(tested, by_class, every_class):
    """Return parts of the test samples, by their targets, for the noise of a score.

    ``by_class``: parts are stratified by class. ``every_class``: the number of parts is reduced so
    that each has all classes, without which most scores are undefined.
    """
    if not by_class:
        return np.array_split(np.arange(len(tested)), _BLOCKS)
    n = _BLOCKS
    if every_class:
        n = min(n, int(np.unique(tested, return_counts=True)[1].min()))
    order = np.argsort(tested, kind="stable")
    return [np.sort(order[k::n]) for k in range(n)]
