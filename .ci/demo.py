"""Reads the rows of `gatehouse demo --exit --json` and checks the story they tell."""

import json
import sys

rows = json.load(sys.stdin)
leaked = [row["leaked"] for row in rows]
if leaked != [True, True, True, False]:
    sys.exit(f"the demo leaked {leaked}, not true, true, true, false")
if rows[3]["caught_by"] is None or "enforced" not in rows[3]["verdict"]:
    sys.exit(f"the last row does not say who caught the attack: {rows[3]}")
print("demo: the attack succeeds three times and is caught by", rows[3]["caught_by"])
