"""Questions that planning and evaluation both ask of formulas."""

from labelsieve.formula.nodes import Formula, Reduce, Table, Term


def is_static(node: Formula) -> bool:
    """True when nothing below depends on what is selected."""
    cached: bool | None = node.__dict__.get("_static")
    if cached is None:
        cached = not any(
            (isinstance(part, Table | Term) and part.variables & {"s", "S"})
            or (isinstance(part, Reduce) and part.variable == "s")
            for part in node.walk()
        )
        node.__dict__["_static"] = cached
    return cached


def reducers_over_selected(formulas: list[Formula]) -> list[list[Reduce]]:
    """The reducers over ``s``, equal ones together: they share an account."""
    found: dict[Reduce, list[Reduce]] = {}
    for formula in formulas:
        for node in formula.walk():
            if isinstance(node, Reduce) and node.variable == "s":
                found.setdefault(node, []).append(node)
    return list(found.values())
