"""A small dictionary from English into other languages, word by word, out of the translations.

    python dictionary.py --pairs pairs.tsv --out WORK/words.json

Training puts some words of some texts into other languages by it (Qin et al. 2020), attacks and ordinary texts alike.
"""
import argparse
import json
import re
from collections import Counter

import numpy as np

from vocabulary import read_pairs

LANGUAGES = "ar bg cs da de el es fa fi fr he hi hr hu id it ko lt nb nl pl pt ro ru sk sv tr uk vi".split()
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def likely(pairs, rounds=4):
    """For each English word of some pairs the likeliest words that translate it (IBM Model 1)."""
    names, others = {}, {}
    keys, rows, row = [], [], 0
    for _, e, o in pairs:
        g = sorted({names.setdefault(w, len(names)) for w in WORD.findall(e.lower())[:25]})
        f = sorted({others.setdefault(w, len(others)) for w in WORD.findall(o.lower())[:25]})
        if g and f:
            keys.append((np.array(g, np.int64)[None, :] * 1_000_000 + np.array(f, np.int64)[:, None]).ravel())
            rows.append(np.repeat(np.arange(row, row + len(f)), len(g)))
            row += len(f)
    keys, rows = np.concatenate(keys), np.concatenate(rows)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    sizes = np.diff(np.append(starts, len(keys)))
    cells, index = np.unique(keys, return_inverse=True)
    g, f = cells // 1_000_000, cells % 1_000_000
    t = np.ones(len(cells))
    for _ in range(rounds):
        p = t[index]
        p /= np.repeat(np.add.reduceat(p, starts), sizes)
        count = np.bincount(index, p, len(cells))
        t = count / np.bincount(g, count, len(names))[g]
    english, other = list(names), list(others)
    best = {}
    for i in np.flatnonzero((t > 0.15) & (count > 2)):
        best.setdefault(english[g[i]], []).append((float(t[i]), other[f[i]]))
    return {e: [w for _, w in sorted(ws, reverse=True)[:3]] for e, ws in best.items()}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pairs", required=True)
    p.add_argument("--out", required=True)
    a = p.parse_args()
    by = {}
    for lang, e, o in read_pairs(a.pairs, 0):
        if lang in LANGUAGES:
            by.setdefault(lang, []).append((lang, e, o))
    words = {lang: likely(by[lang]) for lang in sorted(by)}
    print(Counter({lang: len(w) for lang, w in words.items()}))
    print({lang: words[lang].get("send") for lang in words})
    with open(a.out, "w", encoding="utf-8") as out:
        json.dump(words, out, ensure_ascii=False)


if __name__ == "__main__":
    main()
