"""Hyper-kernels: the kernel function itself is learned, from a matrix of similarities."""
