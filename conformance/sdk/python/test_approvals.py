"""Flagged calls wait for a human: both SDKs at the doors, and plain HTTP for the human and for the questions of an agent."""

import concurrent.futures
import contextlib
import itertools
import json
import os
import re
import threading
import time

import httpx
import pytest

from dialogues import DIALOGUES, OpenAI
from gates import TIMEOUT, Gate, well
from servers import serving
from surface import ADMIN, verdict

EXPIRE = 60  # seconds, the least that the configuration takes
NOTICE = re.compile(r"\bapr-[0-9a-f]{32}\b")


@pytest.fixture(scope="module")
def gates(binaries, started_provider, tmp_path_factory):
    """Starts a gateway for each configuration of approvals that is asked for, once."""
    started = {}
    with contextlib.ExitStack() as stack:

        def gate(name="plain", **approvals):
            if name not in started:
                config = {
                    "approvals": approvals,
                    "auth": {"admin_token": ADMIN},
                    "tools": {"rules": [{"tool": "wipe", "verdict": "block"}]},
                }
                folder = tmp_path_factory.mktemp(name)
                started[name] = Gate(stack.enter_context(serving(binaries, started_provider, folder, **config)))
                stack.callback(started[name].human.close)
            return started[name]

        yield gate


@pytest.fixture
def gate(gates):
    return gates()


@pytest.fixture(
    params=list(itertools.product(DIALOGUES, (False, True))), ids=lambda p: f"{p[0].name}-{'streamed' if p[1] else 'whole'}"
)
def talk(request):
    """Begins a conversation at a gateway, with a key of its own, and so of an agent of its own."""
    kind, streamed = request.param

    def begin(gate):
        return kind(gate.url, key(), streamed)

    return begin


def key():
    return "sk-" + os.urandom(16).hex()


def mail(dialogue):
    return "call send_email " + dialogue.arguments


def noticed(said, dialogue):
    """The approval that a turn names in place of a call."""
    assert said.calls == []
    assert said.finish == dialogue.ended
    (id,) = set(NOTICE.findall(said.text))
    assert "send_email" in said.text
    assert verdict(said.headers)["autonomy"] == "enforced"
    return id


def test_an_approved_call_is_delivered_once(gate, talk, provider):
    dialogue = talk(gate)
    said = dialogue.say(mail(dialogue))
    id = noticed(said, dialogue)
    assert f"{gate.url}/v1/approvals/{id}" in said.text
    waiting = gate.approval(id)
    assert waiting["state"] == "pending"
    assert (waiting["agent_id"], waiting["session"]) == (said.headers["x-mnemom-agent"], said.headers["x-mnemom-session"])
    assert waiting["request_id"] == said.headers["x-mnemom-request-id"]
    assert waiting["arguments"] == json.loads(dialogue.arguments)

    before = dialogue.fork()
    decided = gate.decide("approve", id, note="asked the customer")
    assert (decided["state"], decided["note"]) == ("approved", "asked the customer")
    provider.clear()
    said = dialogue.say("go on")
    assert provider.requests() == [], "the model is not asked"
    (call,) = said.calls
    assert (call.id, call.name, call.arguments) == (waiting["call_id"], "send_email", dialogue.arguments)
    assert json.loads(call.arguments)["account"] == 12345678901234567890
    assert said.finish == dialogue.called
    assert verdict(said.headers)["autonomy"] == "observed"
    used = gate.approval(id)
    assert (used["state"], used["consumed_by"]) == ("consumed", said.headers["x-mnemom-request-id"])
    assert used["result_at"] is None
    assert [a["id"] for a in gate.approvals(undelivered="true", agent=used["agent_id"])] == [id]

    said = dialogue.give([(call, "it is sent")])
    assert said.text == "The tool said: it is sent"
    assert verdict(said.headers)["autonomy"] == "pass"
    (sent,) = provider.requests()
    assert dialogue.ids(json.loads(sent["body"])["messages"]) == ([call.id], [call.id])
    done = until(lambda: (a := gate.approval(id))["result_at"] and a)
    assert done["state"] == "consumed"
    assert gate.approvals(undelivered="true", agent=used["agent_id"]) == []

    for once_more in (before, dialogue):
        said = once_more.say("go on")
        assert (said.text, said.calls) == ("You said: go on", [])
    assert [a["id"] for a in gate.approvals(agent=used["agent_id"])] == [id]


