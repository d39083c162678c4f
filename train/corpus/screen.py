"""Which documents are left out: those with a literal attack in them, and those much like an earlier one."""

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator

# An order to set aside what a model was told before, or to give away or take on instructions: such a text may be an example of
# an attack, and its label would be wrong. Texts about the subject without such an order stay.
_ATTACKS = [
    re.compile(p, re.I)
    for p in (
        r"\b(ignor\w*|disregard\w*|forget|overrid\w*|bypass\w*|skip)\W+(?:\w+\W+){0,4}?(previous|prior|above|earlier|preceding|foregoing|original|your|system|all)\W+(?:\w+\W+){0,3}?(instruction|prompt|direction|guideline|directive|programming|safety|restriction|rules)",
        r"\b(reveal|print|repeat|output|leak|show|tell me|display|exfiltrat\w*)\W+(?:\w+\W+){0,4}?(system|initial|hidden|secret)\W+(prompt|instructions?)\b",
        r"\byou are (now|no longer) (?:\w+\W+){0,3}?(dan\b|unrestricted|jailbroken|bound|developer mode|evil|in developer)",
        r"\b(do anything now|jailbreak(?:s|ing)? (?:prompt|attack)|developer mode (?:enabled|on))\b",
        r"\bpretend (?:that )?you (?:are|have)\W+(?:\w+\W+){0,4}?(no|without|not)\W+(?:\w+\W+){0,2}?(restrict|rules|limit|filter)",
        r"\bnew (?:system )?instructions?\s*:",
        r"<\|im_start\|>|\[/?INST\]|<<SYS>>",
        r"\b(ignor\w+|oubli\w+|vergiss|olvida\w*|ignorier\w*|missachte\w*)\W+(?:\w+\W+){0,4}?(instruc\w+|anweisung\w*|istruzion\w*|instruç\w+|consignes)",
        r"(忽略|无视|無視)(?:.{0,8})(指令|指示|提示)|(игнорируй\w*|забудь\w*)\W+(?:\w+\W+){0,4}?(инструкци|указани)",
    )
]


def attack(text: str) -> bool:
    """Report whether a text has what reads as a literal attack on a model."""
    return any(p.search(text) for p in _ATTACKS)


_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힯\u0e00-\u0eff\u1780-\u17ff]|[^\W_]+")
_GRAM = 8
_KEPT = 4  # one of this many 8-grams is compared, the same ones in every document
_HOLDERS = 6  # documents remembered for one 8-gram
_MASK = (1 << 61) - 1
_BASE = 0x1F3D5B79A2C4E6


class Seen:
    """The documents so far, to tell copies: equal ones, and ones that share more than half of their word 8-grams."""

    def __init__(self) -> None:
        self._texts: set[int] = set()
        self._holders: dict[int, list[int]] = defaultdict(list)
        self._hashes: dict[str, int] = {}
        self._count = 0

    def copy(self, text: str) -> bool:
        """Report whether a text is a copy; one that is not is remembered."""
        words = [w.lower() for w in _WORD.findall(text)]
        whole = zlib.crc32(" ".join(words).encode()) << 32 | len(words)
        if whole in self._texts:
            return True
        grams = set(self._grams(words))
        if grams:
            holders = Counter(h for g in grams for h in self._holders.get(g, ()))
            if holders and holders.most_common(1)[0][1] > len(grams) / 2:
                return True
        self._texts.add(whole)
        for g in grams:
            held = self._holders[g]
            if len(held) < _HOLDERS:
                held.append(self._count)
        self._count += 1
        return False

    def _grams(self, words: list[str]) -> Iterator[int]:
        """Yield the hashes of the word 8-grams that are compared: all of a short text's, a fixed share of a long one's."""
        known = self._hashes
        numbers = []
        for w in words:
            n = known.get(w)
            if n is None:
                n = known[w] = zlib.crc32(w.encode()) * 0x9E3779B97F4A7C15 & _MASK
            numbers.append(n)
        top = pow(_BASE, _GRAM, _MASK)
        rolling = 0
        for i, n in enumerate(numbers):
            rolling = (rolling * _BASE + n) % _MASK
            if i >= _GRAM:
                rolling = (rolling - numbers[i - _GRAM] * top) % _MASK
            if i >= _GRAM - 1 and (rolling >> 7) % _KEPT == 0:
                yield rolling
