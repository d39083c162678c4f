"""LangChain's models for Chat Completions, Responses, Anthropic and Gemini, in an agent of LangGraph's."""

from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessageChunk, ToolMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

from lines import INSTRUCTIONS, serve


def model(question):
    at = {"base_url": question["url"], "api_key": question["key"]}
    match question["door"]:
        case "openai":
            return ChatOpenAI(model="gpt-4.1", **at)
        case "responses":
            return ChatOpenAI(model="gpt-4.1", use_responses_api=True, **at)
        case "anthropic":
            return ChatAnthropic(model="claude-sonnet-4-5", **at)
        case "gemini":
            return ChatGoogleGenerativeAI(model="gemini-2.5-flash", **at)


async def answer(question, functions):
    if question["made_by"] == "langgraph":
        agent = create_react_agent(model(question), functions, prompt=INSTRUCTIONS)
    else:
        agent = create_agent(model(question), functions, system_prompt=INSTRUCTIONS)
    start = {"messages": [{"role": "user", "content": question["prompt"]}]}
    if not question["stream"]:
        return [(await agent.ainvoke(start))["messages"][-1].text]
    pieces = []
    async for message, _ in agent.astream(start, stream_mode="messages"):
        if isinstance(message, ToolMessage):
            pieces.clear()
        elif isinstance(message, AIMessageChunk) and message.text:
            pieces.append(message.text)
    return pieces


serve(answer, "langgraph", "langchain", "langchain-openai", "langchain-anthropic", "langchain-google-genai")
