"""``alignlearn bounds DATA``: statements about a kernel on data, with their confidence."""

from __future__ import annotations

import textwrap
from dataclasses import asdict, dataclass, replace

from .compare import choose_kernels, read_data, subset
from .output import Output, figure_path

_SIZES = (8, 4, 2, 1)  # intervals are also computed on these parts of the held-out samples
_MOST = 10**12
_FEWEST = 8  # minimum samples of a part
_FILLED = (
    "missing values were imputed with all samples; the statements assume that the held-out half "
    "did not affect the imputed values (--missing drop avoids this assumption)"
)


@dataclass(frozen=True)
class AlignmentStatement:
    """The statement about the alignment of a kernel with the target.

    Attributes
    ----------
    value : float
        On the held-out samples.
    intervals : dict of int -> AlignmentInterval
        By number of samples, the first ones; the last is that of all.
    needed : int or None
        Number of samples for an interval of half the length or, if it is [0, 1], of length 1/2.
    closed : callable int -> float
        Length in closed form for other numbers of samples like these.
    """

    value: float
    intervals: dict
    needed: int | None
    closed: object

    @property
    def interval(self):
        """The interval on all held-out samples."""
        return self.intervals[max(self.intervals)]


def run_on_data(args) -> int:
    """``alignlearn bounds DATA``: print the statements, write the figure, return the exit code."""
    from alignlearn.bounds.checks import check_delta

    output, delta = Output(args), check_delta(args.delta)
    data = read_data(args)
    stem = f"bounds-{data.name.partition('.')[0] or 'data'}"
    figure = None if args.no_figure else figure_path(args.out, stem)
    X, y, notes = subset(data, args.max_samples, args.random_state)
    X, groups, of_groups = _groups(X, data.feature_names, args.groups)
    notes = [*notes, *of_groups]
    X, kernels, more = choose_kernels(X, args.kernels, args.gammas)
    notes = [*data.notes, *notes, *more, *([_FILLED] if args.missing == "impute" else [])]
    train, held_out, folds = split(X, y, kernels, args, groups)
    model = learn(*train, kernels, data.task, args.random_state, folds)
    output.print(_head(data, X, model, len(train[1]), len(held_out[1])))
    for note in notes:
        output.note(note)
    found, silence = alignment_statement(model, *held_out, delta, args.label_range, args.radius2)
    risk, no_risk = risk_statement(model, *held_out, delta, args.label_range)
    output.print(f"\nEach statement holds with probability {1 - delta:g}.\n")
    for name, text in _alignment_lines(found, silence) + _risk_lines(risk, no_risk):
        output.print(_hanging(name, text))
    if figure is not None and found is not None:
        _draw(found, figure, data.name, delta)
        output.print(f"\nfigure: {figure}")
    else:
        figure = None
    sizes = {"n_train": len(train[1]), "n_held_out": len(held_out[1])}
    output.json(
        {
            **{"data": data.name, "task": data.task, **sizes, "delta": delta},
            "weights": dict(zip(model.statistics_.names, model.weights_)),
            "alignment": None if found is None else _alignment_numbers(found),
            "alignment_silence": silence,
            "risk": None if risk is None else asdict(risk),
            "risk_silence": no_risk,
            **{"notes": notes, "figure": figure},
        }
    )
    return 0


# -- one half for training, the other for evaluation
# -------------------------------------------------


def _groups(X, feature_names, column):
    """(X, groups (m,) or None, notes); without a column of groups, equal rows are groups."""
    from .groups import equal_rows, near_copies, take_groups

    if column not in (None, "none"):
        X, groups, _ = take_groups(X, feature_names, column)
        return X, groups, [f"{groups.max() + 1} groups of rows by {column}: one row of each counts"]
    notes, groups = [], equal_rows(X) if column is None else None
    if groups is not None:
        n = groups.max() + 1
        notes = [
            f"{len(groups) - n} of {len(groups)} rows are copies of another one and left out "
            "(--groups none keeps them, as independent samples)"
        ]
    share = near_copies(X)
    if share:
        notes.append(
            f"{share:.0%} of the rows are much closer to another row than to all others, like "
            "copies with noise. If these samples are not independent, the following statements do "
            "not hold; name groups of rows by --groups"
        )
    return X, groups, notes


