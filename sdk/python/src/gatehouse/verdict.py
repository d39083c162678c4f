from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Optional, TypedDict

from ._space import SPACE

if TYPE_CHECKING:
    from typing_extensions import TypeGuard

VerdictValue = Literal["pass", "observed", "nudged", "enforced"]
"""What one checkpoint did, from weakest to strongest.

pass: it ran and the exchange was clean. observed: something was seen and left as it was. nudged: a warning was added.
enforced: something was replaced, redacted, withheld or refused.
"""

_VALUES = ("pass", "observed", "nudged", "enforced")
_CHECKPOINTS = ("front", "autonomy", "integrity", "back")


class CheckpointVerdicts(TypedDict):
    """One X-Mnemom-Verdict header as it was read: what each checkpoint did.

    A checkpoint that the header did not have is "", and a value that is not a VerdictValue stands as it came; other
    gateways write "unverified" for an analysis that did not come to an end.
    """

    front: str
    autonomy: str
    integrity: str
    back: str


class CanonicalVerdicts(TypedDict):
    """One X-Mnemom-Verdict header in its canonical form: four checkpoints, four known values."""

    front: VerdictValue
    autonomy: VerdictValue
    integrity: VerdictValue
    back: VerdictValue


def is_verdict_value(value: str) -> TypeGuard[VerdictValue]:
    """Reports whether a value is one of the four that a gateway writes.

    Ask it before trusting a value that was read tolerantly.
    """
    return value in _VALUES


def parse_mnemom_verdict(header_value: Optional[str]) -> CheckpointVerdicts:
    """Reads an X-Mnemom-Verdict header as any client may.

    Pairs come in any order, with any spacing around them; what it does not know is skipped. The last of several pairs
    with one name counts, and names match case-sensitively. It never raises: a header that is absent (None) or is
    something else gives four empty values, none of which reads as "pass".
    """
    found = dict.fromkeys(_CHECKPOINTS, "")
    for pair in (header_value or "").split(";"):
        name, equals, value = pair.strip(SPACE).partition("=")
        if equals and name in found:
            found[name] = value
    return CheckpointVerdicts(
        front=found["front"], autonomy=found["autonomy"], integrity=found["integrity"], back=found["back"]
    )


def parse_mnemom_verdict_strict(header_value: Optional[str]) -> CanonicalVerdicts:
    """Reads an X-Mnemom-Verdict header that follows the canonical grammar to the byte.

        front=V; autonomy=V; integrity=V; back=V      V = pass | observed | nudged | enforced

    Raises ValueError, which names the place, on anything else, an absent header (None) included.
    """
    pairs = (header_value or "").split("; ")
    if len(pairs) != len(_CHECKPOINTS):
        raise ValueError(f"parse X-Mnemom-Verdict: {len(pairs)} pairs, want {len(_CHECKPOINTS)}")
    front, autonomy, integrity, back = (
        _value(pair, place, name) for place, (pair, name) in enumerate(zip(pairs, _CHECKPOINTS), start=1)
    )
    return CanonicalVerdicts(front=front, autonomy=autonomy, integrity=integrity, back=back)


def _value(pair: str, place: int, checkpoint: str) -> VerdictValue:
    name, equals, value = pair.partition("=")
    if name != checkpoint or not equals:
        raise ValueError(f"parse X-Mnemom-Verdict: pair {place} is not {checkpoint}")
    if not is_verdict_value(value):
        raise ValueError(f"parse X-Mnemom-Verdict: unknown value of {checkpoint}")
    return value
