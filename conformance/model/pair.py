"""One model, asked with the gateway and without it."""

import time

import httpx
import openai

from servers import MODEL, SEED

CHECKPOINTS = ("front", "autonomy", "integrity", "back")
OURS = ("x-mnemom-", "x-aip-")
TIMEOUT = 120  # seconds for one answer; two busy cores write about ten words a second


class Pair:
    """The official SDK at the model's server and at the gateway, and the transcript of what they hear."""

    def __init__(self, model, gateway, transcript):
        self.model, self.t = model, transcript
        # The model's server asks for no key. By this one the gateway knows the agent.
        options = {"api_key": "not-a-key", "max_retries": 0, "timeout": TIMEOUT}
        self.direct = openai.OpenAI(base_url=model.url + "/v1", **options)
        self.guarded = openai.OpenAI(base_url=gateway.url + "/u/llama/v1", **options)
        self.requests = 0  # through the gateway

    def ask(self, client, messages, **options):
        """One answer in one piece: the SDK's raw response."""
        self.requests += client is self.guarded
        return client.chat.completions.with_raw_response.create(**question(messages, options))

    def stream(self, client, messages, **options):
        """One streamed answer: the texts of its chunks, the headers, and the seconds until the first text."""
        self.requests += client is self.guarded
        texts, first, begun = [], None, time.monotonic()
        create = client.chat.completions.with_streaming_response.create
        with create(stream=True, **question(messages, options)) as raw:
            for chunk in raw.parse():
                if chunk.choices and chunk.choices[0].delta.content:
                    first = first or time.monotonic() - begun
                    texts.append(chunk.choices[0].delta.content)
        return texts, raw.headers, first

    def comments(self, messages):
        """The comments in a streamed answer of the gateway's."""
        self.requests += 1
        url, headers = str(self.guarded.base_url) + "chat/completions", {"Authorization": "Bearer not-a-key"}
        with httpx.stream("POST", url, headers=headers, json={"stream": True, **question(messages, {})}, timeout=TIMEOUT) as raw:
            return [line for line in raw.iter_lines() if line.startswith(":")]

    def show(self, messages, answer):
        self.t.block(*(f"{m['role']}: {m['content']}" for m in messages if m["content"]), "assistant: " + answer)

    def verdict(self, headers, **outcomes):
        """Shows the gateway's headers and checks the outcomes; of a checkpoint that is not named, pass."""
        self.t.block(*(f"{name}: {headers[name]}" for name in sorted(headers) if name.lower().startswith(OURS)))
        wanted = "; ".join(f"{at}={outcomes.get(at, 'pass')}" for at in CHECKPOINTS)
        self.t.check(headers["x-mnemom-verdict"] == wanted, f"the verdict is `{wanted}`")

    def called(self, times, before):
        """Checks how often the model was called since its server had logged before chats."""
        seen = self.model.chats() - before
        log = f"the log of the model's server has {times} more chat{'s' * (times != 1)}"
        self.t.check(seen == times, log if seen == times else f"{log} (it has {seen})")


def question(messages, options):
    return {"model": MODEL, "messages": messages, "temperature": 0, "seed": SEED, "max_tokens": 80, **options}


def user(content):
    return {"role": "user", "content": content}


def text(completion):
    return completion.choices[0].message.content or ""


def calls(completion):
    """The tool calls of an answer, one on a line."""
    return "\n".join(f"{c.function.name}({c.function.arguments})" for c in completion.choices[0].message.tool_calls or [])
