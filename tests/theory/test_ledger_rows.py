"""Every row of the table of the two alignment papers is a claim, or a documented part of one."""

from alignlearn.theory import CLAIMS, all_claims

# What was checked by derivation and by computation, row by row, and the claims that say it. A part
# of a claim is written after a colon: a function of the claim's file.
ROWS = {
    "P1 Lemma 1": ("p1-lemma-1",),
    "P1 Lemma 3": ("p1-lemma-3",),
    "P1 Figure 1": ("p1-figure-1",),
    "P1 Lemma 6": ("p1-lemma-6",),
    "P1 (3), (4)": ("p1-eq-3",),
    "P1 Proposition 7": ("p1-prop-7",),
    "P1 Proposition 7, q = 1": ("p1-prop-7-linear",),
    "P1 Proposition 8": ("p1-prop-8",),
    "P1 Proposition 9": ("p1-prop-9",),
    "P1 Proposition 9, remark": ("p1-prop-9-svm",),
    "P1 Proposition 9, a_k = 0": ("p1-prop-9-zero",),
    "P1 rho_0": ("p1-rho-0",),
    "P1 Proposition 10": ("p1-prop-10",),
    "P1 section 3.4, overall problem": ("p1-overall-problem",),
    "P1 (9), scaling and convexity": ("p1-eq-9", "p1-eq-9-convex"),
    "P1 (9), iteration": ("p1-eq-9-iteration",),
    "P1 (9), rate for gamma'' = 0": ("p1-eq-9-rate",),
    "P1 (9), share of cycling instances": ("p1-eq-9-rate:share_of_cycles",),
    "P1 Lemma 18": ("p1-lemma-18", "p1-covariance-change"),
    "P1 Lemma 19": ("p1-lemma-19", "p1-lemma-19-table"),
    "P1 Proposition 11": ("p1-prop-11",),
    "P1 Theorem 12": ("p1-theorem-12",),
    "P1 Theorem 12, form (i)": ("p1-theorem-12-proof",),
    "P1 Theorem 12, forms (ii), (iii)": ("p1-theorem-12-sharpened", "p1-theorem-12-refined"),
    "P1 Theorem 12, rate": ("p1-theorem-12-rate",),
    "P1 Theorem 13": ("p1-theorem-13", "p1-theorem-13-binary"),
    "P1 footnote 4": ("p1-footnote-4",),
    "P1 Theorem 14": ("p1-theorem-14", "p1-theorem-14-footnote"),
    "P1 h_S, identity": ("p1-h-s",),
    "P1 h_S, rate": ("p1-h-s-rate", "p1-h-s-deviation"),
    "P1 h_S, margin": ("p1-h-s-margin",),
    "P1 Theorem 15": ("p1-theorem-15",),
    "P1 Theorem 16": ("p1-theorem-16",),
    "P1 Theorem 17": ("p1-theorem-17", "p1-theorem-17-learned", "p1-theorem-17-fixed"),
    "P1 |h_S(x)|": ("p1-hypothesis-bound",),
    "P1 trace remark": ("p1-trace-inequality", "p1-trace-degenerate", "p1-alignf-stability"),
    "P1 trace remark, one label": ("p1-alignf-flip",),
    "P1 L1 <= sqrt(p) L2": ("p1-l1-l2",),
    "P1 Lemma 20": ("p1-lemma-20", "p1-lemma-20-corollary"),
    "P1 Proposition 21": ("p1-prop-21", "p1-prop-21-exchanged"),
    "P2 Theorem 1": ("p2-theorem-1",),
    "P2 Theorem 2": ("p2-theorem-2",),
    "P2 Theorem 2, label bound": ("p2-theorem-2-labels",),
    "P2 Lemma 1, (12), (23)": ("p2-lemma-1",),
    "P2 Lemma 1, remark": ("p2-definition-1",),
    "P2 Proposition 1": ("p2-prop-1", "p2-prop-1-shape"),
    "P2 Proposition 2": ("p2-prop-2", "p2-prop-2-shape"),
    "P2 (20)": ("p2-eq-20",),
    "P2 norm of Y^-1": ("p2-y-norm",),
    "P2 (21), Proposition 3": ("p2-prop-3",),
    "P2 Theorem 3": ("p2-theorem-3",),
    "P2 Algorithm 1": ("p2-algorithm-1", "p2-algorithm-1-spectrum"),
    "P2 Algorithm 1, best eta": ("p2-algorithm-1-rate:worst_rate",),
    "P2 Algorithm 1, fallback": ("p2-frank-wolfe",),
    # What the derivations add to the table.
    "2.3 interval": ("p1-interval", "p1-interval-numerator"),
    "2.4 unbiased statistic": ("p1-u-statistic", "p1-u-kernel"),
    "2.4 Hoeffding": ("p1-u-hoeffding",),
}

# Results of this project, which answer to no row.
NEW = {
    "p1-class-interval",
    "p1-class-betting",
    "p1-class-complexity",
    "p1-class-learned",
    "p1-learned-price",
    "p1-local-complexity",
    "p1-learned-price-align",
    "p1-learned-price-rate",
    "p1-own-sample",
    "p1-ratio-interval",
    "p1-sample-price",
    "p1-target-interval",
    "p1-intercept-stability",
    "p1-prequential",
    "p1-prequential-betting",
    "p1-u-alignment",
    "p2-algorithm-1-cycle",
    "p2-algorithm-1-hessian",
    "p2-algorithm-1-safeguarded",
    "p2-algorithm-1-lyapunov",
}

NAMES = {claim.name for claim in all_claims()}


def test_a_row_is_a_claim_or_a_part_of_one():
    for row, entries in ROWS.items():
        for entry in entries:
            name, _, part = entry.partition(":")
            assert name in NAMES, row
            assert not part or callable(getattr(CLAIMS.module(name), part)), row


def test_every_claim_of_the_two_papers_answers_to_a_row_or_is_new():
    printed = {name for name in CLAIMS if name.startswith(("p1-", "p2-"))}
    named = {entry.partition(":")[0] for entries in ROWS.values() for entry in entries}
    assert printed - named == NEW
    assert not NEW & named
