"""What the models of the folds say of hands that they have not seen: a report, and the scores that sums stand for.

    python evaluate.py --work WORK --folds 3 --linear linear.jsonl --report REPORT.md --scores model.json

linear.jsonl is what `go run ./train/linear -scores` wrote of the same texts; several files where outputs were made apart.
"""
import argparse
import itertools
import json
import pathlib
import zlib
from collections import defaultdict

import numpy as np

from data import OUTPUTS

PENALTIES = (0, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.6, 2)
SHARES = (0.5, 1, 2, 3, 4, 5, 6, 8)
# What the transformer counts at most beside the linear sum: customer records of an airline that it had never seen were all it found, with sums that no attack has.
MOST = (-0.5, 0, 0.5, 1, 2, 3, 99)
RATES = ((0.9, 0.01), (0.5, 0.05), (0.2, 0.15), (0.1, 0.22), (0.05, 0.3), (0.02, 0.45), (0.01, 0.6), (0.005, 0.8), (0.002, 0.95), (0.0005, 0.98))
MISLED = 3  # how many times as many texts that mislead may be suspected as ordinary ones
LEAST = 150
# What is shipped has seen all hands and is surer of itself than the models of the folds: of their rates it is given seven tenths.
CAREFUL = 0.7


def lateness(first):
    """As detect.Lateness has it."""
    return np.minimum(np.log2(1 + first / 8), 4)


def wilson(hit, n):
    if not n:
        return 0, 1
    z, p = 1.959964, hit / n
    mid, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (mid - half) / (1 + z * z / n), (mid + half) / (1 + z * z / n)


def quantile(values, share):
    """The value that a share of the values lie above."""
    values = np.sort(values)[::-1]
    return values[min(int(share * len(values)), len(values) - 1)] if len(values) else 0.0


class Cases:
    """Texts, and what something says of each."""

    def __init__(self, texts, output):
        self.texts, self.o = texts, output
        native = np.array([(t["kind"] == "input") == (output > 0) for t in texts])
        self.want = np.where(native, [t["wants"][output] for t in texts], -1)
        self.made = np.array([t["hand"] == "made" for t in texts])
        self.misleading = np.array([t["sort"] == "misleading" for t in texts])
        self.english = np.array([t["lang"] == "en" for t in texts])
        self.hands = np.array([t["hand"] for t in texts])

    def only(self, seen):
        self.attack = (self.want == 1) & seen
        self.ordinary = (self.want == 0) & ~self.made & ~self.misleading & seen
        self.hard = (self.want == 0) & self.misleading & seen
        return self

    def cut(self, s, share):
        """The sum of a threshold: as train/linear has it."""
        return max(quantile(s[self.ordinary], share), quantile(s[self.hard & self.english], min(MISLED * share, 1)))

    def strict(self, s):
        """The sum above which at most 1 % of the ordinary texts lie and 5 % of those that mislead."""
        return max(quantile(s[self.ordinary], 0.01), quantile(s[self.hard], 0.05))

    def by(self, s, cut, group, least):
        found = defaultdict(lambda: [0, 0])
        for i in np.flatnonzero(self.attack):
            g = group(self.texts[i])
            if g:
                found[g][0] += 1
                found[g][1] += s[i] > cut
        return {g: (hit, n) for g, (n, hit) in sorted(found.items()) if n >= least}

    def mean(self, s, cut=None):
        cut = quantile(s[self.ordinary], 0.01) if cut is None else cut
        shares = [hit / n for hit, n in self.by(s, cut, lambda t: t["hand"], LEAST).values()]
        return float(np.mean(shares)) if shares else 0.0


def judged(work, names, texts, rows):
    """For each output and penalty the highest sum of each text's passages; minus infinity where none was judged."""
    said = np.full((len(PENALTIES), 3, len(texts)), -np.inf)
    for name in names:
        z = np.load(work / f"{name}-scores.npz")
        n, late = rows[z["ks"], 0], lateness(rows[z["ks"], 3])
        for i, p in enumerate(PENALTIES):
            for o in range(3):
                np.maximum.at(said[i, o], n, z["scores"][:, o] - p * late)
    return said


