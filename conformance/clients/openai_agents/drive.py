"""The OpenAI Agents SDK for Python, with its models for Chat Completions and for Responses."""

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from lines import INSTRUCTIONS, serve

MODELS = {"openai": OpenAIChatCompletionsModel, "responses": OpenAIResponsesModel}


async def answer(question, functions):
    async with AsyncOpenAI(base_url=question["url"], api_key=question["key"]) as client:
        model = MODELS[question["door"]](model="gpt-4.1", openai_client=client)
        tools = [function_tool(f) for f in functions]
        agent = Agent(name="reader", instructions=INSTRUCTIONS, model=model, tools=tools)
        if not question["stream"]:
            return [(await Runner.run(agent, question["prompt"])).final_output]
        pieces = []
        run = Runner.run_streamed(agent, question["prompt"])
        async for event in run.stream_events():
            if event.type == "run_item_stream_event" and event.item.type == "tool_call_output_item":
                pieces.clear()
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                pieces.append(event.data.delta)
        assert run.final_output == "".join(pieces), (run.final_output, pieces)
        return pieces


set_tracing_disabled(True)
serve(answer, "openai-agents", "openai")
