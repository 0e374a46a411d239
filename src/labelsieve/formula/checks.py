"""Conditions that a formula must meet before it can be planned, and the kinds of its components."""

from collections import Counter
from typing import NoReturn

from labelsieve.formula.nodes import Formula, FormulaError, Variables
from labelsieve.formula.variables import NODES, SELECTED, Reduce, unknown_node

_REDUCERS = {
    "s": "sum_s, mean_s, min_s or max_s",
    "t": "sum_st or mean_st",
    "y": "sum_y, mean_y, min_y, max_y or sum_yz",
    "z": "sum_z, mean_z, min_z, max_z or sum_yz",
    "pa": "sum_pa, mean_pa, min_pa or max_pa",
}


def check_open(formula: Formula, where: str) -> None:
    """Raise unless every variable is bound by a reducer above it, and the reducers can be combined."""
    n_visits: Counter[int] = Counter()

    def refuse(problem: str, node: Formula) -> NoReturn:
        raise FormulaError(f"{where}: {problem}", formula, node, n_visits[id(node)])

    def visit(node: Formula, allowed: Variables) -> None:
        if not isinstance(node, NODES):
            raise unknown_node(node)
        n_visits[id(node)] += 1
        for name in sorted(node.free - allowed):
            if not node.children:
                refuse(f"{name} is not inside {_REDUCERS[name]}.", node)
        inside = allowed
        if isinstance(node, Reduce):
            if node.bound & allowed:
                refuse(f"a reducer over {min(node.bound & allowed)} inside another.", node)
            if node.over_selected and "S" in node.free:
                refuse("S changes with every step, so it cannot be added up over s.", node)
            if node.over_selected and node.free & {"z", "pa"}:
                refuse("what is added up over s cannot depend on a pair of targets.", node)
            if node.variable in ("z", "pa") and "y" in node.free - allowed:
                refuse(f"{node.variable} belongs to a y: put it inside sum_y, mean_y, min_y or max_y.", node)
            inside = allowed | node.bound
        for child in node.children:
            visit(child, inside)

    visit(formula, frozenset({"f", "S"}))


def needs_first(node: Formula) -> bool:
    """True for a reducer over the selected that has no value for the empty selection."""
    return isinstance(node, Reduce) and node.over_selected and not node.operation.linear


def kind_of(component: Formula) -> str:
    """The kind of a score component, by the variables that it mentions."""
    mentioned: Variables = frozenset().union(*(node.free for node in component.walk()))
    if mentioned & SELECTED:
        return "interaction" if "y" in mentioned else "redundancy"
    return "label pairs" if mentioned & {"z", "pa"} else "relevance"
