"""What the header surface promises on every response."""

import re
import time
import uuid

import httpx

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


ADMIN = "an-admin-token-for-these-tests-only"
GATEWAYS = []  # addresses of those that run


def verdict(headers):
    """Checks the surface of one response and returns its verdicts by checkpoint: the final ones, which the headers of a
    stream do not know."""
    found = told(headers)
    if headers.get("x-aip-verdict") != "pending":
        return found
    final = recorded(headers["x-mnemom-request-id"])["verdicts"]
    assert final["front"] == found["front"], "what front has decided is final"
    return final


def recorded(request_id):
    """The record of an exchange, which is written before the stream's terminal event, or soon after."""
    for _ in range(100):
        for url in GATEWAYS:
            answer = httpx.get(f"{url}/v1/requests/{request_id}", headers={"X-Mnemom-Api-Key": ADMIN}, timeout=20)
            if answer.status_code == 200:
                return answer.json()
        time.sleep(0.02)
    raise AssertionError("there is no record")


def told(headers):
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
