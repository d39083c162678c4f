"""The encoder: BERT's layers on the processor, without padding inside the matrices."""
import pathlib

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

HEADS = 12
EPSILON = 1e-12


def thin(x, share):
    """Dropout by whole bytes of chance: torch draws a number for each value, which takes a tenth of a step."""
    if not share:
        return x
    least = round(256 * share)
    chance = torch.empty((x.numel() + 7) // 8, dtype=torch.int64).random_(-2**63, None).view(torch.uint8)[:x.numel()].view(x.shape)
    return x * ((chance >= least).to(x.dtype) * (256 / (256 - least)))


def attend(q, k, v, inside):
    """Attention by its formula where there is a gradient: the gradient of torch's own takes six times as long on a processor."""
    if not q.requires_grad:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=inside)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    if inside is not None:
        scores = scores.masked_fill(~inside, -1e4)
    return scores.softmax(-1).to(v.dtype) @ v


class Layer(nn.Module):
    def __init__(self, hidden, inner):
        super().__init__()
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.norm1 = nn.LayerNorm(hidden, EPSILON)
        self.up = nn.Linear(hidden, inner)
        self.down = nn.Linear(inner, hidden)
        self.norm2 = nn.LayerNorm(hidden, EPSILON)

    def forward(self, x, mask, first, drop):
        """x: batch, length, hidden. With first set, the rows behind [CLS] are read and not made."""
        b, n, h = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, HEADS, h // HEADS).permute(2, 0, 3, 1, 4)
        if first:
            q, x, n = q[:, :, :1], x[:, :1], 1
        a = attend(q, k, v, mask).transpose(1, 2).reshape(b, n, h)
        x = self.norm1(x + thin(self.out(a), drop))
        return self.norm2(x + thin(self.down(F.gelu(self.up(x))), drop))


class Encoder(nn.Module):
    def __init__(self, vocabulary, layers, hidden=384, inner=1536, positions=128):
        super().__init__()
        self.words = nn.Embedding(vocabulary, hidden)
        self.positions = nn.Embedding(positions, hidden)
        self.kind = nn.Parameter(torch.zeros(hidden))
        self.norm = nn.LayerNorm(hidden, EPSILON)
        self.layers = nn.ModuleList(Layer(hidden, inner) for _ in range(layers))

    def forward(self, ids, lengths, first=True, drop=0.0, frozen=0):
        """The rows of the last layer: that of [CLS] alone with first set. Layers below frozen get no gradient."""
        n = ids.shape[1]
        inside = torch.arange(n)[None] < lengths[:, None]
        mask = None if bool(inside.all()) else inside[:, None, None, :]
        with torch.set_grad_enabled(torch.is_grad_enabled() and not frozen):
            x = self.norm(self.words(ids) + self.positions.weight[:n] + self.kind)
            x = thin(x, drop)
        for i, layer in enumerate(self.layers):
            with torch.set_grad_enabled(torch.is_grad_enabled() and i >= frozen):
                x = layer(x, mask, first and i + 1 == len(self.layers), drop)
        return x[:, 0] if first else (x, inside)


def mean(rows, inside):
    weight = inside[..., None].to(rows.dtype)
    return (rows * weight).sum(1) / weight.sum(1)


def from_bert(folder, chosen, words=None, positions=128):
    """An encoder with some layers of a published one, and another table of words where one is given."""
    sd = load_file(pathlib.Path(folder, "model.safetensors"))
    sd = {k.removeprefix("bert."): v for k, v in sd.items()}
    table = sd["embeddings.word_embeddings.weight"] if words is None else torch.from_numpy(np.load(words))
    e = Encoder(len(table), len(chosen), positions=positions)
    with torch.no_grad():
        e.words.weight.copy_(table)
        e.positions.weight.copy_(sd["embeddings.position_embeddings.weight"][:positions])
        e.kind.copy_(sd["embeddings.token_type_embeddings.weight"][0])
        e.norm.weight.copy_(sd["embeddings.LayerNorm.weight"])
        e.norm.bias.copy_(sd["embeddings.LayerNorm.bias"])
        for layer, i in zip(e.layers, chosen):
            p = f"encoder.layer.{i}."
            for part in ("weight", "bias"):
                layer.qkv.get_parameter(part).copy_(torch.cat([sd[f"{p}attention.self.{x}.{part}"] for x in ("query", "key", "value")]))
                for mine, theirs in (("out", "attention.output.dense"), ("norm1", "attention.output.LayerNorm"), ("up", "intermediate.dense"),
                                     ("down", "output.dense"), ("norm2", "output.LayerNorm")):
                    layer.get_submodule(mine).get_parameter(part).copy_(sd[f"{p}{theirs}.{part}"])
    return e


def save(module, path):
    save_file({k: v.contiguous() for k, v in module.state_dict().items()}, str(path))


def load(path):
    """An encoder from a file, whatever its size."""
    sd = load_file(str(path))
    layers = 1 + max(int(k.split(".")[1]) for k in sd if k.startswith("layers."))
    e = Encoder(len(sd["words.weight"]), layers, len(sd["kind"]), len(sd["layers.0.up.bias"]), len(sd["positions.weight"]))
    e.load_state_dict(sd)
    return e


def batches(lengths, tokens, draw=None):
    """Rows of like lengths, about so many tokens a batch, in random order."""
    order = np.argsort(lengths + (draw.random(len(lengths)) * 4 if draw is not None else 0), kind="stable")
    out, start = [], 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end + 1 - start) * lengths[order[start:end + 1]].max() <= tokens:
            end += 1
        out.append(order[start:end])
        start = end
    if draw is not None:
        draw.shuffle(out)
    return out


def pad(rows):
    lengths = torch.tensor([len(r) for r in rows])
    ids = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
    for i, r in enumerate(rows):
        ids[i, :len(r)] = torch.as_tensor(np.asarray(r, np.int64))
    return ids, lengths
