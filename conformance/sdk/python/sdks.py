"""Both SDKs in the few words that they share, for tests of what does not depend on a provider's format."""

import dataclasses

import anthropic
import openai


class Answer:
    """One turn, as far as it came: a stream that breaks off leaves what came before."""

    def __init__(self):
        self.text = ""
        self.finish = None
        self.headers = {}
        self.sent = b""  # the body, as the SDK sent it

    def began(self, request, headers):
        self.sent, self.headers = request.content, headers


class OpenAI:
    name = "openai"
    module = openai
    paths = ["/openai/v1", "/v1"]
    version_path = "/v1"  # this SDK does not add it by itself
    end, stopped = "stop", "content_filter"
    listed_model = "gpt-fake"
    client, async_client = openai.OpenAI, openai.AsyncOpenAI

    @staticmethod
    def image(data):
        return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + data}}

    @staticmethod
    def options(content, options):
        return {"model": "gpt-test", "messages": [{"role": "user", "content": content}], **options}

    def ask(self, client, answer, streamed, content, **options):
        options = self.options(content, options)
        if not streamed:
            raw = client.chat.completions.with_raw_response.create(**options)
            self.take(answer, raw)
            return
        with client.chat.completions.with_streaming_response.create(stream=True, **options) as raw:
            answer.began(raw.http_request, raw.headers)
            for chunk in raw.parse():
                self.add(answer, chunk)

    async def ask_async(self, client, answer, streamed, content, **options):
        options = self.options(content, options)
        if not streamed:
            raw = await client.chat.completions.with_raw_response.create(**options)
            self.take(answer, raw)
            return
        async with client.chat.completions.with_streaming_response.create(stream=True, **options) as raw:
            answer.began(raw.http_request, raw.headers)
            async for chunk in await raw.parse():
                self.add(answer, chunk)

    @staticmethod
    def take(answer, raw):
        answer.began(raw.http_request, raw.headers)
        choice = raw.parse().choices[0]
        answer.text, answer.finish = choice.message.content or "", choice.finish_reason

    @staticmethod
    def add(answer, chunk):
        for choice in chunk.choices:
            answer.text += choice.delta.content or ""
            answer.finish = choice.finish_reason or answer.finish


class Anthropic:
    name = "anthropic"
    module = anthropic
    paths = ["/anthropic", ""]
    version_path = ""
    end, stopped = "end_turn", "refusal"
    listed_model = "claude-fake"
    client, async_client = anthropic.Anthropic, anthropic.AsyncAnthropic

    @staticmethod
    def image(data):
        return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}

    @staticmethod
    def options(content, options):
        return {"model": "claude-test", "max_tokens": 200, "messages": [{"role": "user", "content": content}], **options}

    def ask(self, client, answer, streamed, content, **options):
        options = self.options(content, options)
        if not streamed:
            raw = client.messages.with_raw_response.create(**options)
            self.take(answer, raw, raw.parse())
            return
        with client.messages.stream(**options) as events:
            answer.began(events.response.request, events.response.headers)
            for piece in events.text_stream:
                answer.text += piece
            answer.finish = events.get_final_message().stop_reason

    async def ask_async(self, client, answer, streamed, content, **options):
        options = self.options(content, options)
        if not streamed:
            raw = await client.messages.with_raw_response.create(**options)
            self.take(answer, raw, await raw.parse())
            return
        async with client.messages.stream(**options) as events:
            answer.began(events.response.request, events.response.headers)
            async for piece in events.text_stream:
                answer.text += piece
            answer.finish = (await events.get_final_message()).stop_reason

    @staticmethod
    def take(answer, raw, message):
        answer.began(raw.http_request, raw.headers)
        answer.text = "".join(block.text for block in message.content if block.type == "text")
        answer.finish = message.stop_reason


SDKS = [OpenAI(), Anthropic()]


@dataclasses.dataclass
class Place:
    """An SDK at a base URL."""

    sdk: OpenAI | Anthropic
    url: str
    key: str
    timeout: float  # seconds

    def connect(self, **options):
        return self.sdk.client(**self.defaults(options))

    def connect_async(self, **options):
        return self.sdk.async_client(**self.defaults(options))

    def defaults(self, options):
        return {"base_url": self.url, "api_key": self.key, "max_retries": 0, "timeout": self.timeout, **options}

    def ask(self, streamed, content, client_options=None, **options):
        """One turn with a client of its own."""
        answer = Answer()
        with self.connect(**client_options or {}) as client:
            self.sdk.ask(client, answer, streamed, content, **options)
        return answer