def test_nothing_is_delivered_before_somebody_has_approved(gate, talk, provider):
    dialogue = talk(gate)
    id = noticed(dialogue.say(mail(dialogue)), dialogue)
    said = dialogue.fork().say("go on")
    assert (said.text, said.calls) == ("You said: go on", [])
    assert gate.approval(id)["state"] == "pending", "polling uses nothing up"
    assert noticed(dialogue.fork().say(mail(dialogue)), dialogue) == id, "the same call waits already"

    gate.decide("approve", id)
    (call,) = dialogue.say("go on").calls
    assert call.arguments == dialogue.arguments


@pytest.mark.parametrize("verbs, state", [(["deny"], "denied"), (["approve", "revoke"], "revoked")], ids=["denied", "revoked"])
def test_a_refused_call_is_not_delivered(gate, talk, provider, verbs, state):
    dialogue = talk(gate)
    id = noticed(dialogue.say(mail(dialogue)), dialogue)
    for verb in verbs:
        refused = gate.decide(verb, id)
    assert refused["state"] == state
    assert refused["arguments"] is None, "what nobody will run is not kept"

    said = dialogue.fork().say("go on")
    assert (said.text, said.calls) == ("You said: go on", [])
    said = dialogue.say(mail(dialogue))
    assert said.calls == [] and said.finish == dialogue.ended
    assert verdict(said.headers)["autonomy"] == "enforced"
    if state == "denied":
        assert NOTICE.findall(said.text) in ([], [id]), "a human has said no: nobody is asked again"
        assert len(gate.approvals(agent=refused["agent_id"])) == 1
    assert gate.human.post(f"/v1/approvals/{id}/approve", json={}).status_code == 409
    assert gate.approval(id)["state"] == state


@pytest.mark.parametrize("verb", ["approve", "deny"])
def test_a_held_call(gates, talk, provider, verb):
    gate = gates("waiting", wait="5s")
    dialogue = talk(gate)
    agent = dialogue.fork().say("Hello").headers["x-mnemom-agent"]
    answered = []
    turn = threading.Thread(target=lambda: answered.append(dialogue.say(mail(dialogue))))
    turn.start()
    (waiting,) = until(lambda: gate.approvals(state="pending", agent=agent))
    assert turn.is_alive() and answered == [], "the answer is held"
    gate.decide(verb, waiting["id"])
    turn.join(timeout=4)
    (said,) = answered
    if verb == "deny":
        assert (said.calls, said.finish) == ([], dialogue.ended)
        assert verdict(said.headers)["autonomy"] == "enforced"
        return
    (call,) = said.calls
    assert (call.id, call.arguments) == (waiting["call_id"], dialogue.arguments)
    assert (said.text, said.finish) == ("", dialogue.called)
    assert verdict(said.headers)["autonomy"] == "observed"
    assert dialogue.give([(call, "it is sent")]).text == "The tool said: it is sent"
    assert until(lambda: gate.approval(waiting["id"])["result_at"])


def test_a_call_that_nobody_decides_on_in_time_goes_as_a_notice(gates, talk, provider):
    gate = gates("waiting", wait="5s")
    dialogue = talk(gate)
    began = time.monotonic()
    id = noticed(dialogue.say(mail(dialogue)), dialogue)
    assert 5 <= time.monotonic() - began < 10
    gate.decide("approve", id)
    (call,) = dialogue.say("go on").calls
    assert call.arguments == dialogue.arguments


@pytest.mark.parametrize("order", ["allowed-first", "flagged-first"])
@pytest.mark.parametrize("when", ["approved", "pending"])
def test_parallel_calls_of_every_kind(gate, talk, provider, when, order):
    dialogue = talk(gate)
    orders = ["call get_time {}", mail(dialogue), "call wipe {}"]
    said = dialogue.say("\n".join(orders if order == "allowed-first" else orders[::-1]))
    assert [c.name for c in said.calls] == ["get_time"]
    assert said.finish == dialogue.called
    assert "wipe" in said.text
    (id,) = set(NOTICE.findall(said.text))
    given = loop(gate, dialogue, said, id if when == "approved" else None)

    assert given == (["get_time", "send_email"] if when == "approved" else ["get_time"])
    assert gate.approval(id)["state"] == ("consumed" if when == "approved" else "pending")
    made, answered = dialogue.ids(json.loads(provider.requests()[-1]["body"])["messages"])
    assert len(made) == len(given) and made == answered, "one result for each call"


