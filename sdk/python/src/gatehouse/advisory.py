from __future__ import annotations

import json
import re
from typing import Any, List, NoReturn, Optional, TypedDict

from ._space import SPACE

_SURROGATE = re.compile("[\ud800-\udfff]")


class _Said(TypedDict):
    source: str
    text: str


class MnemomAdvisory(_Said, total=False):
    """One entry of X-Mnemom-Advisory.

    source is who says it (safe_house.dlp, gatehouse.coverage). text is one line for people; where it was too long for
    the header it ends in "...". severity is info, warn or critical, absent when not said; another word stands as it
    came. id, where there is one, leads to more.
    """

    severity: str
    id: str


def parse_mnemom_advisories(header_value: Optional[str]) -> List[MnemomAdvisory]:
    """Reads an X-Mnemom-Advisory header. An absent (None) or blank one has no advisories.

    Members that it does not know are skipped, and more entries are taken than the five that a gateway writes. Raises
    ValueError when the header is not a JSON array of objects with a source and a text.
    """
    header = header_value or ""
    if not header.strip(SPACE):
        return []
    entries = _parse_json(header)
    if not isinstance(entries, list) or not all(e is None or isinstance(e, dict) for e in entries):
        raise ValueError("parse X-Mnemom-Advisory: not a JSON array of objects")
    return [_advisory(e or {}, f"parse X-Mnemom-Advisory: entry {i}") for i, e in enumerate(entries, start=1)]


def _parse_json(text: str) -> Any:
    """The value, or None. json's own errors carry the whole text, so they end here."""
    try:
        # float, because int refuses numbers of many digits; no number is of interest.
        return json.loads(text, parse_int=float, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError("NaN and Infinity are no JSON")


def _advisory(entry: dict[str, Any], place: str) -> MnemomAdvisory:
    source, text = _member(entry, "source", place), _member(entry, "text", place)
    severity, id = _member(entry, "severity", place), _member(entry, "id", place)
    if source is None or text is None:
        raise ValueError(f"{place}: no source or no text")
    advisory = MnemomAdvisory(source=source, text=text)
    if severity:
        advisory["severity"] = severity
    if id:
        advisory["id"] = id
    return advisory


def _member(entry: dict[str, Any], name: str, place: str) -> Optional[str]:
    """A string member; None when it is absent or null."""
    value = entry.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{place}: {name} is not a string")
    # Half a surrogate pair is no character, and raises wherever it is encoded later.
    return _SURROGATE.sub("\ufffd", value)
