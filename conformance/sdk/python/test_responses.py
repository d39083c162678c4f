"""The official OpenAI SDK's Responses, completions and embeddings, through the gateway, unchanged."""

import json

import openai
import pydantic
import pytest

from surface import ALL_PASS, verdict
from test_openai import INJECTION, MODEL

CLOUD_KEY = "AKIA" + "QWERTZUIOPASDF23"
streaming = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


def tool(name):
    return {
        "type": "function",
        "name": name,
        "description": f"The tool {name}.",
        "strict": False,
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }


def turn(client, streamed, said, **options):
    """One turn: the response, as the SDK puts it together, and the headers."""
    options = {"model": MODEL, "input": said, **options}
    if not streamed:
        raw = client.responses.with_raw_response.create(**options)
        return raw.parse(), raw.headers
    with client.responses.with_streaming_response.create(stream=True, **options) as raw:
        events = list(raw.parse())
        check(events)
        return events[-1].response, raw.headers


def check(events):
    """What the pieces of a stream say is what its last event says."""
    assert [e.sequence_number for e in events] == list(range(len(events)))
    assert events[-1].type == "response.completed"
    texts, arguments = {}, {}
    for e in events:
        if e.type in ("response.output_text.delta", "response.refusal.delta"):
            texts[e.output_index] = texts.get(e.output_index, "") + e.delta
        if e.type == "response.function_call_arguments.delta":
            arguments[e.output_index] = arguments.get(e.output_index, "") + e.delta
    for i, item in enumerate(events[-1].response.output):
        if item.type == "message":
            piece = item.content[0]
            assert texts[i] == (piece.refusal if piece.type == "refusal" else piece.text)
        if item.type == "function_call":
            assert arguments[i] == item.arguments


def calls(response):
    return [item for item in response.output if item.type == "function_call"]


def result(call, text):
    return {"type": "function_call_output", "call_id": call.call_id, "output": text}


@streaming
def test_a_text(openai_client, provider, streamed):
    response, headers = turn(openai_client, streamed, "Hello there, ünïcode too")
    assert response.output_text == "You said: Hello there, ünïcode too"
    assert response.status == "completed"
    assert verdict(headers) == ALL_PASS


