"""Figures 3 to 5 of Sechidis, Nikolaou and Brown (2014): effects of assumptions about features and labels.

The paper draws curves and prints no numbers. Its statements about the curves are checked on ours.
"""

from collections.abc import Sequence

from labelsieve.studies.protocol import Protocol
from labelsieve.studies.results import StudyResults
from replications.claims import ResultTable, claims_table
from replications.composite_likelihood.figures3to5_claims import MEASURES, PRUNED, SETS, best_claims, claims
from replications.curve_differences import RULES, curve_table
from replications.panels import results_panels
from replications.replication import DataHome, Figures, Replication, Results, as_published, selected_sets, sources

PART = "figures"
# Figure 3 varies the labels, figure 4 the features (with single labels; the paper says that powersets look the same),
# and figure 5 compares the best of them with two published criteria.
FIGURES = {
    "figure3": {"joint-cmi": "CMI, label powerset (X:none, Y:none)", "single-cmi": "CMI, single labels (X:none, Y:full)"},
    "figure4": {"single-cmi": "CMI (X:none)", "single-jmi": "JMI (X:partial)", "single-mim": "MIM (X:full)"},
    "figure4-powerset": {"joint-cmi": "CMI (X:none)", "joint-jmi": "JMI (X:partial)", "joint-mim": "MIM (X:full)"},
    "figure5": {"single-jmi": "JMI, single labels", PRUNED: "Doquire and Verleysen", "pmu": "PMU, Lee and Kim"},
}
SIZES = [*range(1, 31), *range(40, 300, 10), 294]
SHOWN = (1, 5, 10, 20, 50, 100, 200)


def protocols(*, full: bool = False, sets: Sequence[str] | None = None, data_home: DataHome = None) -> dict[str, Protocol]:
    """The experiment: ``full`` is 30 splits of both sets, otherwise 3 of yeast.

    >>> protocols(full=True)["figures"]
    Protocol: 2 data sets, 8 methods (single-cmi, ...), 57 numbers of features, 1 classifier, 2 measures, 30x50%
    """
    five = {"name": "equal-width", "n_bins": 5}
    pruned = {"name": PRUNED, "criterion": "cmi", "targets": {"name": "pruned", "min_count": 5}, "discretizer": five}
    grid = [f"{labels}-{features}" for labels in ("single", "joint") for features in ("cmi", "jmi", "mim")]
    experiment = Protocol(
        sources(selected_sets(SETS, sets, SETS if full else SETS[1:]), data_home),
        as_published([*grid, {"name": "pmu", "discretizer": five}, pruned]),
        n_features=SIZES,
        classifiers=[{"name": "mlknn", "k": 7}],
        measures=MEASURES,
        splits="30x50%" if full else "3x50%",
        baselines=[],
        scale=None,
    )
    return {PART: experiment}


def result_tables(results: Results) -> list[ResultTable]:
    """Return our means, a table for each figure, data set and measure, and the claims."""
    tables = [
        curve_table(results[PART], figure, name, measure, methods, SHOWN)
        for figure, methods in FIGURES.items()
        for name in SETS
        for measure in MEASURES
    ]
    return [*(table for table in tables if table is not None), claims_table(claims(results[PART])), _by_rules(results[PART])]


def _by_rules(results: StudyResults) -> ResultTable:
    """Return the claims that JMI is the best, by all rules for where a method is worse."""
    listed = {rule: best_claims(results, rule) for rule in RULES}
    rows = [(same[0].text, *(claim.outcome for claim in same)) for same in zip(*listed.values(), strict=True)]
    held = ", ".join(f"{sum(bool(claim.holds) for claim in claims)} by {rule}" for rule, claims in listed.items())
    return ResultTable(
        "The same claims by stricter rules for where a method is worse", ("claim", *RULES), rows, f"They hold: {held}."
    )


def figures(results: Results) -> Figures:
    """Draw the paper's figures; figure 3 also for scene, which the paper leaves out, and figure 4 also for powersets."""
    drawn = {}
    panels = [[(name, measure) for measure in MEASURES] for name in SETS]
    for name, methods in FIGURES.items():
        figure = results_panels(results[PART], panels, methods)
        if figure is not None:
            drawn[name] = figure
    return drawn


REPLICATION = Replication.of("composite_likelihood", "composite-likelihood", protocols, result_tables, figures)
