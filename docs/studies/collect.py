"""Copy the claims from the output of `labelsieve study NAME --full --json` to claims.json: python collect.py NAME.json ...

The key "ran" (the runs) is written by hand and stored.
"""

import json
import sys
from pathlib import Path

STORED = Path(__file__).with_name("claims.json")


def claims_of(printed):
    """The tables of claims."""
    return [section for section in printed["sections"] if section["columns"][0] == "claim"]


def main(paths):
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    for path in paths:
        printed = json.loads(Path(path).read_text(encoding="utf-8"))
        before = stored.get(printed["name"], {})
        stored[printed["name"]] = {"ran": before.get("ran", ""), "sections": claims_of(printed)}
    STORED.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
