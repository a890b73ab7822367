"""Random inputs for the claims, drawn by NumPy or by hypothesis through one small interface.

A claim's ``cases`` function takes a `Draw`. `RandomDraw` is fast and has no dependencies.
`HypothesisDraw` lets hypothesis choose and shrink the inputs; only `verify` and the tests create
one, so this module does not import hypothesis.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

KERNEL_FORMS = (
    "generic",
    "rank-one",
    "low-rank",
    "duplicated",
    "near-identity",
    "near-constant",
    "tiny",
    "huge",
)


def _entries() -> np.ndarray:
    """A table of 256 numbers indexed by one byte: a few round numbers, then normal quantiles."""
    table = np.array([NormalDist().inv_cdf((i + 0.5) / 256) for i in range(256)])
    table[:8] = [0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0]
    return table


_TABLE = _entries()


class Draw:
    """Draws of numbers and arrays from ``integer(low, high)`` (inclusive) and ``octets(n)``."""

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from low to high, both included."""
        raise TypeError("use RandomDraw or HypothesisDraw")

    def octets(self, n: int) -> bytes:
        """Draw n random bytes."""
        raise TypeError("use RandomDraw or HypothesisDraw")

    def choice(self, options):
        """Draw one element of a sequence."""
        return options[self.integer(0, len(options) - 1)]

    def real(self, low: float, high: float) -> float:
        """Draw a number in [low, high], both ends included."""
        return low + (high - low) * self.integer(0, 2**20) / 2**20

    def log_real(self, low: float, high: float) -> float:
        """Draw a positive number in [low, high], uniform in its logarithm."""
        return float(np.exp(self.real(np.log(low), np.log(high))))

    def rng(self) -> np.random.Generator:
        """Return a NumPy generator with a drawn seed."""
        return np.random.default_rng(self.integer(0, 2**32 - 1))

    def array(self, shape) -> np.ndarray:
        """Draw a float array, roughly standard normal; small ones contain round numbers, too."""
        n = int(np.prod(shape))
        if n > 200:
            return self.rng().standard_normal(shape)
        return _TABLE[np.frombuffer(self.octets(n), dtype=np.uint8)].reshape(shape)

    def weights(self, n: int) -> np.ndarray:
        """Draw a point of the probability simplex with positive entries."""
        raw = np.abs(self.array(n)) + 0.05
        return raw / raw.sum()

    def signs(self, n: int) -> np.ndarray:
        """Draw labels -1.0 or +1.0."""
        return np.where(np.frombuffer(self.octets(n), dtype=np.uint8) % 2 == 0, 1.0, -1.0)

    def features(self, n: int, form: str | None = None) -> np.ndarray:
        """Draw features (n, r) whose Gram matrix has the given form, or a random one if None.

        The form is one of KERNEL_FORMS, or ``"saturated"``: one feature in [-1, 1], often close to
        the ends, where exchanging a point has the largest effect.
        """
        form = form or self.choice(KERNEL_FORMS)
        rank = {"rank-one": 1, "low-rank": 2, "saturated": 1}.get(form, n)
        f = self.array((n, rank))
        if form == "duplicated":
            f = f[np.arange(n) // 2]
        elif form == "near-identity":
            f = np.eye(n) + 1e-4 * f
        elif form == "near-constant":
            f = np.hstack([np.ones((n, 1)), 1e-3 * f])
        elif form == "tiny":
            f = 1e-4 * f
        elif form == "huge":
            f = 1e4 * f
        elif form == "saturated":
            f = np.tanh(3.0 * f)
        return f

    def kernel(self, n: int, form: str | None = None) -> np.ndarray:
        """Draw a positive semi-definite (n, n) matrix of one of the forms of `features`."""
        f = self.features(n, form)
        return f @ f.T


class RandomDraw(Draw):
    """Draws from a NumPy generator.

    Parameters
    ----------
    random_state : int, Generator or None
    """

    def __init__(self, random_state=None):
        self._rng = np.random.default_rng(random_state)

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from low to high, both included."""
        return int(self._rng.integers(low, high, endpoint=True))

    def octets(self, n: int) -> bytes:
        """Draw n random bytes."""
        return self._rng.bytes(n)


class HypothesisDraw(Draw):
    """Draws through the ``draw`` function that ``hypothesis.strategies.composite`` passes on."""

    def __init__(self, draw):
        import hypothesis.strategies as st

        self._draw, self._st = draw, st

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from low to high, both included."""
        return self._draw(self._st.integers(low, high))

    def octets(self, n: int) -> bytes:
        """Draw n random bytes."""
        return self._draw(self._st.binary(min_size=n, max_size=n))


def strategy(claim):
    """Return the claim's cases as a hypothesis strategy."""
    import hypothesis.strategies as st

    @st.composite
    def build(draw):
        return claim.cases(HypothesisDraw(draw))

    return build()
