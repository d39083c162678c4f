"""What the gateway said and kept of the exchanges of a test, next to what its client made of them."""

import dataclasses
import time

from surface import recorded, told

CHECKPOINTS = ("front", "autonomy", "integrity", "back")
PATIENCE = 4  # seconds until an answer that its client has read must have ended


@dataclasses.dataclass
class Exchange:
    """One exchange by its record, which its headers agree with."""

    record: dict

    @property
    def passed(self):
        return set(self.record["verdicts"].values()) == {"pass"}

    @property
    def enforced(self):
        """The checkpoints that changed something."""
        return [at for at in CHECKPOINTS if self.record["verdicts"][at] == "enforced"]

    @property
    def stopped(self):
        """Whether front has stopped it: the model was not asked."""
        return any((d["at"], d["verdict"]) == ("front", "block") for d in self.record["decisions"])

    @property
    def calls(self):
        """The tool calls that were judged, and their verdicts."""
        return [(call["tool"], call["verdict"]) for d in self.record["decisions"] for call in d["calls"]]

    @property
    def read(self):
        """Whether there was nothing in it that no detector can read."""
        return all(a["source"] != "gatehouse.coverage" for a in self.record["advisories"])


class Witness:
    """Reads the gateway's answers at the tap, and its records."""

    def __init__(self, tap):
        self.tap = tap

    def exchanges(self):
        """Every exchange since the test began, in order."""
        deadline = time.monotonic() + PATIENCE
        while not all(map(complete, answers := self.tap.heard())) and time.monotonic() < deadline:
            time.sleep(0.02)
        return sorted((Exchange(agreed(*answer)) for answer in answers), key=lambda x: x.record["created_at"])


def complete(answer):
    """Whether the final verdicts of an answer have come."""
    _, headers, trailers = answer
    return "trailer" not in headers or trailers


def agreed(status, headers, trailers):
    """The record of an answer. What its headers and trailers say is the same."""
    says = told(headers)
    record = recorded(headers["x-mnemom-request-id"])
    final = record["verdicts"]
    if "trailer" in headers:
        assert headers["x-aip-verdict"] == "pending"
        assert says["front"] == final["front"]
        says = told({**headers, **trailers})
    assert says == final
    assert status == record["status"]
    assert headers.get("x-mnemom-agent", "") == record["agent_id"]
    assert headers.get("x-mnemom-session", "") == record["session_id"]
    return record
