"""LabelNetwork: in which order labels come, and on which earlier ones each depends."""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from labelsieve.errors import InputError, is_whole
from labelsieve.labelspace.parent_lists import check_parents
from labelsieve.plotting import figure_function


@dataclass(frozen=True, eq=False)
class LabelNetwork:
    """A directed network without cycles over the labels 0, 1, ...

    Parameters
    ----------
    order : sequence of int
        Every label once. A label comes after its parents.
    parents : sequence of sequences of int
        The parents of label 0, of label 1, ...; in the order in which they were chosen, which does not count for equality.
    names : sequence of str, optional
        Of the labels, for printing.

    Examples
    --------
    >>> network = LabelNetwork(order=[2, 0, 1], parents=[[2], [2, 0], []], names=["calm", "happy", "sad"])
    >>> print(network)
    place  label  parents
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
        assert lists is not None
        order = checked_order(self.order, len(lists))
        place = {label: position for position, label in enumerate(order)}
        for label, mine in enumerate(lists):
            for parent in mine:
                if place[parent] > place[label]:
                    raise InputError(
                        f"parents[{label}] holds {parent}, which comes later in the order; parents must come before their "
                        "children. LabelNetwork.from_lists(parents) finds an order, where there is one."
                    )
        if self.names is not None and len(self.names) != len(lists):
            raise InputError(f"{len(self.names)} names for {len(lists)} labels.")
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "parents", tuple(map(tuple, lists)))
        object.__setattr__(self, "names", None if self.names is None else tuple(map(str, self.names)))

    @classmethod
    def from_lists(cls, parents: Sequence[Sequence[int]], order: Iterable[int] | None = None) -> "LabelNetwork":
        """A network from the parents of every label; without ``order``, each label as early as it can be, lower numbers first.

        >>> LabelNetwork.from_lists([[2], [0], []]).order
        (2, 0, 1)
        """
        lists = check_parents(parents, len(parents))
        assert lists is not None
        return cls(tuple(_topological(lists) if order is None else order), tuple(map(tuple, lists)))

    @classmethod
    def independent(cls, order: Iterable[int]) -> "LabelNetwork":
        """Nobody has parents: binary relevance."""
        places = tuple(order)
        return cls(places, tuple(() for _ in places))

    @classmethod
    def chain(cls, order: Iterable[int]) -> "LabelNetwork":
        """Every label depends on all before it: a classifier chain.

        >>> LabelNetwork.chain([1, 0, 2]).to_lists()
        [[1], [], [1, 0]]
        """
        places = tuple(order)
        before = {label: places[:position] for position, label in enumerate(checked_order(places, len(places)))}
        return cls(places, tuple(before[label] for label in range(len(places))))

    def plot(self, *, names: Sequence[str] | None = None, ax: Any = None) -> Any:
        """Draw labels in order, with arcs from parents to children: see :func:`labelsieve.report.figures.network_chart`."""
        return figure_function("label_network")(self, names=names, ax=ax)

    @property
    def n_labels(self) -> int:
        return len(self.order)

    @property
    def edges(self) -> list[tuple[int, int]]:
        """Pairs (parent, child), by place of the child."""
        return [(parent, label) for label in self.order for parent in self.parents[label]]

    def to_lists(self) -> list[list[int]]:
        """The parents of every label."""
        return [list(mine) for mine in self.parents]

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph`` with an edge from each parent to each child; ``place`` is a node's place in the order."""
        try:
            import networkx
        except ModuleNotFoundError:
            raise ModuleNotFoundError("LabelNetwork.to_networkx needs networkx: pip install networkx.") from None
        graph = networkx.DiGraph()
        for position, label in enumerate(self.order):
            name = {} if self.names is None else {"name": self.names[label]}
            graph.add_node(label, place=position, **name)
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

        rows = [("place", "label", "parents")]
        for position, label in enumerate(self.order, start=1):
            rows.append((str(position), name(label), ", ".join(map(name, self.parents[label])) or "-"))
        place, width = (max(len(row[column]) for row in rows) for column in (0, 1))
        return "\n".join(f"{first:>{place}}  {second:<{width}}  {third}" for first, second, third in rows)


def checked_order(order: Iterable[Any], n_labels: int) -> tuple[int, ...]:
    """``order`` as numbers: each label once."""
    places = tuple(order)
    for label in places:
        if not is_whole(label) or not 0 <= int(label) < n_labels:
            raise InputError(f"order holds {label!r}; it lists the labels from 0 to {n_labels - 1}, each once.")
    if len(places) != n_labels or len(set(map(int, places))) != n_labels:
        raise InputError(f"order has {len(places)} entries for {n_labels} labels; it lists every label once.")
    return tuple(map(int, places))


def _topological(parents: list[list[int]]) -> list[int]:
    """Parents before children, the lowest label that can come first; refuses cycles."""
    waiting = [len(mine) for mine in parents]
    children: list[list[int]] = [[] for _ in parents]
    for label, mine in enumerate(parents):
        for parent in mine:
            children[parent].append(label)
    ready = [label for label, n_parents in enumerate(waiting) if n_parents == 0]
    order: list[int] = []
    while ready:
        label = heapq.heappop(ready)
        order.append(label)
        for child in children[label]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, child)
    if len(order) < len(parents):
        stuck = [label for label, n_parents in enumerate(waiting) if n_parents]
        shown = ", ".join(map(str, stuck[:10])) + (", ..." if len(stuck) > 10 else "")
        raise InputError(f"parents go round in circles among the labels {shown}; take a parent away from one of them.")
    return order
