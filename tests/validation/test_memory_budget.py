"""Memory budgets as users state them."""

import math

from cases import each
from refusals import raises

from alignlearn.validation import check_memory
from alignlearn.validation.memory import free_memory


@each(
    ("given", "size"),
    [
        (2.5e9, 2_500_000_000),
        ("1 gb", 10**9),
        ("1GiB", 2**30),
        ("1.5 MiB", 3 * 2**19),
        (".5kB", 500),
        ("2T", 2 * 10**12),
        ("1e3", 1000),
        ("100B", 100),
        (math.inf, 2**62),
    ],
)
def test_sizes(given, size):
    assert check_memory("memory", given) == size


def test_default_is_half_of_what_is_free():
    free = free_memory()
    assert 0.3 * min(free, 2**62) < check_memory("memory", None) <= 0.7 * free


@each("given", ["", "GB", "1XB", "-1GB", "1 GB 2", "1.2.3", 0, 0.5, math.nan, "0GB"])
def test_what_is_no_size(given):
    raises(ValueError, r"memory=.* accepted", check_memory, "memory", given)


@each("given", [True, [1], b"1GB", 1j])
def test_other_types(given):
    raises(TypeError, "memory must be", check_memory, "memory", given)
