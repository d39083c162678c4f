"""Conversations with both SDKs, as an agent has them: it says something, runs the calls that it is given, and goes on."""

import copy
import json
import re
import typing

import anthropic
import openai

TIMEOUT = 20  # seconds for one turn, held ones too


class Call(typing.NamedTuple):
    id: str
    name: str
    arguments: str  # the bytes on the wire


class Said(typing.NamedTuple):
    text: str
    calls: list[Call]
    finish: str
    headers: typing.Mapping[str, str]
    message: dict  # the same as the history of a next turn


class Dialogue:
    """One conversation. What is said in it is its history from then on."""

    def __init__(self, url, key, streamed, headers=None):
        self.client = self.connect(url, api_key=key, max_retries=0, timeout=TIMEOUT, default_headers=headers)
        self.streamed = streamed
        self.history = []

    def fork(self):
        """The same conversation, up to here."""
        other = copy.copy(self)
        other.history = list(self.history)
        return other

    def say(self, text):
        return self.go_on([{"role": "user", "content": text}])

    def give(self, results):
        """Hands over one result for each call, as pairs of a call and a text."""
        return self.go_on(self.results(results))

    def go_on(self, messages):
        self.history += messages
        said = self.stream() if self.streamed else self.ask()
        self.history.append(said.message)
        return said


class OpenAI(Dialogue):
    name = "openai"
    ended, called = "stop", "tool_calls"
    # Nothing here is as a JSON encoder would write it, and the account has more digits than a double.
    arguments = '{"to": "x@example.com",  "account":12345678901234567890,"amount" : 1.50,"name":"Zo\\u00eb"}'

    @staticmethod
    def connect(url, **options):
        return openai.OpenAI(base_url=url + "/openai/v1", **options)

    def options(self):
        names = ["send_email", "get_time", "wipe"]
        tools = [{"type": "function", "function": {"name": n, "parameters": {"type": "object"}}} for n in names]
        return {"model": "gpt-test", "messages": self.history, "tools": tools}

    def ask(self):
        raw = self.client.chat.completions.with_raw_response.create(**self.options())
        (choice,) = raw.parse().choices
        calls = [Call(c.id, c.function.name, c.function.arguments) for c in choice.message.tool_calls or []]
        return self.said(choice.message.content or "", calls, choice.finish_reason, raw.headers)

    def stream(self):
        with self.client.chat.completions.with_streaming_response.create(stream=True, **self.options()) as raw:
            headers, chunks = raw.headers, list(raw.parse())
        text, calls, finish = "", {}, None
        for choice in (choice for chunk in chunks for choice in chunk.choices):
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for delta in choice.delta.tool_calls or []:
                call = calls.get(delta.index, Call("", "", ""))
                piece = (delta.id, delta.function.name, delta.function.arguments)
                calls[delta.index] = Call(*(was + (new or "") for was, new in zip(call, piece)))
        assert sorted(calls) == list(range(len(calls))), "stream indices are contiguous"
        return self.said(text, [calls[i] for i in sorted(calls)], finish, headers)

    @staticmethod
    def said(text, calls, finish, headers):
        message = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in calls
            ]
        return Said(text, calls, finish, headers, message)

    @staticmethod
    def results(pairs):
        return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in pairs]

    @staticmethod
    def ids(messages):
        """The ids of the calls in a request, and of the results, in order."""
        made = [c["id"] for m in messages for c in m.get("tool_calls") or []]
        return made, [m["tool_call_id"] for m in messages if m["role"] == "tool"]


class Anthropic(Dialogue):
    name = "anthropic"
    ended, called = "end_turn", "tool_use"
    # Without white space, which this provider's objects have none of.
    arguments = '{"to":"x@example.com","account":12345678901234567890,"amount":1.50,"name":"Zo\\u00eb"}'

    @staticmethod
    def connect(url, **options):
        return anthropic.Anthropic(base_url=url + "/anthropic", **options)

    def options(self):
        tools = [{"name": n, "input_schema": {"type": "object"}} for n in ("send_email", "get_time", "wipe")]
        return {"model": "claude-test", "max_tokens": 200, "messages": self.history, "tools": tools}

    def ask(self):
        raw = self.client.messages.with_raw_response.create(**self.options())
        body = raw.http_response.text
        inputs = [m.end() for m in re.finditer(r'"input":', body)]
        return self.said(raw.parse(), [body[at : json.JSONDecoder().raw_decode(body, at)[1]] for at in inputs], raw.headers)

    def stream(self):
        pieces = {}
        with self.client.messages.stream(**self.options()) as events:
            for event in events:
                if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                    pieces[event.index] = pieces.get(event.index, "") + event.delta.partial_json
            return self.said(events.get_final_message(), [pieces[i] for i in sorted(pieces)], events.response.headers)

    @staticmethod
    def said(message, arguments, headers):
        text = "".join(block.text for block in message.content if block.type == "text")
        uses = [block for block in message.content if block.type == "tool_use"]
        calls = [Call(u.id, u.name, args) for u, args in zip(uses, arguments, strict=True)]
        assert [json.loads(c.arguments) for c in calls] == [u.input for u in uses], "the SDK reads the same"
        content = [block.model_dump(exclude_none=True) for block in message.content]
        return Said(text, calls, message.stop_reason, headers, {"role": "assistant", "content": content})

    @staticmethod
    def results(pairs):
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in pairs]
        return [{"role": "user", "content": blocks}]

    @staticmethod
    def ids(messages):
        """The ids of the calls in a request, and of the results, in order."""
        blocks = [b for m in messages if isinstance(m["content"], list) for b in m["content"]]
        made = [b["id"] for b in blocks if b["type"] == "tool_use"]
        return made, [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]


DIALOGUES = [OpenAI, Anthropic]
