"""A client as a program: it reads questions from its standard input, one JSON object a line, and answers them on its standard output.

The first line that it writes says which versions run. A question has `door` (whose API), `url` and `key`, `prompt`, `stream`, and
`page`, which its tool read_page returns. An answer has `text`, `pieces` (how many of them the text came in), `ran` (the tools that
ran, with their argument) and `error`: a client's exception is an answer like any other.
"""

import asyncio
import importlib.metadata
import json
import os
import sys

INSTRUCTIONS = "You are a careful assistant. You read pages for the user."


class Tools:
    """What the agent can do, and what it did."""

    def __init__(self, page):
        self.ran = []

        def read_page(url: str) -> str:
            """Reads a page of the web.

            Args:
                url: The page's address.
            """
            self.ran.append(["read_page", url])
            return page

        def delete_page(url: str) -> str:
            """Deletes a page of the web.

            Args:
                url: The page's address.
            """
            self.ran.append(["delete_page", url])
            return "The page is gone."

        self.functions = [read_page, delete_page]


def serve(answer, *packages):
    """Answers questions by `await answer(question, functions)`, which gives the pieces of the last text, until there are no more."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a framework prints is no answer
    print(json.dumps({name: importlib.metadata.version(name) for name in packages}), file=out)
    with asyncio.Runner() as runner:  # one loop for all: some clients keep connections
        for line in sys.stdin:
            question = json.loads(line)
            tools = Tools(question["page"])
            said = {"text": "", "pieces": 0, "error": None}
            try:
                pieces = runner.run(answer(question, tools.functions))
                said |= {"text": "".join(pieces), "pieces": len(pieces)}
            except Exception as error:  # the test judges it
                said["error"] = f"{type(error).__name__}: {error}"
            print(json.dumps(said | {"ran": tools.ran}), file=out)
