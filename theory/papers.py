"""The papers whose claims are evaluated here."""

P1 = (
    "Cortes, Mohri and Rostamizadeh (2012), "
    "Algorithms for Learning Kernels Based on Centered Alignment"
)
P2 = "Cortes, Mohri and Rostamizadeh (2009), L2 Regularization for Learning Kernels"
P3 = (
    "Yousefi, Li, Mollaghasemi, Anagnostopoulos and Georgiopoulos, "
    "Multi-Task Learning Using Neighborhood Kernels"
)
P4 = (
    "Liu, Shi, Huang, Yang and Suykens (2020), "
    "Regularized Regression Problem in hyper-RKHS for Learning Kernels"
)
P5 = "Szabó, Foundations of Machine Learning (ST510), slides on kernel methods"