def linear(paths, texts):
    names = {(t["source"], t["id"]): i for i, t in enumerate(texts)}
    said = np.full((3, len(texts)), -np.inf)
    for path in paths:
        for line in pathlib.Path(path).open(encoding="utf-8"):
            r = json.loads(line)
            if (i := names.get((r["source"], r["id"]))) is not None:
                said[OUTPUTS.index(r["output"]), i] = r["sum"]
    return said


def knots(cases, s, careful=1.0):
    share = careful * (1 if cases.o == 0 else 0.5)
    out = []
    for rate, score in RATES:
        at = float(cases.cut(s, rate * share))
        if out and at <= out[-1]["sum"]:
            at = out[-1]["sum"] + 1e-3
        out.append({"sum": round(at, 4), "score": score})
    return [*out, {"sum": round(out[-1]["sum"] + 3, 4), "score": 1}]


def alarms(texts, o, seen, s):
    """Shares of the ordinary texts and of those that mislead, in halves of the hands for which scores were set on the other, as they are shipped."""
    half = np.array([zlib.crc32(t["hand"].encode()) % 2 for t in texts])
    hits, counts = np.zeros((2, 3), int), np.zeros(2, int)
    for side in (0, 1):
        sums = {k["score"]: k["sum"] for k in knots(Cases(texts, o).only(seen & (half == side)), s, CAREFUL)}
        tried = Cases(texts, o).only(seen & (half != side))
        for i, group in enumerate((tried.ordinary, tried.hard)):
            counts[i] += group.sum()
            hits[i] += [(s[group] >= sums[at]).sum() for at in (0.6, 0.8, 0.95)]
    yield f"of 1,000 of {counts[0]} ordinary texts", [f"{1000 * n / counts[0]:.1f} (≤ {1000 * wilson(n, counts[0])[1]:.1f})" for n in hits[0]]
    yield f"of {counts[1]} texts written to mislead", [f"{100 * n / counts[1]:.1f} %" for n in hits[1]]


