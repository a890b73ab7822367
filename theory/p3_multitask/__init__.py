"""The claims on multi-task neighbourhood kernels, one per file; `proofs.md` has the proofs."""

# File names in the order in which the statements appear in the paper.
FILES = ()
