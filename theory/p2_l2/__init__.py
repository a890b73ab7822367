"""The claims of Cortes, Mohri and Rostamizadeh (2009); the proofs are in `proofs.md`."""

# In the order in which the statements appear in the paper; `registry` explains the colon.
FILES = (
    "theorem_1",
    "theorem_2",
    "theorem_2:theorem_2_labels",
    "lemma_1",
    "definition_1",
    "prop_1",
    "prop_1:prop_1_shape",
    "prop_2",
    "prop_2:prop_2_shape",
    "eq_20",
    "y_norm",
    "prop_3",
    "theorem_3",
    "algorithm_1",
    "algorithm_1_spectrum",
    "algorithm_1_spectrum:algorithm_1_rate",
    "algorithm_1_hessian",
    "algorithm_1_cycle",
    "algorithm_1:algorithm_1_safeguarded",
    "algorithm_1_lyapunov",
    "frank_wolfe",
)
