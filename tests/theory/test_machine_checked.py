"""The machine-checked proofs: Coq accepts them, and they state the claims.

What a Coq file defines is written once more in Python below, beside the Coq text, and compared with
the claim on its own cases; the text is looked up in the file, so neither can change alone.
"""

import io
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from alignlearn.theory import CLAIMS, HypothesisNotMet
from alignlearn.theory.draws import RandomDraw
from alignlearn.theory.registry import proof_file
from alignlearn.theory.verification import verify
from refusals import raises

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "lab" / "check_proofs"
CHECKED = tuple(
    ["p1-lemma-6", "p1-prop-10", "p1-learned-price", "p1-lemma-20", "p2-algorithm-1-hessian"]
)

needs_tree = pytest.mark.skipif(not SCRIPT.exists(), reason="needs the source tree")
needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None,
    reason="needs the proof assistant Coq (Debian: apt-get install coq)",
)


def _check_proofs(*files, **options):
    command = ["/bin/sh", str(SCRIPT), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def _text(name):
    """The Coq file of a claim with every run of white space a single blank."""
    return " ".join(proof_file(name).read_text(encoding="utf-8").split())


def test_these_claims_are_machine_checked_and_nothing_is_admitted():
    assert tuple(name for name in CLAIMS if proof_file(name)) == CHECKED
    raises(KeyError, "is not a claim", proof_file, "p1-lemma-7")
    for name in CHECKED:
        file, document = proof_file(name), " ".join(CLAIMS.module(name).__doc__.split())
        assert f"Machine-checked in Coq ({file.name})" in document
        assert f"`{file.name}`" in (file.parent / "proofs.md").read_text(encoding="utf-8")
        for word in ("Admitted", "admit", "Axiom", "Parameter", "Conjecture", "Hypothesis"):
            assert word not in _text(name)


# -- the assistant ---------------------------------------------------------------------


@needs_tree
@needs_coq
def test_coq_accepts_the_proofs():
    """Some seconds, as Coq loads its real numbers for each of the files."""
    result = _check_proofs()
    assert result.returncode == 0, result.stdout + result.stderr
    for name in CHECKED:
        assert f"{proof_file(name).name}: accepted: " in result.stdout
    for theorem in ("lemma_6_population", "lemma_6_sample", "lemma_6_printed_is_false"):
        assert theorem in result.stdout


@needs_tree
@needs_coq
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Theorem one : 1 = 2.\nProof. reflexivity. Qed.", "not accepted"),
        ("Theorem one : 1 = 2.\nAdmitted.", "rests on one"),
        ("Axiom no : 1 = 2.\nTheorem one : 1 = 2.\nProof. exact no. Qed.", "rests on no"),
        ("Definition one := 1.", "no theorem"),
    ],
)
def test_an_incomplete_proof_is_rejected(tmp_path, text, message):
    tail = "\nDefinition checked := one.\nPrint Assumptions checked.\n"
    (tmp_path / "wrong.v").write_text(text + tail)
    result = _check_proofs(tmp_path / "wrong.v")
    assert result.returncode == 1
    assert message in result.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["wrong.v"]


@needs_tree
@needs_coq
def test_a_theorem_whose_axioms_are_not_printed_is_rejected(tmp_path):
    text = "Theorem {} : 1 = 1.\nProof. reflexivity. Qed.\n"
    file = tmp_path / "some.v"
    file.write_text(text.format("one") + "Definition checked := one.\nPrint Assumptions checked.\n")
    assert _check_proofs(file).returncode == 0
    file.write_text(text.format("two") + file.read_text())
    assert "two is not named in checked" in _check_proofs(file).stdout
    file.write_text(text.format("one"))
    assert "no axioms are printed" in _check_proofs(file).stdout


