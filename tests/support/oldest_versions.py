"""Print constraints for pip: the oldest versions that pyproject.toml allows of what the package itself needs.

`make oldest` runs the tests with them. What comes along must be of the same time: newer versions warn of what the old ones do,
and a warning is an error in the tests; polars 1.40 gives up the interchange protocol, by which scikit-learn 1.7 finds names.
"""

import re
import sys
import tomllib
from pathlib import Path

ALONG = ("click<8.3", "polars<1.40", "pyparsing<3.2", "pytest<9")


def oldest(requirement):
    name, version = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)(?:;.*)?", requirement).groups()
    return f"{name}=={version}"


def main():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    lines = [*(oldest(one) for group in groups for one in group), *ALONG]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
