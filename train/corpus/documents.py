"""The documents of an unpacked package, lazily and in a seeded order."""

import fnmatch
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import readers

SHORTEST, LONGEST = 120, 20_000
_LARGEST_FILE = 16_000_000
_SHORT = 1_000  # characters; some of what is shorter is passed over, so that long documents are a third
_SHORT_KEPT = 0.55
_CODE_KEPT = 0.3  # of a package's source files, unless its entry says otherwise

_CARRIERS = {
    ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".rst": "rst", ".txt": "text", ".adoc": "text", ".yml": "yaml", ".yaml": "yaml",
    ".csv": "csv", ".tsv": "csv", ".sql": "sql", ".test": "sql", ".inc": "code", ".py": "code", ".js": "code", ".ts": "code", ".tsx": "code", ".go": "code",
    ".c": "code", ".h": "code", ".java": "code", ".rb": "code", ".sh": "code", ".php": "code", ".css": "code", ".proto": "code", ".tpl": "template",
    ".toml": "config", ".ini": "config", ".conf": "config", ".cf": "config", ".cnf": "config", ".service": "config", ".rules": "config",
    ".eml": "mail", ".raw": "mail", ".xml": "xml", ".log": "log", ".j2": "template", ".jinja2": "template", ".jinja": "template", ".tmpl": "template",
}  # fmt: skip
_BY_NAME = {"readme": "markdown", "changelog": "markdown", "contributing": "markdown", "news": "text", "security": "markdown", "history": "text"}
_PASSED_OVER = re.compile(r"(\.min\.|/node_modules/|/copyright$|/COPYING|changelog\.debian|package-lock|/genindex|/searchindex|/py-modindex|\.dist-info/RECORD|/__init__\.py$|index-\w\.html|/test-?keys)", re.I)

_LANGUAGES = set(
    "af am an ar as ast az be bg bn br bs ca ckb cs cy da de dz el en eo es et eu fa fi fo fr fy ga gd gl gu he hi hr hu hy ia id is it ja jv ka kab kk km kn ko ku ky lb lo lt lv mg mk ml mn mr ms my nb ne nl nn no oc om or pa pl ps pt qu ro ru sc si sk sl sq sr sv sw ta te tg th tk tl tr tt uk ur uz vi wa xh yi yo zh zu".split()
)
_IN_PATH = re.compile(r"(?:(?<=[/.])|(?<=-)(?=\w+\.(?:po|mo|json)))([a-z]{2,3})(?:[-_@](?:[A-Z]{2}|[A-Z][a-z]{3}|[a-z]{2,10}))*(?=[/.])")


_TRANSLATION = re.compile(r"\.(?:po|mo)$|/i18n/[^/]+\.json$|/locali[sz]ation/")
_TAG = re.compile(r"<[^>]*>")
_NOT_LATIN = set("am ar as be bg bn ckb dz el fa gu he hi hy ja ka kk km kn ko ky lo mk ml mn mr my ne or pa ps ru si sr ta te tg th tt uk ur yi zh".split())


@dataclass
class Document:
    """A text as a tool would return it."""

    text: str
    carrier: str
    lang: str
    path: str


