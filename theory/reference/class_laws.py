"""Distributions of two classes for testing the intervals for the alignment.

Each is a finite distribution with a kernel of unit diagonal and no negative values: uninformative
labels, separated classes, atoms so rare that most samples miss them, kernels that are nearly
constant or nearly the identity, and class shares far from one half.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from .problems import FiniteDistribution, gaussian_kernel


@dataclass(frozen=True)
class ClassLaw:
    """A distribution, its kernel over the atoms, and the alignment with the labels."""

    name: str
    law: FiniteDistribution
    K: np.ndarray

    @property
    def alignment(self) -> float:
        """rho(K, yy'); 0 where it is below rounding."""
        rho = self.law.alignment(self.K, self.law.target())
        return rho if rho > 1e-14 else 0.0


def _line(points, bandwidth=1.0):
    return gaussian_kernel(np.asarray(points, dtype=float)[:, None], bandwidth)


def _noisy(weights, K, share):
    """Labels independent of the atoms, P(y = 1) = share."""
    law = np.concatenate([share * weights, (1 - share) * weights])
    labels = np.repeat([1.0, -1.0], len(weights))
    return FiniteDistribution(law, labels), np.tile(K, (2, 2))


def _independent(points, share=0.5):
    K = _line(points)
    return _noisy(np.full(len(K), 1 / len(K)), K, share)


def _separated(share):
    K = _line([0.0, 0.5, 4.0, 4.5])
    weights = np.array([share, share, 1 - share, 1 - share]) / 2
    return FiniteDistribution(weights, np.array([1.0, 1.0, -1.0, -1.0])), K


def _rare_atoms():
    weights = np.array([0.01, 0.01, 0.01, 0.485, 0.485])
    return FiniteDistribution(weights, np.array([1.0, 1, 1, 1, -1])), _line([5.0, 9, 13, 0, 0.2])


def _rare_pair():
    weights = np.array([0.001, 0.001, 0.499, 0.499])
    return FiniteDistribution(weights, np.array([1.0, -1, 1, -1])), _line([6.0, 12.0, 0.0, 0.0])


def _near_constant():
    points = np.linspace(0.0, 0.05, 6)
    return FiniteDistribution(np.full(6, 1 / 6), np.array([1.0, 1, -1, 1, -1, -1])), _line(points)


def _near_identity():
    n = 200
    K = np.full((n, n), 1e-3) + (1 - 1e-3) * np.eye(n)
    return FiniteDistribution(np.full(n, 1 / n), np.where(np.arange(n) % 2, 1.0, -1.0)), K


def _overlapping(share=0.5):
    nodes, w = np.polynomial.hermite_e.hermegauss(12)
    w = w / w.sum()
    law = FiniteDistribution(
        np.concatenate([share * w, (1 - share) * w]), np.repeat([1.0, -1.0], len(w))
    )
    return law, _line(np.concatenate([nodes + 1, nodes - 1]))


@cache
def class_laws() -> tuple[ClassLaw, ...]:
    """Return the distributions, in a fixed order."""
    made = {
        "independent labels, 4 atoms": _independent(np.arange(4.0)),
        "independent labels, 10 atoms": _independent(np.linspace(0, 3, 10)),
        "separated, balanced": _separated(0.5),
        "separated, 95 to 5": _separated(0.95),
        "three atoms of mass 1/100": _rare_atoms(),
        "a pair of mass .002": _rare_pair(),
        "near-constant kernel": _near_constant(),
        "near-identity kernel, 200 atoms": _near_identity(),
        "share of labels .03": _overlapping(0.03),
        "two normals at distance 2": _overlapping(),
    }
    return tuple(ClassLaw(name, *parts) for name, parts in made.items())
