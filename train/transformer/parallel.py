"""Sentences and their translations, from the message catalogues (.mo, .po) of installed and unpacked packages.

    python parallel.py --out pairs.tsv FOLDER...

Each line: language, English, translation. Catalogues say which language they are in by the folder they stand in. The translations are
under the licences of their packages and are not redistributed: they teach the encoder other languages, and nothing else is kept.
"""
import argparse
import os
import random
import re
import struct
import zlib
from collections import defaultdict

LANGUAGE = re.compile(r"/(?:locales?|languages|i18n|po|gettext[^/]*/examples[^/]*/po)/(?:[a-z-]+-)?([a-z]{2,3})(?:[_@-][A-Za-z]+)*(?=[/.])")
BY_NAME = re.compile(r"(?:^|[/-])([a-z]{2,3})(?:[_-][A-Z][A-Za-z]+)?\.[mp]o$")
MARKUP = re.compile(r"<[^>]{1,80}>|&(?:amp|lt|gt|quot);|\\[nrt\"]|[\n\t\r]+")
ACCELERATOR = re.compile(r"(?<=\w)_(?=\w)|(?<!\w)_(?=\w)|&(?=\w)|\(&?_?[A-Za-z]\)$")
HOLDER = re.compile(r"%(?:\d+\$)?[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]*|%\([a-z_]+\)s|\{[^}]{0,30}\}|\$[A-Z_a-z]+")
ENOUGH = 400


def language(path):
    found = LANGUAGE.search(path) or BY_NAME.search(path)
    return found and {"nn": "nb", "no": "nb", "in": "id", "iw": "he"}.get(found[1], found[1])


def mo(data):
    """The messages of a compiled catalogue."""
    order = {b"\xde\x12\x04\x95": "<", b"\x95\x04\x12\xde": ">"}.get(data[:4])
    if not order:
        return
    n, originals, translations = struct.unpack(order + "III", data[8:20])
    for i in range(n):
        size, at = struct.unpack(order + "II", data[originals + 8 * i:originals + 8 * i + 8])
        tsize, tat = struct.unpack(order + "II", data[translations + 8 * i:translations + 8 * i + 8])
        key = data[at:at + size].split(b"\x04")[-1].split(b"\0")
        value = data[tat:tat + tsize].split(b"\0")
        for one in {(key[0], value[0]), (key[-1], value[-1])}:
            try:
                yield one[0].decode(), one[1].decode()
            except UnicodeDecodeError:
                return


QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def po(data):
    """The messages of a catalogue's source; plural forms are passed over."""
    text = data.decode("utf-8", "ignore")
    for block in re.split(r"\n\s*\n", text):
        if "msgid_plural" in block or "#, fuzzy" in block or "\n#~" in block:
            continue
        key, _, value = block.partition("\nmsgstr ")
        _, found, key = ("\n" + key).partition("\nmsgid ")
        if found and value:
            yield tuple("".join(QUOTED.findall(part)).replace('\\"', '"').replace("\\n", " ") for part in (key, value))


def clean(text):
    text = HOLDER.sub(" ", ACCELERATOR.sub("", MARKUP.sub(" ", text)))
    return " ".join(text.split()).strip()


def usable(english, other):
    if not 8 <= len(english) <= ENOUGH or not 2 <= len(other) <= ENOUGH or english == other:
        return False
    letters = sum(c.isascii() and c.isalpha() for c in english)
    return letters > 0.7 * len(english.replace(" ", "")) and " " in english and len(other) < 3 * len(english) + 10


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", required=True)
    p.add_argument("--most", type=int, default=14_000, help="pairs of one language")
    p.add_argument("folders", nargs="+")
    a = p.parse_args()
    pairs, seen = defaultdict(dict), set()
    for root in a.folders:
        for folder, folders, files in os.walk(root):
            folders.sort()
            for name in sorted(files):
                path = os.path.join(folder, name)
                if name[-3:] not in (".mo", ".po") or os.path.islink(path) or not (lang := language(path)) or lang == "en":
                    continue
                with open(path, "rb") as file:
                    data = file.read()
                if (mark := zlib.crc32(data)) in seen:
                    continue
                seen.add(mark)
                try:
                    for english, other in (mo if name.endswith(".mo") else po)(data):
                        english, other = clean(english), clean(other)
                        if usable(english, other):
                            pairs[lang].setdefault(english.lower(), (english, other))
                except struct.error:
                    pass
    draw = random.Random(1)
    with open(a.out, "w", encoding="utf-8") as out:
        for lang in sorted(pairs):
            rows = [pairs[lang][k] for k in sorted(pairs[lang])]
            if len(rows) < 200:
                continue
            long = [r for r in rows if r[0].count(" ") >= 4]
            short = [r for r in rows if r[0].count(" ") < 4]
            draw.shuffle(long)
            draw.shuffle(short)
            rows = (long[:a.most * 3 // 4] + short)[:a.most]
            print(lang, len(pairs[lang]), len(rows), flush=True)
            for english, other in rows:
                out.write(f"{lang}\t{english}\t{other}\n")


if __name__ == "__main__":
    main()
