"""Copy the claims of `python -m replications NAME --full --json` to claims.json: python collect.py NAME.json ...

The key "ran", a description of the run, is written by hand and kept.
"""

import json
import sys
from pathlib import Path

KEPT = Path(__file__).with_name("claims.json")


def claims_of(printed):
    """Return the tables of claims."""
    return [table for table in printed["tables"] if table["columns"][0] == "claim"]


def main(paths):
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    for path in paths:
        printed = json.loads(Path(path).read_text(encoding="utf-8"))
        before = kept.get(printed["name"], {})
        kept[printed["name"]] = {"ran": before.get("ran", ""), "tables": claims_of(printed)}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