def loop(gate, dialogue, said, approve):
    """The loop of an agent: it runs what it is given until there is nothing. The names of the calls that it ran."""
    given = []
    while said.calls:
        assert len(given) < 10, "the loop ends"
        if approve:
            gate.decide("approve", approve)
            approve = None
        given += [c.name for c in said.calls]
        said = dialogue.give([(call, "noon") for call in said.calls])
    assert said.text == "The tool said: noon" and said.finish == dialogue.ended
    return given


def test_identical_parallel_calls_need_one_approval_each(gate, talk, provider):
    dialogue = talk(gate)
    said = dialogue.say(f"{mail(dialogue)}\n{mail(dialogue)}")
    ids = list(dict.fromkeys(NOTICE.findall(said.text)))
    assert len(ids) == 2 and said.calls == []
    waiting = [gate.approval(id) for id in ids]
    gate.decide("approve", ids[1])
    said = dialogue.say("go on")
    assert [c.id for c in said.calls] == [waiting[1]["call_id"]]
    assert [gate.approval(id)["state"] for id in ids] == ["pending", "consumed"]


def test_calls_are_delivered_in_the_order_of_the_model(gate, talk, provider):
    dialogue = talk(gate)
    said = dialogue.say('call send_email {"n":1}\ncall send_email {"n":2}')
    ids = list(dict.fromkeys(NOTICE.findall(said.text)))
    for id in reversed(ids):
        gate.decide("approve", id)
    said = dialogue.say("go on")
    assert [c.arguments for c in said.calls] == ['{"n":1}', '{"n":2}']
    dialogue.give([(call, "it is sent") for call in said.calls])
    assert all(until(lambda: gate.approval(id)["result_at"]) for id in ids)


def test_a_call_that_was_lost_is_delivered_when_approved_again(gate, talk, provider):
    dialogue = talk(gate)
    id = noticed(dialogue.say(mail(dialogue)), dialogue)
    gate.decide("approve", id)
    assert dialogue.fork().say("go on").calls, "and the agent died with it"
    assert dialogue.fork().say("go on").calls == []
    again = gate.decide("approve", id)
    assert again["state"] == "approved" and gate.approval(id)["again"] == again["id"] != id
    (call,) = dialogue.say("go on").calls
    assert (call.id, call.arguments) == (gate.approval(id)["call_id"], dialogue.arguments)
    dialogue.give([(call, "it is sent")])
    assert until(lambda: gate.approval(again["id"])["result_at"])


def test_of_many_who_go_on_at_once_one_is_given_the_call(gate, talk, provider):
    dialogue = talk(gate)
    id = noticed(dialogue.say(mail(dialogue)), dialogue)
    gate.decide("approve", id)
    with concurrent.futures.ThreadPoolExecutor(8) as agents:
        said = list(agents.map(lambda same: same.say("go on"), [dialogue.fork() for _ in range(8)]))
    (call,) = [call for one in said for call in one.calls]
    assert call.arguments == dialogue.arguments
    assert gate.approval(id)["state"] == "consumed"


def test_match_waits_for_the_model(gates, talk, provider):
    gate = gates("matching", resume="match")
    dialogue = talk(gate)
    id = noticed(dialogue.say(mail(dialogue)), dialogue)
    gate.decide("approve", id)
    said = dialogue.fork().say("go on")
    assert (said.text, said.calls) == ("You said: go on", []), "the model is asked"
    assert gate.approval(id)["state"] == "approved"

    other = dialogue.fork().say(mail(dialogue).replace("67890,", "67891,"))
    assert other.calls == [] and NOTICE.findall(other.text)[0] != id, "another account"
    (call,) = dialogue.say(mail(dialogue)).calls
    assert call.arguments == dialogue.arguments
    assert call.id != gate.approval(id)["call_id"], "the call is the model's own"
    assert gate.approval(id)["state"] == "consumed"
    dialogue.give([(call, "it is sent")])
    assert until(lambda: gate.approval(id)["result_at"])
    assert noticed(dialogue.say(mail(dialogue)), dialogue) != id, "once"


