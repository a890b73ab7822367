"""The claims of Liu et al. (2020) on hyper-RKHS, one per file; `proofs.md` has the proofs."""

# File names in the order in which the statements appear in the paper.
FILES = (
    "free_kernel",
    "invariance",
    "eq_2_1",
    "negative_coefficients",
    "midpoint_form",
    "hyper_matrix",
    "eq_2_6",
    "symmetric_reduction",
    "eq_2_8",
    "svr_bias",
    "definite_coefficients",
    "ksvm",
    "concatenation",
    "cost",
    "gaussian",
    "gaussian_scale",
    "wishart",
)
