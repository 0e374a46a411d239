"""What a formula must keep to before it can be planned, and what its summands tell."""

from collections import Counter
from typing import NoReturn

from labelsieve.formula.nodes import Formula, FormulaError, Reduce, Variables

_REDUCERS = {
    "s": "sum_s, mean_s, min_s or max_s",
    "y": "sum_y, mean_y, max_y or sum_yz",
    "z": "sum_z, max_z or sum_yz",
    "p": "sum_pa or mean_pa",
}


def check_open(formula: Formula, where: str) -> None:
    """Every variable must be bound by a reducer above it, and reducers must go together."""
    written: Counter[int] = Counter()

    def refuse(problem: str, node: Formula) -> NoReturn:
        raise FormulaError(f"{where}: {problem}", formula, node, written[id(node)])

    def visit(node: Formula, allowed: Variables) -> None:
        written[id(node)] += 1
        for name in sorted(node.free - allowed):
            if not node.parts:
                refuse(f"{'pa' if name == 'p' else name} is not inside {_REDUCERS[name]}.", node)
        inside = allowed
        if isinstance(node, Reduce):
            if node.variable in allowed:
                refuse(f"a reducer over {node.variable} inside another.", node)
            if node.variable == "s" and "S" in node.free:
                refuse("S changes with every pick, so it cannot be added up over s.", node)
            if node.variable == "s" and node.free & {"z", "p"}:
                refuse("what is added up over s cannot depend on a pair of targets.", node)
            if node.variable in ("z", "p") and "y" in node.free - allowed:
                refuse(f"{'pa' if node.variable == 'p' else 'z'} belongs to a y: put it inside sum_y, mean_y or max_y.", node)
            inside = allowed | {node.variable}
        for part in node.parts:
            visit(part, inside)

    visit(formula, frozenset("fS"))


def is_extreme(node: Formula) -> bool:
    """True for the least or largest value over the selected, which the empty selection does not have."""
    return isinstance(node, Reduce) and node.variable == "s" and node.operation in ("min", "max")


def kind_of(part: Formula) -> str:
    """What a summand tells, by the variables it mentions."""
    mentioned: Variables = frozenset().union(*(node.free for node in part.walk()))
    if mentioned & {"s", "S"}:
        return "interaction" if "y" in mentioned else "redundancy"
    return "label pairs" if mentioned & {"z", "p"} else "relevance"
