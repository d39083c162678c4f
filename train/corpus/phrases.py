"""Sentence templates of voice assistants, written out: one wording of each, chosen by a seed.

    (a|b)  one of these       [a]  this or nothing       {slot}  a name or a value       <rule>  another template
"""

import random
import re

_TOKEN = re.compile(r"[()\[\]|{}<>]|[^()\[\]|{}<>]+")
_DEEPEST = 12  # rules that name each other
_LONGEST = 400

# What people call their rooms and devices is not part of a template; these names serve in most languages.
_NAMES = {
    "area": ["Studio", "Garage", "Patio", "Lobby"], "floor": ["2", "3"], "name": ["Roomba", "Sonos", "Philips Hue", "TV", "Netatmo", "Ambilight", "Nuki"],
    "location": ["Lisboa", "Toronto", "Oslo", "Berlin", "Madrid"], "city": ["Lisboa", "Toronto", "Oslo"], "message": ["OK"], "query": ["Vivaldi", "Marie Curie"],
    "search_query": ["Vivaldi", "Radiohead", "ABBA"], "number": ["3", "12", "40"], "num": ["3", "7"], "days": ["3", "5"],
}  # fmt: skip


class NoWording(Exception):
    """A template that has a slot or a rule without a value."""


class Phrasebook:
    """The rules and the values of slots that templates of one language share."""

    def __init__(self, rules: dict[str, str], lists: dict[str, dict]) -> None:
        self._rules = rules
        self._lists = lists

    def wording(self, template: str, rng: random.Random) -> str:
        """Return one wording of a template, or raise NoWording."""
        text = self._write(template, rng, 0)
        if len(text) > _LONGEST or ";" in text:  # a permutation
            raise NoWording(template)
        text = re.sub(r"\s+", " ", text).strip()
        return text[:1].upper() + text[1:] if rng.random() < 0.4 else text

    def _write(self, template: str, rng: random.Random, depth: int) -> str:
        if depth > _DEEPEST:
            raise NoWording(template)
        tokens = _TOKEN.findall(template)
        text, at = self._choice(tokens, 0, "", rng, depth)
        if at < len(tokens):
            raise NoWording(template)
        return text

    def _choice(self, tokens: list[str], at: int, end: str, rng: random.Random, depth: int) -> tuple[str, int]:
        """Read alternatives as far as the bracket that ends them, and take one of them."""
        made = [""]
        while at < len(tokens) and tokens[at] != end:
            token, at = tokens[at], at + 1
            if token == "|":
                made.append("")
            elif token in "([":
                inner, at = self._choice(tokens, at, ")" if token == "(" else "]", rng, depth)
                made[-1] += inner if token == "(" or rng.random() < 0.5 else ""
            elif token in "{<":
                made[-1] += self._slot(tokens[at], rng, depth) if token == "{" else self._rule(tokens[at], rng, depth)
                at += 2
            else:
                made[-1] += token
        if end and at == len(tokens):
            raise NoWording("".join(tokens))
        return rng.choice(made), at + (end != "")

    def _rule(self, name: str, rng: random.Random, depth: int) -> str:
        if name not in self._rules:
            raise NoWording(name)
        return self._write(self._rules[name], rng, depth + 1)

    def _slot(self, name: str, rng: random.Random, depth: int) -> str:
        name = name.split(":")[0].strip()
        known = self._lists.get(name, {})
        if span := known.get("range"):
            return str(rng.randrange(int(span["from"]), int(span["to"]) + 1, int(span.get("step", 1))))
        if values := known.get("values"):
            value = rng.choice(values)
            return self._write(value["in"] if isinstance(value, dict) else value, rng, depth + 1)
        if name not in _NAMES:
            raise NoWording(name)
        return rng.choice(_NAMES[name])
