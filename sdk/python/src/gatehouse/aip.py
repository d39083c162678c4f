from __future__ import annotations

from typing import Literal, Optional, Tuple

from ._space import SPACE

AIPVerdict = Literal["clear", "ambiguous", "boundary_violation", "skipped", "pending", "disabled", "error", "pass"]
"""The raw word of X-AIP-Verdict: how far the analysis of the model's reasoning came and what it found.

clear, ambiguous (worth a look) and boundary_violation are findings. skipped: there was no reasoning. pending: a stream is
still running, and the last word comes in a trailer. disabled: the mode is off. error: the analysis did not come to an
end. pass is an older word for clear.
"""

_WORDS: Tuple[AIPVerdict, ...] = (
    "clear",
    "ambiguous",
    "boundary_violation",
    "skipped",
    "pending",
    "disabled",
    "error",
    "pass",
)


def parse_aip_verdict(header_value: Optional[str]) -> AIPVerdict:
    """Reads an X-AIP-Verdict header. White space around the word is ignored.

    Raises ValueError on a word that is not in the list, and on an absent header (None).
    """
    header = (header_value or "").strip(SPACE)
    for word in _WORDS:
        if word == header:
            return word
    raise ValueError("parse X-AIP-Verdict: unknown word")
