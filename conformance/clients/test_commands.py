"""Each command line at each API that it speaks, through either way to stream. None of them asks for whole answers."""

import os

import pytest

from commands import COMMANDS, CodexAsItComes
from conftest import VERSIONS
from test_frameworks import INJECTION, MORE, PAGE, SAID, streamed
from witness import Witness


@pytest.fixture(params=["window", "buffer"])
def way(request):
    return request.param


@pytest.fixture(params=[(c, door) for c in COMMANDS for door in c.doors], ids=lambda p: f"{p[0].name}-{p[1]}")
def client(request):
    return request.param


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def run(client, tap, home, tmp_path):
    """Runs the command in an empty folder, with a prompt."""
    command, door = client
    VERSIONS[command.name] = {command.package: command.version()}

    def ran(prompt):
        return command.run(tap.url, door, key(), prompt, home, tmp_path)

    return ran


def key():
    """A provider key of its own for every run, and so an agent of its own."""
    return "sk-" + os.urandom(16).hex()


@pytest.fixture
def shell(client):
    """The order to run a line in the command's own shell."""
    return lambda line: f"Please [[call {client[0].shell(line)}]]"


def judged(witness, client, verdict):
    """The exchanges of the conversation in which the command's shell was called, from that on. All were streamed and could be read."""
    exchanges = witness.exchanges()
    assert {(x.record["status"], x.record["stream"], x.read) for x in exchanges} == {(200, True, True)}
    (first,) = [i for i, x in enumerate(exchanges) if x.calls]
    assert exchanges[first].calls == [(client[0].shell("").split()[0], verdict)]
    return [x for x in exchanges[first:] if x.record["session_id"] == exchanges[first].record["session_id"]]


def test_a_plain_answer(run, provider, client, witness):
    done = run(f"Please [[say {SAID}]] Thank you.")
    assert done.status == 0, done.output
    assert done.texts == [SAID], done.output
    assert all(streamed(request) for request in provider.requests())
    edits = [request["body"].count("by the gateway") for request in provider.requests()]
    assert max(edits) <= client[0].false_alarms, "the gateway has edited the command's own words"
    exchanges = witness.exchanges()
    assert len(exchanges) == len(provider.requests())
    assert all(x.enforced == ["front"] * (client[0].false_alarms > 0) and x.read and x.calls == [] for x in exchanges)


def test_a_tool_runs(run, shell, tmp_path, client, witness):
    (tmp_path / "page.txt").write_text(PAGE)
    done = run(shell("cat page.txt | tee copy.txt"))
    assert done.status == 0, done.output
    assert (tmp_path / "copy.txt").read_text() == PAGE
    assert done.texts[-1].startswith("The tool said: ") and PAGE in done.texts[-1]
    called, told = judged(witness, client, "allow")
    assert "autonomy" not in called.enforced and told.enforced in ([], called.enforced)


def test_a_poisoned_result_is_cleaned(run, shell, provider, tmp_path, client, witness):
    (tmp_path / "page.txt").write_text(f"{PAGE}\n\n{INJECTION}\n\n{MORE}")
    done = run(shell("cat page.txt"))
    assert done.status == 0, done.output
    assert PAGE in done.texts[-1] and MORE in done.texts[-1]
    assert any(PAGE in request["body"] for request in provider.requests())
    assert not any("Ignore all previous" in request["body"] for request in provider.requests())
    _, told = judged(witness, client, "allow")
    assert told.enforced == ["front"]


def test_a_blocked_call_does_not_run(run, shell, tmp_path, client, witness):
    done = run(shell("echo forbidden > made.txt"))
    assert done.status == 0, done.output
    assert not (tmp_path / "made.txt").exists()
    assert "did not run" in done.texts[-1]
    (called,) = judged(witness, client, "block")
    assert "autonomy" in called.enforced


def test_an_injected_prompt_is_stopped(run, provider, witness):
    done = run(INJECTION)
    assert any(text.startswith("This request was stopped by the front checkpoint") for text in done.texts), done.output
    assert not any("Ignore all previous" in request["body"] for request in provider.requests())
    stopped = [x for x in witness.exchanges() if x.stopped]
    assert stopped and all((x.record["status"], x.enforced) == (200, ["front"]) for x in stopped)


def test_codex_goes_on_without_a_websocket(gateways, home, tmp_path):
    gateways["window"].clear()
    done = CodexAsItComes().run(gateways["window"].url, "responses", key(), f"Please [[say {SAID}]] Thank you.", home, tmp_path)
    assert done.status == 0, done.output
    assert done.texts == [SAID], done.output
    *refused, answered = Witness(gateways["window"]).exchanges()
    assert {(x.record["status"], x.record["error"]) for x in refused} == {(403, "uninspected_endpoint")}
    assert (answered.record["status"], answered.record["stream"]) == (200, True)
