"""The command lines that are tested: how each is told of the gateway, asked one thing, and understood."""

import dataclasses
import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
MODULES = HERE / "node/node_modules"
TIMEOUT = 120  # seconds for one run
# A run sees nothing of the user's own settings, keys and agents, and calls nobody but the gateway.
KEPT = ("PATH", "LANG", "TERM", "TMPDIR")


@dataclasses.dataclass
class Run:
    """What came of one run."""

    status: int
    texts: list  # what the model said, in order
    output: str


class Command:
    """A program that is given a prompt, and prints events as lines of JSON."""

    name = package = ""
    doors = ()
    false_alarms = 0  # texts of its own that are known to be taken for an injection

    def run(self, gateway, door, key, prompt, home, work):
        arguments, environment = self.line(gateway, door, key)
        done = subprocess.run(
            [*arguments, *self.prompt(prompt)],
            input=self.input(prompt),
            env={k: os.environ[k] for k in KEPT if k in os.environ} | {"HOME": str(home)} | environment,
            cwd=work,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
        )
        texts = []
        for line in done.stdout.splitlines():
            if line.startswith("{"):
                texts += self.texts(json.loads(line))
        return Run(done.returncode, texts, done.stdout + done.stderr)

    def prompt(self, prompt):
        return [prompt]

    def input(self, prompt):
        return ""

    def version(self):
        return json.loads((MODULES / self.package / "package.json").read_text())["version"]


class Codex(Command):
    name, package = "codex", "@openai/codex"
    doors = ("responses",)

    def line(self, gateway, door, key):
        provider = f'{{name="Gatehouse", base_url="{gateway}/openai/v1", env_key="GATEHOUSE_KEY", wire_api="responses"}}'
        arguments = ("--config", "model_provider=gatehouse", "--config", f"model_providers.gatehouse={provider}")
        return [*self.program(), *arguments], {"GATEHOUSE_KEY": key}

    def program(self):
        return [
            *("node", MODULES / self.package / "bin/codex.js", "exec", "--json", "--skip-git-repo-check"),
            *("--dangerously-bypass-approvals-and-sandbox", "--model", "gpt-5"),
        ]

    def shell(self, line):
        return "exec_command " + json.dumps({"cmd": line})

    def texts(self, event):
        item = event.get("item", {})
        return [item["text"]] if event["type"] == "item.completed" and item["type"] == "agent_message" else []


class CodexAsItComes(Codex):
    """With the provider that is built in. It asks for a WebSocket first."""

    def line(self, gateway, door, key):
        return [*self.program(), "--config", f"openai_base_url={gateway}/openai/v1"], {"CODEX_API_KEY": key}


class Claude(Command):
    name, package = "claude-code", "@anthropic-ai/claude-code"
    doors = ("anthropic",)
    false_alarms = 1  # how commits are to be signed: docs/clients.md

    def line(self, gateway, door, key):
        (program,) = [p for p in MODULES.glob("@anthropic-ai/claude-code-*/claude") if "musl" not in str(p)]
        return [program, "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash", "--print"], {
            "ANTHROPIC_BASE_URL": gateway + "/anthropic",
            "ANTHROPIC_API_KEY": key,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def shell(self, line):
        return "Bash " + json.dumps({"command": line, "description": "Runs it"})

    def texts(self, event):
        if event["type"] != "assistant":
            return []
        return [block["text"] for block in event["message"]["content"] if block["type"] == "text"]


class OpenCode(Command):
    name, package = "opencode", "opencode-ai"
    doors = ("openai", "responses", "anthropic")
    MODELS = {"openai": "gatehouse/gpt-5", "responses": "openai/gpt-5", "anthropic": "anthropic/claude-sonnet-4-5"}

    def line(self, gateway, door, key):
        (program,) = [p for p in MODULES.glob("opencode-*/bin/opencode") if "baseline" not in str(p) and "musl" not in str(p)]
        at = {"options": {"baseURL": gateway + "/openai/v1", "apiKey": key}}
        config = {
            "model": self.MODELS[door],
            "small_model": self.MODELS[door],
            "permission": "allow",
            "provider": {
                "openai": at,
                "anthropic": {"options": {"baseURL": gateway + "/anthropic/v1", "apiKey": key}},
                "gatehouse": at | {"npm": "@ai-sdk/openai-compatible", "name": "Gatehouse", "models": {"gpt-5": {}}},
            },
        }
        return [program, "run", "--format", "json"], {
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
        }

    def prompt(self, prompt):
        return []

    def input(self, prompt):
        return prompt  # as an argument it would be quoted

    def shell(self, line):
        return "bash " + json.dumps({"command": line, "description": "Runs it"})

    def texts(self, event):
        return [event["part"]["text"]] if event["type"] == "text" else []


COMMANDS = [Codex(), Claude(), OpenCode()]
