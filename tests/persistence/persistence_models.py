"""A small fitted model of every estimator, and kernels of every kind that consist of data."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

import alignlearn as al
from alignlearn.machines import (
    KernelRidge,
    KreinRidge,
    KreinSVC,
    LeastSquaresClassifier,
    LinearSVM,
    SpectrumFix,
    SupportVectorClassifier,
    SupportVectorRegressor,
    krein_spectrum,
    ridge_loo_path,
)
from alignlearn.weights import sparse_path

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 3))
NEW = RNG.normal(size=(7, 3))
SIGNAL = X[:, 0] + np.sin(2.0 * X[:, 1])
LABELS = np.where(SIGNAL > 0.0, "up", "down")
THREE = np.digitize(SIGNAL, [-0.5, 0.5])
TASK = np.array(["one", "two"])[np.arange(24) % 2]
KERNELS = [al.Gaussian(0.3), al.Gaussian(0.05), al.Linear(), al.Columns("laplacian", [0, 2])]
GRAMS = [kernel(X) for kernel in KERNELS]
NEW_GRAMS = [kernel(NEW, X) for kernel in KERNELS]
SIGNS = np.where(np.arange(24) % 3 == 0, -1.0, 1.0)
INDEFINITE = GRAMS[0] * SIGNS[:, None] * SIGNS - 0.3 * GRAMS[2]

RULES = (
    *(al.Uniform, al.Align, al.AlignF, al.AlignLinear, al.LKRR, al.AlignedKRR, al.L1SVM),
    *(al.EasyMKL, al.Consensus, al.MaxEntropy),
)


def outputs(model, data):
    """All outputs of a model for new data, by name."""
    args, options = data
    found = {}
    for name in ("predict", "decision_function", "predict_proba", "transform"):
        if hasattr(model, name):
            found[name] = np.asarray(getattr(model, name)(*args, **options))
    return found


def on(*args, **options):
    return args, options


NEW_DATA = on(NEW)
BY_TASK = on(NEW, task=np.array(["one", "two"])[np.arange(7) % 2])


def two_stage():
    yield "MKLClassifier", al.MKLClassifier(KERNELS).fit(X, LABELS), NEW_DATA
    many = al.MKLClassifier(KERNELS, multiclass="ovr", class_weight={0: 1.0, 1: 2.0, 2: 1.0})
    yield "MKLClassifier ovr", many.fit(X, THREE), NEW_DATA
    sure = al.MKLClassifier(KERNELS, probability="sigmoid", weighting=al.AlignLq(3.0))
    yield "MKLClassifier probability", sure.fit(X, THREE), NEW_DATA
    sparse = al.MKLClassifier([al.Linear(), al.Gaussian(0.3)])
    yield "MKLClassifier sparse", sparse.fit(csr_matrix(X * (X > 0)), LABELS), NEW_DATA
    yield "MKLClassifier columns", al.MKLClassifier(al.RankOneKernels()).fit(X, LABELS), NEW_DATA
    given = al.MKLClassifier("precomputed").fit(GRAMS, LABELS)
    yield "MKLClassifier precomputed", given, on(NEW_GRAMS)
    rows = al.MKLClassifier([al.Precomputed(GRAMS[0]), al.Precomputed(GRAMS[2], name="given")])
    yield "MKLClassifier rows", rows.fit(np.arange(24)[:, None], LABELS), on([[0], [5]])
    yield "MKLRegressor", al.MKLRegressor(KERNELS).fit(X, SIGNAL), NEW_DATA
    svr = al.MKLRegressor(KERNELS, machine="svr", random_state=np.random.default_rng(3))
    yield "MKLRegressor svr", svr.fit(X, SIGNAL), NEW_DATA
    isotonic = al.MKLClassifier(KERNELS, probability="isotonic", machine="nystrom", n_centers=9)
    yield "MKLClassifier isotonic", isotonic.fit(X, LABELS), NEW_DATA
    few = al.MKLRegressor(KERNELS, weighting=al.LKRR(), machine="nystrom", n_centers=9)
    yield "MKLRegressor nystrom", few.fit(X, SIGNAL), NEW_DATA
    descent = al.MKLClassifier(al.RankOneKernels(("a", "b", "c")), machine="dual-cd")
    yield "MKLClassifier dual-cd", descent.fit(X, LABELS), NEW_DATA
    yield "KernelCombiner", al.KernelCombiner(KERNELS).fit(X, LABELS), NEW_DATA
    given = al.KernelCombiner("precomputed", center=False).fit(GRAMS, LABELS)
    yield "KernelCombiner precomputed", given, on(NEW_GRAMS)
    one_class = al.OneClassMKL(KERNELS, weighting=al.Structure(3), nu=0.2).fit(X)
    yield "OneClassMKL", one_class, NEW_DATA
    columns = al.MKLClassifier("precomputed", machine="nystrom", n_centers=9).fit(GRAMS, LABELS)
    yield "MKLClassifier precomputed nystrom", columns, on(NEW_GRAMS)
    thin = al.KernelCombiner(al.RankOneKernels()).fit(csr_matrix(X * (X > 0)), LABELS)
    yield "KernelCombiner columns", thin, on(csr_matrix(NEW))
    table = pd.DataFrame(X, columns=["width", "height", "mass"])
    named = al.MKLClassifier([al.Columns("rbf", ["mass"]), al.Columns("linear", "width")])
    yield "MKLClassifier named", named.fit(table, THREE), on(table[:5])
    tables = al.MKLRegressor({"sizes": ["rbf", "linear"], "mass": "rbf"})
    tables.fit({"sizes": X[:, :2], "mass": X[:, 2:]}, SIGNAL)
    yield "MKLRegressor tables", tables, on({"mass": NEW[:, 2:], "sizes": NEW[:, :2]})
    holes = {"sizes": np.where(X[:, :1] > 1.0, np.nan, X[:, :2]), "mass": X[:, 2:]}
    lacking = al.MKLRegressor({"sizes": ["rbf", "linear"], "mass": "rbf"}, missing="tables")
    lost = {"sizes": np.where(NEW[:, :1] > 0.5, np.nan, NEW[:, :2]), "mass": NEW[:, 2:]}
    yield "MKLRegressor missing tables", lacking.fit(holes, SIGNAL), on(lost)
    lacking = al.KernelCombiner({"sizes": "rbf", "mass": "rbf"}, missing="tables")
    yield "KernelCombiner missing tables", lacking.fit(holes, SIGNAL), on(lost)
    stack = al.GramStack({"wide": GRAMS[1], "linear": GRAMS[2]})
    given = al.MKLClassifier("precomputed").fit(stack[:20], LABELS[:20])
    yield "MKLClassifier stack", given, on(stack[20:])
    gaps = np.column_stack([SIGNAL, np.where(X[:, 0] > 1.0, np.nan, X[:, 2])])
    some = al.MKLRegressorCV(KERNELS, per_target=True, missing="drop-per-target")
    yield "MKLRegressorCV gaps", some.fit(X, gaps), NEW_DATA
    found = al.MKLClassifierCV(KERNELS, weighting="alignf", Cs=[0.1, 1.0], cv=2).fit(X, LABELS)
    yield "MKLClassifierCV", found, NEW_DATA
    average = al.MKLClassifierCV(Cs=[1.0, 10.0, 100.0], cv=2).fit(X, LABELS)
    yield "MKLClassifierCV average", average, NEW_DATA
    many = np.c_[SIGNAL > 0.0, X[:, 2] > 0.3, np.ones(24)].astype(int)
    found = al.MKLClassifierCV(KERNELS, Cs=[1.0], cv=2).fit(X, many)
    yield "MKLClassifierCV labels", found, NEW_DATA
    found = al.MKLRegressorCV(KERNELS, weighting="alignf", alphas=[0.1, 1.0], cv=2).fit(X, SIGNAL)
    yield "MKLRegressorCV", found, NEW_DATA
    yield "BayesianMKLClassifier", al.BayesianMKLClassifier(KERNELS).fit(X, LABELS), NEW_DATA
    features = al.AlignedRandomFeatures(n_features=8, random_state=0).fit(X, LABELS)
    yield "AlignedRandomFeatures", features, NEW_DATA
    features = al.AlignedRandomFeaturesClassifier(n_features=8, offsets=True).fit(X, LABELS)
    yield "AlignedRandomFeaturesClassifier", features, NEW_DATA
    yield "FeatureScales", al.FeatureScales().fit(X, LABELS), NEW_DATA
    order = pd.Categorical.from_codes(
        np.arange(len(X)) % 3, ["low", "middle", "high"], ordered=True
    )
    labeled = pd.DataFrame(X).assign(label=LABELS, order=order)
    yield "TablePreparer", al.TablePreparer().fit(labeled), on(labeled[:5])
    turned = al.FeatureScales(al.Matern(2.5), alpha=0.1, full=True).fit(X, SIGNAL)
    yield "FeatureScales full", turned, NEW_DATA


def wings():
    for cls in (al.HyperKernelClassifier, al.HyperKernelClassifierCV):
        yield cls.__name__, cls().fit(X[:, :2], LABELS), on(NEW[:, :2])
    clipped = al.HyperKernelClassifier(machine="clip", regression="nnls").fit(X[:, :2], THREE)
    yield "HyperKernelClassifier clip", clipped, on(NEW[:, :2])
    for cls in (al.NystromRidge, al.NystromRidgeClassifier, al.NystromSVC):
        y = SIGNAL if cls is al.NystromRidge else LABELS
        yield cls.__name__, cls(al.Gaussian(0.3), n_centers=10).fit(X, y), NEW_DATA
    yield "KernelSGDClassifier", al.KernelSGDClassifier().fit(X, LABELS), NEW_DATA
    yield "KernelSGDRegressor", al.KernelSGDRegressor(budget=9).fit(X, SIGNAL), NEW_DATA
    yield "KernelCCA", al.KernelCCA().fit(X, X[:, :2] ** 2), NEW_DATA
    three = al.KernelCCA(2, kernels="linear").fit([X, X**2, X[:, :2]])
    yield "KernelCCA three views", three, on([NEW, NEW**2, NEW[:, :2]])
    classifier = al.MultiTaskMKLClassifier(KERNELS).fit(X, LABELS, TASK)
    yield "MultiTaskMKLClassifier", classifier, BY_TASK
    regressor = al.MultiTaskMKLRegressor(KERNELS).fit(X, SIGNAL, TASK)
    yield "MultiTaskMKLRegressor", regressor, BY_TASK
    words = ["abcab", "bcabc", "cccab", "aabbcc", "cabca", "bbbac"]
    strings = al.MKLClassifier([al.StringSpectrum(2), al.StringSpectrum(1, normalize=True)])
    yield "MKLClassifier strings", strings.fit(words, [0, 1, 0, 1, 0, 1]), on(["abc", "ccc"])


def machines():
    K, L = GRAMS[0], NEW_GRAMS[0]
    yield "SupportVectorClassifier", SupportVectorClassifier().fit(K, THREE), on(L)
    yield "SupportVectorRegressor", SupportVectorRegressor().fit(K, SIGNAL), on(L)
    yield "KernelRidge", KernelRidge().fit(K, SIGNAL), on(L)
    yield "KreinSVC", KreinSVC().fit(INDEFINITE, LABELS), on(L)
    yield "KreinRidge", KreinRidge().fit(INDEFINITE, SIGNAL), on(L)
    yield "LeastSquaresClassifier", LeastSquaresClassifier().fit(K, THREE), on(L)
    places = 3.0 * np.random.default_rng(1).normal(size=(32, 3))
    classes, rows = np.repeat(np.arange(32), 2), np.repeat(places, 2, axis=0) + 0.1
    pairs = al.MKLClassifier([al.Gaussian(0.3), al.Linear()]).fit(rows, classes)
    yield "MKLClassifier many classes", pairs, on(places)
    columns = LeastSquaresClassifier().fit(al.Gaussian(0.3)(rows), classes)
    yield "LeastSquaresClassifier many classes", columns, on(al.Gaussian(0.3)(places, rows))
    yield "LinearSVM", LinearSVM().fit(X, LABELS), NEW_DATA
    yield "SpectrumFix", SpectrumFix("flip").fit(INDEFINITE), on(L)


def hyper_regressors():
    data = on(NEW[:, :2])
    yield "HyperKRR", al.HyperKRR().fit(X[:, :2], LABELS), data
    yield "HyperKRRCV", al.HyperKRRCV(alphas=[0.1, 1.0]).fit(X[:, :2], LABELS), data
    yield "HyperKRR clusters", al.HyperKRR(decomposition=2).fit(X[:, :2], LABELS), data
    yield "HyperSVR", al.HyperSVR(al.WishartHyperKernel()).fit(X[:, :2], LABELS), data
    yield "HyperNNLS", al.HyperNNLS().fit(X[:, :2], LABELS), data


def fitted():
    """(name, model, arguments of its methods) of all."""
    yield from two_stage()
    yield from wings()
    yield from machines()
    yield from hyper_regressors()


def results():
    """Results of the library that consist of data: (name, value)."""
    yield "rules", [cls() for cls in RULES]
    statistics = al.alignment_statistics(X, LABELS, KERNELS)
    yield "AlignmentStatistics", statistics
    yield "WeightResult", al.AlignF().solve(statistics)
    yield "SparsePath", sparse_path(statistics)
    yield "KreinSpectrum", krein_spectrum(INDEFINITE)
    yield "RidgePath", ridge_loo_path(GRAMS[0], SIGNAL, [0.1, 1.0])
    layers = al.CKAAccumulator().update([X, X**2])
    yield "CKAAccumulator", layers
    yield "AlignmentAccumulator", al.AlignmentAccumulator(KERNELS).update(X, LABELS)
    yield "DependenceTest", al.hsic_test(X, X[:, :1], n_permutations=9)
    classifier = al.MKLClassifier(KERNELS).fit(X, LABELS)
    yield "AlignmentInterval", classifier.alignment_interval_
    yield "ErrorBound", classifier.bound(X, LABELS, radius2=20.0)
    regressor = al.MKLRegressor(KERNELS).fit(X, SIGNAL)
    yield "RiskBound", regressor.bound(X, SIGNAL, radius2=20.0, label_range=(-9.0, 9.0))
    yield "HeldOutBound", classifier.bound(NEW, np.resize(LABELS, 7), held_out=True)
    yield "RankOneKernels", al.RankOneKernels(("a", "b", "c"))
    yield "Rescaled", al.kernels.Rescaled(al.Gaussian(0.3), np.array([1.0, 0.5, 2.0]))
    yield "GaussianHyperKernel", al.GaussianHyperKernel(0.5)
    yield "WishartHyperKernel", al.WishartHyperKernel()
    yield "HyperKernelSum", al.hyper_kernels(scales=(1.0, 2.0)) + al.WishartHyperKernel()
    yield "MidpointProduct", al.hyper_kernels() * al.Polynomial(0.2, 1.0, 2)


def kernels():
    """Kernels on X of every kind that consist of data."""
    one, two = al.Gaussian(0.3), al.Linear()
    yield from (al.Gaussian("median", multiple=2.0), al.Laplacian(0.2), al.Exponential(0.4), two)
    yield from (al.ExponentialDot(0.1), al.Matern(2.5, length_scale=2.0), al.Matern(0.5))
    yield from (al.RationalQuadratic(0.5), al.Hamming(), al.Polynomial(0.2, 1.0, 2), al.Cosine())
    yield from (al.Binomial(0.01, 0.5), al.Sigmoid(0.1), al.TL1(), al.Log())
    yield from (al.Tanimoto(), al.Periodic(2.0, 0.5), al.MinMax(), al.Gower())
    yield al.Gower([1], [1.0, 2.0, 3.0])
    one_column = al.Columns(al.Periodic(), 0)
    yield from (k.gradient()[0].kernel for k in (al.Tanimoto(), one_column))
    yield from (one + two, one * two, 0.5 * one, one + 2.0, two**3, (0.1 * two).exp())
    yield from ((0.1 * two).exp().normalized(), (two + 1.0).normalized())
    yield from (term.kernel for term in (al.Exponential(0.3) * al.Gaussian(0.1)).gradient())
    yield al.Exponential(0.3).gradient()[0].kernel
    yield (0.1 * two).exp().unit_form()
    yield al.Columns(one + two, slice(0, 2))
    yield al.Columns(al.hyper.PairKernel(al.GaussianHyperKernel(0.5, 1.0)), [0, 1])
    yield al.Columns("linear", ["width", "height"])
    yield al.kernels.Named(one, "group")
    yield al.FourierFeatures([[1.0, 0.5, 0.0], [0.1, 0.2, 0.3]], [1.0, 2.0], [0.0, 0.5])
    yield al.kernels.FeatureWeighted([1.0, 2.0, 0.5])
    yield al.kernels.weighted_sum([one, two], [1.0, -0.5])
    yield al.HyperKRR().fit(X[:, :2], LABELS).kernel_
    yield al.HyperKRR(decomposition=2).fit(X[:, :2], LABELS).kernel_
