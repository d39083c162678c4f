"""pydantic-ai, with its models for Chat Completions, Responses, Anthropic and Gemini."""

from pydantic_ai import Agent, FunctionToolResultEvent, PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

from lines import INSTRUCTIONS, serve

DOORS = {
    "openai": (OpenAIChatModel, OpenAIProvider, "gpt-4.1"),
    "responses": (OpenAIResponsesModel, OpenAIProvider, "gpt-4.1"),
    "anthropic": (AnthropicModel, AnthropicProvider, "claude-sonnet-4-5"),
    "gemini": (GoogleModel, GoogleProvider, "gemini-2.5-flash"),
}


async def answer(question, functions):
    model, provider, name = DOORS[question["door"]]
    provider = provider(base_url=question["url"], api_key=question["key"])
    agent = Agent(model(name, provider=provider), instructions=INSTRUCTIONS, tools=functions)
    if not question["stream"]:
        return [(await agent.run(question["prompt"])).output]
    pieces = []
    async with agent.run_stream_events(question["prompt"]) as events:  # run_stream ends with the first text, whatever calls stand next to it
        async for event in events:
            match event:
                case FunctionToolResultEvent():
                    pieces.clear()
                case PartStartEvent(part=TextPart(content=piece)) | PartDeltaEvent(delta=TextPartDelta(content_delta=piece)) if piece:
                    pieces.append(piece)
    return pieces


serve(answer, "pydantic-ai-slim", "openai", "anthropic", "google-genai")
