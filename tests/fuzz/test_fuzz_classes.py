"""Fuzz cases of classes: rare classes, folds with missing classes, other names, permuted labels."""

import numpy as np
from draws import fuzz, require
from fuzz_data import benign

import alignlearn as al
from alignlearn.machines import LinearSVM

KERNELS = [al.Gaussian(0.3), al.Linear()]
SEARCHES = {
    "uniform": {"kernels": KERNELS[:1], "weighting": "uniform", "tol": 1e-6},
    "strategy": {"kernels": KERNELS[:1], "strategy": "best", "scoring": "accuracy"},
    "alignf": {"kernels": KERNELS, "weighting": "alignf"},
    "one stage": {"kernels": KERNELS, "weighting": "l1-svm"},
    "several": {"kernels": KERNELS, "weighting": ["uniform", "align"]},
    "average": {"kernels": KERNELS, "strategy": "auto"},
    "default": {},
}
PLAIN = {
    "MKLClassifier": lambda: al.MKLClassifier(KERNELS),
    "dual-cd": lambda: al.MKLClassifier(KERNELS[1:], machine="dual-cd"),
    "nystrom": lambda: al.MKLClassifier(KERNELS, machine="nystrom", n_centers=5),
    "NystromSVC": lambda: al.NystromSVC(al.Gaussian(0.3), n_centers=5, random_state=0),
    "NystromRidgeClassifier": lambda: al.NystromRidgeClassifier(
        al.Gaussian(0.3), n_centers=5, random_state=0
    ),
    "KernelSGDClassifier": lambda: al.KernelSGDClassifier(al.Gaussian(0.3), random_state=0),
    "LinearSVM": lambda: LinearSVM(random_state=0),
    "AlignedRandomFeaturesClassifier": lambda: al.AlignedRandomFeaturesClassifier(
        KERNELS[0], n_features=20, random_state=0
    ),
    "BayesianMKLClassifier": lambda: al.BayesianMKLClassifier(KERNELS, max_iter=20),
    "HyperKernelClassifier": lambda: al.HyperKernelClassifier(),
    "MultiTaskMKLClassifier": lambda: al.MultiTaskMKLClassifier(KERNELS, task_column=-1),
}
WEIGHTED = ("MKLClassifier", "dual-cd", "nystrom")
UNSURE = 0.05  # decisions within the tolerances of the solvers


