"""Trains the judge of passages: one run for each fold of hands that are left out, and one on everything.

    python train.py --work WORK --base WORK/base-0135.safetensors --fold 0 --folds 3 --name f0
    python train.py --work WORK --base WORK/base-0135.safetensors --fold -1 --name all

writes WORK/NAME.safetensors (encoder), WORK/NAME-head.npz and, for a fold, WORK/NAME-scores.npz: what the model says of the passages
of the hands that it has not seen. A run that has written its files is not repeated.
"""
import argparse
import json
import pathlib
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import model
from augment import Augment

GRADES = 5
# Passages of one hand and label that an epoch learns from, at most.
MOST = {1: 600, 0: 700}
GENERATED = {"synth": 700, "BIPIA": 350, "PIArena": 350}


class Judge(nn.Module):
    """The encoder with its heads: three outputs, and the grade of what is asked, which only training looks at."""

    def __init__(self, encoder, hidden=384):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(hidden, 3)
        self.grade = nn.Linear(hidden, GRADES)
        nn.init.normal_(self.head.weight, std=0.02)
        nn.init.constant_(self.head.bias, -1)
        nn.init.normal_(self.grade.weight, std=0.02)
        nn.init.zeros_(self.grade.bias)


def folds(texts, n):
    """Which fold each hand is left out in: the largest first, each to the fold that has least of its sort."""
    counts, load, place = {}, np.zeros((n, 4)), {}
    for t in texts:
        sort = 3 if not t["label"] else 2 if t["sort"] == "jailbreak" else int(t["kind"] == "input")
        counts.setdefault(t["hand"], np.zeros(4))[sort] += 1

    def first(hand):
        """By what a hand is placed: jailbreaks are the rarest, then come attacks in inputs."""
        c = counts[hand]
        return 2 if c[2] else 3 if not c[:2].any() else int(np.argmax(c[:2]))
    for hand in sorted(counts, key=lambda h: (-counts[h][first(h)], h)):
        best = int(np.argmin(load[:, first(hand)]))
        place[hand] = best
        load[best] += counts[hand]
    return place


def choose(texts, rows, inside, draw, benign=1.0):
    """The passages of an epoch and what each weighs: hands have their say whatever their size, both sides the same. Of those without a payload
    a share is drawn, which weighs as much as all would."""
    by = {}
    for k in inside:
        n, _, label, _, _, learnt = rows[k]
        t = texts[n]
        if label < 0 or t["hand"] == "made" or not (learnt or label):
            continue
        if t["label"] and not label and draw.random() > 0.3 or not label and draw.random() >= benign:
            continue
        by.setdefault((t["hand"], t["kind"], int(label)), []).append(k)
    out, weights = [], []
    for (hand, _, label), ks in sorted(by.items()):
        share = 1 if label else benign
        most = round(share * min(MOST[label], GENERATED.get(hand, 10**9)))
        ks = np.array(ks)
        if len(ks) > most:
            ks = draw.choice(ks, most, replace=False)
        out.append(ks)
        damp = min(1.0, (200 * share / len(ks)) ** (0.6 if label else 0.25)) / share
        weights.append(np.array([damp * (2 if texts[rows[k][0]]["sort"] == "misleading" else 1) for k in ks]))
    return np.concatenate(out), np.concatenate(weights)


