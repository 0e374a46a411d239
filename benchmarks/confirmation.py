"""The analyses of docs/evidence/confirmation.md, fixed before their data: verdicts on the hybrid.

    python -m benchmarks.confirmation first labels/values.parquet numeric/values.parquet
    python -m benchmarks.confirmation second labels/values.parquet

The files have a row for every cell and number of features: dataset, split, method, classifier, k, and one for each measure.
"""

import sys
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from labelsieve.statistics import bayesian_signed_rank, holm, wilcoxon_holm

UNTOUCHED = (
    "delicious",
    "eukaryote-go",
    "imdb",
    "rcv1s1",
    "yahoo-arts",
    "yahoo-business",
    "yahoo-education",
    "yahoo-health",
    "yahoo-reference",
    "yahoo-science",
)
LOOKED_AT = (
    "20ng",
    "bibtex",
    "corel16k1",
    "corel5k",
    "foodtruck",
    "mediamill-2500",
    "ohsumed",
    "reuters-k500",
    "slashdot",
    "stackex-chess",
    "tmc2007-500",
    "yahoo-cut-computers",
)
YAHOO = tuple(name for name in UNTOUCHED if name.startswith("yahoo"))
NUMERIC = ("osales", "sf1", "sf2")


@dataclass(frozen=True)
class Question:
    """What a protocol tests: a method against rivals, all hypotheses together at a level."""

    method: str
    rivals: dict[str, str]
    level: float


QUESTIONS = {
    "first": Question("hybrid", {"H1": "l1-cv", "H2": "extra-trees", "H3": "cmim", "H4": "omp", "H5": "mean-f"}, 0.05),
    "second": Question("hybrid-bounded", {"B1": "l1-cv", "B2": "extra-trees", "B3": "cmim", "B4": "mean-f"}, 0.025),
}
UNBOUNDED = "hybrid"  # the second method must not be practically worse than the first
LEARNERS = ("neighbors", "linear", "trees")
SIZES = (5, 10, 20, 40)
# Sign of an improvement, and the region of practical equivalence.
DECIDING = {"micro_f1": (1, 0.01), "macro_f1": (1, 0.01)}
NO_HARM = {"average_precision": (1, 0.01), "hamming_loss": (-1, 0.001)}
MEASURES = {**DECIDING, **NO_HARM, "rrmse": (-1, 0.01)}
HARM = 0.05  # the largest probability that a rival is practically better
N_SAMPLES = 50_000  # of the posterior


def set_means(results, measure, learners=LEARNERS, sizes=SIZES):
    """A row for each data set, a column for each method: means over splits, learners and sizes; NaN where a cell failed."""
    chosen = results[(results["measure"] == measure) & results["classifier"].isin(learners) & results["k"].isin(sizes)]
    found = chosen.groupby(["dataset", "method"])["value"].agg(["mean", "count"])
    most = found["count"].groupby("dataset").transform("max")  # sizes that a data set has
    return found["mean"].where(found["count"] == most).unstack("method")


def improvements(means, method, rival, datasets, sign):
    """Differences by data set, those without the rival left out; without the method a loss larger than any other difference."""
    table = means.reindex(index=list(datasets), columns=[method, rival])
    table = table[table[rival].notna()]
    found = sign * (table[method] - table[rival])
    return found.fillna(-1.01 * max(found.abs().max(), 0.01) if found.notna().any() else -1.0)


def p_value(differences):
    """Wilcoxon's signed-rank test, two-sided and exact; 1 if there are no data sets."""
    if not len(differences):
        return 1.0
    return float(wilcoxon_holm(np.column_stack([differences, np.zeros(len(differences))]))[0, 1])


def posterior_of(differences, same):
    """The Bayesian signed-rank test; None if there are no data sets."""
    if not len(differences):
        return None
    return bayesian_signed_rank(differences, np.zeros(len(differences)), same_within=same, n_samples=N_SAMPLES)


def verdicts(results, question, datasets=UNTOUCHED):
    """A row for each hypothesis: mean improvements, p-values, probabilities and the verdict."""
    rows = []
    for name, rival in question.rivals.items():
        row = {"hypothesis": name, "rival": rival}
        better, worse, harm = [], [], False
        for measure, (sign, same) in {**DECIDING, **NO_HARM}.items():
            found = improvements(set_means(results, measure), question.method, rival, datasets, sign)
            posterior = posterior_of(found, same)
            row["sets"] = len(found)
            row[measure] = found.mean()
            row[f"{measure} won-lost"] = f"{(found > 0).sum()}-{(found < 0).sum()}"
            row[f"{measure} p"] = p_value(found)
            row[f"{measure} P(better)"] = np.nan if posterior is None else posterior.first
            row[f"{measure} P(worse)"] = np.nan if posterior is None else posterior.second
            if measure in DECIDING:
                better.append(row[f"{measure} p"] if found.median() > 0 else 1.0)
                worse.append(row[f"{measure} p"] if found.median() < 0 else 1.0)
            elif posterior is not None:
                harm = harm or posterior.second > HARM
        rows.append(row | {"p better": max(better), "p worse": max(worse), "harm": harm})
    table = pd.DataFrame(rows)
    table["p better"], table["p worse"] = holm(table["p better"]), holm(table["p worse"])
    confirmed = (table["p better"] <= question.level) & ~table["harm"]
    table["verdict"] = np.select([confirmed, table["p worse"] <= question.level], ["confirmed", "refuted"], "not shown")
    return table


