"""Plans of boxes, and results that arrive in order."""

import threading
from itertools import pairwise

import numpy as np
from cases import each
from hypothesis import given
from hypothesis import strategies as st

from alignlearn.engine.boxes import InOrder, cells, pair_side, row_boxes, rows


@given(sizes=st.lists(st.integers(0, 40), min_size=1, max_size=4), side=st.integers(1, 30))
def test_every_pair_of_samples_is_in_one_box(sizes, side):
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    owners, boxes = cells(starts, side)
    cell = np.repeat(np.arange(len(sizes)), sizes)
    seen = np.zeros((starts[-1], starts[-1]), dtype=int)
    for (g, h), (i0, i1, j0, j1) in zip(owners, boxes, strict=True):
        assert 0 < i1 - i0 <= side
        assert 0 < j1 - j0 <= side
        assert (i0, i1) == (j0, j1) or i1 <= j0
        assert (cell[i0:i1] == g).all()
        assert (cell[j0:j1] == h).all()
        seen[i0:i1, j0:j1] += 1
        if i0 != j0:
            seen[j0:j1, i0:i1] += 1
    assert (seen == 1).all()


@given(first=st.integers(0, 100), n=st.integers(0, 1000), height=st.integers(1, 300))
def test_ranges_of_rows_follow_each_other(first, n, height):
    found = rows(first, first + n, height)
    assert all(0 < i1 - i0 <= height for i0, i1 in found)
    assert [i for i, _ in found] + [first + n] == [first] + [i for _, i in found]


@given(n=st.integers(0, 10**6), width=st.integers(0, 10**6), most=st.none() | st.integers(1, 900))
def test_boxes_of_rows_are_few_and_not_small(n, width, most):
    found = row_boxes(n, width, 4, most)
    assert sum(i1 - i0 for i0, i1 in found) == n
    for (_, end), (start, _) in pairwise(found):
        assert end == start
    if most is None:
        assert len(found) <= 65
        assert len(found) < 2 or (found[0][1] - found[0][0]) * max(width, 1) >= 2**19 or n > 512
    else:
        assert all(i1 - i0 < most + 4 for i0, i1 in found)


@each("m", [1, 255, 4000, 100_000, 10**7])
def test_sides_of_boxes_depend_on_the_size_alone(m):
    side = pair_side(m)
    assert 256 <= side <= 32768
    assert pair_side(m, 100) == 100
    assert len(rows(0, m, side)) <= max(16, min(m // 8000, 306))


@each("m", [1, 255, 4000, 32768, 32769, 100_000, 10**6])
def test_few_boxes_are_as_large_as_may_be(m):
    count = -(-m // 32768)
    found = row_boxes(m, m, 4, few=True)
    assert len(found) == count
    assert found[0][1] - found[0][0] <= 32768
    assert found[-1][1] == m
    assert len(cells([0, m], pair_side(m, few=True))[1]) == count * (count + 1) // 2
    assert pair_side(m, 100, few=True) == min(100, 128)


def test_results_come_in_order_whatever_their_timing():
    count, seen = 50, []
    results = InOrder(count, lambda k, result: seen.append((k, result)))
    numbers = [results.next() for _ in range(count)]
    assert results.next() is None
    assert numbers == list(range(count))
    shuffled = np.random.default_rng(0).permutation(count)
    halves = [
        threading.Thread(target=lambda part: [results.put(int(k), -k) for k in part], args=(part,))
        for part in (shuffled[:25], shuffled[25:])
    ]
    for thread in halves:
        thread.start()
    for thread in halves:
        thread.join()
    assert seen == [(k, -k) for k in range(count)]
