"""The registered sets: their original addresses, parsers and fingerprints."""

from __future__ import annotations

from functools import partial

from ._data import Entry
from ._fingerprints import FINGERPRINTS
from ._parsers import (
    parse_gefcom,
    parse_german,
    parse_ijcnn1,
    parse_kin,
    parse_labeled,
    parse_landmine,
    parse_reviews,
    parse_wisconsin,
)

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
_UCI_ZIP = "https://archive.ics.uci.edu/static/public/"
_UCI_PAGE = "https://archive.ics.uci.edu/dataset/"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"

_WISCONSIN_FEATURES = (
    "clump_thickness",
    "uniformity_cell_size",
    "uniformity_cell_shape",
    "marginal_adhesion",
    "single_epithelial_cell_size",
    "bare_nuclei",
    "bland_chromatin",
    "normal_nucleoli",
    "mitoses",
)
_HEART_FEATURES = (
    "age",
    "sex",
    "chest",
    "resting_blood_pressure",
    "serum_cholestoral",
    "fasting_blood_sugar",
    "resting_electrocardiographic_results",
    "maximum_heart_rate_achieved",
    "exercise_induced_angina",
    "oldpeak",
    "slope",
    "number_of_major_vessels",
    "thal",
)
_FERTILITY_FEATURES = (
    "Season",
    "Age",
    "Childish diseases",
    "Accident or serious trauma",
    "Surgical intervention",
    "High fevers in the last year",
    "Frequency of alcohol consumption",
    "Smoking habit",
    "Number of hours spent sitting per day",
)


def _numbered(pattern: str, count: int) -> tuple:
    return tuple(pattern.format(i) for i in range(1, count + 1))


def _uci(name, parse, path, zipped, page, **details) -> Entry:
    plain, packed = path.rpartition("/")[2], zipped.rpartition("/")[2]
    sources = ({plain: _UCI + path}, {packed: _UCI_ZIP + zipped})
    prints = FINGERPRINTS[name]
    return Entry(name, "classification", parse, prints, sources, _UCI_PAGE + page, **details)


def _reviews(name, folder) -> Entry:
    base = "https://www.cs.jhu.edu/~mdredze/datasets/sentiment/"
    return Entry(
        name,
        "regression",
        partial(parse_reviews, folder=folder),
        FINGERPRINTS[name],
        ({"domain_sentiment_data.tar.gz": base + "domain_sentiment_data.tar.gz"},),
        base,
        "Blitzer, Dredze and Pereira, ACL 2007 (multi-domain sentiment, version 2)",
        target_names=("stars",),
        max_bytes=256 * 2**20,
    )


