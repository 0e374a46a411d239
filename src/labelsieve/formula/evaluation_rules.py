"""Evaluation rules of the nodes: a program looks each one up once and applies it at every step."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from labelsieve.formula.linear_evaluation import linear, linear_sum
from labelsieve.formula.nodes import Add, Apply, Divide, Formula, Multiply, Number
from labelsieve.formula.table_sources import Context, TermSources
from labelsieve.formula.values import Value, fixed_value, real_value
from labelsieve.formula.variables import Reduce, Size, Table, Term, unknown_node

if TYPE_CHECKING:
    from labelsieve.formula.evaluation import Program

Rule = Callable[["Program", Context], Value]


def rule_for(node: Formula, owner: "Program") -> Rule:
    """The evaluation rule of a node, so that a step costs arithmetic and not a walk over the formula.

    Rules get the program as an argument and must not keep it: packed tables would live until the next garbage collection.
    """
    compute = _computation(node, owner)
    if isinstance(node, Number | Size | Table) or not node.is_static or node.free & {"s", "t", "z", "pa"}:
        return compute  # changes from call to call, or is not worth keeping

    def remember(program: "Program", context: Context) -> Value:
        memory, base = program.memory, program.base
        key = id(node), context.first, context.last
        if key not in memory:
            value = compute(program, context)
            if value.array.shape[1] > 1 and (context.first, context.last) != (base.first, base.last):
                return value  # one of many slices of the targets: together too large to keep
            memory[key] = value
        return memory[key]

    return remember


def _computation(node: Formula, owner: "Program") -> Rule:
    fixed = owner.sources.fixed
    match node:
        case Number(value=number):
            constant = real_value(np.array([[number]]))
            return lambda program, context: constant
        case Size(domain=domain):
            return lambda program, context: program.size(domain, context)
        case Table(variables=names):
            return lambda program, context: fixed_value(program.sources.table(names, context))
        case Term() if isinstance(owner.sources, TermSources):
            return lambda program, context: real_value(cast(TermSources, program.sources).term(node, context))
        case Add() | Multiply() if owner.adds_plainly and (known := linear(node)) is not None:
            every = [*known.static, *known.moving]
            return lambda program, context: fixed_value(linear_sum(every, program.sources, context))
        case Add(terms=terms):
            return lambda program, context: Value.total([program.value(term, context) for term in terms], fixed)
        case Multiply(factors=factors):
            return lambda program, context: Value.product([program.value(factor, context) for factor in factors], fixed)
        case Divide(numerator=top, denominator=bottom):
            return lambda program, context: Value.ratio(program.value(top, context), program.value(bottom, context), fixed)
        case Apply(function=function, arguments=arguments):
            return lambda program, context: Value.apply(function, [program.value(each, context) for each in arguments], fixed)
        case Reduce(variable="s" | "st" as selected):
            accumulator = owner.accumulators[id(node)]
            if not accumulator.by_target:
                return lambda program, context: accumulator.value(program.n_folds(selected), slice(None), fixed)
            return lambda program, context: accumulator.value(program.n_folds(selected), program.local(context), fixed)
        case Reduce(variable="y"):
            return lambda program, context: program.over_targets(node, context)
        case Reduce(variable="z"):
            return lambda program, context: program.over_pairs(node, context)
        case Reduce(variable="pa"):
            return lambda program, context: program.over_parents(node, context)
    raise unknown_node(node)
