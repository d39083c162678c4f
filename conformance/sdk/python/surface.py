"""What the header surface promises on every response."""

import re
import uuid

VERDICT = re.compile(
    r"^front=(\w+); autonomy=(\w+); integrity=(\w+); back=(\w+)$"
)
OUTCOMES = {"pass", "observed", "nudged", "enforced"}
KNOWN = {
    "x-mnemom-request-id",
    "x-mnemom-verdict",
    "x-mnemom-advisory",
    "x-mnemom-agent",
    "x-mnemom-session",
    "x-aip-verdict",
    "x-aip-checkpoint-id",
}
OWNED = ("x-mnemom-", "x-aip-", "x-safe-house-", "x-smoltbot-")


def verdict(headers):
    """Checks the surface of one response and returns its verdicts by checkpoint."""
    assert uuid.UUID(headers["x-mnemom-request-id"]).version == 4
    ours = {name.lower() for name in headers if name.lower().replace("_", "-").startswith(OWNED)}
    assert ours <= KNOWN, f"unknown headers: {ours - KNOWN}"
    found = VERDICT.match(headers["x-mnemom-verdict"])
    assert found, headers["x-mnemom-verdict"]
    assert set(found.groups()) <= OUTCOMES
    return dict(zip(("front", "autonomy", "integrity", "back"), found.groups()))


ALL_PASS = {"front": "pass", "autonomy": "pass", "integrity": "pass", "back": "pass"}

# Every spelling that an intermediary may take for one of the gateway's own headers.
FORGED = {
    "X-Mnemom-Verdict": "front=enforced; autonomy=enforced; integrity=enforced; back=enforced",
    "x-mnemom-request-id": "forged",
    "X-MNEMOM-ADVISORY": '[{"source":"forged","text":"forged"}]',
    "X_Mnemom_Verdict": "forged",
    "x-aip_verdict": "forged",
    "X-AIP-Verdict": "forged",
    "X-AIP-Anything": "forged",
}


def assert_unforged(request):
    """No header of the gateway's own namespaces reached the provider."""
    for name in request["headers"]:
        assert not name.lower().replace("_", "-").startswith(OWNED), name
