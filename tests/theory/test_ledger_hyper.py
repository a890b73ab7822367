"""The numbers of the claims on hyper-kernels, to their known digits."""

from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from alignlearn.theory import CLAIMS
from alignlearn.theory.reference import hyper
from cases import each


def test_excess_of_the_loss_against_a_histogram():
    """The mass beside the median spread over atoms, E|y - k| - E|y| by direct summation."""
    file = CLAIMS.module("p4-prop-4-1")
    case = file.counterexample()
    assert file.corrected_bound(case) == pytest.approx(0.1)
    assert file.sharpened_bound(case) == pytest.approx(0.1 / 2**0.5)
    a, b, q, u = 0.6, 0.5, 2.5, 0.9
    edges = np.linspace(0, a, 20001)
    mass = np.diff(b * edges ** (q - 1))
    atoms = (edges[1:] + edges[:-1]) / 2
    far = 0.5 - mass.sum()
    points = np.r_[atoms, -atoms, 5.0, -5.0]
    weights = np.r_[mass, mass, far, far]
    direct = weights @ (np.abs(points - u) - np.abs(points))
    case = {"q": q, "a": np.array([a]), "b": np.array([b]), "shift": np.array([u])}
    assert file.excess(case | {"weights": np.ones(1)}) == pytest.approx(direct, rel=1e-6)


def test_ideal_target_that_no_coefficients_reach():
    file = CLAIMS.module("p4-free-kernel")
    case = file.counterexample()
    kernel, X = case["kernel"], case["X"]
    # sigma = 1: k*(-1, 1)/k*(0, 0) = exp(-2), yy' has -1 and 1 there.
    rng = np.random.default_rng(0)
    for beta in rng.standard_normal((5, 9)):
        ends, middle = hyper.learned(X, beta, X[[0, 1]], X[[2, 1]], kernel)
        assert ends / middle == pytest.approx(np.exp(-2))
    assert file.measure(case) == pytest.approx(0.5257, abs=5e-5)


def test_rank_on_a_grid():
    file = CLAIMS.module("p4-hyper-matrix")
    assert (file.rank(file.grid()), file.midpoints(file.grid()["X"])) == (9, 9)
    # In general position all unordered pairs count.
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.1)
    assert file.rank({"X": np.array([[0.0], [1.0], [2.6]]), "kernel": kernel}) == 6


def test_sections_that_are_no_kernels():
    """Those of the Gaussian form need 4 v2 >= v1."""
    file = CLAIMS.module("p4-definite-coefficients")
    gram = file.affine(*hyper.ordered_pairs(np.array([[0.0], [1.0]]))).reshape(2, 2)
    assert np.linalg.eigvalsh(gram) == pytest.approx([-1.618, 0.618], abs=5e-4)
    X = np.linspace(0, 3, 8)[:, None]
    for share, definite in ((1.02, True), (0.98, False)):
        kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=share / 4 - 1)
        gram = hyper.learned_gram(X[:1], np.ones(1), X, kernel)
        assert (np.linalg.eigvalsh(gram)[0] > -1e-12) == definite


@each(("middle", "definite"), [(-0.5, True), (-3.0, False)])
def test_a_negative_midpoint_between_two_positive_ones(middle, definite):
    """C = 1, middle, 1 at -1, 0, 1 against the sum of exponentials of section 4 of the proofs."""
    X = np.array([[-1.0], [0.0], [1.0]])
    beta = np.diag([1.0, middle, 1.0]).ravel()
    kernel = partial(hyper.gaussian, sigma2=1.0, sigma_h2=0.5)
    v1, v2 = hyper.variances(1.0, 0.5)
    rate = 1 / (2 * v1) - 1 / (8 * v2)
    c, x = np.array([-1.0, 0.0, 1.0]), np.linspace(-20, 20, 401)
    decay = 1 / (2 * v2) + 1 / (8 * rate * v2**2)
    heights = np.array([1.0, middle, 1.0]) * np.exp(-(c**2) * decay)
    assert ((heights * np.exp(np.outer(x, c) / v2)).sum(1).min() >= 0) == definite
    gram = hyper.learned_gram(X, beta, np.linspace(-4, 4, 15)[:, None], kernel)
    assert (np.linalg.eigvalsh(gram)[0] >= -1e-12) == definite


