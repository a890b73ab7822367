"""Bounds that only the theory evaluates, as plain functions; no estimator uses them.

They follow the conventions of `alignlearn.bounds`: rates of hyper-kernels, the complexity of the
multi-task class, and the papers' guarantees for predictors.
"""
