"""What happens to a passage before it is learnt: words of other languages, slips of the hand."""
import json
import re

import numpy as np

from vocabulary import tokenizer

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
SLIPS = 0.05  # of the passages


class Augment:
    """Passages as numbers, some of them changed. Attacks and ordinary texts are treated alike: a changed one is no sign of either."""

    def __init__(self, work, switch, draw):
        self.pieces = (work / "vocab.txt").read_text("utf-8").rstrip("\n").split("\n")
        self.sep = self.pieces.index("[SEP]")
        self.tok, self.switch, self.draw = tokenizer(self.pieces), switch, draw
        self.said = json.loads((work / "said.json").read_text())
        self.words = {}
        if switch and (work / "words.json").exists():
            self.words = json.loads((work / "words.json").read_text())
        self.langs = sorted(self.words)

    def __call__(self, k, ids, text):
        chance = self.draw.random()
        if chance < self.switch and text["lang"] in ("", "en") and self.langs:
            return self.put(ids, self.switched(self.said[k]))
        if chance > 1 - SLIPS:
            return self.put(ids, self.slipped(self.said[k]))
        return ids

    def put(self, ids, said):
        head = int(np.flatnonzero(ids == self.sep)[0]) + 1
        new = self.tok.encode(said, add_special_tokens=False).ids
        return np.array([*ids[:head], *new[:80 - head - 1], self.sep])

    def switched(self, said):
        """Words of the one dictionary in the place of most that it has; the order stays English."""
        words, most = self.words[self.langs[self.draw.integers(len(self.langs))]], self.draw.uniform(0.5, 1)

        def other(m):
            found = words.get(m[0])
            return found[min(int(self.draw.exponential(0.7)), len(found) - 1)] if found and self.draw.random() < most else m[0]
        return WORD.sub(other, said)

    def slipped(self, said):
        """A few letters left out, doubled or swapped."""
        letters = list(said)
        for i in self.draw.integers(0, max(len(letters) - 1, 1), max(1, len(letters) // 40)):
            if i + 1 < len(letters) and letters[i].isalpha():
                how = self.draw.integers(3)
                if how == 0:
                    letters[i] = ""
                elif how == 1:
                    letters[i] *= 2
                else:
                    letters[i], letters[i + 1] = letters[i + 1], letters[i]
        return "".join(letters)
