"""Tables as people have them, each with the features that determine its targets."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class OrdinaryTable:
    """A file, the options that say which columns are the targets, the same data in Python, and the ground truth."""

    path: Path
    options: tuple[str, ...]
    X: object
    Y: object
    relevant: frozenset[str]


Builder = Callable[[Path, np.random.Generator], OrdinaryTable]
TABLES: dict[str, Builder] = {}


def table(build: Builder) -> Builder:
    TABLES[build.__name__] = build
    return build


def noise(rng, n_rows, n_columns, prefix="noise"):
    return {f"{prefix}{i}": rng.normal(size=n_rows).round(4) for i in range(n_columns)}


def _written(frame, path, targets, options, relevant, **csv):
    frame.to_csv(path, index=False, **csv)
    names = [targets] if isinstance(targets, str) else targets
    return OrdinaryTable(path, options, frame.drop(columns=names), frame[targets], frozenset(relevant))


@table
def plain_csv_with_labels_last(folder, rng):
    a, b = rng.normal(size=(2, 400)).round(4)
    frame = pd.DataFrame({**noise(rng, 400, 8), "size": a, "age": b, "big": (a > 0) * 1, "old": (b > 0.5) * 1})
    return _written(frame, folder / "t.csv", ["big", "old"], ("--labels", "2"), ["size", "age"])


@table
def european_csv_with_label_pattern(folder, rng):
    a, b = rng.normal(size=(2, 300)).round(3)
    frame = pd.DataFrame(
        {"laenge": a, **noise(rng, 300, 6), "breite": b, "label_lang": (a > 0) * 1, "label_breit": (b > 0) * 1}
    )
    targets = ["label_lang", "label_breit"]
    options = ("--labels", "label_*")
    return _written(frame, folder / "t.csv", targets, options, ["laenge", "breite"], sep=";", decimal=",")


@table
def tags_in_one_column(folder, rng):
    a, b, c = rng.normal(size=(3, 300)).round(3)
    sets = [
        [tag for tag, yes in zip(("rock", "folk", "jazz"), row, strict=True) if yes]
        for row in zip(a > 0, b > 0, c > 0.3, strict=True)
    ]
    frame = pd.DataFrame({"loud": a, "guitar": b, "brass": c, **noise(rng, 300, 7)})
    path = folder / "songs.csv"
    frame.assign(tags=[";".join(tags) for tags in sets]).to_csv(path, index=False)
    options = ("--labels", "tags", "--label-separator", ";")
    return OrdinaryTable(path, options, frame, sets, frozenset({"loud", "guitar", "brass"}))


@table
def tab_separated_categories(folder, rng):
    city, plan = rng.choice(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 800), rng.choice(["free", "team", "company"], 800)
    churn = np.isin(city, list("BFKQXZ"))
    upgrade = plan == "team"
    frame = pd.DataFrame({"city": city, "plan": plan, "trial": rng.random(800) < 0.5, **noise(rng, 800, 5)})
    frame = frame.assign(churn=np.where(churn, "yes", "no"), upgrade=np.where(upgrade, "yes", "no"))
    return _written(frame, folder / "t.tsv", ["churn", "upgrade"], ("--labels", "churn,upgrade"), ["city", "plan"], sep="\t")


@table
def missing_cells_and_a_text_class(folder, rng):
    a, b = rng.normal(size=(2, 500)).round(3)
    kind = np.select([a > 0.7, b > 0.5], ["setosa", "virginica"], "other")
    holes = rng.random((2, 500)) < 0.1
    frame = pd.DataFrame({"petal": np.where(holes[0], np.nan, a), "sepal": np.where(holes[1], np.nan, b), **noise(rng, 500, 8)})
    return _written(frame.assign(species=kind), folder / "t.csv", "species", ("--labels", "species"), ["petal", "sepal"])


@table
def informative_holes(folder, rng):
    asked = rng.random(600) < 0.6
    income = np.where(asked, rng.normal(size=600).round(3), np.nan)
    frame = pd.DataFrame({**noise(rng, 600, 9), "income": income, "called": asked * 1})
    return _written(frame, folder / "t.csv", "called", ("--labels", "called"), ["income"])


@table
def customers_with_ids_and_dates(folder, rng):
    days = rng.integers(0, 1500, 500)
    spent = rng.gamma(2, 50, 500).round(2)
    frame = pd.DataFrame(
        {
            "customer": [f"C{i:05d}" for i in rng.permutation(500)],
            "joined": (pd.Timestamp("2020-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
            "spent": spent,
            **noise(rng, 500, 6),
            "loyal": (days < 500) * 1,
            "good": (spent > 100) * 1,
        }
    )
    written = _written(frame, folder / "t.csv", ["loyal", "good"], ("--labels", "loyal,good"), ["joined", "spent"])
    return replace(written, X=written.X.assign(joined=pd.to_datetime(written.X["joined"])))


@table
def whole_number_regression(folder, rng):
    a, b = rng.normal(size=(2, 442))
    frame = pd.DataFrame({**noise(rng, 442, 8), "bmi": a.round(3), "bp": b.round(3)})
    progression = np.round(150 + 60 * a + 40 * b + rng.normal(scale=10, size=442)).astype(int)
    return _written(frame.assign(y=progression), folder / "t.csv", "y", ("--labels", "y"), ["bmi", "bp"])


@table
def sensors_with_outliers_and_numeric_targets(folder, rng):
    a, b = rng.normal(size=(2, 500)).round(4)
    frame = pd.DataFrame({"pressure": a, "flow": b, **noise(rng, 500, 8)})
    frame.loc[7, ["pressure", "flow"]] = 9999.0
    quality, yield_ = a + 0.2 * rng.normal(size=500), 2 * b + 0.2 * rng.normal(size=500)
    quality[3] = -5000.0
    frame = frame.assign(quality=quality.round(4), amount=yield_.round(4))
    return _written(frame, folder / "t.csv", ["quality", "amount"], ("--labels", "quality,amount"), ["pressure", "flow"])


@table
def parquet_with_categories(folder, rng):
    color = pd.Categorical(rng.choice([f"color{i}" for i in range(12)], 600))
    size = rng.normal(size=600)
    frame = pd.DataFrame({"color": color, "size": size, **noise(rng, 600, 6), "flag": rng.random(600) < 0.3})
    even = np.asarray(color.codes) % 2
    frame = frame.assign(bought=even == 0, returned=size > 0.4)
    path = folder / "t.parquet"
    frame.to_parquet(path)
    targets = ["bought", "returned"]
    return OrdinaryTable(path, ("--labels", "2"), frame.drop(columns=targets), frame[targets], frozenset({"color", "size"}))


@table
def mulan_arff_with_nominal_columns(folder, rng):
    shape = rng.choice(list("abcdefghij"), 500)
    weight = rng.normal(size=500).round(4)
    others = noise(rng, 500, 5)
    labels = np.column_stack([np.isin(shape, list("acegi")), weight > 0]) * 1
    lines = ["@relation toys", "@attribute shape {a,b,c,d,e,f,g,h,i,j}", "@attribute weight numeric"]
    lines += [f"@attribute {name} numeric" for name in others]
    lines += ["@attribute vowel {0,1}", "@attribute heavy {0,1}", "@data"]
    columns = [shape, weight, *others.values(), *labels.T]
    lines += [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path = folder / "toys.arff"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="vowel"/><label name="heavy"/></labels>'
    (folder / "toys.xml").write_text(names, encoding="utf-8")
    X = pd.DataFrame({"shape": pd.Categorical(shape), "weight": weight, **others})
    return OrdinaryTable(path, (), X, labels, frozenset({"shape", "weight"}))


@table
def excel_sheet(folder, rng):
    dose = rng.choice([0.0, 0.5, 1.0, 2.0], 250)
    group = rng.choice(["placebo", "drug"], 250)
    frame = pd.DataFrame({"dose": dose, "group": group, **noise(rng, 250, 6)})
    frame = frame.assign(healed=(dose > 0.7) * 1, tired=(group == "drug") * 1)
    path = folder / "trial.xlsx"
    frame.to_excel(path, index=False)
    targets = ["healed", "tired"]
    return OrdinaryTable(path, ("--labels", "2"), frame.drop(columns=targets), frame[targets], frozenset({"dose", "group"}))


@table
def few_rows_many_genes(folder, rng):
    genes = rng.normal(size=(80, 500)).round(4)
    genes[:40, 17] += 4
    genes[::2, 301] -= 4
    frame = pd.DataFrame(genes, columns=[f"g{i}" for i in range(500)])
    frame = frame.assign(tumor=np.repeat(["tumor", "normal"], 40), sex=np.tile(["f", "m"], 40))
    return _written(frame, folder / "t.csv", ["tumor", "sex"], ("--labels", "2"), ["g17", "g301"])


@table
def mostly_zero_counts(folder, rng):
    counts = rng.poisson(0.1, size=(1000, 40))
    labels = np.column_stack([counts[:, 5] > 0, counts[:, 21] > 0]) ^ (rng.random((1000, 2)) < 0.02)
    frame = pd.DataFrame(counts, columns=[f"word{i}" for i in range(40)])
    frame = frame.assign(sport=labels[:, 0] * 1, politics=labels[:, 1] * 1)
    return _written(frame, folder / "t.csv.gz", ["sport", "politics"], ("--labels", "2"), ["word5", "word21"])


@table
def labels_that_are_not_all_known(folder, rng):
    a, b = rng.normal(size=(2, 600)).round(4)
    labels = np.column_stack([a > 0, b > 0]).astype(float)
    labels[rng.random((600, 2)) < 0.3] = np.nan
    frame = pd.DataFrame({**noise(rng, 600, 8), "first": a, "second": b})
    frame = frame.assign(x=labels[:, 0], y=labels[:, 1])
    options = ("--labels", "2", "--missing-labels", "keep")
    return _written(frame, folder / "t.csv", ["x", "y"], options, ["first", "second"])


@table
def constant_and_duplicate_columns(folder, rng):
    a, b = rng.normal(size=(2, 400)).round(4)
    frame = pd.DataFrame({"version": 3, "source": "web", **noise(rng, 400, 4), "speed": a, "load": b, "load_copy": b})
    frame = frame.assign(fast=(a > 0) * 1, busy=(b > 0) * 1)
    return _written(frame, folder / "t.csv", ["fast", "busy"], ("--labels", "2"), ["speed", "load"])


@table
def prices_and_percentages(folder, rng):
    income, used = rng.gamma(3, 20_000, 600).round(2), rng.random(600).round(3)
    frame = pd.DataFrame(
        {**noise(rng, 600, 6), "income": income, "used": used, "poor": (income < 40_000) * 1, "full": (used > 0.8) * 1}
    )
    written = _written(frame, folder / "t.csv", ["poor", "full"], ("--labels", "2"), ["income", "used"])
    texts = {"income": [f"${amount:,.2f}" for amount in income], "used": [f"{100 * share:.1f}%" for share in used]}
    frame.assign(**texts).to_csv(written.path, index=False)
    return written


@table
def unicode_text_of_excel_with_month_names(folder, rng):
    days, size = rng.integers(0, 800, 500), rng.normal(size=500).round(3)
    visit = pd.Timestamp("2019-03-01") + pd.to_timedelta(days, unit="D")
    frame = pd.DataFrame({"Größe": size, "visit": visit, **noise(rng, 500, 6), "late": (days > 380) * 1, "big": (size > 0) * 1})
    frame.assign(visit=visit.strftime("%d-%b-%y")).to_csv(folder / "t.txt", index=False, sep="\t", encoding="utf-16")
    targets = ["late", "big"]
    X = frame.drop(columns=targets)
    return OrdinaryTable(folder / "t.txt", ("--labels", "2"), X, frame[targets], frozenset({"Größe", "visit"}))
