"""The options of ``select --auto``: a portfolio, learners, a measure and a time budget."""

from dataclasses import dataclass, fields
from typing import Any

from labelsieve.cli.options import names_in, parse_named
from labelsieve.cli.select_options import SelectOptions
from labelsieve.errors import InputError

AUTO = "Choose the method and the number of features by nested cross-validation, and report whether selection helps."
PORTFOLIO = "With --auto: candidate methods, comma-separated, as for --criterion; default: that of AutoSieve."
LEARNER = "With --auto: learners to evaluate with, comma-separated; default: nearest neighbors and ridge regression."
MEASURE = "With --auto: the measure to optimize; default: average_precision, rrmse of numbers, hamming_score of 2 to 4 labels."
BUDGET = "With --auto: seconds; candidates that do not fit are skipped and listed."


@dataclass(frozen=True)
class AutoSelectOptions(SelectOptions):
    """Options of an automatic selection, as typed."""

    portfolio: str | None = None
    learner: str | None = None
    measure: str | None = None
    time_budget: float | None = None

    @classmethod
    def of(cls, options: SelectOptions, auto: bool, **given: Any) -> SelectOptions:
        """The options, automatic if asked for."""
        typed = [f"--{name.replace('_', '-')}" for name, value in given.items() if value is not None]
        if not auto:
            if typed:
                raise InputError(f"{typed[0]} goes with --auto.")
            return options
        if options.criterion is not None:
            raise InputError("--auto chooses the criterion; leave --criterion out, or name candidates with --portfolio.")
        if options.labelwise or options.stop is not None or options.estimator is not None:
            raise InputError(
                "--auto goes without --labelwise, --stop and --estimator; --portfolio sets cmim:estimator=miller-madow."
            )
        values = {field.name: getattr(options, field.name) for field in fields(SelectOptions)}
        return cls(**{**values, "criterion": "auto"}, **given)

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if self.portfolio is not None:
            settings["portfolio"] = [_table("criterion", text, "--portfolio") for text in names_in(self.portfolio)]
        if self.learner is not None:
            settings["learner"] = [_table("name", text, "--learner") for text in names_in(self.learner)]
        if self.measure is not None:
            settings["measure"] = self.measure
        if self.time_budget is not None:
            settings["time_budget"] = self.time_budget
        return settings


def _table(key: str, text: str, option: str) -> Any:
    """A name, or a table of its settings.

    >>> _table("name", "mlknn:k=7", "--learner"), _table("name", "ridge", "--learner")
    ({'name': 'mlknn', 'k': 7}, 'ridge')
    """
    name, settings = parse_named(text, option)
    return {key: name, **settings} if settings else name
