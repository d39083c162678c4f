"""Servers that a test starts as processes, for tests of any client."""

import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
START_TIMEOUT = 30  # seconds until a freshly started server must answer


def build(folder):
    """Builds the gateway and the fake providers into a folder."""
    for package in ("./cmd/gatehouse", "./internal/fake/cmd/fakeprovider"):
        subprocess.run(["go", "build", "-o", str(folder), package], cwd=ROOT, check=True)
    return folder


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_until_it_answers(process, url, log):
    deadline = time.monotonic() + START_TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(url + "/health/live", timeout=1).close()
            return
        except urllib.error.HTTPError:  # an answer, too
            return
        except OSError:
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
