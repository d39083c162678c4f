"""Reads the header surface of a checkpoint gateway: X-Mnemom-Verdict, X-Mnemom-Advisory, X-AIP-Verdict and the ids beside them.

It uses the standard library only. Errors are ValueErrors and never quote a header.
"""

from .advisory import MnemomAdvisory, parse_mnemom_advisories
from .aip import AIPVerdict, parse_aip_verdict
from .headers import Headers, Surface, surface
from .verdict import (
    CanonicalVerdicts,
    CheckpointVerdicts,
    VerdictValue,
    is_verdict_value,
    parse_mnemom_verdict,
    parse_mnemom_verdict_strict,
)

__all__ = [
    "AIPVerdict",
    "CanonicalVerdicts",
    "CheckpointVerdicts",
    "Headers",
    "MnemomAdvisory",
    "Surface",
    "VerdictValue",
    "is_verdict_value",
    "parse_aip_verdict",
    "parse_mnemom_advisories",
    "parse_mnemom_verdict",
    "parse_mnemom_verdict_strict",
    "surface",
]
