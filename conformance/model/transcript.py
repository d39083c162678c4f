"""What happened, as Markdown: printed while it happens, and kept for the documents."""

import pathlib

MARK = "<!-- what follows is written by make model-test, not by hand -->"


class Transcript:
    """Writes steps and checks down. The secrets in hide are masked in everything that is written."""

    def __init__(self, hide):
        self.hide, self.lines = hide, []
        self.passed = self.failed = 0
        self.listing = False  # the last line was a check

    def title(self, text):
        self.write("### " + text)

    def say(self, text):
        self.write(text)

    def block(self, *texts):
        """Text as it is."""
        self.write("```text\n" + "\n".join(texts) + "\n```")

    def check(self, holds, what):
        """Notes whether something that must hold does."""
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        self.write(("- ok: " if holds else "- **FAILED**: ") + what, item=True)

    def write(self, text, item=False):
        for secret in self.hide:
            text = text.replace(secret, mask(secret))
        if not (item and self.listing):
            text = "\n" + text
        self.listing = item
        self.lines.append(text)
        print(text, flush=True)

    def save(self, file):
        """Puts the transcript behind the mark in a Markdown file, in place of the one that is there."""
        path = pathlib.Path(file)
        head, mark, _ = path.read_text().partition(MARK)
        if not mark:
            raise SystemExit(f"{file} has no line {MARK}")
        path.write_text(head + MARK + "\n" + "\n".join(self.lines) + "\n")


def mask(secret):
    return secret[:4] + "·" * (len(secret) - 4)
