"""Runs the vectors that the parsers of all languages share."""

import json
from pathlib import Path

import pytest

import gatehouse

VECTORS = json.loads((Path(__file__).parents[3] / "verdict/testdata/vectors.json").read_text("utf-8"))
RANKS = {"info": 1, "warn": 2, "critical": 3}


def named(kind):
    return [pytest.param(c, id=c.get("name", ascii(c["header"]))) for c in VECTORS[kind]]


def test_every_kind_of_vector_is_run():
    assert sorted(VECTORS) == ["advisories", "aip", "parse_advisories", "verdicts"]
    assert all(VECTORS.values())


def expect(parse, header, want):
    """Checks a result, or that there is none: want is None where the vector says error."""
    if want is None:
        with pytest.raises(ValueError):
            parse(header)
    else:
        assert parse(header) == want


@pytest.mark.parametrize("case", named("verdicts"))
def test_verdict(case):
    assert gatehouse.parse_mnemom_verdict(case["header"]) == case["tolerant"]
    assert ("strict" in case) != case.get("error", False)
    expect(gatehouse.parse_mnemom_verdict_strict, case["header"], case.get("strict"))


@pytest.mark.parametrize("case", named("parse_advisories"))
def test_advisories(case):
    assert ("entries" in case) != case.get("error", False)
    expect(gatehouse.parse_mnemom_advisories, case["header"], case.get("entries"))


@pytest.mark.parametrize("case", named("aip"))
def test_aip(case):
    assert ("word" in case) != case.get("error", False)
    expect(gatehouse.parse_aip_verdict, case["header"], case.get("word"))


@pytest.mark.parametrize("case", named("advisories"))
def test_what_a_gateway_writes_reads_back(case):
    """These vectors are a formatter's: entries in, header out. Long texts and sources come back shortened."""
    written = sorted(case["entries"], key=lambda e: -RANKS.get(e.get("severity"), 0))[:5]
    read = gatehouse.parse_mnemom_advisories(case["header"])
    assert len(read) == len(written)
    for got, want in zip(read, written):
        for member in ("source", "text"):
            cut = got[member].endswith("...") and want[member].startswith(got[member][:-3])
            assert got[member] == want[member] or cut
        assert got.get("severity") == (want.get("severity") if want.get("severity") in RANKS else None)
        assert got.get("id") in (want.get("id"), None)
