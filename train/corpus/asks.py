"""What people write to assistants, bots, search boxes and help desks, as packages have it: data sets, phrasebooks, question lists.

Each entry of packages.json with kind "input" names one of the readers below.
"""

import csv
import gzip
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import documents
import phrases

_SHORTEST, _LONGEST = 12, 12_000
_TRIES = 40  # templates of a language that are written out, some of which have no wording


@dataclass
class Ask:
    """A text and its language."""

    text: str
    lang: str = "en"
    carrier: str = "chat"


def read(folder: Path, entry: dict, seed: str) -> Iterator[documents.Document]:
    """Yield the inputs that a package holds. Their order depends on the seed and the package alone."""
    rng = random.Random(f"{seed}/{entry['client']}/{entry['name']}/{entry['source']}")
    for ask in _READERS[entry["reader"]](folder, entry, rng):
        text = ask.text.strip()
        if _SHORTEST <= len(text) <= _LONGEST and (text.count(" ") > 1 or not text.isascii()):
            yield documents.Document(text, ask.carrier, ask.lang, entry["reader"])


def _files(folder: Path, entry: dict) -> list[Path]:
    return sorted(p for g in entry["include"] for p in folder.glob(g))


def _records(path: Path) -> list[dict]:
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = raw.decode("utf-8", "replace")
    if path.suffix == ".csv":
        lines = text.splitlines(keepends=True)
        head = next((i for i, line in enumerate(lines) if line.count(",") > 3 and ",," not in line), 0)
        return list(csv.DictReader(io.StringIO("".join(lines[head:]))))
    return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines() if line.strip()]


