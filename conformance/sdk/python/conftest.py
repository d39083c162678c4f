"""Starts the real binary in front of fake providers: nothing here knows how the gateway works inside."""

import os

import anthropic
import openai
import pytest
from google import genai

from fixtures import binaries, provider, started_provider  # noqa: F401
from sdks import SDKS, Place
from servers import HELD_KEY, TRANSPORT_TIMEOUT, serving


@pytest.fixture(scope="session")
def gateway(binaries, started_provider, tmp_path_factory):
    """The gateway's address, with every default but the upstreams, the port and the place of the database."""
    with serving(binaries, started_provider, tmp_path_factory.mktemp("gateway")) as url:
        yield url


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
