"""The claims of Cortes, Mohri and Rostamizadeh (2009), one per file; `proofs.md` has the proofs."""

# File names in the order in which the statements appear in the paper.
FILES = (
    "theorem_1",
    "theorem_2",
    "lemma_1",
    "prop_1",
    "prop_2",
    "eq_20",
    "y_norm",
    "prop_3",
    "theorem_3",
    "algorithm_1",
    "algorithm_1_spectrum",
    "algorithm_1_hessian",
    "algorithm_1_safeguarded",
    "algorithm_1_lyapunov",
)