def losses(logits, grades, want, grade, weight, inputs):
    """Cross-entropy of each output, the grade's, and that attacks stand above the worst of what is none beside them and of their kind."""
    known = (want >= 0).float() * weight[:, None]
    point = F.binary_cross_entropy_with_logits(logits, want.clamp(min=0), reduction="none")
    loss = (point * known).sum() / known.sum().clamp(min=1)
    if (grade >= 0).any():
        loss = loss + 0.2 * F.cross_entropy(grades, grade, ignore_index=-1)
    for o in range(3):
        native = inputs == (o > 0)
        yes, no = logits[native & (want[:, o] == 1), o], logits[native & (want[:, o] == 0), o]
        if len(yes) and len(no):
            above = torch.logsumexp(torch.cat([no, no.new_zeros(1) - 5]), 0)
            loss = loss + (0.1 if o == 2 else 0.2) * F.softplus(above - yes - 1).mean()
    return loss


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--work", required=True)
    p.add_argument("--base", required=True)
    p.add_argument("--fold", type=int, required=True)
    p.add_argument("--folds", type=int, default=3)
    p.add_argument("--name", required=True)
    p.add_argument("--epochs", type=float, default=1)
    p.add_argument("--rate", type=float, default=1.5e-4)
    p.add_argument("--tokens", type=int, default=1800)
    p.add_argument("--frozen", type=int, default=1)
    p.add_argument("--benign", type=float, default=0.5, help="share of the passages without a payload that each epoch draws")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--switch", type=float, default=0.2, help="share of English passages that get words of another language")
    p.add_argument("--minutes", type=float, default=1e9, help="after which it stops, wherever it is; the rate falls to nothing until then")
    p.add_argument("--limit", type=int, default=0, help="steps, for a try")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--bits", type=int, default=16, choices=(16, 32), help="of products; 32 where the processor has no fast ones of 16")
    a = p.parse_args()
    work = pathlib.Path(a.work)
    done = work / (f"{a.name}-scores.npz" if a.fold >= 0 else f"{a.name}-head.npz")
    if done.exists():
        print(done, "is there")
        return
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    draw = np.random.default_rng(a.seed)
    texts = json.loads((work / "texts.json").read_text())
    packed = np.load(work / "passages.npz")
    rows, ends = packed["rows"], np.cumsum(packed["lengths"])
    ids = np.split(packed["ids"], ends[:-1])
    augment = Augment(work, a.switch, draw)
    place = folds(texts, a.folds)
    out = np.array([place[texts[n]["hand"]] == a.fold for n in rows[:, 0]])
    inside = np.flatnonzero(~out)

    judge = Judge(model.load(a.base))
    for name, q in judge.encoder.named_parameters():
        if not name.startswith("layers.") or int(name.split(".")[1]) < a.frozen:
            q.requires_grad_(False)
    body = [q for q in judge.encoder.parameters() if q.requires_grad]
    heads = list(judge.head.parameters()) + list(judge.grade.parameters())
    best = torch.optim.AdamW([{"params": body, "peak": a.rate}, {"params": heads, "peak": 10 * a.rate}], lr=a.rate, weight_decay=0.01)
    epochs = []
    for _ in range(int(np.ceil(a.epochs))):
        ks, weight = choose(texts, rows, inside, draw, a.benign)
        plan = model.batches(packed["lengths"][ks], a.tokens, draw)
        epochs += [(ks[b], weight[b]) for b in plan]
    steps = a.limit or round(len(epochs) * a.epochs / np.ceil(a.epochs))
    print(f"{len(ks)} passages an epoch, {(rows[ks, 2] == 1).sum()} with a payload, {steps} steps", flush=True)
    start, total = time.time(), 0.0
    judge.train()
    for step in range(steps):
        ks, weight = epochs[step]
        gone = max(step / steps, (time.time() - start) / (60 * a.minutes))
        if gone > 1:
            print(f"out of time at step {step} of {steps}", flush=True)
            break
        for g in best.param_groups:
            g["lr"] = g["peak"] * min((step + 1) / 50, 1, 1.02 - gone)
        x, n = model.pad([augment(k, ids[k], texts[rows[k, 0]]) for k in ks])
        want = torch.tensor([[w if w < 1 or rows[k, 2] else 0 for w in texts[rows[k, 0]]["wants"]] for k in ks], dtype=torch.float32)
        grade = torch.tensor([texts[rows[k, 0]]["grade"] if rows[k, 2] or not texts[rows[k, 0]]["label"] else -1 for k in ks])
        inputs = torch.tensor([texts[rows[k, 0]]["kind"] == "input" for k in ks])
        with torch.autocast("cpu", torch.bfloat16, enabled=a.bits == 16):
            h = judge.encoder(x, n, drop=0.1, frozen=a.frozen)
        h = h.float()
        loss = losses(judge.head(h), judge.grade(h), want, grade, torch.tensor(weight, dtype=torch.float32), inputs)
        best.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(body + heads, 1.0)
        best.step()
        total += loss.item()
        if step % 50 == 49:
            print(f"{step + 1}/{steps} {time.time() - start:.0f}s loss {total / 50:.4f}", flush=True)
            total = 0.0
    judge.eval()
    model.save(judge.encoder, work / f"{a.name}.safetensors")
    np.savez(work / f"{a.name}-head.npz", weight=judge.head.weight.detach().numpy(), bias=judge.head.bias.detach().numpy())
    if a.fold < 0:
        return
    ks = np.flatnonzero(out & (rows[:, 4] == 1))[:400 if a.limit else None]
    np.savez(work / f"{a.name}-scores.npz", ks=ks, scores=score(judge, ids, ks, bits=a.bits))
    print(f"{len(ks)} passages judged, {time.time() - start:.0f} s in all", flush=True)


def score(judge, ids, ks, tokens=6000, bits=16):
    """What a judge says of some passages."""
    lengths, said = np.array([len(ids[k]) for k in ks]), np.zeros((len(ks), 3), np.float32)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=bits == 16):
        for b in model.batches(lengths, tokens):
            h = judge.encoder(*model.pad([ids[ks[i]] for i in b]))
            said[b] = F.linear(h.float(), judge.head.weight.float(), judge.head.bias.float()).float().numpy()
    return said


if __name__ == "__main__":
    main()
