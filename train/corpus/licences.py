"""The licence of a package, as the package itself states it."""

import json
import re
from email.parser import HeaderParser
from pathlib import Path


def read(folder: Path, entry: dict) -> str:
    """Return the licence that a package's own files name, or 'see package'."""
    if "license" in entry:
        return entry["license"]
    if entry["client"] == "apt":
        found = _debian(folder, entry["name"])
    elif entry["client"] == "npm":
        found = _npm(folder)
    elif entry["client"] == "pip":
        found = _python(folder)
    else:
        found = _text(folder)
    return found or "see package"


def _debian(folder: Path, name: str) -> str:
    path = folder / "usr/share/doc" / name / "copyright"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    names = [n.strip().split("\n")[0] for n in re.findall(r"^License: *(\S[^\n]*)", text, re.M)]
    if names:
        return " / ".join(dict.fromkeys(names[:2]))
    return _known(text)


def _npm(folder: Path) -> str:
    for path in sorted(folder.glob("*/package.json")):
        named = json.loads(path.read_text(encoding="utf-8")).get("license", "")
        return named if isinstance(named, str) else str(named.get("type", ""))
    return ""


def _python(folder: Path) -> str:
    found = sorted([*folder.glob("*.dist-info/METADATA"), *folder.glob("*/PKG-INFO")])
    if not found:
        return _text(folder)
    head = HeaderParser().parsestr(found[0].read_text(encoding="utf-8", errors="replace"))
    classified = [c.rsplit("::", 1)[1].strip() for c in head.get_all("Classifier", []) if c.startswith("License ::")]
    named = head.get("License-Expression") or head.get("License") or ""
    if named and len(named) < 60:
        return named
    return classified[0] if classified else _text(folder)


def _text(folder: Path) -> str:
    for path in sorted(folder.rglob("LICENSE*"), key=lambda p: len(p.parts))[:3]:
        if path.is_file() and (found := _known(path.read_text(encoding="utf-8", errors="replace"))):
            return found
    return ""


def _known(text: str) -> str:
    marks = {
        "Apache License": "Apache-2.0", "Permission is hereby granted, free of charge": "MIT", "Redistribution and use in source": "BSD",
        "GNU Affero": "AGPL", "GNU Free Documentation": "GFDL", "Lesser General Public": "LGPL", "GNU General Public": "GPL", "Mozilla Public": "MPL", "public domain": "public domain",
    }  # fmt: skip
    return next((v for k, v in marks.items() if k.lower() in text.lower()), "")
