"""Bounds that only the theory evaluates, as plain functions; the estimators use none of them.

They are written like those of `alignlearn.bounds`: rates of hyper-kernels, the complexity of the
multi-task class, and what the papers promise of predictors.
"""
