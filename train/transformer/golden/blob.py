"""Writes the encoder's model file, whose format docs/encoder.md describes."""

import struct
import zlib

import numpy as np


def rows(weights):
    """One scale for each row, and the row as signed bytes."""
    weights = np.asarray(weights, np.float32)
    scales = np.abs(weights).max(1) / np.float32(127)
    steps = np.divide(weights, scales[:, None], out=np.zeros_like(weights), where=scales[:, None] > 0)
    return scales.astype("<f4"), np.clip(np.rint(steps), -127, 127).astype(np.int8)


def count_layers(tensors):
    count = 0
    while f"encoder.layer.{count}.output.dense.weight" in tensors:
        count += 1
    return count


def blob(tensors, pieces, *, heads, max_tokens, pooling, head_weight, head_bias, epsilon=1e-12, uncased=True):
    """The file for tensors named as in Hugging Face's BertModel."""
    out = bytearray()

    def put(section):
        out.extend(section)
        out.extend(b"\0" * (-len(out) % 4))

    def floats(values):
        put(np.ascontiguousarray(values, "<f4").tobytes())

    def table(weights):
        scales, steps = rows(weights)
        floats(scales)
        put(steps.tobytes())

    def matrix(weights, bias):
        scales, steps = rows(weights)
        floats(scales)
        floats(bias)
        put(steps.tobytes())

    def linear(*names):
        matrix(*(np.concatenate([tensors[f"{n}.{part}"] for n in names]) for part in ("weight", "bias")))

    def norm(name):
        floats(tensors[name + ".weight"])
        floats(tensors[name + ".bias"])

    layers = count_layers(tensors)
    words = tensors["embeddings.word_embeddings.weight"]
    positions = tensors["embeddings.position_embeddings.weight"]
    width = tensors["encoder.layer.0.attention.self.query.weight"].shape[0]
    inner = tensors["encoder.layer.0.intermediate.dense.weight"].shape[0]
    vocabulary = "".join(p + "\n" for p in pieces).encode()
    assert len(pieces) == len(words)
    put(b"GHENC\0\0\1" + struct.pack(
        "<10IfIII", layers, words.shape[1], heads, width // heads, inner, len(words), len(positions), max_tokens, pooling,
        len(head_bias), epsilon, int(uncased), len(vocabulary), 0))
    put(vocabulary)
    table(words)
    table(positions)
    floats(tensors["embeddings.token_type_embeddings.weight"][0])
    norm("embeddings.LayerNorm")
    for i in range(layers):
        at = f"encoder.layer.{i}."
        linear(*(f"{at}attention.self.{part}" for part in ("query", "key", "value")))
        linear(at + "attention.output.dense")
        norm(at + "attention.output.LayerNorm")
        linear(at + "intermediate.dense")
        linear(at + "output.dense")
        norm(at + "output.LayerNorm")
    floats(head_weight)
    floats(head_bias)
    return bytes(out) + struct.pack("<I", zlib.crc32(bytes(out)))
