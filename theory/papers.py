"""The papers whose claims are evaluated here."""

P1 = (
    "Cortes, Mohri and Rostamizadeh (2012), "
    "Algorithms for Learning Kernels Based on Centered Alignment"
)
P2 = "Cortes, Mohri and Rostamizadeh (2009), L2 Regularization for Learning Kernels"
