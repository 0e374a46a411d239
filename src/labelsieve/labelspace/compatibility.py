"""Which criteria work in which label spaces.

The formula of a criterion determines its needs, the variables of a label space what it provides. The table below decides.
"""

from collections.abc import Iterable

from labelsieve.labelspace.base_space import LabelSpace, Produces, label_space_name

# The needs of a formula (or a setting), the kinds of spaces that provide them, and the error message for the others.
NEEDS: dict[str, tuple[frozenset[Produces], str]] = {
    "sums over targets": (frozenset({"targets", "groups", "variable"}), ""),
    "pairs of targets": (frozenset({"targets"}), "label pairs need separate targets"),
    "parents of targets": (frozenset({"targets"}), "parents are of single targets"),
    "weights of targets": (frozenset({"targets"}), "target_weight is for single targets"),
}

_IS: dict[Produces, str] = {
    "targets": "the targets themselves",
    "groups": "groups of targets",
    "variable": "a single variable",
}


def refusal(needs: Iterable[str], space: LabelSpace) -> str | None:
    """Why a criterion with these needs does not work in ``space``; None if it does.

    >>> from labelsieve.labelspace import Joint
    >>> refusal(["pairs of targets"], Joint())
    "label pairs need separate targets: use targets='single' (got 'joint', which is a single variable)."
    """
    for need in needs:
        where, reason = NEEDS[need]
        if space.produces not in where:
            return f"{reason}: use targets='single' (got {label_space_name(space)!r}, which is {_IS[space.produces]})."
    return None


def compatibility_table(spaces: Iterable[type[LabelSpace]]) -> str:
    """The table in Markdown: label spaces in rows, needs in columns.

    >>> from labelsieve.labelspace import Joint
    >>> print(compatibility_table([Joint]).splitlines()[0][:44])
    | space | resulting variables | sums over ta
    """
    lines = [f"| space | resulting variables | {' | '.join(NEEDS)} |", "|---" * (len(NEEDS) + 2) + "|"]
    for space in spaces:
        answers = ["yes" if space.produces in where else "no" for where, _ in NEEDS.values()]
        lines.append(f"| `{space.name}` | {_IS[space.produces]} | {' | '.join(answers)} |")
    return "\n".join(lines)