def test_other_agents_and_other_sessions_get_nothing(gate, talk, provider):
    dialogue = talk(gate)
    id = noticed(dialogue.say(mail(dialogue)), dialogue)
    gate.decide("approve", id)
    stranger = talk(gate)
    stranger.history = list(dialogue.history)
    said = stranger.say("go on")
    assert (said.text, said.calls) == ("You said: go on", [])
    elsewhere = dialogue.fork()
    elsewhere.history = [{"role": "user", "content": "Something else"}, dialogue.history[-1]]
    said = elsewhere.say("go on")
    assert (said.text, said.calls) == ("You said: go on", [])
    assert gate.approval(id)["state"] == "approved"


def test_views_of_the_gate(gate):
    agent, session = key(), "s-" + os.urandom(4).hex()
    arguments = '{"to":"x@example.com","account":12345678901234567890}'
    flagged = gate.tool_call(agent, session, arguments, call_id="c1")
    assert (flagged["verdict"], flagged["approval"]["state"]) == ("flag", "pending")
    id = flagged["approval"]["id"]
    assert flagged["approval"]["url"] == f"{gate.url}/v1/approvals/{id}"
    assert flagged["digest"] == gate.approval(id)["digest"]
    assert gate.tool_call(agent, session, arguments, call_id="c1")["approval"]["id"] == id

    gate.decide("approve", id)
    other = gate.tool_call(agent, session, arguments.replace("67890}", "67891}"), call_id="c1")
    assert other["verdict"] == "flag" and other["approval"]["id"] != id, "one digit"
    assert other["digest"] != flagged["digest"]
    for elsewhere in ((agent, session + "x"), (key(), session)):
        assert gate.tool_call(*elsewhere, arguments, call_id="c1")["verdict"] == "flag"
    assert gate.approval(id)["state"] == "approved"

    respelled = '{ "account" : 12345678901234567890.0,\n"to":"x@\\u0065xample.com" }'
    allowed = gate.tool_call(agent, session, respelled, call_id="c1")
    assert (allowed["verdict"], allowed["digest"]) == ("allow", flagged["digest"])
    used = gate.approval(id)
    assert (used["state"], used["consumed_by"]) == ("consumed", allowed["request_id"])
    assert gate.tool_call(agent, session, arguments, call_id="c1")["verdict"] == "allow", "the same answer to the same call"
    assert gate.approval(id)["consumed_by"] == allowed["request_id"]
    assert gate.tool_call(agent, session, arguments, call_id="c2")["verdict"] == "flag", "another call"

    headers = {"Authorization": "Bearer " + agent}
    result = {"session": session, "tool": "send_email", "call_id": "c1", "result": "it is sent"}
    well(httpx.post(gate.url + "/v1/checkpoints/tool-result", json=result, headers=headers, timeout=TIMEOUT))
    assert until(lambda: gate.approval(id)["result_at"])


def test_a_denied_call_is_blocked_in_the_views(gate):
    agent, session = key(), "s-" + os.urandom(4).hex()
    id = gate.tool_call(agent, session, '{"to":"x@example.com"}', call_id="c1")["approval"]["id"]
    gate.decide("deny", id)
    for call_id in ("c1", "c2"):
        again = gate.tool_call(agent, session, '{"to":"x@example.com"}', call_id=call_id)
        assert again["verdict"] == "block", call_id
    assert gate.tool_call(agent, session, '{"to":"y@example.com"}', call_id="c3")["verdict"] == "flag"


def test_waiting_for_a_decision(gate):
    id = gate.tool_call(key(), "s", "{}", call_id="c1")["approval"]["id"]
    began = time.monotonic()
    assert gate.approval(id, wait=1)["state"] == "pending"
    assert 1 <= time.monotonic() - began < 5
    decider = threading.Timer(0.5, gate.decide, ("approve", id))
    decider.start()
    began = time.monotonic()
    assert gate.approval(id, wait=15)["state"] == "approved"
    assert time.monotonic() - began < 5
    decider.join()


