"""The table of the README, ``examples/customers.csv``: synthetic, with an id, a date, text and missing cells.

``python -m tests.support.customers`` writes it. Customers leave after calls and early on, upgrade with their usage, and
complain in three of the towns; age, newsletter and height are noise.
"""

import csv
import datetime
import io
from pathlib import Path

import numpy as np

PATH = Path(__file__).parents[2] / "examples" / "customers.csv"
NAMES = [
    "customer",
    "signed_up",
    "town",
    "plan",
    "age",
    "usage",
    "calls",
    "newsletter",
    "height",
    "left",
    "upgraded",
    "complained",
]
TOWNS = ("Ashford", "Brighton", "Corby", "Dover", "Exeter", "Fleet", "Grantham", "Hexham")
PLANS = ("basic", "plus", "family")
OPENING = datetime.date(2020, 1, 1)


def customers_csv(n_rows=400):
    """The content of the file."""
    rng = np.random.default_rng(0)
    town, plan = rng.integers(len(TOWNS), size=n_rows), rng.integers(len(PLANS), size=n_rows)
    age, days = rng.normal(45, 15, size=n_rows).clip(18, 90), rng.integers(0, 1500, size=n_rows)
    calls, usage = rng.poisson(0.8, size=n_rows), rng.gamma(2.0, 40.0, size=n_rows)
    newsletter, height = rng.random(n_rows) < 0.4, rng.normal(170, 10, size=n_rows)
    noise = 0.7 * rng.normal(size=(3, n_rows))
    left = calls - 0.002 * days + noise[0] > 0.2
    upgraded = (usage - 80) / 30 - plan + noise[1] > -0.5
    complained = 2.0 * np.isin(town, (1, 4, 6)) + 0.6 * calls + noise[2] > 1.6
    age_known = rng.random(n_rows) >= 0.1
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(NAMES)
    for row in range(n_rows):
        features = [
            f"C{1000 + row}",
            OPENING + datetime.timedelta(int(days[row])),
            TOWNS[town[row]],
            PLANS[plan[row]],
            round(age[row]) if age_known[row] else "",
            f"{usage[row]:.1f}",
            calls[row],
            "yes" if newsletter[row] else "no",
            round(height[row]),
        ]
        table.writerow([*features, *(int(label[row]) for label in (left, upgraded, complained))])
    return text.getvalue()


if __name__ == "__main__":
    PATH.write_text(customers_csv(), encoding="utf-8")
