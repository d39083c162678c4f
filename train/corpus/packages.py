"""The packages that the corpus is cut from: which, in which version, and their files.

Each entry of packages.json names a client (apt, pip, npm, go), a package, its version and the SHA-256 of the archive.
"""

import hashlib
import json
import shutil
import subprocess
import tarfile
import tempfile
import zipfile
from pathlib import Path

LIST = Path(__file__).with_name("packages.json")


class Unavailable(Exception):
    """A package that its client does not hand out, or not as pinned."""


def load() -> list[dict]:
    """Return the entries of packages.json."""
    return json.loads(LIST.read_text(encoding="utf-8")) if LIST.exists() else []


def save(entries: list[dict]) -> None:
    """Write packages.json, one entry a line."""
    lines = ",\n".join(json.dumps(e, ensure_ascii=False) for e in entries)
    LIST.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def pin(entry: dict, cache: Path) -> None:
    """Download the package as it is now and write its version and hash into the entry."""
    archive = _download(entry, cache)
    entry["file"] = archive.name
    entry["sha256"] = _digest(archive)
    entry.setdefault("version", _version(entry, archive.name))


def fetch(entry: dict, cache: Path) -> Path:
    """Return the archive of a pinned entry, from the cache or else from its client, with its hash checked."""
    archive = cache / entry["client"] / entry["file"]
    if not archive.exists():
        archive = _download(entry, cache)
    if archive.name != entry["file"] or _digest(archive) != entry["sha256"]:
        raise Unavailable(f"{archive.name} is not the archive that is pinned")
    return archive


def unpack(archive: Path, entry: dict, cache: Path) -> Path:
    """Return the folder with the unpacked archive; it stays in the cache."""
    target = cache / "unpacked" / entry["client"] / entry["sha256"][:16]
    if target.exists():
        return target
    partial = target.with_name(target.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    if entry["client"] == "apt":
        subprocess.run(["dpkg-deb", "-x", archive, partial], check=True)
    elif zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as z:
            z.extractall(partial)
    else:
        with tarfile.open(archive) as t:
            t.extractall(partial, filter="data")
    for inner in partial.glob(entry.get("inner", "*/no such file")):
        with tarfile.open(inner) as t:
            t.extractall(inner.parent, filter="data")
    partial.rename(target)
    return target


def _download(entry: dict, cache: Path) -> Path:
    """Have the client download the one archive, and move it to the cache."""
    home = cache / entry["client"]
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home) as box:
        if entry["client"] == "go":
            archive = _go(entry, box)
        else:
            _run(_command(entry, box), box)
            found = [p for p in Path(box).iterdir() if p.is_file()]
            if len(found) != 1:
                raise Unavailable(f"{len(found)} files came")
            archive = found[0]
        kept = home / _file_name(entry, archive)
        shutil.copyfile(archive, kept)
    return kept


def _command(entry: dict, box: str) -> list[str]:
    name, version = entry["name"], entry.get("version")
    if entry["client"] == "apt":
        return ["apt-get", "download", "-q", f"{name}={version}" if version else name]
    if entry["client"] == "npm":
        return ["npm", "pack", "--silent", "--ignore-scripts", f"{name}@{version}" if version else name]
    command = ["pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", box]
    if entry.get("form") == "sdist":
        command += ["--no-binary", name]
    return [*command, f"{name}=={version}" if version else name]


def _go(entry: dict, box: str) -> Path:
    out = _run(["go", "mod", "download", "-json", f"{entry['name']}@{entry['version']}"], box)  # away from any module of ours
    return Path(json.loads(out)["Zip"])


def _run(command: list[str], folder: str) -> str:
    try:
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=300)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as err:
        raise Unavailable(f"{command[0]} fails") from err
    return done.stdout


def _file_name(entry: dict, archive: Path) -> str:
    if entry["client"] == "go":
        return entry["name"].replace("/", "-") + "-" + archive.name
    return archive.name


def _version(entry: dict, file: str) -> str:
    stem = file.removesuffix(".deb").removesuffix(".tgz").removesuffix(".tar.gz").removesuffix(".whl").removesuffix(".zip")
    if entry["client"] == "apt":
        return stem.split("_")[1].replace("%3a", ":")
    if entry["client"] == "npm":
        return stem[len(entry["name"].lstrip("@").replace("/", "-")) + 1 :]
    return stem[len(entry["name"]) + 1 :].split("-")[0]


def _digest(archive: Path) -> str:
    with archive.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()
