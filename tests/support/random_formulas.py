"""Random formulas, each written twice: in the symbols of criteria, and as a plain function of columns.

The function takes what the variables stand for: ``f``, ``s``, ``t``, ``y``, ``z``, ``pa`` and ``S`` as tuples of columns,
``selected``, ``targets`` and ``parents``, which reducers run over, and ``index``, the index of ``y`` among the targets.
"""

import random
from statistics import fmean
from typing import NamedTuple

import labelsieve.formula as language
from tests.support.reference_criteria import H


class Written(NamedTuple):
    """A formula, and its reference: a function of columns."""

    formula: object
    value: object


# Information terms of one, two and three variables: in the language, and as a sum of entropies of some of them.
TERMS = {
    1: [(lambda a: language.H(a), [(1, "a")])],
    2: [
        (lambda a, b: language.I(a, b), [(1, "a"), (1, "b"), (-1, "ab")]),
        (lambda a, b: language.H((a, b)), [(1, "ab")]),
        (lambda a, b: language.H(a | b), [(1, "ab"), (-1, "b")]),
    ],
    3: [
        (lambda a, b, c: language.I(a, b | c), [(1, "ac"), (1, "bc"), (-1, "abc"), (-1, "c")]),
        (lambda a, b, c: language.I((a, b), c), [(1, "ab"), (1, "c"), (-1, "abc")]),
        (lambda a, b, c: language.H((a, b, c)), [(1, "abc")]),
        (lambda a, b, c: language.H((a, b) | c), [(1, "abc"), (-1, "c")]),
        (lambda a, b, c: language.H(a | (b, c)), [(1, "abc"), (-1, "bc")]),
        (
            lambda a, b, c: language.co(a, b, c),
            [(1, "a"), (1, "b"), (1, "c"), (-1, "ab"), (-1, "ac"), (-1, "bc"), (1, "abc")],
        ),
    ],
}


OPERATIONS = ("sum", "mean", "min", "max")


class Author:
    """Writes formulas; everything follows from the seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def term(self, bound, must=frozenset(), *, positive=False):
        """A term of ``f``, ``S`` and bound variables that mentions those in ``must``; a joint entropy if ``positive``."""
        known = ["f", *sorted(bound)] + ([] if "s" in bound else ["S"])
        while True:
            names = must | set(self.random.sample(known, min(len(known), self.random.choice([1, 2, 2, 3, 3]))))
            second_targets = names & {"z", "pa"}
            of_selected = names & {"s", "t", "S"}
            if "t" in names and names & {"y", "z", "pa"}:
                continue
            if len(names) <= 3 and len(second_targets) < 2 and not (second_targets and of_selected):
                break
        names = self.random.sample(sorted(names), len(names))
        candidates = [term for term in TERMS[len(names)] if not positive or len(term[1]) == 1]
        write, entropies = self.random.choice(candidates)

        def value(given):
            columns = dict(zip("abc", (given[name] for name in names), strict=False))
            return sum(sign * H(*(column for letter in letters for column in columns[letter])) for sign, letters in entropies)

        return Written(write(*(getattr(language, name) for name in names)), value)

    def expression(self, depth, bound=frozenset(), must=frozenset()):
        """Anything that mentions, somewhere in one term, all of ``must``."""
        if depth == 0:
            return self.term(bound, must)
        ways = [self.two, self.scaled, self.ratio, self.positive_part, self.root, *[self.reduced] * 4]
        return self.random.choice(ways)(depth - 1, bound, must)

    def two(self, depth, bound, must):
        a, b = self.expression(depth, bound, must), self.expression(depth, bound)
        if self.random.random() < 0.5:
            a, b = b, a
        ways = {
            "+": (lambda: a.formula + b.formula, lambda given: a.value(given) + b.value(given)),
            "-": (lambda: a.formula - b.formula, lambda given: a.value(given) - b.value(given)),
            "*": (lambda: a.formula * b.formula, lambda given: a.value(given) * b.value(given)),
            "min": (lambda: language.minimum(a.formula, b.formula), lambda given: min(a.value(given), b.value(given))),
            "max": (lambda: language.maximum(a.formula, b.formula), lambda given: max(a.value(given), b.value(given))),
        }
        write, value = ways[self.random.choice(sorted(ways))]
        return Written(write(), value)

    def scaled(self, depth, bound, must):
        a, number = self.expression(depth, bound, must), self.random.choice([2, 3, -1, 0.5, -0.3, 1])
        if self.random.random() < 0.5:
            return Written(number * a.formula, lambda given: number * a.value(given))
        return Written(number - a.formula, lambda given: number - a.value(given))

    def ratio(self, depth, bound, must):
        """Over a joint entropy: exactly 0, or far from it."""
        a, b = self.expression(depth, bound, must), self.term(bound, positive=True)
        return Written(a.formula / b.formula, lambda given: a.value(given) / b.value(given) if b.value(given) else 0.0)

    def positive_part(self, depth, bound, must):
        a = self.expression(depth, bound, must)
        return Written(language.pos(a.formula), lambda given: max(0.0, a.value(given)))

    def root(self, depth, bound, must):
        """Of something far from 0, where a root makes rounding large."""
        a = self.term(bound, must)
        return Written(language.sqrt(a.formula * a.formula + 0.25), lambda given: (a.value(given) ** 2 + 0.25) ** 0.5)

    def reduced(self, depth, bound, must):
        names = []
        if not bound & {"s", "z", "pa"}:
            names += [*(f"{way}_s" for way in OPERATIONS), "sum_st", "mean_st"]
        if "y" in bound:
            names += [f"{way}_{over}" for way in OPERATIONS for over in ("z", "pa") if over not in bound]
        else:
            names += [*(f"{way}_y" for way in OPERATIONS), "sum_yz"]
        if not names:
            return self.expression(depth, bound, must)
        name = self.random.choice(names)
        way, over = name.split("_")
        mentioned = {"z": {"y", "z"}, "yz": {"y", "z"}, "pa": {"y", "pa"}, "st": {"s", "t"}}.get(over, {over})
        inside = self.expression(depth, bound | mentioned, frozenset(mentioned))
        if must - mentioned:  # what an outer reducer runs over must not be lost
            outer = self.term(bound | mentioned, must)
            inside = Written(inside.formula + outer.formula, lambda given, a=inside.value: a(given) + outer.value(given))

        def value(given):
            values = [inside.value({**given, **one}) for one in running_over(over, given)]
            if way == "sum":
                return sum(values)
            if way == "mean":
                return fmean(values) if values else 0.0
            return {"min": min, "max": max}[way](values, default=0.0)

        return Written(getattr(language, name)(inside.formula), value)


def running_over(variable, given):
    """What a reducer's variables stand for, one time after the other."""
    targets = given["targets"]
    if variable == "s":
        return [{"s": (column,)} for column in given["selected"]]
    if variable == "st":
        selected = list(enumerate(given["selected"]))
        return [{"s": (one,), "t": (other,)} for k, one in selected for m, other in selected if k != m]
    if variable == "y":
        return [{"y": (column,), "index": index} for index, column in enumerate(targets)]
    if variable == "z":
        return [{"z": (column,)} for index, column in enumerate(targets) if index != given["index"]]
    if variable == "yz":
        pairs = [(first, second) for first in range(len(targets)) for second in range(first)]
        return [{"y": (targets[a],), "index": a, "z": (targets[b],)} for a, b in pairs]
    return [{"pa": (targets[index],)} for index in given["parents"][given["index"]]]
