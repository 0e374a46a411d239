"""Reading dense ARFF files of numbers and 0/1 labels, for tests that need real data and nothing of the library's readers."""

import gzip

import numpy as np


def read_dense_arff(path):
    """Attribute names and one array of all values; refuses what is not dense and numeric."""
    names, rows, in_data = [], [], False
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(map(str.strip, lines), start=1):
            if not line or line.startswith("%"):
                continue
            if in_data:
                rows.append([float(value) for value in line.split(",")])
                if len(rows[-1]) != len(names):
                    raise ValueError(f"{path.name}, line {number}: {len(rows[-1])} values for {len(names)} attributes")
            elif line.lower().startswith("@attribute"):
                _, name, kind = line.split(None, 2)
                if kind.lower() not in ("numeric", "real") and kind.replace(" ", "") != "{0,1}":
                    raise ValueError(f"{path.name}, line {number}: {kind} is neither a number nor 0/1")
                names.append(name)
            elif line.lower() == "@data":
                in_data = True
    return names, np.array(rows)
