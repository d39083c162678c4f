"""LlamaIndex's models for Chat Completions, Responses and Anthropic, in a FunctionAgent."""

from llama_index.core.agent.workflow import AgentStream, FunctionAgent, ToolCallResult
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai import OpenAI, OpenAIResponses

from lines import INSTRUCTIONS, serve


def model(question):
    match question["door"]:
        case "openai":
            return OpenAI(model="gpt-4.1", api_base=question["url"], api_key=question["key"])
        case "responses":
            return OpenAIResponses(model="gpt-4.1", api_base=question["url"], api_key=question["key"])
        case "anthropic":
            return Anthropic(model="claude-sonnet-4-5", base_url=question["url"], api_key=question["key"])


async def answer(question, functions):
    agent = FunctionAgent(tools=functions, llm=model(question), system_prompt=INSTRUCTIONS, streaming=question["stream"])
    run, pieces = agent.run(question["prompt"]), []
    async for event in run.stream_events():
        if isinstance(event, ToolCallResult):
            pieces.clear()
        elif isinstance(event, AgentStream) and event.delta:
            pieces.append(event.delta)
    text = (await run).response.content
    return pieces if question["stream"] else [text]


serve(answer, "llama-index-core", "llama-index-llms-openai", "llama-index-llms-anthropic")
