"""The frameworks that are tested, and where they are given the gateway's address."""

import dataclasses
import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
MAIN = {"openai": "/openai/v1", "responses": "/openai/v1", "anthropic": "/anthropic", "gemini": "/gemini"}
VERSIONED = MAIN | {"anthropic": "/anthropic/v1", "gemini": "/gemini/v1beta"}


@dataclasses.dataclass(frozen=True)
class Framework:
    """A framework and a program that drives it."""

    name: str
    program: str  # below this folder
    paths: dict  # by door: what its users set as base URL, behind the gateway's address
    doors: tuple = ("openai", "responses", "anthropic", "gemini")
    made_by: str = ""  # which of the framework's ways to make an agent
    always_streams: tuple = ()  # doors at which it asks for a stream even where its user does not

    def command(self):
        program = HERE / self.program
        if program.suffix == ".mjs":
            return ["node", program]
        return [program.parent / "venv/bin/python", program]


FRAMEWORKS = [
    Framework("LangGraph, create_react_agent", "langchain/drive.py", MAIN, made_by="langgraph"),
    Framework("LangChain, create_agent", "langchain/drive.py", MAIN),
    Framework("LlamaIndex", "llamaindex/drive.py", MAIN, doors=("openai", "responses", "anthropic")),
    Framework("pydantic-ai", "pydantic_ai/drive.py", MAIN, always_streams=("anthropic",)),
    Framework("OpenAI Agents SDK, Python", "openai_agents/drive.py", MAIN, doors=("openai", "responses")),
    Framework("OpenAI Agents SDK, JavaScript", "node/openai_agents.mjs", MAIN, doors=("openai", "responses")),
    Framework("Vercel AI SDK", "node/ai.mjs", VERSIONED),
]


class Driver:
    """A program that drives a framework, while it runs."""

    def __init__(self, framework, log):
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
        environment |= {"PYTHONPATH": str(HERE), "LANGSMITH_TRACING": "false", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        self.process = subprocess.Popen(
            framework.command(), env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
        self.versions = self.read()

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return self.read()

    def read(self):
        line = self.process.stdout.readline()
        assert line, f"the program has ended: {self.process.wait()}"
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)
