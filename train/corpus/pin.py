"""Pin packages: give each entry of packages.json that has none a version and a SHA-256, as the package clients answer now.

    python3 train/corpus/pin.py CACHE [WANTED.json]

An entry whose package cannot be had is named and left out. fetch.py needs this only when a pin is to be renewed.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import packages


def main() -> None:
    """Pin what is in packages.json or WANTED.json and not pinned yet."""
    cache = Path(sys.argv[1])
    entries = packages.load()
    if len(sys.argv) > 2:
        known = {(e["client"], e["name"]) for e in entries}
        wanted = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
        entries += [e for e in wanted if (e["client"], e["name"]) not in known]

    def pinned(entry: dict) -> dict | None:
        try:
            if "sha256" not in entry:
                packages.pin(entry, cache)
        except packages.Unavailable as err:
            print(f"left out: {entry['name']}: {err}", file=sys.stderr, flush=True)
            return None
        return entry

    with ThreadPoolExecutor(4) as pool:
        kept = [e for e in pool.map(pinned, entries) if e]
    packages.save(kept)
    print(f"{len(kept)} of {len(entries)} packages pinned")


if __name__ == "__main__":
    main()
