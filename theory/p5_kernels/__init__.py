"""The statements of Szabó's slides on kernel methods; the proofs are in `proofs.md`."""

# In the order in which the statements appear in the slides; `registry` explains the colon.
FILES = (
    "max_correlation",
    "factory",
    "frobenius",
    "gaussian",
    "separable",
    "smooth",
    "representer",
    "hinge_envelope",
    "intercept",
    "svm_primal",
    "krr",
    "sgd",
    "kcca_zero",
    "kcca_zero:kcca_spectrum",
    "independence",
    "taylor_ball",
    "universal",
    "binomial",
    "kcca_penalty",
    "kcca_penalty:kcca_second_block",
    "kcca_penalty:kcca_several",
    "centered_gram",
)
