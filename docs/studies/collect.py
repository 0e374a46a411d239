"""Put what `labelsieve study NAME --full --json` printed about claims into claims.json: python collect.py NAME.json ...

What was run, the key "ran", is written by hand and stays.
"""

import json
import sys
from pathlib import Path

KEPT = Path(__file__).with_name("claims.json")


def claims_of(printed):
    """The tables that are about sentences of the paper."""
    return [one for one in printed["sections"] if one["columns"][0] == "claim"]


def main(paths):
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    for path in paths:
        printed = json.loads(Path(path).read_text(encoding="utf-8"))
        before = kept.get(printed["name"], {})
        kept[printed["name"]] = {"ran": before.get("ran", ""), "sections": claims_of(printed)}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
