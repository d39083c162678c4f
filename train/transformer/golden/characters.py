"""Compares the classes of all characters with the reference, through train/encode.

    go build -o encode ./train/encode
    python characters.py VOCABULARY MODEL ENCODE

VOCABULARY is the vocab.txt that is in MODEL, a model file.
"""

import json
import pathlib
import subprocess
import sys

import reference


def main(vocabulary, model, encode):
    tokenizer = reference.tokenizer(pathlib.Path(vocabulary).read_text(encoding="utf-8").split("\n")[:-1])
    characters = [chr(c) for c in range(1, 0x110000) if not 0xd800 <= c < 0xe000]
    texts = [f"a{c}b {c}{c}x" for c in characters]
    answers = subprocess.run(
        [encode, "-model", model], input="".join(json.dumps({"text": t}) + "\n" for t in texts), capture_output=True,
        text=True, check=True).stdout.splitlines()
    different = 0
    for character, text, line in zip(characters, texts, answers):
        got = json.loads(line)
        want = reference.tokens(tokenizer, text)
        if list(zip(got.get("ids", []), map(tuple, got.get("spans", [])))) != want:
            different += 1
            print(f"U+{ord(character):04X}: {got}, not {want}")
    print(f"{different} of {len(texts)} characters differ")
    return different != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
