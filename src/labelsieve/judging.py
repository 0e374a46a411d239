"""Judging a selector by predictions with what it chooses."""

from typing import Any

from labelsieve.stopping.rule import Judge


def judge_of(selector: Any, X: Any, y: Any, sample_weight: Any) -> Judge:
    """Judges predictions with the first features that a selector chooses: see :class:`Evidence`."""

    def judge(*how: Any) -> Any:
        from labelsieve.classifiers.prefixes import judge_selector  # here: most selections need no learner

        return judge_selector(selector, X, y, sample_weight, *how)

    return judge
