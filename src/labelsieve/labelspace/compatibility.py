"""Which criteria go with which label spaces.

What a criterion asks of a space is what its formula mentions; what a space has is what it makes. The table below is all there
is to it.
"""

from collections.abc import Iterable

from labelsieve.labelspace.base_space import LabelSpace, Makes, label_space_name

# What a formula (or a setting) needs, which kinds of spaces have it, and what to say of the others.
NEEDS: dict[str, tuple[frozenset[Makes], str]] = {
    "sums over targets": (frozenset({"targets", "groups", "variable"}), ""),
    "pairs of targets": (frozenset({"targets"}), "label pairs need every target by itself"),
    "parents of targets": (frozenset({"targets"}), "parents are of single targets"),
    "weights of targets": (frozenset({"targets"}), "target_weight is for single targets"),
}

_IS: dict[Makes, str] = {
    "targets": "the targets themselves",
    "groups": "groups of targets",
    "variable": "a single variable",
}


def refusal(needs: Iterable[str], space: LabelSpace) -> str | None:
    """Why a criterion with these needs does not go with ``space``; None when it does.

    >>> from labelsieve.labelspace import Joint
    >>> refusal(["pairs of targets"], Joint())
    "label pairs need every target by itself: use targets='single' (got 'joint', which is a single variable)."
    """
    for need in needs:
        where, reason = NEEDS[need]
        if space.makes not in where:
            return f"{reason}: use targets='single' (got {label_space_name(space)!r}, which is {_IS[space.makes]})."
    return None


def compatibility_table(spaces: Iterable[type[LabelSpace]]) -> str:
    """The table as Markdown: label spaces in rows, needs in columns.

    >>> from labelsieve.labelspace import Joint
    >>> print(compatibility_table([Joint]).splitlines()[0][:44])
    | space | resulting variables | sums over ta
    """
    lines = [f"| space | resulting variables | {' | '.join(NEEDS)} |", "|---" * (len(NEEDS) + 2) + "|"]
    for space in spaces:
        answers = ["yes" if space.makes in where else "no" for where, _ in NEEDS.values()]
        lines.append(f"| `{space.name}` | {_IS[space.makes]} | {' | '.join(answers)} |")
    return "\n".join(lines)
