"""Teaches a smaller encoder what the published one says of English sentences, and to say the same of their translations.

    python distil.py --base MODEL --work WORK --pairs pairs.tsv --layers 0,1,3,5 --minutes 12

The student's mean of rows follows the teacher's of the English sentence (Reimers and Gurevych 2020). Writes WORK/base-LAYERS.safetensors;
no labelled text takes part, other than that passages of ordinary documents stand among the English sentences.
"""
import argparse
import pathlib
import random
import time

import numpy as np
import torch
from torch.nn import functional as F

import model
from vocabulary import MAJOR, english, read_pairs, tokenizer


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--base", required=True)
    p.add_argument("--work", required=True)
    p.add_argument("--pairs", required=True)
    p.add_argument("--windows", required=True)
    p.add_argument("--layers", default="0,1,3,5")
    p.add_argument("--minutes", type=float, default=12)
    p.add_argument("--teach", type=int, default=6000, help="English sentences")
    p.add_argument("--rate", type=float, default=3e-4)
    p.add_argument("--threads", type=int, default=1, help="more are slower on processors that others use too")
    p.add_argument("--bits", type=int, default=16, choices=(16, 32), help="of products; 32 where the processor has no fast ones of 16")
    a = p.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(a.threads)
    draw, work = random.Random(1), pathlib.Path(a.work)
    start = time.time()

    by = {}
    for lang, e, o in read_pairs(a.pairs, 2000):
        by.setdefault(e, []).append((lang, o))
    # Sentences of many translations first: the teacher reads each once.
    often = sorted((e for e in by if e.count(" ") >= 2), key=lambda e: (-min(sum(l in MAJOR for l, _ in by[e]), 12), e))[:a.teach * 2]
    chosen = draw.sample(often, min(a.teach, len(often)))
    plain = draw.sample(list(english(a.windows, 30_000)), min(3000, a.teach // 4))
    texts = chosen + plain
    old = pathlib.Path(a.base, "vocab.txt").read_text("utf-8").rstrip("\n").split("\n")
    pieces = (work / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n")

    def ids(tok, list_):
        return [np.array(e.ids[:63] + e.ids[-1:] if len(e.ids) > 64 else e.ids, np.int32) for e in tok.encode_batch(list_)]

    teacher = model.from_bert(a.base, range(6)).eval()
    rows = ids(tokenizer(old), texts)
    lengths = np.array([len(r) for r in rows])
    goals = torch.zeros(len(rows), 384)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=a.bits == 16):
        for batch in model.batches(lengths, 8192):
            goals[batch] = model.mean(*teacher(*model.pad([rows[i] for i in batch]), first=False)).float()
    print(f"{len(texts)} sentences taught in {time.time() - start:.0f} s", flush=True)

    sentences, of = ids(tokenizer(pieces), texts), list(range(len(texts)))
    others, whose = [], []
    for i, e in enumerate(chosen):
        for _, o in draw.sample(by[e], min(8, len(by[e]))):
            others.append(o)
            whose.append(i)
    sentences += ids(tokenizer(pieces), others)
    of = np.array(of + whose)
    lengths = np.array([len(r) for r in sentences])
    print(len(others), "translations,", int(lengths.sum()), "tokens", flush=True)

    student = model.from_bert(a.base, [int(x) for x in a.layers.split(",")], work / "words.npy").train()
    goals_norm = F.normalize(goals - goals.mean(0), dim=1)
    centre, scale = goals.mean(0), (goals - goals.mean(0)).norm(dim=1).mean()
    student.words.sparse = True
    dense = [q for n, q in student.named_parameters() if not n.startswith("words")]
    best = torch.optim.AdamW([{"params": dense, "lr": a.rate, "peak": a.rate}], weight_decay=0.01)
    sparse = torch.optim.Adagrad([{"params": [student.words.weight], "lr": 0.004}], eps=1e-6)
    order = np.random.default_rng(1)
    began, step, done, total = time.time(), 0, False, 0.0
    while not done:
        for batch in model.batches(lengths, 3072, order):
            spent = (time.time() - began) / (60 * a.minutes)
            if spent >= 1:
                done = True
                break
            for g in best.param_groups:
                g["lr"] = g["peak"] * min((step + 1) / 20, 1) * (1 - spent)
            ids_, n = model.pad([sentences[i] for i in batch])
            with torch.autocast("cpu", torch.bfloat16, enabled=a.bits == 16):
                said = model.mean(*student(ids_, n, first=False)).float()
            goal, who = goals[of[batch]], torch.from_numpy(of[batch])
            unit = F.normalize(said - centre, dim=1)
            alike = unit @ goals_norm[who].T / 0.05
            same = who[:, None] == who[None]
            eye = torch.eye(len(batch), dtype=torch.bool)
            contrast = F.cross_entropy(alike.masked_fill(same & ~eye, -1e4), torch.arange(len(batch)))
            loss = ((said - goal) ** 2).sum(1).mean() / scale ** 2 + 0.1 * contrast
            best.zero_grad()
            sparse.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(dense, 1.0)
            best.step()
            sparse.step()
            total, step = total + loss.item(), step + 1
            if step % 50 == 0:
                print(f"{step} {time.time() - began:.0f}s loss {total / 50:.4f}", flush=True)
                total = 0.0
    model.save(student, work / f"base-{a.layers.replace(',', '')}.safetensors")
    print("steps", step, flush=True)


if __name__ == "__main__":
    main()