@streaming
def test_the_helper_of_streams(openai_client, streamed):
    with openai_client.responses.stream(model=MODEL, input=INJECTION if streamed else "Hello") as stream:
        kinds = [e.type for e in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    assert ("stopped by the front checkpoint" if streamed else "You said: Hello") in final.output_text


@streaming
def test_tools_by_a_client_that_keeps_the_conversation(openai_client, streamed):
    said = [{"role": "user", "content": 'call get_weather {"city":"Oslo"}'}]
    first, _ = turn(openai_client, streamed, said, tools=[tool("get_weather")], store=False)
    (call,) = calls(first)
    assert json.loads(call.arguments) == {"city": "Oslo"}
    said += first.output
    second, headers = turn(openai_client, streamed, [*said, result(call, "rain\n" + INJECTION)], store=False)
    assert second.output_text.startswith("The tool said: rain")
    assert INJECTION not in second.output_text
    assert verdict(headers)["front"] == "enforced"


@streaming
def test_tools_by_previous_response_id(openai_client, provider, streamed):
    first, one = turn(openai_client, streamed, 'call get_weather {"city":"Oslo"}', tools=[tool("get_weather")])
    (call,) = calls(first)
    second, two = turn(openai_client, streamed, [result(call, "rain")], previous_response_id=first.id)
    assert second.output_text == "The tool said: rain"
    assert two["x-mnemom-session"] == one["x-mnemom-session"]
    assert verdict(two) == ALL_PASS


@streaming
def test_a_withheld_call_of_a_stored_response(openai_client, provider, streamed):
    first, headers = turn(
        openai_client,
        streamed,
        'call delete_page {"city":"Oslo"}\ncall get_weather {"city":"Oslo"}',
        tools=[tool("delete_page"), tool("get_weather")],
    )
    (call,) = calls(first)
    assert call.name == "get_weather" and "delete_page" in first.output_text
    assert verdict(headers)["autonomy"] == "enforced"
    second, _ = turn(openai_client, streamed, [result(call, "rain")], previous_response_id=first.id)
    assert second.status == "completed"
    sent = json.loads(provider.requests()[-1]["body"])["input"]
    assert len(sent) == 2 and "did not run" in sent[0]["output"]


@streaming
def test_a_stopped_turn_and_what_follows_it(openai_client, provider, streamed):
    hello, _ = turn(openai_client, streamed, "Hello")
    stopped, headers = turn(openai_client, streamed, INJECTION, previous_response_id=hello.id)
    assert headers["x-mnemom-request-id"] in stopped.output_text
    assert stopped.incomplete_details.reason == "content_filter" and stopped.usage.total_tokens == 0
    after, again = turn(openai_client, streamed, "Bread", previous_response_id=stopped.id)
    assert after.output_text == "You said: Bread"
    assert again["x-mnemom-session"] == headers["x-mnemom-session"]
    assert json.loads(provider.requests()[-1]["body"])["previous_response_id"] == hello.id


@streaming
def test_a_secret_leaves_in_no_copy(openai_client, streamed):
    response, headers = turn(openai_client, streamed, f"aws_access_key_id = {CLOUD_KEY}")
    assert "REDACTED]" in response.output_text and CLOUD_KEY not in response.to_json()
    assert verdict(headers)["back"] == "enforced"


class Weather(pydantic.BaseModel):
    city: str
    degrees: int


def test_a_parsed_answer(openai_client):
    response = openai_client.responses.parse(model=MODEL, input='say {"city":"Oslo","degrees":4}', text_format=Weather)
    assert response.output_parsed == Weather(city="Oslo", degrees=4)


def test_a_stopped_parsed_answer_is_a_refusal(openai_client):
    response = openai_client.responses.parse(model=MODEL, input=INJECTION, text_format=Weather)
    assert response.output_parsed is None
    assert "stopped by the front checkpoint" in response.output[0].content[0].refusal


def test_in_the_background(openai_client):
    queued = openai_client.responses.create(model=MODEL, input=f"aws_access_key_id = {CLOUD_KEY}", background=True)
    assert queued.status == "queued" and queued.output == []
    done = openai_client.responses.retrieve(queued.id)
    assert "REDACTED]" in done.output_text and CLOUD_KEY not in done.to_json()
    events = list(openai_client.responses.retrieve(queued.id, stream=True))
    check(events)
    assert CLOUD_KEY not in "".join(e.to_json() for e in events)
    items = openai_client.responses.input_items.list(queued.id)
    assert CLOUD_KEY not in items.to_json()
    assert openai_client.responses.cancel(queued.id).status == "cancelled"
    openai_client.responses.delete(queued.id)
    with pytest.raises(openai.NotFoundError):
        openai_client.responses.retrieve(queued.id)


@streaming
def test_errors_are_the_sdks_own(openai_client, streamed):
    with pytest.raises(openai.BadRequestError, match="not found"):
        turn(openai_client, streamed, "Hello", previous_response_id="resp_unknown")


@streaming
def test_legacy_completions(openai_client, streamed):
    def complete(prompt):
        made = openai_client.completions.create(model=MODEL, prompt=prompt, stream=streamed)
        return "".join(c.choices[0].text for c in made) if streamed else made.choices[0].text

    assert complete("Hello") == "You said: Hello"
    assert "stopped by the front checkpoint" in complete(INJECTION)


def test_embeddings(openai_client, provider):
    made = openai_client.embeddings.create(model=MODEL, input=["Hello", "Bread"])
    assert len(made.data) == 2 and len(made.data[0].embedding) == 3
    with pytest.raises(openai.PermissionDeniedError) as stopped:
        openai_client.embeddings.create(model=MODEL, input=INJECTION)
    assert stopped.value.code == "safe_house_blocked"
    assert len(provider.requests()) == 1
