"""Labelled texts as rows of numbers: which passages to learn from, which to judge, and what each is to each output.

    python data.py --windows windows.jsonl [--mined more.jsonl] --work WORK

writes WORK/texts.json and WORK/passages.npz.
"""
import argparse
import json
import pathlib
import random
import re
import zlib

import numpy as np

from vocabulary import tokenizer

OUTPUTS = ("tool_result", "input", "jailbreak")
LONGEST = 80
# Attacks and ordinary texts of one hand that are used, at most: more rows of a template or a corpus say little.
ATTACKS, ORDINARY, MISLEADING = 500, 240, 600
# Ordinary texts that are learnt and not judged: of each hand those that the linear detector finds worst, of the worst share of all.
MINED, WORST = 80, 0.2
# Passages of one text that are judged, at most: those that the linear detector finds worst. Of these the first few are learnt from.
JUDGED, LEARNT = 3, {"ordinary": 1, "misleading": 2, "attack": 2, "jailbreak": 3}

# What attacks ask, as far as the names of their families say: something without an address, of a machine that reads, against its orders.
GRADES = (
    (4, re.compile(r"overrid|voided|clean_slate|rule_cancel|over_the_rules|order_swap|jailbreak|persona_swap|prompt_reveal|system_prompt")),
    (3, re.compile(r"machine|reader|robot|addressed|agent|assistant|delim|role_|bracket_tag|pseudo|fake_turn|badge|nested|chat_")),
    (2, re.compile(r"errand|bare|quiet|polite|favour|loose|pretext|task|slip|one_liner|memo|stray")),
)


def grade(t):
    if t["label"] == 0:
        return 1 if t["sort"] == "misleading" else 0
    return next((g for g, names in GRADES if names.search(t["family"])), -1)


def wants(t):
    """What a text is to each output: 1 an attack, 0 none, -1 of no concern; as train/linear has it."""
    if t["kind"] == "tool_result":
        return (1, 1, -1) if t["label"] else (0, 0, 0)
    if not t["label"]:
        return (-1, 0, 0)
    return (1, 1, 1) if t["sort"] == "jailbreak" else (1, 1, -1)


def context(kind, w):
    out = "tool result" if kind == "tool_result" else "input"
    return out + (" hidden" if w.get("concealed") else "") + (" decoded" if w.get("decoded") else "")


def mark(t):
    return zlib.crc32((t["source"] + t["id"]).encode())


def limits(texts):
    """So many texts of each hand and sort, drawn by their names."""
    by = {}
    for t in texts:
        by.setdefault((t["hand"], t["kind"], t["sort"] if t["sort"] != "jailbreak" else "attack"), []).append(t)
    out = []
    for (hand, _, sort), ts in sorted(by.items()):
        most = {"attack": ATTACKS, "ordinary": ORDINARY, "misleading": MISLEADING}[sort]
        if hand == "synth" and sort == "attack":
            most = 1000
        out += sorted(ts, key=mark)[:most]
    return out


def read(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            t = json.loads(line)
            if t["windows"]:
                yield t


def mined(path, known):
    """Ordinary texts that are not known, the worst by the linear sum."""
    known, by = {(t["source"], t["id"]) for t in known}, {}
    for t in read(path):
        if t["sort"] == "ordinary" and t["hand"] != "made" and (t["source"], t["id"]) not in known:
            t["mined"] = True
            by.setdefault(t["kind"], []).append(t)
    out = []
    for kind, ts in sorted(by.items()):
        def worst(t):
            return -(t["linear"][0] if kind == "tool_result" else max(t["linear"][1:])), mark(t)
        hands = {}
        for t in sorted(ts, key=worst)[:round(len(ts) * WORST)]:
            hands.setdefault(t["hand"], []).append(t)
        for hand in sorted(hands):
            out += hands[hand][:MINED]
    return out


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--windows", required=True)
    p.add_argument("--mined", help="as --windows, of more ordinary texts")
    p.add_argument("--work", required=True)
    a = p.parse_args()
    work = pathlib.Path(a.work)
    pieces = (work / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n")
    tok = tokenizer(pieces)
    texts = list(read(a.windows))
    more = mined(a.mined, texts) if a.mined else []
    texts = limits(texts) + more
    contexts = {c: tok.encode(c, add_special_tokens=False).ids for c in
                {context(k, {"concealed": h, "decoded": d}) for k in ("tool_result", "input") for h in (0, 1) for d in (0, 1)}}
    cls, sep = pieces.index("[CLS]"), pieces.index("[SEP]")
    rows, said, meta = [], [], []
    for n, t in enumerate(texts):
        main_output = 0 if t["kind"] == "tool_result" else 1
        order = sorted(range(len(t["windows"])), key=lambda i: -max(t["windows"][i]["sums"][main_output:2 if main_output == 0 else 3]))
        kept = set(order[:JUDGED])
        if t["label"] and t["windows"]:
            kept |= {i for i, w in enumerate(t["windows"]) if w["payload"] >= 0.5}
            kept = set(sorted(kept, key=lambda i: -t["windows"][i]["payload"])[:JUDGED + 2])
        for i in sorted(kept):
            w = t["windows"][i]
            label = 0 if t["label"] == 0 else 1 if w["payload"] >= 0.5 else 0 if w["payload"] == 0 else -1
            if t["label"] and w["payload"] < 0 and order.index(i) == 0:
                label = 1  # nobody said where; most of these texts are one passage
            rows.append((n, i, label, w["first"], order.index(i) < JUDGED and not t.get("mined"), order.index(i) < LEARNT[t["sort"]]))
            said.append(w["text"])
        meta.append({k: t[k] for k in ("id", "source", "hand", "family", "carrier", "lang", "kind", "label", "sort", "length")}
                    | {"twin": t.get("twin", ""), "wants": wants(t), "grade": grade(t)})
    ids = []
    for k in range(0, len(said), 4000):
        for j, e in enumerate(tok.encode_batch(said[k:k + 4000], add_special_tokens=False)):
            n, i = rows[k + j][:2]
            head = [cls] + contexts[context(texts[n]["kind"], texts[n]["windows"][i])] + [sep]
            ids.append(head + e.ids[:LONGEST - len(head) - 1] + [sep])
    lengths = np.array([len(r) for r in ids], np.int32)
    np.savez(work / "passages.npz", ids=np.concatenate([np.array(r, np.uint16) for r in ids]), lengths=lengths, rows=np.array(rows, np.int32))
    (work / "texts.json").write_text(json.dumps(meta))
    (work / "said.json").write_text(json.dumps(said))
    print(len(texts), "texts,", len(ids), "passages, mean length", lengths.mean(), "longest", (lengths == LONGEST).mean())


if __name__ == "__main__":
    main()