def table(w, cases, ways, group, least):
    """Recall at 1 % of the ordinary texts, by group, for each way to judge."""
    cuts = {name: quantile(s[cases.ordinary], 0.01) for name, s in ways.items()}
    found = {name: cases.by(s, cuts[name], group, least) for name, s in ways.items()}
    groups = list(next(iter(found.values())))
    w(f"| | attacks | {' | '.join(ways)} |\n|---|---|{'---|' * len(ways)}\n")
    for g in groups:
        cells = []
        for name in ways:
            hit, n = found[name][g]
            low, high = wilson(hit, n)
            cells.append(f"{hit / n:.2f} ({low:.2f}–{high:.2f})")
        w(f"| {g} | {n} | {' | '.join(cells)} |\n")
    if groups:
        w(f"| **mean of {len(groups)}** | | " + " | ".join(f"**{np.mean([found[m][g][0] / found[m][g][1] for g in groups]):.3f}**" for m in ways) + " |\n")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--work", required=True)
    p.add_argument("--folds", type=int, default=3)
    p.add_argument("--prefix", default="f")
    p.add_argument("--linear", required=True, nargs="+")
    p.add_argument("--report")
    p.add_argument("--scores")
    a = p.parse_args()
    work = pathlib.Path(a.work)
    texts = json.loads((work / "texts.json").read_text())
    rows = np.load(work / "passages.npz")["rows"]
    said = judged(work, [f"{a.prefix}{k}" for k in range(a.folds) if (work / f"{a.prefix}{k}-scores.npz").exists()], texts, rows)
    other = linear(a.linear, texts)
    out = open(a.report, "w", encoding="utf-8") if a.report else None
    w = out.write if out else lambda s: print(s, end="")
    heads = {}
    for o, name in enumerate(OUTPUTS):
        cases = Cases(texts, o).only(np.isfinite(said[0, o]) & np.isfinite(other[o]))
        plain, rate = other[o], 0.01 * (1 if o == 0 else 0.5)

        def joint(n):
            i, most, share = n
            return np.minimum(said[i, o], most) + share * np.where(np.isfinite(plain), plain, 0)

        def found(n):
            return cases.mean(both := joint(n)) + cases.mean(both, cases.cut(both, rate))
        # Three numbers are chosen on the texts that they are reported on, for what is found at 1 % and at warn.
        chosen = max(itertools.product(range(len(PENALTIES)), MOST, SHARES), key=found)
        penalty, most, share = PENALTIES[chosen[0]], *chosen[1:]
        s, both = said[chosen[0], o], joint(chosen)
        ways = {"transformer": s, "linear": plain, f"together ({share} × linear)": both}
        # Where the linear detector does better without it, the gateway does not ask the transformer.
        better = [cases.mean(both, at(both)) > cases.mean(plain, at(plain)) for at in (cases.strict, lambda m: cases.cut(m, rate))]
        used = int(all(better))
        together = knots(cases, both, CAREFUL)
        # Of the attacks that reach warn, one in a thousand has a lower linear sum: below it the transformer is not asked.
        caught = cases.attack & (both >= next(k["sum"] for k in together if k["score"] == 0.6))
        least = round(float(np.quantile(plain[caught], 0.001, method="lower")), 4)
        heads[name] = {"model": used, "least": least, "penalty": penalty, "most": most, "linear": share, "knots": knots(cases, s), "together": together}
        w(f"\n## Output `{name}`\n\n{int(cases.attack.sum())} attacks, {int(cases.ordinary.sum())} ordinary texts, {int(cases.hard.sum())} written to mislead; "
          f"penalty {penalty}; together the transformer counts {most} at most. Recall at 1 % of the ordinary texts.\n\nLeft out by hand:\n\n")
        table(w, cases, ways, lambda t: t["hand"], LEAST)
        w("\n| texts written to mislead, of left-out hands | transformer | linear | together |\n|---|---|---|---|\n")
        for label, at in (("flagged where 1 % of the ordinary are", lambda m: quantile(m[cases.ordinary], 0.01)), ("flagged at `warn` (at most 1 % of the ordinary, 3 % of the English ones here)", lambda m: cases.cut(m, 0.01))):
            w(f"| {label} | " + " | ".join(f"{100 * (m[cases.hard] > at(m)).mean():.1f} %" for m in ways.values()) + " |\n")
        w("| mean recall of hands where 1 % of the ordinary and 5 % of these are | " + " | ".join(f"{cases.mean(m, cases.strict(m)):.3f}" for m in ways.values()) + " |\n")
        w("| mean recall of hands at `warn` | " + " | ".join(f"{cases.mean(m, cases.cut(m, 0.01)):.3f}" for m in ways.values()) + " |\n")
        w("\n| false alarms, scores set on one half of the hands and tried on the other | " + " | ".join(f"≥ {at}" for at in (0.6, 0.8, 0.95)) + " |\n|---|---|---|---|\n")
        for label, cells in alarms(texts, o, np.isfinite(said[0, o]) & np.isfinite(other[o]), both):
            w(f"| {label} | " + " | ".join(cells) + " |\n")
        for title, key, least in (("family", lambda t: t["family"], 60), ("carrier", lambda t: t["carrier"], 60), ("language", lambda t: t["lang"], 40)):
            if o == 0 or title == "language" and o == 1:
                w(f"\nBy {title}, hands left out:\n\n")
                table(w, cases, ways, key, least)
    if a.scores:
        pathlib.Path(a.scores).write_text(json.dumps(heads, indent=1) + "\n")


if __name__ == "__main__":
    main()
