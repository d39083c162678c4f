"""From the bytes of a package's file to the documents in it, as (carrier, text)."""

import gettext
import gzip
import html
import io
import json
import re
import zipfile
from html.parser import HTMLParser

_BLOCKS = {"p", "div", "li", "tr", "table", "ul", "ol", "dl", "dt", "dd", "pre", "section", "article", "br", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6"}
_BLOCKS |= {"para", "title", "chapter", "sect1", "sect2", "sect3", "variablelist", "varlistentry", "term", "listitem", "item", "note", "steps", "credit", "info"}  # DocBook, Mallard
_SILENT = {"script", "style", "head", "nav"}


class _Text(HTMLParser):
    """The text of a page: a blank line between blocks, '#' before headings, '-' before list items."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag in _SILENT:
            self.silent += 1
        if tag in _BLOCKS:
            self.parts.append("\n" if tag in {"br", "tr", "dd"} else "\n\n")
        if tag == "li":
            self.parts.append("- ")
        elif tag in {"td", "th"}:
            self.parts.append(" | ")
        elif re.fullmatch("h[1-6]", tag):
            self.parts.append("#" * int(tag[1]) + " ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT and self.silent:
            self.silent -= 1
        if tag in _BLOCKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.parts.append(re.sub(r"\s+", " ", data))


def page(source: str) -> str:
    """Return the text of an HTML page."""
    parser = _Text()
    parser.feed(source)
    parser.close()
    text = re.sub(r" *\n *", "\n", "".join(parser.parts))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


_REQUEST = re.compile(r"^[.'] *([A-Za-z]+) *(.*)$")
_ESCAPES = {"\\-": "-", "\\(aq": "'", "\\(dq": '"', "\\(bu": "•", "\\(em": "—", "\\(en": "–", "\\(co": "©", "\\e": "\\", "\\&": "", "\\ ": " ", "\\~": " ", "\\|": "", "\\^": "", "\\:": "", "\\%": "", "\\,": "", "\\/": "", "\\(lq": "“", "\\(rq": "”", "\\(oq": "‘", "\\(cq": "’", "\\(rs": "\\", "\\(ti": "~", "\\(ha": "^", "\\(ga": "`"}
_ESCAPE = re.compile("|".join(re.escape(e) for e in sorted(_ESCAPES, key=len, reverse=True)))


_DEFINITION = re.compile(r"^\.[ \t]*de\b[^\n]*\n(?:(?!\.[ \t]*\.)[^\n]*\n)*\.[ \t]*\.[^\n]*\n?|^[.'][^\n]*\\[{}][^\n]*\n?", re.M)


def manual(source: str) -> str:
    """Return a manual page without its roff requests, much as man prints it."""
    lines: list[str] = []
    for line in _DEFINITION.sub("", source).splitlines():
        if line.startswith(('.\\"', "'\\\"", ".if", ".ie", ".el", ".de", "..", ".ds", ".nr", ".rm", ".tr")):
            continue
        if found := _REQUEST.match(line):
            name, rest = found[1], found[2]
            rest = re.sub(r'"([^"]*)"', r"\1", rest)
            if name in {"SH", "SS", "Sh", "Ss"}:
                lines += ["", rest.upper() if name == "SH" else rest, ""]
            elif name in {"PP", "P", "LP", "TP", "IP", "sp", "Pp", "It", "br", "RS", "RE", "HP"}:
                lines.append("" if name != "br" else rest)
                if name in {"IP", "It"} and rest:
                    lines.append("  " + rest)
            elif name in {"B", "I", "BR", "BI", "IR", "RB", "RI", "IB", "SM", "SB", "Nm", "Fl", "Ar", "Xr", "Dl", "Nd", "Li", "Em", "Sy", "TH", "UR", "UE", "MT", "ME"}:
                lines.append(rest)
            continue
        lines.append(line)
    text = re.sub(r"\\f(?:[A-Z]|\([A-Z]{2}|\[[A-Z]*\])|\\s[-+]?\d|\\[mMF]\[[^\]]*\]|\\\*\(?[A-Za-z]{0,2}|\\c$", "", "\n".join(lines))
    text = _ESCAPE.sub(lambda m: _ESCAPES[m[0]], text)
    text = re.sub(r"\\\[u([0-9A-F]{4,5})\]", lambda m: chr(int(m[1], 16)), text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


_PO_ENTRY = re.compile(r'^msgid ((?:"(?:[^"\\]|\\.)*"\s*)+)(?:^msgid_plural (?:"(?:[^"\\]|\\.)*"\s*)+)?^msgstr(?:\[0\])? ((?:"(?:[^"\\]|\\.)*"\s*)+)', re.M)


def _unquote(run: str) -> str:
    pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', run)
    return "".join(pieces).replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")


def catalogue(source: str) -> dict[str, str]:
    """Return the translated strings of a .po file."""
    pairs = ((_unquote(k), _unquote(v)) for k, v in _PO_ENTRY.findall(source))
    return {k: v for k, v in pairs if k and v}


def compiled(data: bytes) -> dict[str, str]:
    """Return the translated strings of a .mo file."""
    try:
        known = gettext.GNUTranslations(io.BytesIO(data))._catalog  # noqa: SLF001 - the only way to all of them
    except (OSError, UnicodeDecodeError, ValueError, LookupError):
        return {}
    return {k: v for k, v in known.items() if isinstance(k, str) and isinstance(v, str) and k and v}


def strings(pairs: dict[str, str], rng) -> list[tuple[str, str]]:
    """Return translated strings in the shapes in which programs hand them out: JSON, dialogs, properties, a .po, a list."""
    items = [(k, v) for k, v in pairs.items() if len(v) > 3]
    made, at = [], 0
    while at < len(items):
        count = min(len(items) - at, rng.choice([12, 25, 40, 80, 120, 180]))
        some = items[at : at + count]
        at += count
        long = [v for _, v in some if len(v) > 40]
        shape = rng.choice(["json", "json", "po", "properties", "dialog", "dialog", "prose"])
        if shape == "json":
            made.append(("json-strings", json.dumps({_key(k): v for k, v in some}, ensure_ascii=False, indent=rng.choice([None, 2, 4]))))
        elif shape == "po":
            made.append(("po", "\n\n".join(f"msgid {json.dumps(k, ensure_ascii=False)}\nmsgstr {json.dumps(v, ensure_ascii=False)}" for k, v in some)))
        elif shape == "properties":
            made.append(("properties", "\n".join(f"{_key(k)}={v}" for k, v in some)))
        elif shape == "dialog":
            made.append(("dialog", "\n\n".join("\n".join([f"[{v}]" if len(v) < 24 else v]) for _, v in some)))
        elif long:
            made.append(("prose", "\n".join(long)))
    return made


def _key(text: str) -> str:
    return re.sub(r"\W+", "_", text.split("\x04")[-1].lower()).strip("_")[:48] or "text"


_FLUENT = re.compile(r"^(-?[a-z][\w-]*) =[ ]?(.*(?:\n[ \t]+.*)*)", re.M)


def bundle(data: bytes, rng) -> list[tuple[str, str]]:
    """Return the documents of a language pack (.xpi): its Fluent and properties files."""
    made: list[tuple[str, str]] = []
    with zipfile.ZipFile(io.BytesIO(data)) as pack:
        for name in sorted(pack.namelist()):
            if not name.endswith((".ftl", ".properties")):
                continue
            source = pack.read(name).decode("utf-8", "replace")
            source = re.sub(r"^[#;].*\n", "", source, flags=re.M).strip()
            if name.endswith(".ftl") and rng.random() < 0.4:
                made.append(("fluent", source))
            elif name.endswith(".ftl"):
                made += strings({k: re.sub(r"\s+", " ", v).strip() for k, v in _FLUENT.findall(source)}, rng)
            else:
                made.append(("properties", source))
    return made


def fortunes(source: str, rng) -> list[tuple[str, str]]:
    """Return sayings, some of them together."""
    sayings = [s.strip() for s in re.split(r"^%\s*$", source, flags=re.M) if s.strip()]
    made, at = [], 0
    while at < len(sayings):
        count = rng.choice([3, 6, 12, 30])
        made.append(("fortune", "\n\n".join(sayings[at : at + count])))
        at += count
    return made


def structure(source: str, rng) -> list[tuple[str, str]]:
    """Return the parts of a JSON document that an API would answer with, each in a small or a wide print."""
    try:
        value = json.loads(source)
    except (ValueError, RecursionError):
        return []
    return [("json", json.dumps(part, ensure_ascii=False, indent=rng.choice([None, 2, 2]))) for part in _parts(value, 0)]


def _parts(value: object, depth: int) -> list[object]:
    """Split what is large into its members, until each is of a size that a tool answers with."""
    size = len(json.dumps(value, ensure_ascii=False))
    if size < 16_000 or depth > 6 or not isinstance(value, dict | list):
        return [value] if size > 200 else []
    made: list[object] = []
    if isinstance(value, list):
        step = max(1, len(value) * 8_000 // size)
        for at in range(0, len(value), step):
            made += _parts(value[at : at + step] if step > 1 else value[at], depth + 1)
        return made[:400]
    rest = {}
    for key, member in value.items():
        inner = len(json.dumps(member, ensure_ascii=False))
        if inner > 2_500:
            made += [{"name": key, "value": p} if inner < 16_000 else p for p in _parts(member, depth + 1)]
        else:
            rest[key] = member
    if rest and len(json.dumps(rest)) > 200:
        items, box, held = list(rest.items()), {}, 0
        for key, member in items:
            box[key] = member
            held += len(json.dumps(member, ensure_ascii=False))
            if held > 9_000:
                made.append(box)
                box, held = {}, 0
        if box:
            made.append(box)
    return made


def inflate(data: bytes) -> bytes:
    """Return what a .gz file holds."""
    return gzip.decompress(data)


def unescape(text: str) -> str:
    """Resolve the entities of a text."""
    return html.unescape(text)
