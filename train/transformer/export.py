"""Writes a trained model as the gateway reads it, and says what eight bits cost.

    python export.py --work WORK --name all --out model.bin [--compare 3000]

The format is internal/encoder's: a symmetric scale for each row of weights, activations rounded at run time for each token.
"""
import argparse
import pathlib
import struct
import time
import zlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import model
from data import LONGEST
from train import Judge, score

CLS_ROW = 1
MAGIC = b"GHENC\0\0\1"


def rows(w):
    """Scale and numbers of each row."""
    w = np.asarray(w, np.float32)
    scale = np.abs(w).max(1) / np.float32(127)
    q = np.rint(np.divide(w, scale[:, None], out=np.zeros_like(w), where=scale[:, None] > 0))
    return scale.astype("<f4"), np.clip(q, -127, 127).astype(np.int8)


class Blob:
    def __init__(self):
        self.out = bytearray()

    def put(self, b):
        self.out.extend(b)
        self.out.extend(b"\0" * (-len(self.out) % 4))

    def floats(self, *tensors):
        for t in tensors:
            self.put(np.ascontiguousarray(t.detach().numpy(), "<f4").tobytes())

    def table(self, t, bias=None):
        scale, q = rows(t.detach().numpy())
        self.put(scale.tobytes())
        if bias is not None:
            self.floats(bias)
        self.put(q.tobytes())


def blob(encoder, head_weight, head_bias, pieces):
    e, b = encoder, Blob()
    vocabulary = "".join(p + "\n" for p in pieces).encode()
    words, hidden = e.words.weight.shape
    if len(pieces) != words:
        raise ValueError(f"{len(pieces)} pieces, {words} rows")
    b.put(MAGIC + struct.pack("<10IfIII", len(e.layers), hidden, model.HEADS, hidden // model.HEADS, e.layers[0].up.out_features, words,
                              len(e.positions.weight), LONGEST, CLS_ROW, len(head_bias), model.EPSILON, 1, len(vocabulary), 0))
    b.put(vocabulary)
    b.table(e.words.weight)
    b.table(e.positions.weight)
    b.floats(e.kind, e.norm.weight, e.norm.bias)
    for layer in e.layers:
        b.table(layer.qkv.weight, layer.qkv.bias)
        b.table(layer.out.weight, layer.out.bias)
        b.floats(layer.norm1.weight, layer.norm1.bias)
        b.table(layer.up.weight, layer.up.bias)
        b.table(layer.down.weight, layer.down.bias)
        b.floats(layer.norm2.weight, layer.norm2.bias)
    b.floats(torch.as_tensor(head_weight), torch.as_tensor(head_bias))
    return bytes(b.out) + struct.pack("<I", zlib.crc32(bytes(b.out)))


class Rounded(nn.Module):
    """A linear map as the gateway computes it: weights and activations in eight bits."""

    def __init__(self, linear):
        super().__init__()
        scale, q = rows(linear.weight.detach().numpy())
        self.weight = torch.from_numpy(q.astype(np.float32) * scale[:, None])
        self.bias = linear.bias
        self.out_features = linear.out_features

    def forward(self, x):
        most = x.abs().amax(-1, keepdim=True).clamp(min=1e-30)
        return F.linear(torch.round(x * (127 / most)) * (most / 127), self.weight, self.bias)


def rounded(path):
    """The encoder of a file, with all that is rounded."""
    e = model.load(path)
    for table in (e.words, e.positions):
        scale, q = rows(table.weight.detach().numpy())
        table.weight = nn.Parameter(torch.from_numpy(q.astype(np.float32) * scale[:, None]))
    for layer in e.layers:
        for name in ("qkv", "out", "up", "down"):
            setattr(layer, name, Rounded(getattr(layer, name)))
    return e


def judge(encoder, head):
    j = Judge(encoder)
    j.head.load_state_dict({k: torch.from_numpy(head[k]) for k in ("weight", "bias")})
    return j.eval()


def compare(work, name, many):
    """The difference that eight bits make, on passages drawn at random."""
    packed = np.load(work / "passages.npz")
    ids = np.split(packed["ids"], np.cumsum(packed["lengths"])[:-1])
    ks = np.sort(np.random.default_rng(1).choice(len(ids), min(many, len(ids)), replace=False))
    head = np.load(work / f"{name}-head.npz")
    both = [score(judge(e, head), ids, ks, bits=32) for e in (model.load(work / f"{name}.safetensors"), rounded(work / f"{name}.safetensors"))]
    away = np.abs(both[0] - both[1])
    label = packed["rows"][ks, 2]
    print(f"{len(ks)} passages: logits differ by {away.mean():.4f} in the mean, {np.quantile(away, 0.99):.3f} at the 99th percentile, {away.max():.3f} at most; "
          f"correlation {[round(float(np.corrcoef(both[0][:, o], both[1][:, o])[0, 1]), 5) for o in range(3)]}")
    for o, name in enumerate(("tool_result", "input", "jailbreak")):
        found = [float((b[label == 1, o] > np.quantile(b[label == 0, o], 0.99)).mean()) for b in both]
        print(f"{name}: passages with a payload above 99 % of the others: {found[0]:.4f} in 32 bits, {found[1]:.4f} in eight")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--work", required=True)
    p.add_argument("--name", default="all")
    p.add_argument("--out", required=True)
    p.add_argument("--compare", type=int, default=0)
    a = p.parse_args()
    work, start = pathlib.Path(a.work), time.time()
    pieces = (work / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n")
    head = np.load(work / f"{a.name}-head.npz")
    data = blob(model.load(work / f"{a.name}.safetensors"), head["weight"], head["bias"], pieces)
    pathlib.Path(a.out).write_bytes(data)
    print(f"{len(data)} bytes, {time.time() - start:.1f} s")
    if a.compare:
        compare(work, a.name, a.compare)


if __name__ == "__main__":
    main()
