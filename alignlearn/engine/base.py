"""The interface of an engine, which runs operations on boxes of pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Engine(ABC):
    """Runs an operation on boxes of some data.

    Attributes
    ----------
    in_place : bool
        Whether loops that fill a matrix write into it in this process.
    operations : frozenset of str
        Names of the supported operations.
    uneven : bool
        Whether boxes of the same size may differ much in cost.
    """

    in_place: bool
    operations: frozenset[str]
    uneven: bool = False

    def large_boxes(self, n_pairs):
        """Whether few large boxes are better for so many pairs than many boxes for threads."""
        return False

    @abstractmethod
    def run_boxes(self, operation, data, boxes, take, watch=None):
        """Run an operation on every box, and pass the results on in the order of the boxes.

        Parameters
        ----------
        operation : str
            A name in ``operations``.
        data : named tuple
            The input of the operation.
        boxes : list of tuple of int
            Rows (i0, i1), or rows and columns (i0, i1, j0, j1).
        take : callable
            ``take(k, result)`` is called once for each box, k = 0, 1, ..., never twice at once.
        watch : callable, optional
            Called without arguments, several times a second, where ``take`` is called in other
            threads.
        """
