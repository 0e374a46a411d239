"""LabelNetwork: a directed acyclic graph of the labels, with their order and the parents of each."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelsieve.errors import InputError, is_whole
from labelsieve.plotting import Axes, figure_function


@dataclass(frozen=True, eq=False)
class LabelNetwork:
    """A directed acyclic graph of the labels 0, 1, ...

    Parameters
    ----------
    order : sequence of int
        Every label once, after its parents.
    parents : sequence of sequences of int
        The parents of label 0, of label 1, ..., in order of their selection, which equality ignores.
    names : sequence of str, default=None
        Names of the labels, for printing.

    Examples
    --------
    >>> network = LabelNetwork(order=[2, 0, 1], parents=[[2], [2, 0], []], names=["calm", "happy", "sad"])
    >>> print(network)
    order  label  parents
        1  sad    -
        2  calm   sad
        3  happy  sad, calm
    >>> network.to_lists()
    [[2], [2, 0], []]
    """

    order: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        lists = check_parents(self.parents, len(self.parents))
        order = checked_order(self.order, len(lists))
        position = {label: position for position, label in enumerate(order)}
        for label, of_label in enumerate(lists):
            for parent in of_label:
                if position[parent] > position[label]:
                    raise InputError(
                        f"parents[{label}] holds {parent}, which is later in the order; parents must be before their "
                        "children. LabelNetwork.from_lists(parents) finds an order, if there is one."
                    )
        if self.names is not None and len(self.names) != len(lists):
            raise InputError(f"{len(self.names)} names for {len(lists)} labels.")
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "parents", tuple(map(tuple, lists)))
        object.__setattr__(self, "names", None if self.names is None else tuple(map(str, self.names)))

    @classmethod
    def from_lists(cls, parents: Sequence[Sequence[int]], order: Iterable[int] | None = None) -> "LabelNetwork":
        """Make a network from the parents of every label; without ``order``, in topological order with the lowest labels first.

        >>> LabelNetwork.from_lists([[2], [0], []]).order
        (2, 0, 1)
        """
        lists = check_parents(parents, len(parents))
        return cls(tuple(_topological(lists) if order is None else order), tuple(map(tuple, lists)))

    @classmethod
    def independent(cls, order: Iterable[int]) -> "LabelNetwork":
        """Make a network without parents: binary relevance."""
        labels = tuple(order)
        return cls(labels, tuple(() for _ in labels))

    @classmethod
    def chain(cls, order: Iterable[int]) -> "LabelNetwork":
        """Make a network in which all labels before a label are its parents: a classifier chain.

        >>> LabelNetwork.chain([1, 0, 2]).to_lists()
        [[1], [], [1, 0]]
        """
        labels = tuple(order)
        before = {label: labels[:position] for position, label in enumerate(checked_order(labels, len(labels)))}
        return cls(labels, tuple(before[label] for label in range(len(labels))))

    def plot(self, *, names: Sequence[str] | None = None, ax: Axes | None = None) -> Axes:
        """Draw labels in order, with arcs from parents to children: see :func:`labelsieve.report.figures.label_network`."""
        return figure_function("label_network")(self, names=names, ax=ax)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.order)

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs (parent, child), in order of the child."""
        return [(parent, label) for label in self.order for parent in self.parents[label]]

    def to_lists(self) -> list[list[int]]:
        """Return the parents of every label."""
        return [list(of_label) for of_label in self.parents]

    def to_networkx(self) -> Any:
        """Return a ``networkx.DiGraph`` with edges from parents to children; nodes have their ``position`` in the order."""
        try:
            import networkx
        except ModuleNotFoundError:
            raise ModuleNotFoundError("LabelNetwork.to_networkx needs networkx: pip install networkx.") from None
        graph = networkx.DiGraph()
        for position, label in enumerate(self.order):
            name = {} if self.names is None else {"name": self.names[label]}
            graph.add_node(label, position=position, **name)
        graph.add_edges_from(self.edges)
        return graph

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabelNetwork):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[tuple[int, ...], tuple[frozenset[int], ...]]:
        return self.order, tuple(map(frozenset, self.parents))

    def __str__(self) -> str:
        def name(label: int) -> str:
            return str(label) if self.names is None else self.names[label]

        rows = [("order", "label", "parents")]
        for position, label in enumerate(self.order, start=1):
            rows.append((str(position), name(label), ", ".join(map(name, self.parents[label])) or "-"))
        first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
        return "\n".join(f"{position:>{first}}  {label:<{second}}  {parents}" for position, label, parents in rows)


def checked_order(order: Iterable[Any], n_labels: int) -> tuple[int, ...]:
    """Return ``order`` as integers; it must have each label once."""
    labels = tuple(order)
    for label in labels:
        if not is_whole(label) or not 0 <= int(label) < n_labels:
            raise InputError(f"order holds {label!r}; it lists the labels from 0 to {n_labels - 1}, each once.")
    if len(labels) != n_labels or len(set(map(int, labels))) != n_labels:
        raise InputError(f"order has {len(labels)} entries for {n_labels} labels; it lists every label once.")
    return tuple(map(int, labels))


def _topological(parents: list[list[int]]) -> list[int]:
    """Return a topological order, the lowest label first among those that are ready; cycles are refused."""
    n_waiting = [len(of_label) for of_label in parents]
    children: list[list[int]] = [[] for _ in parents]
    for label, of_label in enumerate(parents):
        for parent in of_label:
            children[parent].append(label)
    ready = [label for label, n_parents in enumerate(n_waiting) if n_parents == 0]
    order: list[int] = []
    while ready:
        label = heapq.heappop(ready)
        order.append(label)
        for child in children[label]:
            n_waiting[child] -= 1
            if n_waiting[child] == 0:
                heapq.heappush(ready, child)
    if len(order) < len(parents):
        in_cycle = [label for label, n_parents in enumerate(n_waiting) if n_parents]
        shown = ", ".join(map(str, in_cycle[:10])) + (", ..." if len(in_cycle) > 10 else "")
        raise InputError(f"parents have a cycle among the labels {shown}; remove a parent of one of them.")
    return order


def check_parents(parents: Any, n_targets: int) -> list[list[int]]:
    """Return the parents of every target as lists of distinct target indices.

    >>> check_parents([[], [0], [0, 1, 0]], 3)
    [[], [0], [0, 1]]
    """
    if len(parents) != n_targets:
        raise InputError(f"parents has {len(parents)} lists for {n_targets} targets; pass one list, maybe empty, for each.")
    lists = []
    for target, of_target in enumerate(parents):
        if not isinstance(of_target, list | tuple | np.ndarray):
            raise InputError(f"parents[{target}] is {of_target!r}; pass a list of targets, maybe empty, for each target.")
        for parent in of_target:
            if not is_whole(parent) or not 0 <= int(parent) < n_targets or parent == target:
                raise InputError(f"parents[{target}] holds {parent!r}; parents are other targets, from 0 to {n_targets - 1}.")
        lists.append(list(dict.fromkeys(map(int, of_target))))
    return lists
