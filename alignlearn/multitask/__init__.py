"""Multi-task kernel learning with neighbourhood kernels."""
