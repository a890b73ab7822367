"""Copies of arrays on a device, which an engine on that device uses in place."""

import numpy as np

from alignlearn.validation.devices import original, remember


def test_a_copy_in_a_buffer_of_bytes_is_known():
    """As Numba copies: views of it belong to the buffer, not to the array that was returned."""
    there = object()
    buffer = np.zeros(48, dtype=np.byte)
    copied = np.ndarray((2, 3), np.float64, buffer=buffer)
    remember(copied, there)
    seen = copied.view()
    assert seen.base is not copied
    assert original(copied) is there
    assert original(seen) is there


def test_parts_and_other_orders_are_not_the_array():
    there, copied = object(), np.zeros((3, 3))
    remember(copied, there)
    assert original(copied[:]) is there
    for other in (copied[:2], copied[1:], copied.T, copied.reshape(9), copied.view(np.int64)):
        assert original(other) is None
    assert original(copied.copy()) is None
    turned = np.zeros((3, 3)).T
    remember(turned, there)
    assert original(turned) is None


def test_what_is_gone_is_forgotten():
    copied = np.zeros((2, 2))
    remember(copied, object())
    place = copied.__array_interface__["data"][0]
    del copied
    again = np.zeros((2, 2))
    if again.__array_interface__["data"][0] == place:
        assert original(again) is None
