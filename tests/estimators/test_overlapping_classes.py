"""Two overlapping classes: least squares alone, which rank samples with improbable classes."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, xlogy

import alignlearn as al
from alignlearn.estimators import scoring
from alignlearn.machines.calibration import sigmoid_log_loss


def rare(m, seed=0, share=0.05, d=6):
    """Samples whose class is random, and the log odds of class 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    odds = 0.8 * X[:, 0] - 0.5 * np.abs(X[:, 1])
    odds += np.log(share / (1.0 - share))
    return X, (rng.random(m) < expit(odds)).astype(int), odds


def apart(m, seed=0):
    """Two classes without overlap."""
    X = np.random.default_rng(seed).normal(size=(m, 3))
    return X, (np.linalg.norm(X, axis=1) > 1.5).astype(int)


def auc(y, f):
    """Share of pairs of a sample of class 1 and one of class 0 that decisions rank correctly."""
    order = np.argsort(np.argsort(f)) + 1.0
    n = y.sum()
    return (order[y == 1].sum() - n * (n + 1) / 2) / (n * (len(y) - n))


def machines(model):
    return {member.model.machine for member in model.members_}


@pytest.mark.parametrize("m", [400, 1500])
def test_a_rare_class_is_ranked_nearly_as_its_probability_ranks_it(m):
    X, y, odds = rare(m + 6000)
    model = al.MKLClassifierCV().fit(X[:m], y[:m])
    assert machines(model) == {"krr"}
    lost = auc(y[m:], odds[m:]) - auc(y[m:], model.decision_function(X[m:]))
    assert lost < (0.12 if m == 400 else 0.05)
    # The sigmoid has an intercept: the mean probability is the share of the class.
    assert abs(model.predict_proba(X[m:])[:, 1].mean() - y[:m].mean()) < 0.03


def test_many_samples_are_fitted_in_blocks():
    X, y, odds = rare(11_000)
    m = 5000
    model = al.MKLClassifierCV(memory=3e7).fit(X[:m], y[:m])
    assert machines(model) == {"krr"}
    sizes = [len(member.model.support_) for member in model.members_]
    assert max(sizes) < m <= sum(sizes)
    assert np.isclose(sum(member.share for member in model.members_), 1.0)
    assert auc(y[m:], odds[m:]) - auc(y[m:], model.decision_function(X[m:])) < 0.05
    assert abs(model.predict_proba(X[m:])[:, 1].mean() - y[:m].mean()) < 0.03


def test_classes_apart_have_support_vector_machines():
    for m in (300, 1100):
        assert "krr" not in {
            one.model.machine
            for one in al.MKLClassifierCV().fit(*apart(m)).members_
            if not one.name.endswith("-krr")
        }


def test_other_requests_keep_their_machine():
    X, y, _ = rare(300, share=0.1)
    for options in ({"machine": "svm"}, {"strategy": "best"}, {"ensemble": False}):
        model = al.MKLClassifierCV(**options).fit(X, y)
        assert model.members_[0].model.machine != "krr", options
    three = np.where(X[:, 2] > 0.8, 2, y)
    assert al.MKLClassifierCV().fit(X, three).members_[0].model.machine != "krr"


def test_given_values_of_C_are_all_tried():
    X, y, _ = rare(300, share=0.1)
    values = [0.01, 1.0, 100.0]
    table = al.MKLClassifierCV(Cs=values).fit(X, y).cv_results_
    assert {params["C"] for params in table["params"]} == set(values)


def test_few_of_the_rare_class():
    """Folds and levels without it, which have no log loss of it to compare."""
    X, y, _ = rare(1100, share=0.003)
    y[:] = 0
    y[:4] = 1
    model = al.MKLClassifierCV().fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict(X).mean() < 0.1


def test_the_log_loss_of_the_best_sigmoid():
    rng = np.random.default_rng(0)
    f = rng.normal(size=500) - 3.0
    y = rng.random(500) < expit(2.0 * f + 4.0)
    found = sigmoid_log_loss(f, y)

    def loss(line):
        z = line[0] * f + line[1]
        return np.logaddexp(0.0, np.where(y, -z, z)).mean()

    best = minimize(loss, [0.0, 0.0], tol=1e-12).fun
    assert best <= found + 1e-12 < best + 1e-3  # targets are a little inside of 0 and 1
    # Neither units nor an offset matter, and ranking in reverse does not help.
    assert sigmoid_log_loss(7.0 * f + 100.0, y) == pytest.approx(found, abs=1e-9)
    p = y.mean()
    entropy = -xlogy(p, p) - xlogy(1.0 - p, 1.0 - p)
    for useless in (-f, np.zeros(500)):
        assert sigmoid_log_loss(useless, y) == pytest.approx(entropy, abs=1e-4)
    # Scales of weights do not matter.
    weight = rng.uniform(0.5, 2.0, size=500)
    one, other = (sigmoid_log_loss(f, y, w) for w in (weight, 1e6 * weight))
    assert one == pytest.approx(other, abs=1e-12)
    assert 0.0 <= sigmoid_log_loss(f, np.zeros(500, dtype=bool)) < 0.01


def test_a_shifted_score_sees_what_a_temperature_does_not():
    """Decisions of a rare class that vary little around a large negative number."""
    _, y, odds = rare(4000)
    raw = (-0.9 + 0.02 * odds)[:, None]
    flat = np.full_like(raw, -0.9)

    def gain(shifted):
        given = y, np.arange(2), "ovo", None, shifted
        return scoring.class_score(raw, *given)[0] - scoring.class_score(flat, *given)[0]

    assert gain(True) > 2.0 * gain(False) > 0.0
