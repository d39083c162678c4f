"""Fixtures for tests of any client: the binaries, and the fake providers that they build."""

import pytest

from processes import build
from servers import providing


@pytest.fixture(scope="session")
def binaries(tmp_path_factory):
    return build(tmp_path_factory.mktemp("bin"))


@pytest.fixture(scope="session")
def started_provider(binaries):
    with providing(binaries) as provider:
        yield provider


@pytest.fixture
def provider(started_provider):
    started_provider.clear()
    return started_provider
