"""Other people's agents, unchanged, before the real gateway and the fake providers."""

import collections
import contextlib

import pytest

from fixtures import binaries, provider, started_provider  # noqa: F401
from frameworks import Driver
from servers import serving
from tap import Tap
from witness import Witness

# What policy blocks: a tool of the frameworks' agents, and what the command lines' shells are not to do.
POLICY = {
    "rules": [
        {"tool": "delete_page", "verdict": "block"},
        {"tool": "*", "verdict": "block", "when": 'has(args.command) && string(args.command).contains("forbidden")'},
        {"tool": "*", "verdict": "block", "when": 'has(args.cmd) && string(args.cmd).contains("forbidden")'},
    ]
}
RAN = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))  # client, door: outcomes of tests
VERSIONS = {}


@pytest.fixture(scope="session")
def gateways(binaries, started_provider, tmp_path_factory):
    """A gateway for each way to stream, with every default but a policy, and a tap before each."""
    with contextlib.ExitStack() as stack:
        taps = {}
        for mode in ("window", "buffer"):
            folder = tmp_path_factory.mktemp(mode)
            url = stack.enter_context(serving(binaries, started_provider, folder, streaming=mode, tools=POLICY))
            taps[mode] = stack.enter_context(contextlib.closing(Tap(url)))
        yield taps


@pytest.fixture
def tap(gateways, way):
    """Where a test's client finds the gateway."""
    tap = gateways["window" if way == "whole" else way]
    tap.clear()
    return tap


@pytest.fixture
def witness(tap):
    return Witness(tap)


@pytest.fixture(scope="session")
def drivers(tmp_path_factory):
    """Starts a framework's program when it is first asked for."""
    started, folder = {}, tmp_path_factory.mktemp("drivers")

    def driver(framework):
        if framework.program not in started:
            log = stack.enter_context(open(folder / framework.program.replace("/", "-"), "w"))
            started[framework.program] = Driver(framework, log)
            stack.callback(started[framework.program].close)
        VERSIONS[framework.name] = started[framework.program].versions
        return started[framework.program]

    with contextlib.ExitStack() as stack:
        yield driver


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call" and hasattr(item, "callspec"):
        client, door = item.callspec.params["client"]
        RAN[client.name][door][report.outcome] += 1


def pytest_terminal_summary(terminalreporter):
    terminalreporter.section("clients")
    for client, doors in RAN.items():
        versions = ", ".join(f"{name} {version}" for name, version in VERSIONS.get(client, {}).items())
        ran = ", ".join(f"{door} {n['passed']}/{n.total()}" for door, n in doors.items())
        terminalreporter.write_line(f"{client:30}  {ran}\n{'':30}  {versions}")
