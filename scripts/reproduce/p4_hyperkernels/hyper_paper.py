"""Tables 1 to 4 of Liu, Shi, Huang, Yang and Suykens (2020): what the paper prints.

Accuracies in per cent, (mean, deviation) by data set in the order of DATA; the columns of guide1-t,
which is not at hand, are left out. Table 2 as its lines are to be read: the rows of the log kernel
follow those of TL1. RMSE is a share of the deviation of the target.
"""

from __future__ import annotations

DATA = ("fertility", "australian", "wine", "sonar", "heart")
KERNELS = ("gaussian", "tl1", "log")
HYPER = ("hyper-nnls", "hyper-krr", "hyper-svr")
KNOWN = "known kernel"


def _cells(*numbers):
    """(mean, deviation) for each data set from the numbers in a row."""
    return dict(zip(DATA, zip(numbers[::2], numbers[1::2])))


def _rmse(*numbers):
    return dict(zip(DATA, numbers))


# By kernel, method and measure.
APPROXIMATION = {
    "gaussian": {
        KNOWN: {
            "unlabeled": _cells(95.02, 7.11, 83.92, 1.90, 96.68, 1.93, 75.34, 3.07, 78.63, 4.52),
            "test": _cells(87.45, 6.77, 82.64, 2.23, 98.02, 1.81, 72.14, 1.38, 80.91, 4.89),
        },
        "hyper-nnls": {
            "unlabeled": _cells(88.03, 8.11, 81.56, 3.78, 96.89, 1.41, 73.78, 5.67, 81.45, 3.56),
            "test": _cells(85.51, 7.72, 82.64, 3.60, 96.33, 2.67, 73.83, 8.02, 79.04, 5.11),
            "rmse": _rmse(0.152, 0.088, 0.123, 0.165, 0.128),
        },
        "hyper-krr": {
            "unlabeled": _cells(92.53, 7.80, 81.52, 4.01, 97.33, 1.45, 77.12, 4.21, 80.14, 5.02),
            "test": _cells(86.01, 9.33, 83.63, 4.20, 96.62, 3.41, 67.82, 8.20, 82.73, 5.22),
            "rmse": _rmse(0.081, 0.138, 0.062, 0.085, 0.95),
        },
        "hyper-svr": {
            "unlabeled": _cells(95.64, 8.52, 82.24, 3.70, 97.13, 1.20, 73.24, 6.13, 81.30, 3.62),
            "test": _cells(88.53, 7.10, 82.61, 3.93, 98.04, 2.22, 75.54, 6.42, 80.12, 3.20),
            "rmse": _rmse(0.102, 0.108, 0.089, 0.143, 0.120),
        },
    },
    "tl1": {
        KNOWN: {
            "unlabeled": _cells(91.52, 8.56, 79.67, 6.01, 96.32, 3.21, 74.11, 3.33, 76.04, 2.53),
            "test": _cells(89.22, 3.43, 80.67, 7.44, 97.45, 2.43, 73.78, 4.73, 78.52, 4.21),
        },
        "hyper-nnls": {
            "unlabeled": _cells(91.78, 6.83, 81.32, 4.31, 97.60, 1.42, 74.41, 4.24, 76.78, 7.33),
            "test": _cells(89.10, 6.11, 83.52, 3.13, 93.03, 5.22, 70.04, 4.92, 79.81, 5.43),
            "rmse": _rmse(0.001, 0.885, 0.831, 0.722, 0.864),
        },
        "hyper-krr": {
            "unlabeled": _cells(92.81, 9.52, 83.33, 2.31, 97.73, 2.01, 72.74, 5.62, 78.64, 3.73),
            "test": _cells(87.02, 4.81, 76.63, 8.62, 77.23, 5.78, 62.81, 4.89, 71.22, 4.71),
            "rmse": _rmse(0.001, 0.580, 0.347, 0.712, 0.707),
        },
        "hyper-svr": {
            "unlabeled": _cells(91.13, 8.02, 81.82, 3.73, 97.84, 1.78, 73.11, 4.12, 75.52, 2.56),
            "test": _cells(92.03, 3.92, 83.64, 3.03, 94.72, 3.82, 73.84, 5.78, 80.72, 5.31),
            "rmse": _rmse(0.001, 0.612, 0.231, 0.504, 0.723),
        },
    },
    "log": {
        KNOWN: {
            "unlabeled": _cells(95.23, 5.72, 84.04, 1.93, 98.04, 1.32, 74.44, 7.32, 80.51, 1.42),
            "test": _cells(81.52, 8.81, 83.90, 1.92, 96.12, 2.62, 78.33, 6.82, 81.44, 6.50),
        },
        "hyper-krr": {
            "unlabeled": _cells(98.01, 2.62, 73.84, 1.92, 97.31, 1.33, 72.34, 5.32, 81.02, 2.21),
            "test": _cells(88.02, 4.81, 76.64, 5.14, 60.13, 8.08, 65.84, 9.56, 77.63, 7.02),
            "rmse": _rmse(0.005, 0.717, 0.748, 0.697, 0.435),
        },
        "hyper-svr": {
            "unlabeled": _cells(97.83, 4.22, 84.12, 1.73, 97.02, 1.91, 72.72, 4.67, 81.74, 3.12),
            "test": _cells(93.53, 2.44, 83.42, 3.80, 95.53, 5.12, 66.74, 6.32, 80.93, 4.70),
            "rmse": _rmse(0.002, 0.474, 0.138, 0.174, 0.196),
        },
    },
}

# Table 3: test accuracy by method. "uniform" and "align" are not in it; alignf stands for KTA.
IDEAL = {
    "uniform": {},
    "align": {},
    "alignf": _cells(87.41, 2.11, 82.08, 1.72, 96.40, 2.01, 80.71, 2.78, 82.63, 1.71),
    "bmkl": _cells(84.40, 1.62, 84.41, 2.00, 95.06, 2.87, 80.96, 5.02, 86.33, 1.23),
    "random features": _cells(84.40, 4.33, 83.47, 3.34, 95.11, 1.17, 80.57, 3.14, 79.11, 2.42),
    "svm-cv": _cells(85.20, 1.78, 85.42, 0.72, 94.77, 1.52, 85.16, 3.02, 81.92, 2.47),
    "krr gaussian": _cells(92.12, 3.81, 85.33, 2.45, 89.54, 2.20, 77.67, 5.07, 80.89, 5.91),
    "svr gaussian": _cells(92.51, 3.45, 86.43, 4.21, 98.12, 1.64, 82.54, 3.02, 88.14, 4.62),
    "krr wishart": _cells(92.25, 2.26, 79.22, 2.13, 94.44, 2.26, 75.85, 2.81, 79.92, 2.85),
    "svr wishart": _cells(92.53, 3.24, 83.26, 2.88, 96.38, 2.65, 81.33, 3.22, 80.20, 3.45),
}

# Table 4, ijcnn1: (accuracy, seconds) by number of clusters, 49,990 training points.
LARGE = {
    5: {"hyper-nnls": (88.79, 808.8), "hyper-krr": (89.67, 881.6), "hyper-svr": (90.13, 811.1)},
    10: {"hyper-nnls": (88.72, 215.3), "hyper-krr": (90.49, 391.4), "hyper-svr": (89.76, 496.5)},
    20: {"hyper-nnls": (87.21, 112.6), "hyper-krr": (90.16, 182.2), "hyper-svr": (90.41, 174.1)},
}
