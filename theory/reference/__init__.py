"""Oracles of the claims: exact distributions, naive learners, and the library's solvers."""
