"""Memory: the free amount, budgets, and errors before work that needs more."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

from .arguments import check_number

_SHARE = 0.5  # share of free memory used by default, because other work needs some, too
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_LARGEST = 2**62
_LEAST_ROWS = 100  # fewer rows are not suggested in messages
# Files of a control group: its limit, its use, and the reclaimable part of its use.
_GROUP_FILES = {
    "": ("", "memory.max", "memory.current", "inactive_file"),
    "memory": ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def free_memory() -> float:
    """Bytes that this process may still use; infinity if the system does not report it."""
    limits = [group_memory()]
    try:
        with open("/proc/meminfo") as lines:
            # Unlike free pages, these include reclaimable memory.
            known = (1024 * int(x.split()[1]) for x in lines if x.startswith("MemAvailable"))
            limits.append(next(known))
    except (OSError, StopIteration):
        with suppress(AttributeError, OSError, ValueError):
            limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
        if soft != resource.RLIM_INFINITY:
            limits.append(max(soft - _address_space(), 0))
    except ImportError:  # Windows
        pass
    return min(limits)


def _address_space():
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def group_memory(root="/sys/fs/cgroup", groups="/proc/self/cgroup") -> float:
    """Bytes left in the control groups of this process (limits of containers), or infinity.

    Parameters
    ----------
    root : str
        Where the groups are mounted.
    groups : str
        The file with the groups of this process.
    """
    return min((_left(*group) for group in _groups(root, groups)), default=float("inf"))


@cache
def _groups(root, groups):
    """The control groups of this process with the names of their files; they do not change."""
    try:
        lines = Path(groups).read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        _, kinds, path = line.split(":", 2)
        for kind in set(kinds.split(",")) & set(_GROUP_FILES):
            folder, *names = _GROUP_FILES[kind]
            top = Path(root, folder)
            place = top / path.strip("/")
            above = (g for g in (place, *place.parents) if g == top or top in g.parents)
            found += [(group, *names) for group in above]
    return found


def _left(group, limit, used, reclaimable):
    try:
        limit = int((group / limit).read_text())
        if limit > _LARGEST:  # no limit; counting the use takes a millisecond
            return float("inf")
        used = int((group / used).read_text())
        pairs = (line.split() for line in (group / "memory.stat").read_text().splitlines())
        return max(limit - used + next(int(n) for name, n in pairs if name == reclaimable), 0)
    except (OSError, ValueError, StopIteration):  # no such group, or "max": no limit
        return float("inf")


def check_memory(name: str, value) -> int:
    """Bytes of a memory budget.

    Parameters
    ----------
    name : str
        Of the argument.
    value : number of bytes, str or None
        A string is a number and a unit: "800MB" and "1.5 GB" count in powers of 1000, "1GiB" in
        powers of 1024. None means half of the memory that is free now.

    Raises
    ------
    TypeError, ValueError
        It is none of these, or less than one byte.
    """
    if value is None:
        return int(min(_SHARE * free_memory(), _LARGEST))
    if isinstance(value, str):
        match = _SIZE.fullmatch(value.strip())
        if match is None:
            raise ValueError(
                f"{name}={value!r} is not a size; accepted: a number of bytes, a "
                "string such as '800MB' or '1.5GiB', or None for half of the free memory."
            )
        number, unit, binary = match.groups()
        value = float(number) * (1024 if binary else 1000) ** _UNITS[unit.lower()]
    return int(min(check_number(name, value, low=1.0, finite=False), _LARGEST))


def require_memory(m, need, what, advice):
    """Raise an error for work that does not fit into free memory.

    Parameters
    ----------
    m : int
        Samples.
    need : callable (n) -> float
        Bytes for n samples.
    what : str
        Name of the work in the message.
    advice : callable (n, free) -> str
        The accepted options, given the number of samples that fit and the free bytes.

    Raises
    ------
    MemoryError
        With the estimate, the free memory, and the advice.
    """
    size, free = need(m), free_memory()
    if size > free:
        raise MemoryError(
            f"{what} needs about {size / 2**30:.1f} GiB, but {free / 2**30:.1f} "
            f"GiB are free; accepted: {advice(most_rows(m, need, free), free)}."
        )


def check_gram_memory(m, n_matrices=1, itemsize=8):
    """Raise an error if ``n_matrices`` matrices (m, m) do not fit into free memory."""
    require_memory(
        m,
        lambda n: float(itemsize) * n_matrices * n**2,
        f"X: {n_matrices} kernel {'matrix' if n_matrices == 1 else 'matrices'} of {m} x {m}",
        lambda rows, _: (
            f"{f'at most {rows} samples' if rows else 'fewer samples'}, or kernels "
            "that are linear in fewer features than samples, which need no such matrix"
        ),
    )


def most_rows(m, need, free):
    """The largest number of rows up to m whose need fits, to two digits; 0 if below 100."""
    if need(m) <= free:
        return m
    low, high = 0, m
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if need(middle) <= free else (low, middle)
    digits = 10 ** max(0, len(str(low)) - 2)
    rows = low // digits * digits
    return rows if rows >= _LEAST_ROWS else 0
