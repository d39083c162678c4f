"""The vocabulary: pieces of the English one that occur, and pieces of other languages; and vectors to begin with for the new ones.

    python vocabulary.py --base MODEL --pairs pairs.tsv --windows windows.jsonl --out WORK

writes WORK/vocab.txt and WORK/words.npy. A new piece begins as the mean of the English pieces that it stands beside in translations,
weighted by how likely each is what it translates (IBM Model 1, Brown et al. 1993).
"""
import argparse
import json
import pathlib
import random
import unicodedata
from collections import Counter

import numpy as np
from safetensors.numpy import load_file
from tokenizers import BertWordPieceTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused1]"]
MAJOR = set("ar bg cs da de el es et fa fi fr he hi hr hu id it ja ko lt lv ms nb nl pl pt ro ru sk sl sr sv th tr uk ur vi zh bn ta sw tl ca".split())


def tokenizer(pieces):
    """The reference tokenizer with a vocabulary: lower case, accents off."""
    return BertWordPieceTokenizer(vocab={p: i for i, p in enumerate(pieces)}, lowercase=True, strip_accents=True, clean_text=True)


def read_pairs(path, minor, seed=1):
    draw, by = random.Random(seed), {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            lang, english, other = line.rstrip("\n").split("\t")
            by.setdefault(lang, []).append((lang, english, unicodedata.normalize("NFKC", other)))
    out = []
    for lang in sorted(by):
        out += by[lang] if lang in MAJOR else draw.sample(by[lang], min(minor, len(by[lang])))
    return out


def english(windows, limit):
    with open(windows, encoding="utf-8") as file:
        for i, line in enumerate(file):
            t = json.loads(line)
            if t["lang"] in ("", "en"):
                for w in t["windows"][:3]:
                    yield w["text"]
                    limit -= 1
            if limit < 0:
                return


def align(tok, pairs, known, pieces, rounds=4):
    """P(English piece | piece) of all new pieces that stand in translations, as three lists."""
    size = len(pieces)
    others = tok.encode_batch([o for _, _, o in pairs], add_special_tokens=False)
    englishes = tok.encode_batch([e for _, e, _ in pairs], add_special_tokens=False)
    keys, rows, at, row = [], [], 0, 0
    for o, e in zip(others, englishes):
        f, g = np.unique(np.array(o.ids[:60], np.int64)), np.unique(np.array(e.ids[:60], np.int64))
        if len(f) and len(g):
            # One group of cells for each English piece of a pair: it is shared out among the pieces of the translation.
            keys.append((f[None, :] * size + g[:, None]).ravel())
            rows.append(np.repeat(np.arange(row, row + len(g)), len(f)))
            row += len(g)
    keys, rows = np.concatenate(keys), np.concatenate(rows)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    cells, index = np.unique(keys, return_inverse=True)
    f, g = cells // size, cells % size
    t = np.ones(len(cells))
    for _ in range(rounds):
        p = t[index]
        p /= np.repeat(np.add.reduceat(p, starts), np.diff(np.append(starts, len(p))))
        count = np.bincount(index, p, len(cells))
        t = count / np.bincount(f, count, size)[f]  # P(g | f), which the next round shares out by
        # Frequent English pieces are likely beside everything: ask how much likelier than by chance.
    chance = np.bincount(g, count, size)
    chance /= chance.sum()
    keep = (t > 0.02) & (t > 3 * chance[g])
    return f[keep], g[keep], t[keep]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--base", required=True)
    p.add_argument("--pairs", required=True)
    p.add_argument("--windows", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--english", type=int, default=16_500)
    p.add_argument("--size", type=int, default=30_500)
    a = p.parse_args()
    out = pathlib.Path(a.out)
    out.mkdir(exist_ok=True)
    old = pathlib.Path(a.base, "vocab.txt").read_text("utf-8").split("\n")
    old = old[:-1] if old[-1] == "" else old
    pairs = read_pairs(a.pairs, 1500)
    random.Random(1).shuffle(pairs)
    print(len(pairs), "pairs", flush=True)

    first, count = tokenizer(old), Counter()
    texts = list(english(a.windows, 60_000)) + [e for _, e, _ in pairs[:60_000]]
    for i in range(0, len(texts), 5000):
        for e in first.encode_batch(texts[i:i + 5000], add_special_tokens=False):
            count.update(e.tokens)
    kept = [p for p, _ in count.most_common() if p not in SPECIAL][:a.english]
    alphabet = [p for p in old if len(p.removeprefix("##")) == 1 and ord(p[-1]) < 0x250]
    print(f"{len(count)} English pieces occur, {sum(count[p] for p in kept) / count.total():.4f} of the text is kept", flush=True)

    learner = BertWordPieceTokenizer(lowercase=True, strip_accents=True)
    learner.train_from_iterator((o for _, _, o in pairs[:260_000]), vocab_size=18_000, min_frequency=8, limit_alphabet=5000, show_progress=False)
    learnt = learner.get_vocab()
    pieces = list(dict.fromkeys(SPECIAL + alphabet + kept))
    have, old_ids = set(pieces), {p: i for i, p in enumerate(old)}
    for piece in sorted(learnt, key=learnt.get):
        if len(pieces) == a.size:
            break
        if piece not in have:
            have.add(piece)
            pieces.append(piece)
    print(len(pieces), "pieces,", sum(p not in old_ids for p in pieces), "new", flush=True)
    (out / "vocab.txt").write_text("".join(p + "\n" for p in pieces), "utf-8")

    words = load_file(pathlib.Path(a.base, "model.safetensors"))["embeddings.word_embeddings.weight"]
    known = np.array([p in old_ids for p in pieces])
    table = np.zeros((len(pieces), words.shape[1]), np.float32)
    table[known] = words[[old_ids[p] for p in pieces if p in old_ids]]
    f, g, t = align(tokenizer(pieces), pairs[:160_000], known, pieces)
    new, norm = ~known, np.linalg.norm(words, axis=1).mean()
    good = new[f] & known[g]
    total = np.zeros_like(table)
    np.add.at(total, f[good], t[good, None].astype(np.float32) * table[g[good]])
    weight = np.bincount(f[good], t[good], len(pieces))
    centre = words.mean(0)
    found = new & (weight > 0)
    table[found] = total[found] / weight[found, None].astype(np.float32)
    draw = np.random.default_rng(1)
    table[new & ~found] = centre + draw.normal(0, 0.02, (int((new & ~found).sum()), words.shape[1]))
    table[found] = centre + (table[found] - centre) * (norm / np.linalg.norm(table[found], axis=1, keepdims=True)).clip(1, 1.6)
    np.save(out / "words.npy", table)
    print(int(found.sum()), "new pieces begin beside what they translate", flush=True)
    names = {p: i for i, p in enumerate(pieces)}
    for word in ("datei", "fichero", "файл", "suppression", "ยก", "##datei", "नया", "削", "文", "delen"):
        if (i := names.get(word)) is not None:
            best = np.argsort(-t * (f == i))[:4]
            print(word, [(pieces[g[k]], round(float(t[k]), 2)) for k in best])


if __name__ == "__main__":
    main()
