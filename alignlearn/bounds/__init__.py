"""The bounds and intervals of the theory as plain functions, by subject.

They are used by the estimators and by the claims of `alignlearn.theory`, which put each of them to
the test; nothing here knows either. What ends in "printed" is a paper's own form, kept because it
is compared with: its docstring says whether it is true.
"""
