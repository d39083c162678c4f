"""What the gateway's last local stage must say of texts, as evaluate.py counts: the golden files of internal/detect/testdata.

    python cascade.py --tiny DIR --rows rows.jsonl --windows windows.jsonl
    python cascade.py --work WORK --name all --scores model.json --rows rows.jsonl --windows windows.jsonl --out documents.jsonl

windows.jsonl is what `go run ./train/windows` wrote of rows.jsonl. --tiny makes a model with random weights and writes it, its heads and
the documents into DIR.
"""
import argparse
import collections
import json
import pathlib
import types

import numpy as np
import torch

import model
from data import JUDGED, LONGEST, OUTPUTS, context
from evaluate import lateness
from export import blob, judge, rounded
from train import score
from vocabulary import tokenizer

KNOTS = [{"sum": s, "score": p} for s, p in ((-8, .01), (-4, .05), (-2, .15), (-1, .3), (0, .45), (1, .6), (2, .8), (3, .95), (6, 1))]


def documents(texts, rows, pieces, j, heads):
    """The scores of texts by output: those of the shipped linear weights and the transformer together, and of it alone."""
    tok, cls, sep = tokenizer(pieces), pieces.index("[CLS]"), pieces.index("[SEP]")
    whole = {row["id"]: row["text"] for row in rows}
    for t in texts:
        tool = t["kind"] == "tool_result"
        chosen = sorted(t["windows"], key=lambda w: -max(w["sums"][0:2] if tool else w["sums"][1:3]))[:JUDGED]
        if not chosen:
            continue
        ids = []
        for w in chosen:
            head = [cls, *tok.encode(context(t["kind"], w), add_special_tokens=False).ids, sep]
            ids.append(np.array([*head, *tok.encode(w["text"], add_special_tokens=False).ids[:LONGEST - len(head) - 1], sep]))
        said = score(j, ids, np.arange(len(ids)), bits=32)
        late = lateness(np.array([w["first"] for w in chosen]))
        out = {}
        for o in (0,) if tool else (1, 2):
            h = heads[OUTPUTS[o]]
            s = float((said[:, o] - h["penalty"] * late).max())
            both = min(s, h.get("most", np.inf)) + h["linear"] * t["linear"][o]
            out[OUTPUTS[o]] = {"sum": s, "together": at(h["together"], both), "alone": at(h["knots"], s)}
        yield {"kind": t["kind"], "text": whole[t["id"]], "passages": len(t["windows"]), "outputs": out}


def at(knots, s):
    return float(np.interp(s, [k["sum"] for k in knots], [k["score"] for k in knots]))


def tiny(folder, texts):
    """A model of one narrow layer, whose pieces are the commonest words and all characters of the texts."""
    torch.manual_seed(11)
    model.HEADS = 1
    words = collections.Counter(w for t in texts for p in t["windows"] for w in p["text"].split() if w.isascii() and w.isalpha())
    letters = sorted({c for t in texts for p in t["windows"] for c in p["text"] if not c.isspace()} | set("tolresuinphdc"))
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *("##" + c for c in letters)]
    context = ("tool", "result", "input", "hidden", "decoded")
    pieces = list(dict.fromkeys([*pieces, *context, *(w for w, _ in words.most_common(300))]))
    e = model.Encoder(len(pieces), 1, hidden=32, inner=64, positions=LONGEST)
    for p in e.parameters():
        if p.dim() > 1:
            torch.nn.init.normal_(p, std=0.2)
    heads = {name: {"penalty": p, "most": m, "linear": s, "knots": KNOTS, "together": KNOTS} for name, p, m, s in zip(OUTPUTS, (.2, .8, 0), (0.5, 0.5, 99), (.5, .3, .2))}
    weight, bias = np.random.default_rng(11).normal(size=(3, 32)).astype(np.float32) / 2, np.zeros(3, np.float32)
    (folder / "model.bin").write_bytes(blob(e, weight, bias, pieces))
    (folder / "model.json").write_text(json.dumps(heads) + "\n")
    path = folder / "encoder.safetensors"
    model.save(e, path)
    j = types.SimpleNamespace(encoder=rounded(path).eval(), head=types.SimpleNamespace(weight=torch.from_numpy(weight), bias=torch.from_numpy(bias)))
    path.unlink()
    return pieces, j, heads


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tiny", type=pathlib.Path)
    p.add_argument("--work", type=pathlib.Path)
    p.add_argument("--name", default="all")
    p.add_argument("--scores", type=pathlib.Path)
    p.add_argument("--rows", required=True, type=pathlib.Path)
    p.add_argument("--windows", required=True, type=pathlib.Path)
    p.add_argument("--out", type=pathlib.Path)
    a = p.parse_args()
    rows, texts = ([json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in (a.rows, a.windows))
    if a.tiny:
        a.out = a.tiny / "documents.jsonl"
        pieces, j, heads = tiny(a.tiny, texts)
    else:
        heads = json.loads(a.scores.read_text())
        pieces = (a.work / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n")
        j = judge(rounded(a.work / f"{a.name}.safetensors"), np.load(a.work / f"{a.name}-head.npz"))
    with a.out.open("w", encoding="utf-8") as file:
        for d in documents(texts, rows, pieces, j, heads):
            file.write(json.dumps(d, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
