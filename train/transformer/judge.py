"""What a trained model says of texts that nothing was learnt from and nothing was set by.

    go run ./train/windows -out held.jsonl train/held/fresh.txt
    python judge.py --work WORK --name all --scores model.json --windows held.jsonl [--judged 3]
"""
import argparse
import json
import pathlib

import numpy as np

import model
from data import LONGEST, context
from evaluate import OUTPUTS, lateness, quantile, wilson
from export import judge, rounded
from train import score
from vocabulary import tokenizer


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--work", required=True)
    p.add_argument("--name", default="all")
    p.add_argument("--scores", required=True)
    p.add_argument("--windows", required=True)
    p.add_argument("--judged", type=int, default=3, help="passages of a text that the model reads, those that the linear detector finds worst")
    p.add_argument("--bits", type=int, default=8, choices=(8, 32))
    a = p.parse_args()
    work, heads = pathlib.Path(a.work), json.loads(pathlib.Path(a.scores).read_text())
    pieces = (work / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n")
    tok, cls, sep = tokenizer(pieces), pieces.index("[CLS]"), pieces.index("[SEP]")
    path = work / f"{a.name}.safetensors"
    j = judge(rounded(path) if a.bits == 8 else model.load(path), np.load(work / f"{a.name}-head.npz"))
    with open(a.windows, encoding="utf-8") as file:
        texts = [t for t in map(json.loads, file) if t["windows"]]
    ids, of, first = [], [], []
    for n, t in enumerate(texts):
        main_output = 0 if t["kind"] == "tool_result" else 1
        for w in sorted(t["windows"], key=lambda w: -w["sums"][main_output])[:a.judged]:
            head = [cls, *tok.encode(context(t["kind"], w), add_special_tokens=False).ids, sep]
            ids.append(np.array([*head, *tok.encode(w["text"], add_special_tokens=False).ids[:LONGEST - len(head) - 1], sep]))
            of.append(n)
            first.append(w["first"])
    said = score(j, ids, np.arange(len(ids)), bits=32)
    label, kind = np.array([t["label"] for t in texts]), np.array([t["kind"] == "input" for t in texts])
    for o, name in enumerate(OUTPUTS[:2]):
        s = np.full(len(texts), -np.inf)
        np.maximum.at(s, of, said[:, o] - heads[name]["penalty"] * lateness(np.array(first)))
        plain = np.array([max(w["sums"][o] for w in t["windows"]) for t in texts])
        for way, v, knots in (("transformer", s, heads[name]["knots"]), ("linear", plain, None), ("together", np.minimum(s, heads[name].get("most", np.inf)) + heads[name]["linear"] * plain, heads[name]["together"])):
            yes, no = v[(kind == o) & (label == 1)], v[(kind == o) & (label == 0)]
            at = quantile(no, 0.01)
            low, high = wilson((yes > at).sum(), len(yes))
            line = f"{name}, {way}: {(yes > at).mean():.3f} ({low:.2f}–{high:.2f}) of {len(yes)} above 99 % of its {len(no)} benign texts"
            if knots:
                warn = next(k["sum"] for k in knots if k["score"] == 0.6)
                line += f"; at warn {(yes > warn).mean():.3f} and {(no > warn).mean():.3f}"
            print(line)


if __name__ == "__main__":
    main()
