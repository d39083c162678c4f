"""Starts the real binary in front of fake providers: nothing here knows how the gateway works inside."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import time

import anthropic
import httpx
import openai
import pytest
from google import genai

import surface
from sdks import SDKS, Place

ROOT = pathlib.Path(__file__).resolve().parents[3]
START_TIMEOUT = 30  # seconds until a freshly started server must answer
TRANSPORT_TIMEOUT = 20  # seconds for one exchange; the fakes answer at once
HELD_KEY = "held-by-the-gateway"


class Provider:
    """The fake providers, and what reached them."""

    def __init__(self, openai_url, anthropic_url, gemini_url):
        self.openai = openai_url
        self.anthropic = anthropic_url
        self.gemini = gemini_url
        self.cleared = {openai_url: 0, anthropic_url: 0, gemini_url: 0}

    def requests(self):
        """Every request that reached a provider since the last clear."""
        return [request for url, n in self.cleared.items() for request in recorded(url)[n:]]

    def clear(self):
        self.cleared = {url: len(recorded(url)) for url in self.cleared}


def recorded(url):
    answer = httpx.get(url + "/_requests", timeout=TRANSPORT_TIMEOUT)
    answer.raise_for_status()
    return answer.json()


@pytest.fixture(scope="session")
def binaries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bin")
    for package in ("./cmd/gatehouse", "./internal/fake/cmd/fakeprovider"):
        subprocess.run(["go", "build", "-o", str(folder), package], cwd=ROOT, check=True)
    return folder


@pytest.fixture(scope="session")
def started_provider(binaries):
    process = subprocess.Popen(
        [binaries / "fakeprovider", "--openai", "127.0.0.1:0", "--anthropic", "127.0.0.1:0", "--gemini", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        urls = json.loads(process.stdout.readline())
        yield Provider(urls["openai"], urls["anthropic"], urls["gemini"])
    finally:
        stop(process)


@pytest.fixture
def provider(started_provider):
    started_provider.clear()
    return started_provider


@pytest.fixture(scope="session")
def gateway(binaries, started_provider, tmp_path_factory):
    """The gateway's address, with every default but the upstreams, the port and the place of the database."""
    with serving(binaries, started_provider, tmp_path_factory.mktemp("gateway")) as url:
        yield url


@contextlib.contextmanager
def serving(binaries, provider, folder, **config):
    """A gateway whose configuration is every default but what a test needs, and what is given."""
    address = f"127.0.0.1:{free_port()}"
    config = {
        "listen": address,
        "store": f"sqlite:{folder / 'gatehouse.db'}",
        "upstreams": {
            "openai": {"url": provider.openai},
            "anthropic": {"url": provider.anthropic},
            "gemini": {"url": provider.gemini},
            "lab-openai": {"format": "openai", "url": provider.openai},
            "lab-anthropic": {"format": "anthropic", "url": provider.anthropic},
            "held-openai": {"format": "openai", "url": provider.openai, "key": HELD_KEY},
            "held-anthropic": {"format": "anthropic", "url": provider.anthropic, "key": HELD_KEY},
            "held-gemini": {"format": "gemini", "url": provider.gemini, "key": HELD_KEY},
        },
        "auth": {"admin_token": surface.ADMIN},
        **config,
    }
    file = folder / "gatehouse.yaml"
    file.write_text(json.dumps(config))  # JSON is YAML
    log = open(folder / "gatehouse.log", "w+")
    process = subprocess.Popen(
        [binaries / "gatehouse", "serve", "--config", str(file)], cwd=folder, stdout=log, stderr=log
    )
    try:
        wait_until_it_answers(process, f"http://{address}", log)
        surface.GATEWAYS.append(f"http://{address}")
        yield f"http://{address}"
        surface.GATEWAYS.remove(f"http://{address}")
    finally:
        stop(process)
        log.close()


@pytest.fixture(params=["/openai/v1", "/v1"])
def openai_client(request, gateway):
    with openai.OpenAI(
        base_url=gateway + request.param, api_key=key("sk-"), max_retries=0, timeout=TRANSPORT_TIMEOUT
    ) as client:
        yield client


@pytest.fixture(params=["/anthropic", ""])
def anthropic_client(request, gateway):
    with anthropic.Anthropic(
        base_url=gateway + request.param, api_key=key("sk-ant-"), max_retries=0, timeout=TRANSPORT_TIMEOUT
    ) as client:
        yield client


@pytest.fixture(params=["/gemini", ""])
def gemini_client(request, gateway):
    return gemini_at(gateway + request.param)


def gemini_at(url, **options):
    options = genai.types.HttpOptions(base_url=url, timeout=TRANSPORT_TIMEOUT * 1000, **options)
    return genai.Client(api_key=key("AIza"), http_options=options)


@pytest.fixture(params=[(sdk, path) for sdk in SDKS for path in sdk.paths], ids=lambda p: f"{p[0].name}-at-{p[1]}")
def place(request, gateway):
    """Every SDK at every style of base URL."""
    sdk, path = request.param
    return Place(sdk, gateway + path, key("sk-"), TRANSPORT_TIMEOUT)


@pytest.fixture(params=SDKS, ids=lambda sdk: sdk.name)
def sdk(request):
    return request.param


@pytest.fixture
def held_key():
    """The key that the upstreams of the name held-… are configured with."""
    return HELD_KEY


@pytest.fixture
def named(gateway, sdk):
    """Makes a place at the upstream PREFIX-SDK of the configuration."""

    def at(prefix, own_key):
        return Place(sdk, f"{gateway}/u/{prefix}-{sdk.name}{sdk.version_path}", own_key, TRANSPORT_TIMEOUT)

    return at


@pytest.fixture
def cloud_key():
    """An access key that no cloud ever issued, put together here so that no scanner finds one in this file."""
    return "AK" + "IA" + "Q3EG6ZTUB2XKLW5N"


def key(prefix):
    """A provider key of its own for every test, and so an agent of its own."""
    return prefix + os.urandom(16).hex()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until_it_answers(process, url, log):
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        try:
            httpx.get(url + "/", timeout=1)
            return
        except httpx.TransportError:
            time.sleep(0.05)
    log.seek(0)
    pytest.fail("the gateway does not answer:\n" + log.read(), pytrace=False)


def stop(process):
    process.terminate()
    try:
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