def read(folder: Path, entry: dict, seed: str) -> Iterator[Document]:
    """Yield the documents of a package's folder. The order and the cuts depend on the seed and the package alone."""
    rng = random.Random(f"{seed}/{entry['client']}/{entry['name']}")
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink() and _wanted(p.relative_to(folder).as_posix(), entry))
    rng.shuffle(files)
    total = sum(p.stat().st_size for p in files)
    for path in files:
        name = path.relative_to(folder).as_posix()
        pieces = max(3, 3 * entry["take"] * path.stat().st_size // total)
        if _CARRIERS.get(path.suffix) == "code" and "include" not in entry and rng.random() > entry.get("code", _CODE_KEPT):
            continue
        lang = _language(name) if entry["lang"] == "path" else entry["lang"]
        if not lang:
            continue
        made = _documents(path, name, entry, rng)
        if len(made) > pieces:
            made = rng.sample(made, pieces)
        for carrier, text in made:
            parts = _cut(text, rng) if carrier not in {"json", "json-strings"} else [text]
            for part in parts[:pieces]:
                if len(part) < _SHORT and rng.random() > _SHORT_KEPT:
                    continue
                if SHORTEST <= len(part) <= LONGEST:
                    yield Document(part, carrier, _as_written(part, lang), name)


def _wanted(name: str, entry: dict) -> bool:
    if _PASSED_OVER.search("/" + name):
        return False
    return not (globs := entry.get("include")) or any(fnmatch.fnmatch(name, g) for g in globs)


def _language(name: str) -> str:
    """Return the language that the folders or the end of a path name: English when they name none, nothing when it is none of ours."""
    found = [m[1] for m in _IN_PATH.finditer(name.replace("LC_MESSAGES", "")) if m[1] in _LANGUAGES]
    for code in reversed(found):
        if not re.search(rf"\.{code}$", name):
            return "nb" if code == "no" else code
    if not found and _TRANSLATION.search(name) and not re.search(r"[/.-]en[-_./]", name):
        return ""
    tail = name.rsplit(".", 1)[-1]
    return tail if tail in _LANGUAGES and tail not in {"pl", "cs", "ps", "sc", "mk", "tk", "no"} else "en"


def _as_written(text: str, lang: str) -> str:
    """Return the language of a text that may not have been translated: English if it has next to none of the script."""
    if lang not in _NOT_LATIN:
        return lang
    letters = [c for c in _TAG.sub("", text[:9000]) if c.isalpha()]
    return lang if sum(c > "\u0250" for c in letters) > 0.06 * len(letters) else "en"


def _documents(path: Path, name: str, entry: dict, rng: random.Random) -> list[tuple[str, str]]:
    if path.stat().st_size > _LARGEST_FILE:
        return []
    data = path.read_bytes()
    if name.endswith(".gz"):
        try:
            data, name = readers.inflate(data), name[:-3]
        except (OSError, EOFError):
            return []
    suffix = Path(name).suffix.lower()
    if suffix == ".mo":
        return readers.strings(readers.compiled(data), rng)
    if suffix == ".xpi":
        return readers.bundle(data, rng)
    source = _decoded(data)
    if source is None:
        return []
    reader = entry.get("reader")
    if reader == "man" or re.fullmatch(r"\.[1-8]\w{0,4}", suffix):
        if "/man/" not in name:
            return []
        return [("roff", source)] if rng.random() < 0.06 else [("manual", readers.manual(source))]
    if reader == "fortunes":
        return readers.fortunes(source, rng) if source.count("\n%\n") > 3 else []
    if suffix in {".html", ".htm", ".xhtml", ".page", ".docbook"} or re.search(r"\.html?\.[a-z-]+$", name, re.I):
        raw = rng.random() < 0.25
        return [("html", source)] if raw else [("page", readers.page(source))]
    if suffix == ".po":
        return readers.strings(readers.catalogue(source), rng)
    if suffix in {".json", ".jsonl"}:
        return readers.structure(source, rng)
    return _plain(source, suffix, path, entry)


def _plain(source: str, suffix: str, path: Path, entry: dict) -> list[tuple[str, str]]:
    if "test_email/data" in str(path):
        return [("mail", source)]
    stem = path.name.split(".")[0].lower()
    carrier = _CARRIERS.get(suffix) or _BY_NAME.get(stem)
    if carrier is None and entry["client"] == "apt" and ("/etc/" in str(path) or "/doc/" in str(path)):
        carrier = "config" if "/etc/" in str(path) else "text"
    if carrier is None and path.name == "METADATA":
        carrier = "markdown"
    if carrier is None and not suffix and source.count(" ") > len(source) // 20:
        carrier = "text"
    return [(carrier, source)] if carrier else []


def _decoded(data: bytes) -> str | None:
    if b"\0" in data[:4096]:
        return None
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


def _cut(text: str, rng: random.Random) -> list[str]:
    """Cut a text at paragraph ends, else at line ends, into pieces of differing length."""
    text = text.strip()
    parts = []
    while text:
        most = rng.choice([LONGEST, LONGEST, LONGEST, 14_000, 9_000, 6_000, 6_000, 3_500, 1_500])
        if len(text) <= most:
            parts.append(text)
            break
        end = next((e for mark in ("\n\n", "\n", "。", ". ", " ") if (e := text.rfind(mark, most // 3, most)) > 0), most)
        parts.append(text[: end + 1].strip())
        text = text[end + 1 :].strip()
    return parts
