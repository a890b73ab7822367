"""The claims of Liu et al. (2020) on hyper-RKHS, one per file; `proofs.md` has the proofs."""

# File names in the order in which the statements appear in the paper.
FILES = ()
