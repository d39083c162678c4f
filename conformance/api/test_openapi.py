"""openapi.yaml against the running gateway: schemathesis asks every operation, in and out of what the file allows."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
SPEC = HERE.parents[1] / "openapi.yaml"
DOORS = ["inspected", "pass-through", "closed"]
TIMEOUT = 400  # seconds
SEQUENCE_TIME = os.environ.get("SEQUENCE_TIME", "60")  # seconds


def schemathesis(gateway, config, credential, folder, *options):
    """Runs schemathesis; what it says is shown when it finds something."""
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / config), "run", str(SPEC)]
    done = subprocess.run(
        [*command, "--url", gateway.url, *options],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(HERE), "CREDENTIAL": credential},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    print(done.stdout, done.stderr)
    if done.returncode:
        pytest.fail(f"schemathesis ended with {done.returncode}", pytrace=False)


@pytest.fixture
def keyed(gateway):
    """A gateway that asks everyone for a key, because it has one."""
    assert gateway.ask("POST", "/v1/keys", json={}).status_code == 201
    return gateway


def test_each_operation(keyed, tmp_path):
    native(keyed, tmp_path, "--phases", "examples,coverage,fuzzing")


def test_operations_in_sequence(keyed, tmp_path):
    # What depends on answers is drawn until the time is up.
    native(keyed, tmp_path, "--phases", "stateful", "--max-time", SEQUENCE_TIME)


def native(gateway, folder, *options):
    without_doors = [option for tag in DOORS for option in ("--exclude-tag", tag)]
    # A stream does not end by itself.
    schemathesis(gateway, "native.toml", gateway.token, folder, *without_doors, "--exclude-operation-id", "streamApprovals", *options)


def test_the_doors(gateway, tmp_path):
    only_doors = [option for tag in DOORS for option in ("--include-tag", tag)]
    schemathesis(gateway, "doors.toml", "sk-of-nobody", tmp_path, *only_doors)