def test_support_vector_regression_has_no_duality_gap_and_the_other_sign():
    file = CLAIMS.module("p4-eq-2-8")
    K, y, beta, b, value = file.solution(file.counterexample())
    primal = hyper.svr_objective(K, y, beta, b, 0.05, 0.1)
    assert primal == pytest.approx(value, abs=1e-9)
    # The only pair with target 1 falls short, and has the coefficient +C.
    assert (K @ beta + b - y)[0] < -0.1
    assert beta[0] == pytest.approx(0.05)


def test_wishart_hyper_kernel():
    """The closed form and quadrature."""
    file = CLAIMS.module("p4-wishart")
    points = np.array([[0.3, 0.1], [-0.5, 0.2], [1.1, -0.7], [0.4, 0.9]])
    C = np.array([[1.5, 0.3], [0.3, 0.8]])
    for form in (file.closed_form, file.by_three, file.integral):
        assert form(points[:, :1], C[:1, :1], 3.0) == pytest.approx(1.71878878e-2, rel=1e-8)
        assert form(points, C, 4.0) == pytest.approx(1.68348403e-4, rel=1e-8)


def test_concatenation_misses_the_pairs_across():
    file = CLAIMS.module("p4-concatenation")
    case = file.counterexample()
    measured, printed = file.measure(case), file.bound(case)
    K, y, _, joined = file.solutions(case)
    residual = (K + case["lam"] * np.eye(16)) @ joined - y
    excess = measured - printed / 1.05
    assert 0 < excess <= residual @ residual


def test_concentration_over_pairs_in_the_case_of_the_ledger():
    """P = 0.0473 exactly (the ledger's 0.0467 was sampled) against 0.7136 with T = 1."""
    file = CLAIMS.module("p4-lemma-4-3")
    case = file.ledger_case()
    assert file.measure(case) == pytest.approx(0.0473, abs=5e-5)
    assert file.moments(case) == pytest.approx((0.09, 0.09, 0.91))
    # T = 0.91 here.
    assert file.measure(case) < file.bound(case) < 0.7136


def test_mean_over_pairs_against_all_samples():
    file = CLAIMS.module("p4-lemma-4-3-step")
    case = {"m": 4, "chance": 0.3, "xi": (0.2, -0.7, 1.0)}
    values, weights = file.mean_over_pairs(case)
    table = np.array([[0.2, -0.7], [-0.7, 1.0]])
    total = np.zeros(5)
    for x in product((0, 1), repeat=4):
        pairs = [table[x[i], x[j]] for i in range(4) for j in range(4) if i != j]
        assert np.mean(pairs) == pytest.approx(values[sum(x)])
        total[sum(x)] += 0.3 ** sum(x) * 0.7 ** (4 - sum(x))
    np.testing.assert_allclose(weights, total)
    _, chances = file.mean_of_disjoint(case)
    assert chances.sum() == pytest.approx(1)


def test_controls_are_other_problems():
    """Coefficients of the absolute kernel, unordered pairs without weights, a negative target."""
    for name, other, apart in (
        ("p4-ksvm", "_original", 0.19),
        ("p4-symmetric-reduction", "_unweighted", 0.2),
    ):
        file = CLAIMS.module(name)
        case = file._control_case()
        np.testing.assert_allclose(file.measure(case), file.bound(case), rtol=1e-9, atol=1e-9)
        assert np.abs(getattr(file, other)(case) - file.bound(case)).max() > apart
    file = CLAIMS.module("p4-nnls")
    negative, _ = file._fit(file._control_case())
    assert (negative == 0).all()


def test_every_row_of_the_table_names_claims():
    """The last part of proofs.md lists every claim of the folder."""
    text = Path(CLAIMS.module("p4-a-5").__file__).with_name("proofs.md").read_text("utf-8")
    table = text.partition("## The statements of the paper")[2]
    for name in CLAIMS:
        if name.startswith("p4-"):
            assert f"`{name}`" in table or f"`{name.removeprefix('p4-theorem-2')}`" in table, name


def test_the_gaussian_hyper_kernel_and_the_integral_it_is_called_after():
    file = CLAIMS.module("p4-gaussian")
    case = file.example()
    assert file.same_variances(case) == pytest.approx(0.0191081119, abs=5e-11)
    assert file.bound(case) == pytest.approx(0.0255257744, abs=5e-11)