def _fields(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """Records of which some fields, one below the other, are what was asked."""
    records = [r for p in _files(folder, entry) for r in _records(p)]
    rng.shuffle(records)
    for r in records:
        parts = [str(r[f]).replace("\\n", "\n").strip() for f in entry["fields"]]
        if len(parts) > 1 and entry.get("bare", 0) > rng.random():
            parts = parts[-1:]
        yield Ask("\n\n".join(p for p in parts if p), _script("".join(parts), "en"), entry.get("carrier", "chat"))


_FIRST = re.compile(r"^[ ]*- - +(?![|>&*])(.+)$", re.M)
_TONGUES = {
    "bengali": "bn", "chinese": "zh", "dutch": "nl", "english": "en", "french": "fr", "german": "de", "hebrew": "he", "hindi": "hi", "hinglish": "hi", "indonesian": "id",
    "italian": "it", "japanese": "ja", "korean": "ko", "marathi": "mr", "oriya": "or", "persian": "fa", "portuguese": "pt", "russian": "ru", "spanish": "es", "swedish": "sv",
    "tamil": "ta", "telugu": "te", "thai": "th", "traditionalchinese": "zh", "turkish": "tr", "ukrainian": "uk", "urdu": "ur", "yoruba": "yo", "arabic": "ar", "bulgarian": "bg",
    "polish": "pl", "hungarian": "hu", "croatian": "hr", "serbian": "sr", "macedonian": "mk", "albanian": "sq", "vietnamese": "vi", "lithuanian": "lt", "belarusian": "be",
    "brazilian": "pt", "icelandic": "is", "swedish_sat": "sv", "ukraine": "uk", "romanian": "ro",
}  # fmt: skip


def _bot(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """ChatterBot's conversations: the first sentence of each, as many of each language as there are."""
    by: dict[str, list[Ask]] = {}
    for path in _files(folder, entry):
        lang = _TONGUES.get(path.parent.name, "")
        found = [m.strip().strip("\"'") for m in _FIRST.findall(path.read_text(encoding="utf-8", errors="replace"))]
        by.setdefault(lang, []).extend(Ask(t, lang) for t in found if lang)
    yield from _in_turn(by, rng)


def _in_turn(by: dict[str, list[Ask]], rng: random.Random) -> Iterator[Ask]:
    """Yield one of each group, then the next of each, until all are out."""
    for some in by.values():
        rng.shuffle(some)
    for i in range(max(map(len, by.values()), default=0)):
        for key in sorted(by):
            if i < len(by[key]):
                yield by[key][i]


def _people(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """Chats between people: of each one turn, which may be several messages."""
    for path in _files(folder, entry):
        chats = list(json.loads(path.read_text(encoding="utf-8")).values())
        rng.shuffle(chats)
        for chat in chats:
            turns = [text for turn in chat["messages"] if len(text := "\n".join(m["text"].strip() for m in turn)) > 40]
            if turns:
                yield Ask(rng.choice(turns))


def _home(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """Home Assistant's sentence templates, some of each language."""
    by: dict[str, list[Ask]] = {}
    for path in _files(folder, entry):
        data = json.loads(path.read_text(encoding="utf-8"))
        book = phrases.Phrasebook(data.get("expansion_rules", {}), data.get("lists", {}))
        templates = sorted({s for i in data["intents"].values() for group in i["data"] for s in group["sentences"]})
        rng.shuffle(templates)
        lang = path.stem.split("-")[0]
        by[lang] = [Ask(t, lang, "voice") for t in _wordings(templates[:_TRIES], book, rng)]
    yield from _in_turn(by, rng)


def _skills(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """The intents of voice skills: a template a line, a file for each intent and language."""
    by: dict[str, list[Ask]] = {}
    for path in _files(folder, entry):
        lang = re.search(r"/locale/([a-z]{2,3})\b", path.as_posix())[1]
        lines = [s.strip() for s in path.read_text(encoding="utf-8", errors="replace").splitlines() if s.strip() and not s.startswith("#")]
        some = rng.sample(lines, min(len(lines), 3))
        by.setdefault(lang, []).extend(Ask(t, lang, "voice") for t in _wordings(some, phrases.Phrasebook({}, {}), rng))
    yield from _in_turn(by, rng)


def _wordings(templates: list[str], book: phrases.Phrasebook, rng: random.Random) -> Iterator[str]:
    for template in templates:
        try:
            yield book.wording(template, rng)
        except phrases.NoWording:
            continue


# Evaluations that are about attacks, refusals or deceit, data without a task in words, and theory_of_mind, of which a part is for non-commercial use.
_NOT_ASKED = re.compile(
    r"injection|override|reverse-shell|safety|security|cissp|naughty|bugged|make_me_say|sandbag|stegano|self_prompt|already_said|cant_do|irrelevant-neg|hshd|text_compression|schelling|identifying_variables|decrypt_caesar|theory_of_mind"
)
_OF_ONE = 4  # samples of one evaluation


def _evaluations(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """The prompts of OpenAI's evaluations, a few samples of each: what the user says, without the instructions before it."""
    by: dict[str, list[Ask]] = {}
    for path in _files(folder, entry):
        name = path.parent.name
        if _NOT_ASKED.search(str(path.parent)) or path.stat().st_size > 8_000_000 or len(by.get(name, ())) >= _OF_ONE:
            continue
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        for line in rng.sample(lines, min(len(lines), _OF_ONE)):
            if text := _prompt(line):
                by.setdefault(name, []).append(Ask(text, _script(text, _TONGUES.get(re.split("[-_]", name)[0], "en"))))
    yield from _in_turn(by, rng)


def _prompt(line: str) -> str:
    """Return what a sample's user asks, or nothing where it is no single request, or none without its instructions."""
    try:
        said = json.loads(line).get("input")
    except ValueError:
        return ""
    if not isinstance(said, list) or "canary" in line.lower() or not all(isinstance(m, dict) and isinstance(m.get("content"), str) for m in said):
        return ""
    roles = [m["role"] for m in said]
    asked = said[-1]["content"].strip() if roles in (["user"], ["system", "user"]) else ""
    words = len(asked.split()) > 6 or not asked.isascii() and len(asked) > 24
    return asked if words and sum(map(str.isalpha, asked)) > len(asked) // 2 else ""


_PATTERN = re.compile(r"<pattern>\s*([A-Z][A-Z' ]+)\s*</pattern>")


def _patterns(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """AIML patterns without wildcards, of at least four words, as people type them."""
    found = sorted({" ".join(m.split()).lower() for p in _files(folder, entry) for m in _PATTERN.findall(p.read_text(encoding="utf-8", errors="replace")) if m.count(" ") > 2})
    rng.shuffle(found)
    for text in found:
        yield Ask(re.sub(r"\bi\b", "I", text) if rng.random() < 0.5 else text)


def _riddles(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """The keys of a Python dictionary: riddles."""
    for path in _files(folder, entry):
        found = re.findall(r"^  (['\"])(.+)\1: \[", path.read_text(encoding="utf-8"), re.M)
        rng.shuffle(found)
        for _, text in found:
            yield Ask(text.replace("\\'", "'").replace("\\n", "\n"))


_ROFF_HEAD = re.compile(r'^\.(?:SS|IP) "(.+\?)"', re.M)
_HTML_HEAD = re.compile(r"<h[1-4][^>]*>(.*?)</h[1-4]>", re.S)
_PLAIN_HEAD = re.compile(r"^ {4}\d+\.\d+\. (.+(?:\n {6,}.+)*\?)$", re.M)


def _questions(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """The questions of lists of frequently asked ones: headings that end with a question mark."""
    found = []
    for path in _files(folder, entry):
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8", "replace")
        for head in (*_ROFF_HEAD.findall(text), *_HTML_HEAD.findall(text), *_PLAIN_HEAD.findall(text)):
            plain = re.sub(r"<[^>]*>|\\f.|\\s-?\d|¶", "", head).replace("\\-", "-").replace("\\&", "").replace("\\e", "\\").replace('""', '"')
            plain = re.sub(r"\s+", " ", documents.readers.unescape(plain)).strip()
            plain = re.sub(r"^[\d.]+\s*|^第.{1,3}章\s*", "", plain)
            if plain.endswith(("?", "？")) or "か?" in plain:
                found.append(plain)
    found = sorted(set(found))
    rng.shuffle(found)
    yield from (Ask(t, entry["lang"], "question") for t in found)


def _topics(folder: Path, entry: dict, rng: random.Random) -> Iterator[Ask]:
    """The topics of Mr. TyDi in Anserini's jar: questions by people who write the language."""
    by: dict[str, list[Ask]] = {}
    for path in _files(folder, entry):
        with zipfile.ZipFile(path) as jar:
            for name in sorted(n for n in jar.namelist() if re.search(r"topics\.mrtydi-v1\.1-..\.test\.txt\.gz$", n)):
                lang = name.split("-")[-1][:2]
                lines = gzip.decompress(jar.read(name)).decode("utf-8").splitlines()
                by[lang] = [Ask(line.split("\t", 1)[1], lang, "search") for line in lines if "\t" in line]
    yield from _in_turn(by, rng)


_SCRIPTS = [("ja", "\u3040", "\u30ff"), ("zh", "\u4e00", "\u9fff"), ("ko", "\uac00", "\ud7a3"), ("ru", "\u0400", "\u04ff"), ("he", "\u0590", "\u05ff"), ("ar", "\u0600", "\u06ff"), ("hi", "\u0900", "\u097f"), ("th", "\u0e00", "\u0e7f"), ("el", "\u0370", "\u03ff")]  # fmt: skip


def _script(text: str, named: str) -> str:
    """Return the language that the script tells, or else the one that is named."""
    letters = [c for c in text if c.isalpha()]
    for lang, low, high in _SCRIPTS:
        if sum(low <= c <= high for c in letters) > 0.3 * len(letters):
            return named if lang in {"ru", "ar"} and named != "en" else lang
    return named if named not in {"bg", "uk", "be", "sr", "mk", "fa", "ur"} else "en"


_READERS: dict[str, Callable[[Path, dict, random.Random], Iterator[Ask]]] = {
    "bot": _bot, "evaluations": _evaluations, "fields": _fields, "home": _home, "patterns": _patterns, "people": _people,
    "questions": _questions, "riddles": _riddles, "skills": _skills, "topics": _topics,
}  # fmt: skip
