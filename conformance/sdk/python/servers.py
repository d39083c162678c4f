"""The real binary in front of fake providers, for tests of any client: nothing here knows how the gateway works inside."""

import contextlib
import json
import subprocess

import httpx

import surface
from processes import free_port, stop, wait_until_it_answers

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


@contextlib.contextmanager
def providing(binaries):
    """The fake providers, for as long as the context lasts."""
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