def against_unbounded(results, method):
    """Mean differences to the hybrid without its bound, and probabilities that one is practically better."""
    rows = []
    for measure, (sign, same) in {**DECIDING, **NO_HARM}.items():
        found = improvements(set_means(results, measure), method, UNBOUNDED, UNTOUCHED, sign)
        posterior = posterior_of(found, same)
        won_lost = f"{(found > 0).sum()}-{(found < 0).sum()}"
        rows.append([measure, found.mean(), won_lost, posterior.first, posterior.second])
    return pd.DataFrame(rows, columns=["measure", "improvement", "won-lost", "P(better)", "P(worse)"])


def interval(differences, rng):
    """Mean and 95 % bootstrap interval over data sets."""
    means = rng.choice(differences, (10_000, len(differences))).mean(axis=1)
    return [differences.mean(), *np.quantile(means, [0.025, 0.975])]


def against_all_features(results, method, datasets=UNTOUCHED + LOOKED_AT, learners=LEARNERS):
    """Mean improvements of the largest size up to 40 over all features, with 95 % bootstrap intervals over the data sets."""
    rng, rows = np.random.default_rng(0), []
    for measure, (sign, _) in {**DECIDING, **NO_HARM}.items():
        chosen = results[(results["measure"] == measure) & results["classifier"].isin(learners)]
        every = chosen[chosen["method"] == "all"].groupby("dataset")["value"].mean()
        some = chosen[(chosen["method"] == method) & chosen["k"].isin(SIZES)]
        largest = some[some["k"] == some.groupby("dataset")["k"].transform("max")].groupby("dataset")["value"].mean()
        found = (sign * (largest - every)).reindex(list(datasets)).dropna().to_numpy()
        if len(found):
            rows.append([measure, len(found), *interval(found, rng)])
    return pd.DataFrame(rows, columns=["measure", "sets", "improvement", "low", "high"])


def by_learner(results, question):
    """A row for each rival and learner: improvements in all measures with 95 % intervals, in thousandths."""
    rng, rows = np.random.default_rng(0), []
    for rival, learner in product((*question.rivals.values(), "all"), LEARNERS):
        row = [rival, learner]
        every = against_all_features(results, question.method, UNTOUCHED, (learner,)).set_index("measure")
        for measure, (sign, _) in {**DECIDING, **NO_HARM}.items():
            if rival == "all":
                found = every.loc[measure, ["improvement", "low", "high"]]
            else:
                means = set_means(results, measure, (learner,))
                found = interval(improvements(means, question.method, rival, UNTOUCHED, sign).to_numpy(), rng)
            row.append("{:+.1f} ({:+.1f} to {:+.1f})".format(*(1000 * value + 0.0 for value in found)))
        rows.append(row)
    return pd.DataFrame(rows, columns=["rival", "learner", *DECIDING, *NO_HARM])


def read_results(paths):
    """A row for every value that was measured, from exported results."""
    frames = []
    for path in paths:
        frame = pd.read_parquet(path)
        keys = ["dataset", "split", "method", "classifier", "k"]
        frame = frame.astype(dict.fromkeys(("dataset", "method", "classifier"), str))
        frames.append(frame.melt(keys, [name for name in frame if name in MEASURES], "measure", "value"))
    return pd.concat(frames).dropna(subset="value")


def main(name, paths):
    results, question = read_results(paths), QUESTIONS[name]
    with pd.option_context("display.width", 250, "display.max_columns", 50, "display.float_format", "{:.4f}".format):
        print("Untouched data sets: these decide.", verdicts(results, question).T, sep="\n")
        if question.method != UNBOUNDED:
            print("\nAgainst the hybrid without a bound: decides, too.", against_unbounded(results, question.method), sep="\n")
        one = results.assign(dataset=results["dataset"].where(~results["dataset"].isin(YAHOO), "yahoo"))
        print("\nThe same, the Yahoo directories as one data set: for information.")
        print(verdicts(one, question, (*(name for name in UNTOUCHED if name not in YAHOO), "yahoo")).T)
        print(
            "\nAll data sets, those looked at before among them.",
            verdicts(results, question, UNTOUCHED + LOOKED_AT).T,
            sep="\n",
        )
        for learner in LEARNERS:
            alone = results[results["classifier"] == learner]
            print(f"\nUntouched data sets, {learner} alone: not part of the decision.", verdicts(alone, question).T, sep="\n")
        print(
            "\nEach learner and measure, thousandths with 95 % intervals over the data sets.",
            by_learner(results, question),
            sep="\n",
        )
        print("\nAgainst all features", against_all_features(results, question.method), sep="\n")
        if (results["measure"] == "rrmse").any():
            means = set_means(results, "rrmse", sizes=(5, 10, 20, 40))
            print("\nNumeric targets, relative root mean squared errors", means.reindex(list(NUMERIC)).T, sep="\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
