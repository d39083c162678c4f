"""What the contract promises of every answer, and schemathesis does not know."""

import hashlib
import json
import re
from datetime import datetime, timedelta, timezone
from urllib.parse import urlsplit

import schemathesis
from hypothesis import strategies as st

VERSIONS = ["2026-04-13", "2026-11-01"]
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
VERDICT = re.compile("; ".join(f"{at}=(pass|observed|nudged|enforced)" for at in ("front", "autonomy", "integrity", "back")))
OWN = re.compile(r"x-(mnemom|aip|safe-house|smoltbot)-|x-webhook-")
# What happened, and so happened lately.
MOMENT = re.compile(r'"(?:created_at|updated_at|claimed_at|revoked_at|last_seen|since|time)":"([0-9]{4})-')
# Of these, which an answer may have.
KNOWN = {
    "x-mnemom-request-id", "x-mnemom-verdict", "x-mnemom-advisory", "x-mnemom-agent", "x-mnemom-session",
    "x-mnemom-schema", "x-mnemom-version", "x-aip-verdict", "x-aip-checkpoint-id",
}  # fmt: skip

# Webhooks are really sent, so that no name may resolve (RFC 2606).
schemathesis.openapi.format(
    "uri",
    st.builds(
        "{}://{}.invalid{}".format,
        st.sampled_from(["https", "http"]),
        st.from_regex("[a-z0-9]{1,20}", fullmatch=True),
        st.from_regex("(:[1-9][0-9]{0,3})?(/[a-zA-Z0-9._~-]{0,20}){0,3}", fullmatch=True),
    ),
)
# Times that can be kept, in the time zones that there are.
schemathesis.openapi.format(
    "date-time",
    st.datetimes(
        datetime(1971, 1, 1), datetime(2260, 12, 31), timezones=st.integers(-14, 14).map(lambda h: timezone(timedelta(hours=h)))
    ).map(datetime.isoformat),
)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Lets no generated URL reach the network, no request wait for long, and most Idempotency-Keys be those of one request."""
    url = case.body.get("url") if isinstance(case.body, dict) else None
    if isinstance(url, str) and not harmless(url):
        case.body["url"] = "https://receiver.invalid/"
    wait = str((case.query or {}).get("wait", ""))
    if wait.isdecimal() and 1 < int(wait) <= 60:
        case.query["wait"] = "1"  # nobody decides meanwhile
    key = (case.headers or {}).get("Idempotency-Key")
    if key and len(key) <= MAX_KEY - MARK and (mark := fingerprint(case))[0] not in "0123":
        case.headers["Idempotency-Key"] = key + mark


MAX_KEY = 255
MARK = 8  # characters


def fingerprint(case):
    """The same for the same request. Without it nearly all keys that are drawn were used for another one before."""
    said = repr((case.method, case.path, case.path_parameters, case.query, case.body, sorted((case.headers or {}).items())))
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:MARK]


def harmless(url):
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return True  # nobody can send there
    return parts.scheme not in ("http", "https") or not host or host.endswith(".invalid")


@schemathesis.check
def header_surface(ctx, response, case):
    """Every answer has the header surface, to the letter, and nothing else in the gateway's namespaces."""
    headers = {name.lower(): values for name, values in response.headers.items()}
    for name, values in headers.items():
        assert len(values) == 1, f"{name} comes {len(values)} times"
        assert name in KNOWN or not OWN.match(name), f"{name} is no header of the contract"
    one = {name: values[0] for name, values in headers.items()}

    request_id = one.get("x-mnemom-request-id", "")
    assert UUID4.fullmatch(request_id), f"X-Mnemom-Request-Id: {request_id!r}"
    verdict = one.get("x-mnemom-verdict", "")
    assert VERDICT.fullmatch(verdict), f"X-Mnemom-Verdict: {verdict!r}"
    if "x-mnemom-advisory" in one:
        advisory(one["x-mnemom-advisory"])
    if response.status_code == 401:
        assert "www-authenticate" in one, "401 without WWW-Authenticate"
    if response.status_code == 405:
        assert one.get("allow"), "405 without Allow"
    if native(case):
        api_headers(one, response, case)


def native(case):
    tags = case.operation.definition.raw.get("tags", [])
    return not {"operations", "inspected", "pass-through", "closed"} & set(tags) and not elsewhere(case)


def elsewhere(case):
    """Whether the path is another one than the operation's: an id that an answer left empty makes a path with an empty segment."""
    return "" in (case.path_parameters or {}).values()


def advisory(text):
    assert text.isascii() and len(text) <= 2048, "X-Mnemom-Advisory is too long or not ASCII"
    entries = json.loads(text)
    assert 1 <= len(entries) <= 5, "X-Mnemom-Advisory has no entry, or too many"
    assert all(entry["source"] and entry["text"] for entry in entries), "an advisory without source or text"


def api_headers(one, response, case):
    """What the API has besides."""
    asked = (case.headers or {}).get("X-Mnemom-Version") or ""
    assert one.get("x-mnemom-version") == applied(asked), f"version {one.get('x-mnemom-version')}, asked for {asked!r}"
    assert one.get("cache-control") == "no-store", "an answer of the API may be cached"
    schema = one.get("x-mnemom-schema")
    if 200 <= response.status_code < 300 and response.status_code != 204:
        assert re.fullmatch(r"[a-z_]+/v1", schema or ""), f"X-Mnemom-Schema: {schema!r}"
    else:
        assert schema is None, "X-Mnemom-Schema on an answer without a resource"
    if "idempotent-replay" in one:
        assert one["idempotent-replay"] == "true" and "Idempotency-Key" in (case.headers or {}), "a replay that nobody asked for"
    years = {int(year) for year in MOMENT.findall(response.text)}
    assert all(2020 < year < 2100 for year in years), f"an answer tells of the years {years}"
    if schema == "agent/v1":
        old = one["x-mnemom-version"] < "2026-11-01"
        assert ("status" in response.json()) == old, "the agent is not in the shape of its version"


def applied(asked):
    """The nearest earlier version; the first for what is older than all, the latest for what is no date."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", asked):
        return VERSIONS[-1]
    return max([v for v in VERSIONS if v <= asked], default=VERSIONS[0])


# What a schema cannot say of a request: it depends on the time or on requests before.
UNSAYABLE = {"this Idempotency-Key was used for another request", "expires_at is in the past"}


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps every failure but the few that are none."""
    if elsewhere(case):
        return response.status_code not in (404, 405)
    if failure.code == "ST202":  # a valid request was refused
        message = response.json()["error"]["message"]
        return message not in UNSAYABLE and not message.startswith("scope ")  # of a grant: a text that is no condition
    # Parameters that no operation knows are passed over; where before_call has shortened a wait, schemathesis takes them for what is wrong.
    if failure.code == "ST201" and "wait" in (case.query or {}) and "additionalProperties" in failure.message:
        return False
    # A deleted resource is still there: DELETE revokes a key, which stays to be seen.
    return not (failure.code == "ST301" and case.operation.path == "/v1/keys/{id}")