def test_whose_agents_decide_without_keys(gate):
    agent = key()
    id = gate.tool_call(agent, "s", "{}", call_id="c1")["approval"]["id"]
    for credential, sees in ((agent, 200), (key(), 404)):
        headers = {"Authorization": "Bearer " + credential}
        assert httpx.get(f"{gate.url}/v1/approvals/{id}", headers=headers).status_code == sees
        for verb in ("approve", "deny"):
            refused = httpx.post(f"{gate.url}/v1/approvals/{id}/{verb}", json={}, headers=headers)
            assert refused.status_code in (401, 403), refused.text
    assert gate.approval(id)["state"] == "pending"


def test_an_agents_own_key_decides_nothing(gates, talk, provider):
    gate = gates("keyed")

    def make(*scopes, **more):
        return well(gate.human.post("/v1/keys", json={"name": "k", "scopes": scopes, **more}))["key"]

    own = make("gateway", "api:read", "approve")
    begun = talk(gate)
    dialogue = type(begun)(gate.url, key(), begun.streamed, {"X-Mnemom-Api-Key": own})
    id = noticed(dialogue.say(mail(dialogue)), dialogue)
    agent = gate.approval(id)["agent_id"]
    for why, asking, status, code in [
        ("its own", {"X-Mnemom-Api-Key": own}, 403, "own_approval"),
        ("its own, under another name", {"X-Mnemom-Api-Key": own, "X-Mnemom-Agent": "somebody"}, 403, "own_approval"),
        ("acts as the agent", {"X-Mnemom-Api-Key": make("gateway", "approve", agents=[agent])}, 403, "own_approval"),
        ("another agent's", {"X-Mnemom-Api-Key": make("gateway", "api:read")}, 403, "insufficient_scope"),
        ("another account's", {"X-Mnemom-Api-Key": make("approve", account="acme")}, 404, "approval_not_found"),
        ("nobody's", {"X-Mnemom-Api-Key": "mnm_" + "0" * 43}, 401, "invalid_credentials"),
    ]:
        for verb in ("approve", "deny"):
            refused = httpx.post(f"{gate.url}/v1/approvals/{id}/{verb}", json={}, headers=asking)
            assert (refused.status_code, refused.json()["error"]["code"]) == (status, code), f"{why}: {refused.text}"
    assert gate.approval(id)["state"] == "pending"

    human = {"X-Mnemom-Api-Key": make("approve")}
    decided = well(httpx.post(f"{gate.url}/v1/approvals/{id}/approve", json={"note": "yes"}, headers=human))
    assert decided["decided_by"].startswith("mk-") and decided["decided_from"] == "127.0.0.1"
    (call,) = dialogue.say("go on").calls
    assert call.arguments == dialogue.arguments


@pytest.fixture(scope="module", autouse=True)
def aging(gates):
    """Two approvals that nobody comes for, made early: one pending, one approved."""
    gate = gates("aging", expire=f"{EXPIRE}s")
    pending, approved = OpenAI(gate.url, key(), False), OpenAI(gate.url, key(), True)
    ids = [noticed(dialogue.say(mail(dialogue)), dialogue) for dialogue in (pending, approved)]
    gate.decide("approve", ids[1])
    return gate, time.monotonic(), list(zip((pending, approved), ids))


def test_an_approval_expires(aging, provider):  # the last, as it waits until then
    gate, made, waiting = aging
    time.sleep(max(0, made + EXPIRE + 1 - time.monotonic()))
    for dialogue, id in waiting:
        gone = gate.approval(id)
        assert (gone["state"], gone["arguments"]) == ("expired", None), "never denied"
        late = gate.human.post(f"/v1/approvals/{id}/approve", json={})
        assert (late.status_code, late.json()["error"]["code"]) == (409, "approval_settled")
        said = dialogue.fork().say("go on")
        assert (said.text, said.calls) == ("You said: go on", [])
        assert noticed(dialogue.say(mail(dialogue)), dialogue) != id, "the same call asks anew"


def until(found):
    """What a question finds once it finds something."""
    deadline = time.monotonic() + 4
    while not (what := found()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return what
