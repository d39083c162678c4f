from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Iterable, List, Optional, Protocol, Tuple

from .advisory import MnemomAdvisory, parse_mnemom_advisories
from .aip import AIPVerdict, parse_aip_verdict
from .verdict import CheckpointVerdicts, parse_mnemom_verdict


class Headers(Protocol):
    """Response headers: those of requests, httpx, aiohttp, urllib3 or http.client, or a dict. Names match case-insensitively."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


@dataclass
class Surface:
    """What a gateway said about one response. What it did not say is None."""

    request_id: Optional[str] = None
    """X-Mnemom-Request-Id: the id under which the gateway logged and recorded the exchange."""

    verdicts: Optional[CheckpointVerdicts] = None
    """X-Mnemom-Verdict, read tolerantly. None means that no gateway spoke, not that all is well."""

    advisories: List[MnemomAdvisory] = field(default_factory=list)
    """X-Mnemom-Advisory, most severe first. Empty when there are none."""

    agent: Optional[str] = None
    """X-Mnemom-Agent: whom the gateway took the client for."""

    session: Optional[str] = None
    """X-Mnemom-Session: the conversation that the exchange belongs to."""

    aip_verdict: Optional[AIPVerdict] = None
    """X-AIP-Verdict: the raw word of the analysis."""

    checkpoint_id: Optional[str] = None
    """X-AIP-Checkpoint-Id: where the analysis is stored."""

    malformed: List[str] = field(default_factory=list)
    """The names of headers that were there and could not be read; their fields above are as if absent."""


def surface(headers: Headers) -> Surface:
    """Reads the whole header surface of a response. It never raises on what a header says: see Surface.malformed."""
    values = _lower_cased(headers)
    read = Surface(
        request_id=values.get("x-mnemom-request-id"),
        agent=values.get("x-mnemom-agent"),
        session=values.get("x-mnemom-session"),
        checkpoint_id=values.get("x-aip-checkpoint-id"),
    )
    verdict = values.get("x-mnemom-verdict")
    if verdict is not None:
        read.verdicts = parse_mnemom_verdict(verdict)
    try:
        read.advisories = parse_mnemom_advisories(values.get("x-mnemom-advisory"))
    except ValueError:
        read.malformed.append("X-Mnemom-Advisory")
    aip = values.get("x-aip-verdict")
    if aip is not None:
        try:
            read.aip_verdict = parse_aip_verdict(aip)
        except ValueError:
            read.malformed.append("X-AIP-Verdict")
    return read


def _lower_cased(headers: Headers) -> Dict[str, str]:
    """Values by lower-cased name, without empty ones. Those of one name are joined by a comma (RFC 9110, section 5.3)."""
    values: Dict[str, List[str]] = {}
    for name, value in headers.items():
        if value:
            values.setdefault(name.lower(), []).append(value)
    return {name: ", ".join(given) for name, given in values.items()}
