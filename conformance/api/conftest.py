"""Starts the real binary in front of fake providers: nothing here knows how the gateway works inside."""

import json
import os
import secrets
import subprocess

import pytest
import requests

from processes import build, free_port, stop, wait_until_it_answers


class Gateway:
    def __init__(self, url, token):
        self.url, self.token = url, token

    def ask(self, method, path, **options):
        return requests.request(method, self.url + path, headers={"X-Mnemom-Api-Key": self.token}, timeout=20, **options)


@pytest.fixture(scope="session")
def binaries(tmp_path_factory):
    return build(tmp_path_factory.mktemp("bin"))


@pytest.fixture(scope="session")
def provider(binaries):
    """Addresses of the fake providers."""
    process = subprocess.Popen([binaries / "fakeprovider"], stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())
    finally:
        stop(process)


@pytest.fixture
def gateway(binaries, provider, tmp_path):
    """A gateway of its own for each test, with every default but the upstreams, the port and the place of the database."""
    address, token = f"127.0.0.1:{free_port()}", "mnm_" + secrets.token_urlsafe(32)
    file = tmp_path / "gatehouse.yaml"
    upstreams = {name: {"url": url} for name, url in provider.items()}
    file.write_text(json.dumps({"listen": address, "store": f"sqlite:{tmp_path / 'gatehouse.db'}", "upstreams": upstreams}))
    with open(tmp_path / "gatehouse.log", "w+") as log:
        process = subprocess.Popen(
            [binaries / "gatehouse", "serve", "--config", str(file)],
            cwd=tmp_path,
            stdout=log,
            stderr=log,
            env=os.environ | {"GATEHOUSE_ADMIN_TOKEN": token},
        )
        try:
            wait_until_it_answers(process, f"http://{address}", log)
            yield Gateway(f"http://{address}", token)
        finally:
            stop(process)