def rare_classes(draws, m, least=1):
    """Codes of 2 to 5 classes, some of few samples or of one."""
    c = draws.whole(2, min(5, m // 2))
    share = draws.numbers.dirichlet(np.full(c, draws.pick(0.3, 1.0)))
    rest = m - c * least
    codes = np.concatenate([np.repeat(np.arange(c), least), draws.numbers.choice(c, rest, p=share)])
    return draws.numbers.permutation(codes)


def folds_of(draws, codes):
    """``cv``, with training sets that may have missing classes, and the folds that it yields."""
    m, kind = len(codes), draws.pick("number", "labels", "classes", "pairs")
    if kind == "number":
        return draws.whole(2, 5)
    if kind == "labels":
        return np.r_[0, 1, draws.numbers.integers(0, 3, m - 2)]
    if kind == "classes":
        return codes if draws.chance(0.5) else np.array(list("abcde"))[codes]
    pairs = []
    for _ in range(draws.whole(1, 3)):
        order = draws.numbers.permutation(m)
        cut = draws.whole(m // 2, m - 1)
        pairs.append((order[:cut], order[cut:]))
    return pairs


def weights_of(draws, m):
    """None, or weights many of which are 0."""
    if draws.chance(0.5):
        return None
    return draws.numbers.integers(0, 3, m) * draws.pick(1.0, 0.1)


def folds_of_weight(cv, y, weight):
    """Folds of a search; a number divides only the samples of positive weight."""
    from alignlearn.folds import make_folds

    if weight is None or not isinstance(cv, int):
        return make_folds(cv, y, True)
    rows = np.flatnonzero(weight)
    return [(rows[train], rows[test]) for train, test in make_folds(cv, y[rows], True)]


def refused(codes, folds, weight):
    """Whether the documentation requires that a fit on these folds raises an error."""
    weight = np.ones(len(codes)) if weight is None else weight
    if len(np.unique(codes[weight > 0])) < len(np.unique(codes)):
        return True
    used = [(train[weight[train] > 0], test[weight[test] > 0]) for train, test in folds]
    return any(len(np.unique(codes[train])) < 2 or not len(test) for train, test in used)


def check_folds(name, model, given, folds):
    """Scores of folds: no more than the training classes allow, and those of a fit on each."""
    X, y, weight = given
    weight = np.ones(len(y)) if weight is None else weight
    results = model.cv_results_
    for t, (train, test) in enumerate(folds):
        train = train[weight[train] > 0]
        share = weight[test] / weight[test].sum()
        known = np.isin(y[test], y[train])
        scores = results[f"split{t}_test_score"]
        if name not in ("average", "default"):
            most = np.nanmax(scores, initial=0.0)
            require(most <= share @ known + 1e-9, f"{name}: right on classes that it did not see")
        if name not in ("uniform", "strategy"):
            continue
        methods = results.get("param_method", np.full(len(scores), "uniform"))
        for C, score in zip(results["param_C"][methods == "uniform"], scores[methods == "uniform"]):
            plain = al.MKLClassifier(KERNELS[:1], weighting="uniform", C=C, tol=1e-6)
            plain.fit(X[train], y[train], weight[train])
            expected = share @ (plain.predict(X[test]) == y[test])
            raw = plain.machine_.problem_decisions(plain.kernel_(X[test], X[train]))
            # Another solution within the tolerance may have another sign.
            slack = share @ (np.abs(raw) <= UNSURE).any(axis=1) + 1e-9
            good = np.isnan(score) or abs(score - expected) <= slack
            require(good, f"{name}: score of fold {t}", f"{score} {expected} {slack}")


def make_names(draws, n):
    """Names of n classes, in any order."""
    names = draws.pick(np.array(list("edcba")), 3 * np.arange(5) - 4, 1.0 * np.arange(5))
    return draws.numbers.permutation(names[:n])


def check_predictions(name, model, X, y):
    """Labels are those of the training samples; a decision for each class."""
    found, classes = model.predict(X), np.unique(y)
    require(np.isin(found, classes).all(), f"{name}: a label that is no class")
    require(np.array_equal(model.classes_, classes), f"{name}: classes_")
    decisions = model.decision_function(X)
    shape = (len(X),) if len(classes) == 2 else (len(X), len(classes))
    require(decisions.shape == shape, f"{name}: shape of decisions", f"{decisions.shape}")
    require(np.isfinite(decisions).all(), f"{name}: decisions are not finite")


@fuzz(1)
def test_rare_classes_in_searches(draws):
    """Searches on training sets with missing classes: right scores, or a required error."""
    m = draws.size(6, 40)
    codes = rare_classes(draws, m)
    X, y = benign(draws, m, draws.whole(1, 3)), make_names(draws, 5)[codes]
    X[:, 0] += draws.pick(0.0, 3.0) * codes
    name = draws.pick(*SEARCHES, "uniform", "strategy", "hyper")
    cv, weight = folds_of(draws, codes), None if name == "hyper" else weights_of(draws, m)
    options = {"cv": cv, "Cs": [0.1, 10.0]}
    if draws.chance(0.3):
        options["multiclass"] = "ovr"
    if draws.chance(0.3):
        options["class_weight"] = draws.pick("balanced", {y[0].item(): 2.0})
    if name == "hyper":
        model = al.HyperKernelClassifierCV(alphas=[1.0], multiples=[1.0], **options)
        m, given = min(m, 15), (X[:15], y[:15])
        if len(np.unique(given[1])) < 2 or isinstance(cv, list) or len(np.unique(codes[:15])) < 2:
            return "too few"
        cv = cv if isinstance(cv, int) else cv[:15]
        model.set_params(cv=cv, class_weight=None)
    else:
        model, given = al.MKLClassifierCV(**{**SEARCHES[name], **options}), (X, y, weight)
    try:
        folds = folds_of_weight(cv, given[1], weight)
    except ValueError:
        folds = None
    due = folds is None or refused(given[1], folds, weight)
    try:
        model.fit(*given)
    except ValueError as error:
        require(due or "constant" in str(error), f"{name}: refused", str(error))
        return "refused"
    require(not due, f"{name}: a training set of one class was accepted")
    check_predictions(name, model, X, given[1])
    if options.get("class_weight") is None and options.get("multiclass") is None:
        check_folds(name, model, (*given, None)[:3], folds)
    return name


@fuzz(1)
def test_rare_classes(draws):
    """Classes of one sample, and samples of weight 0, which count as absent."""
    name = draws.pick(*PLAIN)
    m = draws.size(6, 40 if name != "HyperKernelClassifier" else 15)
    codes = rare_classes(draws, m)
    X, y = benign(draws, m, draws.whole(1, 3)), make_names(draws, 5)[codes]
    model = PLAIN[name]()
    if name.startswith("MultiTask"):
        X = np.column_stack([X, np.arange(m) % 2])
        if any(len(np.unique(y[t::2])) < len(np.unique(y)) for t in (0, 1)):
            try:
                model.fit(X, y)
            except ValueError:
                return "refused"
            return name
    weight = weights_of(draws, m) if name in WEIGHTED else None
    if weight is None:
        check_predictions(name, model.fit(X, y), X, y)
        return name
    used = weight > 0
    try:
        model.fit(X, y, weight)
    except ValueError as error:
        require(refused(codes, [], weight) or "one class" in str(error), f"{name}: refused")
        return "refused"
    require(not refused(codes, [], weight), f"{name}: a class without weight was accepted")
    check_predictions(name, model, X, y)
    if name == "nystrom":  # draws its centers from all samples
        return name
    first = model.decision_function(X)
    wrong = np.abs(first - model.fit(X[used], y[used], weight[used]).decision_function(X)).max()
    require(wrong <= 1e-2, f"{name}: samples of weight 0 are seen", f"{wrong:.3g}")
    return name


@fuzz(1)
def test_classes_renamed(draws):
    """Other names of the classes, in another order, rename the same decisions."""
    names = [n for n in PLAIN if n not in ("KernelSGDClassifier",)]
    name = draws.pick(*names, *SEARCHES, *SEARCHES)
    m = draws.size(10, 40 if name != "HyperKernelClassifier" else 15)
    codes = rare_classes(draws, m, least=2)
    X, n = benign(draws, m, draws.whole(1, 3)), codes.max() + 1
    X[:, 0] += draws.pick(0.0, 2.0) * codes
    if name.startswith("MultiTask"):
        X = np.column_stack([X, np.zeros(m)])
    options = {"multiclass": "ovr"} if draws.chance(0.3) else {}
    found = []
    for labels in (np.arange(n), make_names(draws, n)):
        if name in SEARCHES:
            model = al.MKLClassifierCV(**{**SEARCHES[name], **options, "cv": 3, "Cs": [0.1, 10.0]})
        else:
            model = PLAIN[name]()
        model.fit(X, labels[codes])
        place = np.searchsorted(model.classes_, labels)  # of each code
        D = model.decision_function(X)
        D = D[:, place] if D.ndim > 1 else D * (1.0 if place[0] == 0 else -1.0)
        found.append((D, np.argsort(place)[np.searchsorted(model.classes_, model.predict(X))]))
    (first, label), (second, other) = found
    # Others stop at a tolerance; solvers that take the same steps differ only by rounding.
    exact = name in SEARCHES or name == "MKLClassifier"
    allowed = (1e-7 if exact else 2e-2) * (1.0 + np.abs(first).max())
    near = np.sort(np.abs(first[:, None]) if first.ndim == 1 else first, axis=1)
    margin = near[:, -1] - (near[:, -2] if first.ndim > 1 else 0.0)
    clear = (np.abs(first - second).reshape(m, -1).max(axis=1) <= allowed) | (margin <= allowed)
    require(
        clear.all(), f"{name}: other decisions for other names", f"{np.abs(first - second).max()}"
    )
    require(np.array_equal(label[margin > 2 * allowed], other[margin > 2 * allowed]),
            f"{name}: other predictions for other names")  # fmt: skip
    return name