def split(X, y, kernels, args, groups=None):
    """(X, y) to learn from, (X, y) held out, and fold labels of the first or None.

    The halves are random, and columns are scaled by the first. Groups are not split: the second
    half has one row of each of its groups, and folds consist of whole groups.

    Raises
    ------
    ValueError
        With too few samples, or groups, for two parts.
    """
    import numpy as np

    from alignlearn.comparison.trial import scale_columns

    from .groups import halves, one_of_each

    rng = np.random.default_rng(args.random_state)
    m, what = (len(y), "samples") if groups is None else (groups.max() + 1, "groups of rows")
    if m < 2 * _FEWEST:
        raise ValueError(
            f"{m} {what} are too few: one half trains the kernel, and the other half evaluates it; "
            f"accepted: at least {2 * _FEWEST}."
        )
    folds = None
    if groups is None:
        order = rng.permutation(m)
        first, second = order[: m // 2], order[m // 2 :]
    else:
        first, second = halves(groups, rng)
        second = one_of_each(second, groups)
        if args.groups is None:
            first = one_of_each(first, groups)
        else:
            folds = _group_folds(groups[first])
    scale = args.scale if isinstance(kernels, list) else "none"
    parts = scale_columns((X[first], X[second]), scale)
    return (parts[0], y[first]), (parts[1], y[second]), folds


def _group_folds(groups):
    """A fold (m,) for each row, five of whole groups in random order."""
    import numpy as np

    codes = np.unique(groups, return_inverse=True)[1].reshape(-1)
    order = np.random.default_rng(0).permutation(codes.max() + 1)
    return order[codes] % min(5, codes.max() + 1)


def learn(X, y, kernels, task, random_state, folds=None):
    """The estimator with its C or alpha chosen by cross-validation, on one half."""
    import numpy as np

    from alignlearn.estimators import MKLClassifierCV, MKLRegressorCV

    if task == "regression":
        options = {} if folds is None else {"cv": folds}
        return MKLRegressorCV(kernels, random_state=random_state, **options).fit(X, y)
    rarest = np.unique(y, return_counts=True)[1].min()
    if len(np.unique(y)) < 2 or rarest < 2:
        raise ValueError(
            "the half of the samples used for training has a class with fewer than 2 "
            "samples; accepted: more samples, or another --random-state."
        )
    folds = int(min(5, rarest)) if folds is None else folds
    return MKLClassifierCV(kernels, cv=folds, random_state=random_state).fit(X, y)


# -- statements ----------------------------------------------------------------------


def alignment_statement(model, X, y, delta, label_range=None, radius2=None):
    """(`AlignmentStatement` or None, reason if None or "")."""
    real = model._estimator_type == "regressor"
    radius, words = _radius(model, radius2)
    why = _why_silent(model, y, real, label_range, radius)
    if why:
        return None, why
    given = {"delta": delta, "radius2": radius, "label_range": label_range if real else None}
    intervals = _intervals(X, y, model.kernel_, given)
    # The radius of the combination, in its own units, is not informative for a reader.
    interval = intervals[len(y)]
    plain = tuple(text for text in interval.hypotheses if not text.startswith("K(x, x)"))
    intervals[len(y)] = replace(interval, hypotheses=(*plain, words))
    value, closed = _on_samples(model.kernel_, X, y, given)
    length = interval.high - interval.low
    return AlignmentStatement(value, intervals, _needed(closed, len(y), length), closed), ""


def _why_silent(model, y, real, label_range, radius):
    import numpy as np

    if not model.kernel_.is_psd:
        return "the learned kernel may be indefinite; intervals need a positive semi-definite one."
    if real and label_range is None:
        return (
            "an interval needs the range of all targets, which a sample does not determine: give "
            "--label-range LOW:HIGH."
        )
    if not real and model.classes_.size > 2:
        c = model.classes_.size
        return f"intervals are for two classes or a real-valued target, got {c} classes."
    if not real and len(np.unique(y)) < 2:
        return "the held-out samples are all of one class."
    if radius is None:
        return (
            "K(x, x) of these kernels has no known bound, and its maximum on a sample is not a "
            "bound: give --radius2."
        )
    return ""


def _radius(model, radius2):
    """(R^2 of the learned kernel or None, a description of its parts)."""
    from alignlearn.estimators.guarantees import check_radii, diagonal_bound

    factors = model.weights_ * model.scale_
    kernels = model.kernels_ if isinstance(model.kernels_, list) else [None] * factors.size
    radii = [diagonal_bound(k, radius2) if f > 0 else 0.0 for k, f in zip(kernels, factors)]
    if None in radii:
        return None, ""
    used = factors.nonzero()[0]
    check_radii(model, radii, used)
    known = "known for these kernels" if radius2 is None else "as given"
    largest = max(radii[k] for k in used)
    return float(factors @ radii), f"K_k(x, x) <= {largest:g} for every kernel in use, {known}"


def _intervals(X, y, kernel, given):
    """Intervals on the first samples, by their number."""
    import numpy as np

    from alignlearn.estimators import alignment_interval

    found, m = {}, len(y)
    for n in (m // part for part in _SIZES):
        if n == m or (n >= _FEWEST and len(np.unique(y[:n])) > 1):
            found[n] = alignment_interval(X[:n], y[:n], kernel, **given)
    return found


def _on_samples(kernel, X, y, given):
    """The alignment, and the length in closed form as a function of m for samples like these."""
    import numpy as np

    from alignlearn.bounds import class_intervals

    delta, m, K = given["delta"], len(y), np.asarray(kernel(X), dtype=float)
    features = class_intervals.FeatureRange(given["radius2"], kernel.is_non_negative)
    labels = y if given["label_range"] else class_intervals.positive_class(y).astype(float)
    covariance, norm, variance = class_intervals.target_statistics(K, labels)
    value = covariance**2 / (norm * variance) if norm * variance > 0 else 0.0
    if given["label_range"] is None:
        m_plus, _, *numbers = class_intervals.class_statistics(K, y)

        def interval(n):
            positive = min(max(round(n * m_plus / m), 1), n - 1)
            return class_intervals.class_interval_from(
                positive, n - positive, delta, *numbers, features
            )
    else:
        numbers = covariance, norm, variance
        length2 = class_intervals.check_label_range(y, given["label_range"])

        def interval(n):
            return class_intervals.target_interval_from(n, delta, *numbers, features, length2)

    def length(n):
        found = interval(n)
        return found.high - found.low

    return value, length


def _needed(closed, m, length):
    """Samples for half the length: m times the factor that the closed form needs at that length.

    The closed form is longer than the interval by betting at the same m, and decreases as fast. If
    the interval is not informative, the result is the m at which the closed form has length 1/2.
    """
    from alignlearn.theory.bounds.concentration import smallest_sample_size

    if not closed(_MOST) < length / 2:
        return None
    half = smallest_sample_size(closed, length / 2, 4, _MOST)
    if length >= 1:
        return half
    return round(m * half / smallest_sample_size(closed, length, 4, _MOST))


def risk_statement(model, X, y, delta, label_range=None):
    """(`HeldOutBound` or None, reason if None or "")."""
    given = {"delta": delta, "held_out": True}
    if model._estimator_type == "classifier":
        return model.bound(X, y, **given), ""
    if label_range is None:
        return None, "a bound needs the range of all targets: give --label-range LOW:HIGH."
    return model.bound(X, y, label_range=label_range, **given), ""


# -- in words --------------------------------------------------------------------------


def _head(data, X, model, n_train, n_held_out):
    from alignlearn.comparison.result import wrapped

    kind = "real-valued target"
    if data.task == "classification":
        kind = f"{model.classes_.size} classes"
    p = model.weights_.size
    kernels = "one kernel" if p == 1 else f"{p} kernels combined by alignf"
    parameter = "alpha" if data.task == "regression" else "C"
    learned = [f"{parameter} = {model.best_params_[parameter]:.3g}"]
    learned += ["weights", "widths and scales of the columns"] if p > 1 else ["widths and scales"]
    return wrapped(
        f"{data.name}: {n_train + n_held_out} samples, {X.shape[1]} features, {kind}; {kernels}. "
        f"A random half, {n_train} samples, was used to learn {', '.join(learned)}. The statements "
        f"use only the other {n_held_out} samples."
    )


def _hanging(name, text):
    return textwrap.fill(
        text, 97, initial_indent=f"{name:<11}", subsequent_indent=" " * 11, break_on_hyphens=False
    )


def _alignment_lines(found, silence):
    """[(name, text)] of the statement about the alignment."""
    if found is None:
        return [("alignment", f"no statement: {silence}")]
    interval = found.interval
    ends = f"in [{interval.low:.4f}, {interval.high:.4f}]"
    lines = [("alignment", f"{ends} ({interval.method}); {found.value:.4f} on the samples")]
    if interval.vacuous:
        lines[0] = ("alignment", f"no statement: too few samples, the interval is {ends[3:]}.")
    lines.append(("assumes", "; ".join(interval.hypotheses)))
    if found.needed is not None:
        what = "of length 1/2" if interval.vacuous else "half as long"
        about = f"{float(f'{found.needed:.2g}'):,.0f}"
        text = f"an interval {what} takes about {about} held-out samples"
        lines.append(("length", f"{text} from the same distribution"))
    share = interval.low
    text = (
        f"some function of this kernel explains at least {share:.1%} of the variance of the target "
        "(theorem 14 of Cortes et al. 2012, in its sharper form)"
    )
    if share <= 0:
        text = "no conclusion from theorem 14: the alignment may be 0."
    return [*lines, ("predictor", text)]


def _risk_lines(risk, silence):
    if risk is None:
        return [("risk", f"no statement: {silence}")]
    text = f"{risk.loss} of the model at most {risk.value:.4g} ({risk.method}); "
    text += f"{risk.empirical_risk:.4g} on the samples"
    if risk.vacuous:
        text += "; vacuous: a constant prediction is known to be as good"
    return [("risk", text), ("assumes", "; ".join(risk.hypotheses))]


def _alignment_numbers(found):
    return {
        "value": found.value,
        **asdict(found.interval),
        "needed_for_half": found.needed,
        "explained_variance": max(found.interval.low, 0.0),
    }


def _draw(found, path, name, delta):
    from alignlearn.theory.figures.statement import draw_statement
    from alignlearn.theory.figures.style import save

    ends = {n: (i.low, i.high) for n, i in found.intervals.items()}
    save(draw_statement(ends, found.value, found.needed, found.closed, name, delta), path)
