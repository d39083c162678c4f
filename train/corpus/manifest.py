"""What the corpus holds, counted."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

LONG = 4_000


def summary(rows: list[dict]) -> str:
    """Return the totals in one line."""
    long = sum(len(r["text"]) > LONG for r in rows)
    sources = Counter(r["source"] for r in rows)
    langs = Counter(r["lang"] for r in rows)
    ample = sum(n >= 150 for n in sources.values())
    asked = sum(r["kind"] == "input" for r in rows)
    return f"{len(rows) - asked} documents and {asked} inputs, {long / max(1, len(rows)):.1%} longer than {LONG} characters, {len(sources)} sources ({ample} with at least 150), {len(langs)} languages"


def write(path: Path, rows: list[dict], entries: list[dict], dropped: dict[str, int]) -> None:
    """Write MANIFEST.md."""
    by = defaultdict(list)
    for r in rows:
        by[r["source"]].append(r)
    lines = ["# What the benign corpus holds", "", "Written by `fetch.py`; the rows themselves are not in the repository.", "", summary(rows) + ".", ""]
    lines += [f"Left out: {dropped['attack']} texts with what reads as a literal attack, {dropped['copy']} copies (README.md has the rules).", ""]
    lines += ["## Sources", "", "Lengths are in characters.", "", "| source | kind | texts | p10 | p50 | p90 | longer than 4,000 | languages | licence |", "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"]
    for source, own in sorted(by.items()):
        lengths = [len(r["text"]) for r in own]
        low, mid, high = _quantiles(lengths)
        names = "; ".join(n for n, _ in Counter(r["license"] for r in own).most_common(4)).replace("|", "/")
        lines.append(f"| {source} | {own[0]['kind']} | {len(own)} | {low} | {mid} | {high} | {sum(n > LONG for n in lengths)} | {len({r['lang'] for r in own})} | {names} |")
    lines += ["", "## Languages", "", _counts(r["lang"] for r in rows)]
    lines += ["", "## Carriers", "", _counts(r["carrier"] for r in rows)]
    lines += ["", "## Packages", "", "| client | package | version | source | texts | licence |", "| --- | --- | --- | --- | ---: | --- |"]
    for e in entries:
        if e.get("taken"):
            lines.append(f"| {e['client']} | {e['name']} | {e['version']} | {e.get('source', e['name'])} | {e['taken']} | {e['license'].replace('|', '/')} |")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _counts(names: Iterable[str]) -> str:
    return ", ".join(f"{k} {n}" for k, n in sorted(Counter(names).items(), key=lambda c: (-c[1], c[0]))) + "."


def _quantiles(lengths: list[int]) -> tuple[int, int, int]:
    if len(lengths) < 2:
        return lengths[0], lengths[0], lengths[0]
    cuts = statistics.quantiles(lengths, n=10, method="inclusive")
    return round(cuts[0]), round(cuts[4]), round(cuts[8])