@needs_tree
def test_without_coq_the_script_says_so(tmp_path):
    for tool in ("dirname", "sh"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    result = _check_proofs(env={"PATH": str(tmp_path)})
    assert result.returncode == 77
    assert "not installed" in result.stdout


# -- what needs no assistant -----------------------------------------------------------


def test_verify_names_the_machine_checked_claims():
    for names, shown in ((["p1-lemma-1", "p1-lemma-20"], True), (["p1-lemma-1"], False)):
        stream = io.StringIO()
        verify(names, 1, stream)
        words = "Machine-checked (scripts/lab/check_proofs): p1-lemma-20."
        assert (words in stream.getvalue()) == ("Machine-checked" in stream.getvalue()) == shown


# Fixpoint E: the weighted sum over a list of pairs (weight, point).
def E(p, f):
    return sum(w * f(x) for w, x in p)


def centered(p, K):
    """The Coq text: K_c of a kernel, and of the target kernel of labels."""
    return lambda x, z: (
        K(x, z) - E(p, lambda u: K(u, z)) - E(p, lambda u: K(x, u))
        + E(p, lambda u: E(p, lambda v: K(u, v)))
    )  # fmt: skip


def rho_u(p, K, y):
    Kc, Yc = centered(p, K), centered(p, lambda x, z: y(x) * y(z))
    return E(p, lambda x: E(p, lambda z: Kc(x, z) * Yc(x, z)))


def variance(p, y):
    return E(p, lambda x: (y(x) - E(p, y)) * (y(x) - E(p, y)))


LEMMA_6 = (
    "Fixpoint E (p : weighted) (f : X -> R) : R := match p with | [] => 0"
    " | (w, x) :: rest => w * f x + E rest f end.",
    "(forall w x, In (w, x) p -> 0 <= w) /\\ E p (fun _ => 1) = 1.",
    "(forall x z, K x z = K z x) /\\"
    " forall c : weighted, 0 <= E c (fun x => E c (fun z => K x z)).",
    "K x z - E p (fun u => K u z) - E p (fun u => K x u)"
    " + E p (fun u => E p (fun v => K u v)).",
    "Definition target (y : X -> R) (x z : X) : R := y x * y z.",
    "E p (fun x => E p (fun z => centered p K x z * centered p (target y) x z)).",
    "E p (fun x => (y x - E p y) * (y x - E p y)).",
    "map (fun x => (/ INR (length points), x)) points.",
    "Theorem lemma_6_population p K y r2 : is_law p -> pds K ->"
    " (forall w x, In (w, x) p -> centered p K x x <= r2) ->"
    " 0 <= rho_u p K y <= r2 * variance p y.",
    "Theorem lemma_6_sample p K y r2 points : points <> [] -> pds K ->"
    " (forall x, In x points -> centered p K x x <= r2) -> let s := sample points in"
    " 0 <= rho_u s K y <= r2 * variance s y /\\"
    " (0 <= r2 -> r2 * variance s y <= r2 * E s (fun x => y x * y x)).",
)  # fmt: skip


def test_lemma_6_in_coq_is_the_claim():
    assert [piece for piece in LEMMA_6 if piece not in _text("p1-lemma-6")] == []
    file = CLAIMS.module("p1-lemma-6")
    for seed in range(10):
        case = file.cases(RandomDraw(seed))
        law, matrix, rows = case["law"], case["K"], case["index"]

        def K(x, z, matrix=matrix):
            return matrix[x, z]

        def y(x, law=law):
            return law.labels[x]

        p = list(zip(law.weights, range(len(law.weights))))
        s = [(1 / len(rows), x) for x in rows]
        size = 1e-9 * np.abs(matrix).max() * max(1.0, np.abs(law.labels).max()) ** 2
        values = [rho_u(p, K, y), rho_u(s, K, y)]
        np.testing.assert_allclose(values, file.measure(case), rtol=1e-9, atol=size)
        r2 = max(centered(p, K)(x, x) for _, x in p)
        bounds = [r2 * variance(p, y), r2 * E(s, lambda x, y=y: y(x) * y(x))]
        np.testing.assert_allclose(bounds, file.corrected_bound(case), rtol=1e-9, atol=size)


def test_counterexample_of_lemma_6_in_coq_is_that_of_the_claim():
    """x = +-1 with probability 1/2, K = xx', y = 2x, M = 2, R^2 = 1: 4 > 2, and 4 is attained."""
    text = _text("p1-lemma-6")
    for piece in (
        "Definition sign (b : bool) : R := if b then 1 else -1.",
        "Definition coin : weighted bool := [(/ 2, true); (/ 2, false)].",
        "Definition product (a b : bool) : R := sign a * sign b.",
        "Definition double (b : bool) : R := 2 * sign b.",
        "rho_u X p K y <= M * r2.",
        "Theorem lemma_6_printed_is_false : ~ lemma_6_printed.",
        "(bad := H bool coin product double 2 1 coin_is_law product_pds).",
        "rho_u bool coin product double = 4.",
        "variance bool coin double = 4.",
    ):
        assert piece in text
    file = CLAIMS.module("p1-lemma-6")
    case = file.counterexample()
    sign = np.array([-1.0, 1.0])
    np.testing.assert_array_equal(case["law"].weights, [0.5, 0.5])
    np.testing.assert_array_equal(case["law"].labels, 2 * sign)
    np.testing.assert_array_equal(case["K"], np.outer(sign, sign))
    assert file.measure(case)[0] == 4
    np.testing.assert_allclose(file.bound(case), 2 * 1)
    np.testing.assert_allclose(file.corrected_bound(case)[0], 1 * 4)


LEMMA_20 = (
    "fold_right (fun i total => u i * v i + total) 0 index.",
    "Definition norm (u : vector) : R := sqrt (dot u u).",
    "Definition minus (u v : vector) : vector := fun i => u i - v i.",
    "Definition plus (u v : vector) : vector := fun i => u i + v i.",
    "Definition normalized (u : vector) : vector := fun i => u i / norm u.",
    "Theorem lemma_20 v w : 0 < norm v -> 0 < norm w -> forall i,"
    " minus (normalized w) (normalized v) i = minus w v i / norm w"
    " - dot (minus w v) (plus v w) * v i / (norm v * norm w * (norm v + norm w)).",
    "Theorem lemma_20_corollary v w : 0 < norm v -> 0 < norm w ->"
    " norm (minus (normalized w) (normalized v)) <= 2 * norm (minus w v) / (norm v + norm w).",
)


def test_lemma_20_in_coq_is_the_claim():
    assert [piece for piece in LEMMA_20 if piece not in _text("p1-lemma-20")] == []
    file = CLAIMS.module("p1-lemma-20")
    for seed in range(10):
        case = file.cases(RandomDraw(seed))
        v, w = case["v"], case["v_new"]
        a, b = np.sqrt(v @ v), np.sqrt(w @ w)
        if not min(a, b) > 1e-6:
            continue
        right = (w - v) / b - (w - v) @ (v + w) * v / (a * b * (a + b))
        np.testing.assert_allclose(file.bound(case), right, rtol=1e-9, atol=1e-9 * (1 + a / b))
        np.testing.assert_allclose(file.measure(case), w / b - v / a, atol=1e-12)
        assert file.sharp_bound(case) == pytest.approx(2 * np.sqrt((w - v) @ (w - v)) / (a + b))

    # The witness has no negative entry.
    assert "(forall i, 0 <= v i /\\ 0 <= w i)" in _text("p1-lemma-20")
    case = file._control_case()
    assert min(case["v"].min(), case["v_new"].min()) == 0
    assert file.sharp_measure(case) == pytest.approx(np.sqrt(2))
    assert file.sharp_bound(case) == pytest.approx(np.sqrt(2))


TWO_POINTS = (
    "Theorem two_points r s u : fourth p = 1 -> fourth q = 1 -> 0 <= r -> 0 <= s ->"
    " (forall i, (s * q i - r * p i) * (s * q i - r * p i) <= u i) ->",
    "0 <= sum (fun i => (q i * q i - p i * p i)"
    " * (s * s * (q i * q i) - r * r * (p i * p i)))"
    " <= 2 * sum (fun i => (p i * p i + q i * q i) * u i).",
)


def test_the_two_points_in_coq_are_those_of_the_claim():
    """The middle and the right side, from the matrices of the claim's own cases."""
    assert [piece for piece in TWO_POINTS if piece not in _text("p2-algorithm-1-hessian")] == []
    file = CLAIMS.module("p2-algorithm-1-hessian")
    for seed in range(10):
        case = file.cases(RandomDraw(seed))
        ends = case["alpha"], case["beta"], case["beta"] - case["alpha"]
        forms = [np.einsum("i,kij,j->k", a, case["kernels"], a) for a in ends]
        X, Z, u = (np.maximum(form, 0.0) for form in forms)
        r, s = np.sqrt(np.linalg.norm(X)), np.sqrt(np.linalg.norm(Z))
        p, q = np.sqrt(X) / r, np.sqrt(Z) / s
        assert (p**4).sum() == pytest.approx((q**4).sum()) == pytest.approx(1)
        assert ((s * q - r * p) ** 2 <= u + 1e-7 * (X + Z)).all()
        middle = (q**2 - p**2) @ (s**2 * q**2 - r**2 * p**2)
        d = case["beta"] - case["alpha"]
        rest = 2 * d @ d * case["lam"] + 2 * u.sum()
        ratio = (rest + case["radius"] * (middle + (p**2 + q**2) @ u)) / (
            rest + case["radius"] * (p**2 + q**2) @ u
        )
        tolerance = 1e-9 * file._rounding(case) / file.measure(case)[0]
        assert ratio == pytest.approx(file.measure(case)[0], rel=1e-6 + tolerance)


PROP_10 = (
    "Definition sum (f : I -> R) : R := fold_right (fun i total => f i + total) 0 index.",
    "Definition dot (u v : I -> R) : R := sum (fun i => u i * v i).",
    "Definition form (u : I -> R) : R := sum (fun i => u i * sum (fun j => M i j * u j)).",
    "Definition objective (u : I -> R) : R := form u - 2 * dot u a.",
    "Definition nonnegative (u : I -> R) : Prop := forall i, 0 <= u i.",
    "nonnegative v /\\ forall u, nonnegative u -> objective v <= objective u.",
    "Definition rho_0 (mu : I -> R) : R := dot mu a / sqrt (form mu).",
    "Definition norm (u : I -> R) : R := sqrt (dot u u).",
    "Theorem prop_10 v : is_minimum v -> 0 < form v -> 0 < norm v ->"
    " rho_0 (scale (/ norm v) v) = sqrt (form v).",
)


def test_proposition_10_in_coq_is_the_claim():
    assert [piece for piece in PROP_10 if piece not in _text("p1-prop-10")] == []
    file, compared = CLAIMS.module("p1-prop-10"), 0
    for seed in range(20):
        case = file.cases(RandomDraw(seed))
        try:
            a, M, v, labels = file._solution(case)
        except HypothesisNotMet:
            continue
        compared += 1
        mu = v / np.sqrt(v @ v)
        # The claim divides both sides by the norm of the target.
        assert file.measure(case)[0] == pytest.approx(mu @ a / np.sqrt(mu @ M @ mu) / labels)
        assert file.bound(case)[0] == pytest.approx(np.sqrt(v @ M @ v) / labels)
    assert compared >= 5


PRICE = (
    "Definition sum (f : I -> R) : R := fold_right (fun i total => f i + total) 0 index.",
    "Definition dot (u v : I -> R) : R := sum (fun i => u i * v i).",
    "Definition times (A : I -> I -> R) (u : I -> R) (i : I) : R := sum (fun j => A i j * u j).",
    "Definition form (A : I -> I -> R) (u w : I -> R) : R := dot u (times A w).",
    "Definition objective (A : I -> I -> R) (c u : I -> R) : R := form A u u - 2 * dot u c.",
    "nonnegative v /\\ forall u, nonnegative u -> objective A c v <= objective A c u.",
    "nonnegative v /\\ forall u, nonnegative u -> 0 <= dot (minus u v) (slope A c v).",
    "Definition slope (A : I -> I -> R) (c v : I -> R) (i : I) : R := times A v i - c i.",
    "Definition semidefinite (A : I -> I -> R) : Prop := forall u, 0 <= form A u u.",
    "Definition weighted (u w : I -> R) : R := sum (fun i => D i * (u i * w i)).",
    "Definition error (v : I -> R) (i : I) : R := slope M a v i - slope N b v i.",
    "Theorem minimum_is_stationary A c v :"
    " symmetric A -> is_minimum A c v -> is_stationary A c v.",
    "Theorem oracle_inequality v w z eps : symmetric M -> semidefinite M -> nonnegative D ->"
    " is_stationary N b v -> nonnegative w -> 0 <= eps ->"
    " (forall i, times M z i + eps * (D i * z i) = error v i) ->"
    " objective M a v - objective M a w"
    " <= dot (error v) z + eps * weighted (minus v w) (minus v w).",
    "Rmax 0 (dot u a) * Rmax 0 (dot u a) / form M u u.",
    "Theorem alignment_gap v w : symmetric M -> is_minimum M a w -> 0 < form M w w ->"
    " 0 < form M v v ->"
    " squared_alignment w - squared_alignment v <= objective M a v - objective M a w.",
)  # fmt: skip


def test_the_oracle_inequality_in_coq_is_the_claim():
    assert [piece for piece in PRICE if piece not in _text("p1-learned-price")] == []
    file, compared = CLAIMS.module("p1-learned-price"), 0
    for seed in range(20):
        case = file.cases(RandomDraw(seed)) | {"eps": 0.1}
        M, a, N, b = file._numbers(case)
        v, w = file._weights(case)
        error, D = (M @ v - a) - (N @ v - b), np.diagonal(M)
        z = np.linalg.solve(M + 0.1 * np.diag(D), error)
        size = 1.0 + np.abs(v).max() ** 2
        right = error @ z + 0.1 * D @ (v - w) ** 2
        np.testing.assert_allclose(file.bound(case), right, rtol=1e-6, atol=1e-9 * size)
        if not min(w @ M @ w, v @ M @ v) > 1e-9:
            continue
        compared += 1
        squares = [max(0.0, u @ a) ** 2 / (u @ M @ u) for u in (w, v)]
        gaps = squares[0] - squares[1], file._q(v, M, a) - file._q(w, M, a)
        np.testing.assert_allclose(file.measure(case), gaps, atol=1e-9 * size)
    assert compared >= 5
