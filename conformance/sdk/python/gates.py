"""A gateway as a human sees it who answers for flagged calls, and as an agent does that asks about its own."""

import json

import httpx

from surface import ADMIN

TIMEOUT = 20  # seconds for one request


class Gate:
    """A gateway, and the human before it."""

    def __init__(self, url):
        self.url = url
        self.human = httpx.Client(base_url=url, headers={"X-Mnemom-Api-Key": ADMIN}, timeout=TIMEOUT)

    def approval(self, id, **query):
        return well(self.human.get(f"/v1/approvals/{id}", params=query))

    def approvals(self, **query):
        return well(self.human.get("/v1/approvals", params=query))["approvals"]

    def decide(self, verb, id, **body):
        return well(self.human.post(f"/v1/approvals/{id}/{verb}", json=body))

    def tool_call(self, key, session, arguments, **more):
        """Asks the gate about a call of send_email, whose arguments go out as they are written."""
        question = json.dumps({"session": session, "tool": "send_email", **more, "arguments": None})
        body = question.replace('"arguments": null', '"arguments": ' + arguments)
        headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
        return well(httpx.post(self.url + "/v1/checkpoints/tool-call", content=body, headers=headers, timeout=TIMEOUT))


def well(answer):
    assert answer.status_code in (200, 201), f"{answer.status_code}: {answer.text}"
    return answer.json()
