"""Table IV of Pereira et al. (2015): BR + InfoGain against MLInfoGain on large data sets, and what each costs."""

import os
from collections.abc import Sequence
from itertools import pairwise
from statistics import geometric_mean

from labelsieve.statistics import compare
from labelsieve.studies.mulan import MulanBRkNN
from labelsieve.studies.protocol import Protocol
from labelsieve.studies.published.infogain_losses import ALL, MEASURES, MULAN, Losses, common_settings, marked, same, share
from labelsieve.studies.published.infogain_printed import PAPER, TABLE_4
from labelsieve.studies.published.study import PublishedStudy, Results, Section, chosen_sets, sources
from labelsieve.studies.results import StudyResults

TITLE = "Pereira et al. 2015, table IV: BR + InfoGain and MLInfoGain with BR-kNN on large data sets, and their times"
PART = "table4"
METHODS = {"BR": "br-infogain", "ML": "mlinfogain"}
SETS = tuple(f"yahoo-{name}" for name in ("arts", "business", "education", "health", "reference", "science"))
QUICK_SETS = ("yahoo-arts",)

CHOICES = MULAN | {
    "data sets": "Six of the eleven, those whose full form is at hand; computers, entertainment, recreation, social and "
    "society are not. Words are counts, and numeric: both methods cut them.",
    "time": "Seconds of all ten folds, selecting and classifying, one thread. The paper's are of Mulan on an 8-core 3.1 GHz "
    "machine of 2012; only ratios can be compared.",
}


def protocols(
    *, full: bool = False, sets: Sequence[str] | None = None, data_home: str | os.PathLike[str] | None = None
) -> dict[str, Protocol]:
    """The experiment: ``full`` is the six sets at hand, otherwise the smallest one.

    >>> protocols(full=True)["table4"]
    Protocol: 6 data sets, 3 methods (br-infogain, mlinfogain, all), 1 number of features, 1 classifier, 4 measures, MulanFolds
    """
    chosen = chosen_sets(SETS, sets, SETS if full else QUICK_SETS)
    classifiers = [("br-knn", MulanBRkNN())]
    return {
        PART: Protocol(
            sources(chosen, data_home), n_features=[0.1], classifiers=classifiers, **common_settings(METHODS.values())
        )
    }


def sections(results: Results) -> list[Section]:
    """Losses, seconds and claims, the published beside ours."""
    found = results[PART]
    losses = Losses(found)
    ready = losses.complete(SETS, METHODS.values())
    return [_losses(losses, ready), _seconds(found, ready), _claims(found, losses, ready)]


def _losses(losses: Losses, ready: list[str]) -> Section:
    rows: list[tuple[str, ...]] = []
    agree = []
    for name in ready:
        ours = {short: [float(losses.means(name, method, one)[0]) for one in MEASURES] for short, method in METHODS.items()}
        printed = dict(zip(METHODS, TABLE_4[name], strict=True))
        rows.append((name, "published", *(f"{value:.4f}" for short in METHODS for value in printed[short][:4])))
        pairs = [pair for short in METHODS for pair in zip(ours[short], printed[short][:4], strict=True)]
        rows.append(("", "ours", *(marked(*pair) for pair in pairs)))
        agree += [same(*pair) for pair in pairs]
    columns = ("data set", "", *(f">{short} {one}" for short in METHODS for one in ("HLoss", "SLoss", "EbAcc", "RLoss")))
    return Section("Losses at 10 % of the features", columns, rows, f"{share(agree)} cells are within 0.0001; * is not.")


def _seconds(results: StudyResults, ready: list[str]) -> Section:
    rows = []
    ratios, selecting = [], []
    for name in ready:
        spent = {method: results.seconds(name, method) for method in (*METHODS.values(), ALL)}
        br, ml = (spent[method] for method in METHODS.values())
        printed = [values[4] for values in TABLE_4[name]]
        ratios.append((sum(br) / sum(ml), printed[0] / printed[1]))
        selecting.append(br[0] / ml[0])
        numbers = [f"{one:.1f}" for one in (*br, *ml, spent[ALL][1])]
        rows.append(
            (
                name,
                *(f"{one:,}" for one in printed),
                f"{ratios[-1][1]:.0f}",
                *numbers,
                f"{ratios[-1][0]:.1f}",
                f"{selecting[-1]:.1f}",
            )
        )
    theirs = ("data set", ">published BR", ">ML", ">BR/ML")
    columns = (
        *theirs,
        ">ours BR: select",
        ">classify",
        ">ML: select",
        ">classify",
        ">all: classify",
        ">BR/ML",
        ">of selection",
    )
    if not rows:
        return Section("Seconds of ten folds", columns, rows)
    here, there = (geometric_mean(column) for column in zip(*ratios, strict=True))
    said = f"BR + InfoGain takes {there:.0f} times as long as MLInfoGain in the paper and {here:.1f} times here "
    said += f"({geometric_mean(selecting):.1f} times for the selection alone; geometric means)."
    return Section("Seconds of ten folds", columns, rows, said)


def _claims(results: StudyResults, losses: Losses, ready: list[str]) -> Section:
    def favoured(table: list[tuple[float, ...]]) -> int:
        return sum(br < ml for br, ml in table)

    rows: list[tuple[str, ...]] = []
    for measure_place, measure in enumerate(MEASURES):
        ours = [tuple(float(losses.means(name, one, measure)[0]) for one in METHODS.values()) for name in ready]
        printed = [tuple(values[measure_place] for values in TABLE_4[name]) for name in ready]
        rows.append(
            (
                f"BR + InfoGain has the lower {measure}",
                f"{favoured(printed)} of {len(ready)}",
                f"{favoured(ours)} of {len(ready)}",
            )
        )
        if len(ready) > 1:
            words = []
            for table in (printed, ours):
                p_value = float(compare(table, lower_is_better=True, methods=list(METHODS), test="wilcoxon").p_values[0, 1])
                words.append(f"p = {p_value:.2g}")
            rows.append((f"no significant difference in {measure} (Wilcoxon)", *words))
    spent = {name: [sum(results.seconds(name, method)) for method in (METHODS["ML"], ALL, METHODS["BR"])] for name in ready}
    faster = share(all(early < late for early, late in pairwise(times)) for times in spent.values())
    between = share(times[1] < times[2] for times in spent.values())
    rows.append(("BR takes roughly 100 times as long as MLInfoGain", "yes", share(t[2] > 50 * t[0] for t in spent.values())))
    rows.append(("no selection is faster than BR + InfoGain", "yes, not printed", between))
    rows.append(("time: MLInfoGain < no selection < BR + InfoGain", "yes, not printed", faster))
    return Section("Claims of section 5.2", ("claim", ">published", ">ours"), rows)


STUDY = PublishedStudy("infogain-table4", TITLE, PAPER, CHOICES, protocols, sections)
