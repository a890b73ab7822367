"""HTML of estimators in notebooks, of bounded length for any parameters."""

import inspect
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import alignlearn as al
from alignlearn.estimators.base import Estimator

NAMED = (getattr(al, name) for name in al.__all__)
ESTIMATORS = [cls for cls in NAMED if inspect.isclass(cls) and issubclass(cls, Estimator)]
LONGEST = 60_000

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
LABELS, TASK = X[:, 0] > 0, np.arange(60) % 3


class Page(HTMLParser):
    """The rows of a piece of HTML; tags must be closed and expected."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.rows, self.text, self.bars, self.attributes = [], [], "", [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert tag in {"style", "div", "span", "details", "summary", "table", "tbody", "tr", "td"}
        self.open.append(tag)
        self.attributes += attributes
        if tag == "tr":
            self.rows.append([dict(attributes).get("class", "")])
        elif tag == "td":
            self.rows[-1].append("")
        elif "alignlearn-bar" in (dict(attributes).get("class") or ""):
            share = re.fullmatch(r"width: ([\d.]+)%", dict(attributes)["style"])
            self.bars.append(float(share[1]))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.text += data
        if "td" in self.open:
            self.rows[-1][-1] += data

    @property
    def parameters(self):
        """Name -> (value, whether it is marked)."""
        rows = (row for row in self.rows if len(row) == 4 and row[1] in ("", "*"))
        found = {name: (value, mark == "*") for _, mark, name, value in rows}
        changed = sum("alignlearn-changed" in row[0] for row in self.rows)
        assert changed == sum(marked for _, marked in found.values())
        return found

    @property
    def weights(self):
        """[(name, text of the weight)], of the rows with a bar."""
        names = set(self.parameters)
        rows = (row for row in self.rows if len(row) == 4 and row[2] not in names)
        return [(name, weight) for _, name, weight, _ in rows]


def page(estimator):
    html = estimator._repr_html_()
    assert len(html) <= LONGEST
    html.encode("utf-8")
    assert not re.search(r"<script|<img|<link|@import|url\(|https?:", html)
    found = Page(html)
    # Nothing of the surrounding page changes: all its classes have the prefix.
    classes = " ".join(value for name, value in found.attributes if name == "class").split()
    assert all(name.startswith("alignlearn-") for name in classes)
    style = html[html.index("<style>") + 7 : html.index("</style>")]
    selectors = re.findall(r"([^{}]+)\{[^{}]*\}", style)
    assert selectors
    assert all(one.strip().startswith(".alignlearn-box") for one in selectors)
    return found


def test_every_estimator_shows_its_parameters_as_repr_does():
    for cls in ESTIMATORS:
        found = page(cls())
        assert found.text.startswith(f"{cls.__name__} not fitted")
        parameters = cls().get_params(deep=False).items()
        assert found.parameters == {name: (repr(value), False) for name, value in parameters}
        assert found.weights == []


def test_changed_parameters_are_marked():
    model = al.MKLClassifier(["rbf"], C=2.0, tol=1e-3)
    found = page(model).parameters
    assert {name for name, (_, marked) in found.items() if marked} == {"kernels", "C"}
    assert found["kernels"] == ("['rbf']", True)
    assert f"2 of {len(found)} changed" in page(model).text


@pytest.mark.parametrize("p", [1, 3, 20, 21])
def test_bars_are_the_shares_of_the_largest_weight(p):
    kernels = al.gaussian_kernels(np.geomspace(1e-3, 1e3, p))
    model = al.MKLRegressor(kernels, weighting=al.AlignLinear() if p == 3 else "align")
    model.fit(X, X[:, 0])
    found, size = page(model), np.abs(model.weights_)
    shown = np.sort(np.argsort(-size, kind="stable")[:20])
    names = model.statistics_.names
    assert found.weights == [(names[k], f"{model.weights_[k]:.4g}") for k in shown]
    np.testing.assert_allclose(found.bars, 100.0 * size[shown] / size.max(), atol=0.051)
    assert (f"and {p - 20} more" in found.text) == (p > 20)
    minus = sum("alignlearn-minus" in value for name, value in found.attributes if name == "class")
    assert minus == np.sum(model.weights_[shown] < 0.0)


def test_weights_of_tasks_and_of_classes_are_means():
    kernels = ["rbf", "linear"]
    tasks = al.MultiTaskMKLClassifier(kernels).fit(X, LABELS, TASK)
    found = page(tasks)
    assert "means over 3 tasks" in found.text
    assert [weight for _, weight in found.weights] == [f"{w:.4g}" for w in tasks.weights_.mean(0)]
    classes = al.BayesianMKLClassifier(kernels, max_iter=20)
    with pytest.warns(al.ConvergenceWarning):
        classes.fit(X, TASK)
    found = page(classes)
    assert "mean sizes over 3 classes" in found.text
    expected = np.abs(classes.weights_).mean(axis=1)
    assert [weight for _, weight in found.weights] == [f"{w:.4g}" for w in expected]


def test_given_matrices_have_numbers_and_columns_names():
    grams = [X @ X.T, np.square(X @ X.T)]
    assert len(page(al.MKLRegressor("precomputed").fit(grams, X[:, 0])).weights) == 2
    names = ("<b>age</b>", "a & b", "x\"'>\ud800")
    model = al.KernelCombiner(al.RankOneKernels(names)).fit(X, X[:, 0])
    assert [name for name, _ in page(model).weights] == ["<b>age</b>", "a & b", "x\"'>?"]
    assert "<b>" not in model._repr_html_()


def test_statistics_that_were_left_for_later_stay_so():
    X = rng.normal(size=(1200, 2))
    model = al.MKLRegressor(["rbf", "linear", "laplacian"], weighting="uniform", normalize=None)
    model.fit(X, X[:, 0])
    assert "statistics_" not in vars(model)
    assert [weight for _, weight in page(model).weights] == ["0.3333"] * 3
    assert "statistics_" not in vars(model)


class Bad:
    """An object whose representations all raise."""

    def __repr__(self):
        raise ValueError("<b>no</b>")

    __str__ = __repr__


LONG = "<script>alert(1)</script>" * 10_000


@pytest.mark.parametrize("value", [[Bad()], np.zeros((300, 300)), LONG, Bad, None])
def test_any_value_of_any_parameter_can_be_shown(value):
    model = al.MKLClassifierCV()
    for name in model.get_params(deep=False):
        setattr(model, name, value)
    found = page(model)
    assert len(found.parameters) == len(model.get_params(deep=False))
    texts = {text for text, _ in found.parameters.values()}
    assert all(len(text) <= 200 for text in texts)
    assert len(texts) == 1
    if isinstance(value, list):
        assert "cannot be shown: ValueError" in found.text


@given(st.text(max_size=300))
def test_texts_are_escaped(text):
    found = page(al.KernelCCA(solver=text)).parameters["solver"][0]
    expected = repr(text)
    assert found == expected if len(expected) <= 200 else found == expected[:197] + "..."


def test_half_set_estimators_are_shown():
    model = object.__new__(al.MKLClassifier)
    assert page(model).parameters["C"] == ("1.0", False)  # a default is one of the class

    class Own(al.MKLClassifier):
        def __init__(self, extra):
            self.other = extra

    found = page(Own(3)).parameters
    assert found == {"extra": ("not set", True)}
    # Weights that say nothing, and attributes set by fit that differ from parameters.
    model = al.MKLRegressor(["rbf", "linear"]).fit(X, X[:, 0])
    model.weights_ = np.array([0.0, np.nan])
    assert page(model).bars == [0.0, 0.0]
    assert [weight for _, weight in page(model).weights] == ["0", "nan"]
    for name, odd in (("kernels_", 3), ("weights_", "many"), ("weights_", np.ones(3))):
        setattr(model, name, odd)
        assert page(model).text.startswith("MKLRegressor fitted")
    del model.weights_
    assert page(model).weights == []