_ENTRIES = (
    _uci(
        "ionosphere",
        partial(
            parse_labeled,
            member="ionosphere.data",
            width=34,
            labels={"g": 1, "b": -1},
            delimiter=",",
        ),
        "ionosphere/ionosphere.data",
        "52/ionosphere.zip",
        "52/ionosphere",
        citation="Sigillito, Wing, Hutton and Baker, 1989",
        feature_names=_numbered("a{:02d}", 34),
        target_names=("bad", "good"),
    ),
    _uci(
        "german_numeric",
        parse_german,
        "statlog/german/german.data-numeric",
        "144/statlog+german+credit+data.zip",
        "144/statlog+german+credit+data",
        citation="Hofmann; numeric version by Strathclyde University (Statlog)",
        feature_names=_numbered("a{:02d}", 24),
        target_names=("bad", "good"),
    ),
    _uci(
        "breast_cancer_wisconsin",
        parse_wisconsin,
        "breast-cancer-wisconsin/breast-cancer-wisconsin.data",
        "15/breast+cancer+wisconsin+original.zip",
        "15/breast+cancer+wisconsin+original",
        citation="Wolberg, 1992",
        feature_names=_WISCONSIN_FEATURES,
        target_names=("benign", "malignant"),
    ),
    _uci(
        "sonar",
        partial(
            parse_labeled,
            member="sonar.all-data",
            width=60,
            labels={"M": 1, "R": -1},
            delimiter=",",
        ),
        "undocumented/connectionist-bench/sonar/sonar.all-data",
        "151/connectionist+bench+sonar+mines+vs+rocks.zip",
        "151/connectionist+bench+sonar+mines+vs+rocks",
        citation="Gorman and Sejnowski, 1988",
        feature_names=_numbered("b{:02d}", 60),
        target_names=("rock", "mine"),
    ),
    _uci(
        "heart_statlog",
        partial(parse_labeled, member="heart.dat", width=13, labels={"2": 1, "1": -1}),
        "statlog/heart/heart.dat",
        "145/statlog+heart.zip",
        "145/statlog+heart",
        citation="Statlog (Heart)",
        feature_names=_HEART_FEATURES,
        target_names=("absent", "present"),
    ),
    _uci(
        "fertility",
        partial(
            parse_labeled,
            member="fertility_Diagnosis.txt",
            width=9,
            labels={"O": 1, "N": -1},
            delimiter=",",
        ),
        "00244/fertility_Diagnosis.txt",
        "244/fertility.zip",
        "244/fertility",
        citation="Gil, Girela, De Juan, Gomez-Torres and Johnsson, 2012",
        feature_names=_FERTILITY_FEATURES,
        target_names=("normal", "altered"),
    ),
    _uci(
        "australian",
        partial(parse_labeled, member="australian.dat", width=14, labels={"1": 1, "0": -1}),
        "statlog/australian/australian.dat",
        "143/statlog+australian+credit+approval.zip",
        "143/statlog+australian+credit+approval",
        citation="Quinlan (Statlog Australian credit approval)",
        feature_names=_numbered("A{}", 14),
        target_names=("class 0", "class 1"),
    ),
    Entry(
        "kin8nm",
        "regression",
        parse_kin,
        FINGERPRINTS["kin8nm"],
        (
            {
                "kin-8nm.tar.gz": "https://www.cs.toronto.edu/pub/neuron/delve/data/tarfiles/"
                "kin-family/kin-8nm.tar.gz"
            },
        ),
        "https://www.cs.toronto.edu/~delve/data/kin/desc.html",
        "Delve, kin family (Ghahramani, 1996, after Corke)",
        feature_names=_numbered("theta{}", 8),
    ),
    Entry(
        "ijcnn1_train",
        "classification",
        parse_ijcnn1,
        FINGERPRINTS["ijcnn1_train"],
        ({f"ijcnn1.{part}.bz2": f"{_LIBSVM}binary/ijcnn1.{part}.bz2" for part in ("tr", "val")},),
        _LIBSVM + "binary.html",
        "Prokhorov, IJCNN 2001 challenge; transformation of Chang and Lin, 2001",
    ),
    Entry(
        "landmine",
        "classification",
        parse_landmine,
        FINGERPRINTS["landmine"],
        (
            {"LandmineData.zip": "http://www.ee.duke.edu/~lcarin/LandmineData.zip"},
            {"LandmineData.mat": None},
        ),
        "http://www.ee.duke.edu/~lcarin/",
        "Xue, Liao, Carin and Krishnapuram, JMLR 2007 (multi-task landmine detection)",
        target_names=("clutter", "mine"),
    ),
    Entry(
        "gefcom2012_weeks",
        "regression",
        parse_gefcom,
        FINGERPRINTS["gefcom2012_weeks"],
        ({"GEFCom2012.zip": None},),
        "https://www.kaggle.com/c/global-energy-forecasting-competition-2012-load-forecasting or "
        "http://blog.drhongtao.com/2016/07/gefcom2012-load-forecasting-data.html",
        "Hong, Pinson and Fan, International Journal of Forecasting, 2014 (the withheld weeks)",
    ),
    _reviews("sentiment_bigrams_books", "books"),
    _reviews("sentiment_bigrams_kitchen", "kitchen_&_housewares"),
)

REGISTRY = {entry.name: entry for entry in _ENTRIES}
ALIASES = {"ijcnn1": "ijcnn1_train"}
