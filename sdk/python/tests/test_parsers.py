import email.message

import pytest

import gatehouse

ALL_EMPTY = {"front": "", "autonomy": "", "integrity": "", "back": ""}


@pytest.mark.parametrize("header", [None, "", ";;;", "=", "\x00"])
def test_the_tolerant_parser_never_raises(header):
    assert gatehouse.parse_mnemom_verdict(header) == ALL_EMPTY


def test_an_absent_header():
    assert gatehouse.parse_mnemom_advisories(None) == []
    for parse in (gatehouse.parse_mnemom_verdict_strict, gatehouse.parse_aip_verdict):
        with pytest.raises(ValueError):
            parse(None)


@pytest.mark.parametrize(
    "header, front",
    [("\x85\u3000front=pass\xa0", "pass"), ("\x1cfront=pass", ""), ("\ufefffront=pass", ""), ("front=pass\x1f", "pass\x1f")],
)
def test_space_is_unicode_white_space(header, front):
    assert gatehouse.parse_mnemom_verdict(header)["front"] == front


@pytest.mark.parametrize("value", ["pass", "observed", "nudged", "enforced"])
def test_a_verdict_value(value):
    assert gatehouse.is_verdict_value(value)


@pytest.mark.parametrize("value", ["", "unverified", "PASS", " pass"])
def test_not_a_verdict_value(value):
    assert not gatehouse.is_verdict_value(value)


@pytest.mark.parametrize(
    "header",
    [
        "[" * 100_000,
        '[{"source":"s","text":"t","x":NaN}]',
        '[{"source":"s","text":"t","x":-Infinity}]',
        '[["source","text"]]',
        "[1]",
        "\ufeff[]",
    ],
    ids=["too deep", "NaN", "-Infinity", "array entry", "number entry", "byte order mark"],
)
def test_no_advisories_but_an_error(header):
    with pytest.raises(ValueError):
        gatehouse.parse_mnemom_advisories(header)


def test_what_advisories_tolerate():
    header = '[{"source":"s","text":"a\\ud800b","severity":"","id":"","n":%s,"text2":1}]' % ("9" * 5000)
    (got,) = gatehouse.parse_mnemom_advisories(header)
    assert got == {"source": "s", "text": "a\ufffdb"}
    got["text"].encode("utf-8")


@pytest.mark.parametrize(
    "parse, header",
    [
        (gatehouse.parse_mnemom_verdict_strict, "front=sk-secret; autonomy=pass; integrity=pass; back=pass"),
        (gatehouse.parse_mnemom_advisories, "sk-secret"),
        (gatehouse.parse_mnemom_advisories, '[{"source":"sk-secret"}]'),
        (gatehouse.parse_aip_verdict, "sk-secret"),
    ],
)
def test_errors_do_not_quote(parse, header):
    with pytest.raises(ValueError) as caught:
        parse(header)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


WHOLE = {
    "X-Mnemom-Request-Id": "8f446ed6-ca87-4c1d-aa90-e2bc6e9ef580",
    "X-Mnemom-Verdict": "front=pass; autonomy=pass; integrity=enforced; back=pass",
    "X-Mnemom-Advisory": '[{"source":"safe_house.dlp","text":"seen","severity":"warn"}]',
    "X-Mnemom-Agent": "agent-1",
    "X-Mnemom-Session": "session-1",
    "X-AIP-Verdict": "boundary_violation",
    "X-AIP-Checkpoint-Id": "ic-1",
}


def message(headers):
    """Headers as http.client and urllib hand them out."""
    m = email.message.Message()
    for name, value in headers.items():
        m[name] = value
    return m


@pytest.mark.parametrize(
    "headers",
    [WHOLE, {n.lower(): v for n, v in WHOLE.items()}, {n.upper(): v for n, v in WHOLE.items()}, message(WHOLE)],
    ids=["as written", "lower case", "upper case", "http.client"],
)
def test_surface(headers):
    assert gatehouse.surface(headers) == gatehouse.Surface(
        request_id="8f446ed6-ca87-4c1d-aa90-e2bc6e9ef580",
        verdicts={"front": "pass", "autonomy": "pass", "integrity": "enforced", "back": "pass"},
        advisories=[{"source": "safe_house.dlp", "text": "seen", "severity": "warn"}],
        agent="agent-1",
        session="session-1",
        aip_verdict="boundary_violation",
        checkpoint_id="ic-1",
    )


def test_surface_of_httpx():
    httpx = pytest.importorskip("httpx")
    assert gatehouse.surface(httpx.Headers(WHOLE)) == gatehouse.surface(WHOLE)


def test_surface_of_a_response_without_a_gateway():
    got = gatehouse.surface({"Content-Type": "text/plain", "X-Mnemom-Agent": ""})
    assert got == gatehouse.Surface()
    assert got.verdicts is None


def test_surface_names_what_it_cannot_read():
    got = gatehouse.surface({**WHOLE, "X-Mnemom-Advisory": "[", "X-AIP-Verdict": "fine"})
    assert got.malformed == ["X-Mnemom-Advisory", "X-AIP-Verdict"]
    assert (got.advisories, got.aip_verdict) == ([], None)
    assert got.verdicts is not None and got.verdicts["integrity"] == "enforced"


def test_surface_joins_repeated_headers():
    m = message(WHOLE)
    m["x-mnemom-agent"] = "agent-2"
    assert gatehouse.surface(m).agent == "agent-1, agent-2"
