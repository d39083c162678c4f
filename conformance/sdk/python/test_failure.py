"""What a provider does wrong, and what a caller gives up: errors, retries, broken streams, cancelled turns."""

import asyncio
import time
import uuid

import pytest

from sdks import Answer
from surface import ALL_PASS, verdict

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"

streaming = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@streaming
@pytest.mark.parametrize("status", [429, 500])
def test_the_sdks_own_retries(place, provider, streamed, status):
    failing = {
        "X-Fake-Status": str(status),
        "X-Fake-Times": "2",
        "X-Fake-Case": str(uuid.uuid4()),
        "X-Fake-Retry-After": "0.01",  # the SDKs take 0 for no answer, and wait by themselves
    }
    answer = place.ask(streamed, "Hello", {"max_retries": 2}, extra_headers=failing)
    assert answer.text == "You said: Hello"
    assert verdict(answer.headers) == ALL_PASS
    assert [r["headers"]["X-Stainless-Retry-Count"] for r in provider.requests()] == [["0"], ["1"], ["2"]]


@streaming
def test_the_providers_patience_reaches_the_sdk(place, streamed):
    with pytest.raises(place.sdk.module.RateLimitError) as caught:
        place.ask(streamed, "Hello", extra_headers={"X-Fake-Status": "429", "X-Fake-Retry-After": "7"})
    assert caught.value.response.headers["retry-after"] == "7"


@streaming
@pytest.mark.parametrize("after", [-1, 20], ids=["before-the-first-byte", "in-the-first-event"])
def test_an_answer_that_never_began_is_a_failed_request(place, provider, streamed, after):
    with pytest.raises(place.sdk.module.InternalServerError) as caught:
        place.ask(streamed, "Hello", extra_headers={"X-Fake-Drop-After": str(after)})
    assert caught.value.status_code == 502
    verdict(caught.value.response.headers)
    assert len(provider.requests()) == 1


def test_a_stream_that_breaks_off_is_an_error(place, provider):
    answer, start = Answer(), time.monotonic()
    with place.connect() as client:
        with pytest.raises(Exception) as caught:
            place.sdk.ask(client, answer, True, LONG, extra_headers={"X-Fake-Drop-After": "3000"})
    assert not isinstance(caught.value, place.sdk.module.APIStatusError | AssertionError), caught.value
    assert time.monotonic() - start < place.timeout, "it hangs"
    assert answer.text and f"You said: {LONG}".startswith(answer.text), "what came before the end arrives"
    assert answer.finish is None
    assert verdict(answer.headers) == ALL_PASS
    assert len(provider.requests()) == 1


@streaming
def test_a_caller_that_loses_patience(place, streamed):
    with pytest.raises(place.sdk.module.APITimeoutError):
        place.ask(streamed, "Hello", {"timeout": 0.3}, extra_headers={"X-Fake-Delay": "60s"})
    assert place.ask(streamed, "Hello again").text == "You said: Hello again"


@streaming
def test_a_cancelled_turn_ends_at_once(place, provider, streamed):
    async def cancel():
        async with place.connect_async() as client:
            late = place.sdk.ask_async(client, Answer(), streamed, "Hello", extra_headers={"X-Fake-Delay": "60s"})
            turn = asyncio.create_task(late)
            while not await asyncio.to_thread(provider.requests):
                assert not turn.done(), turn
                await asyncio.sleep(0.01)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            answer = Answer()
            await place.sdk.ask_async(client, answer, streamed, "Hello again")
            return answer

    answer = asyncio.run(asyncio.wait_for(cancel(), place.timeout))
    assert answer.text == "You said: Hello again"
