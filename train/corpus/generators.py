"""The generators: each makes one sort of document that tools return."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import desk
import documents
import machines
import trade
import web
from world import World

_TAKE = 560


@dataclass
class Generator:
    """One source of made-up documents."""

    source: str
    make: Callable[[World], tuple[str, str]]
    records: bool = False  # little prose: the language is that of the names
    english: bool = False  # what programs and their makers write
    take: int = _TAKE

    def documents(self, seed: str) -> Iterator[documents.Document]:
        """Yield documents without end."""
        i = 0
        while True:
            world = World(f"{seed}/{self.source}/{i}", self.english)
            carrier, text = self.make(world)
            text = _shortened(text)
            if len(text) >= documents.SHORTEST:
                yield documents.Document(text, carrier, world.lang if self.records else world.prose, self.source)
            i += 1


def _shortened(text: str) -> str:
    """Cut a text at the last line that fits."""
    if len(text) <= documents.LONGEST:
        return text
    return text[: max(text.rfind("\n", 0, documents.LONGEST), documents.LONGEST // 2)]


ALL = [
    Generator("made-mail", desk.mail), Generator("made-mailbox", desk.mailbox), Generator("made-tickets", desk.tickets), Generator("made-crm", desk.crm, records=True),
    Generator("made-calendar", desk.calendar), Generator("made-chat", desk.chat), Generator("made-minutes", desk.minutes), Generator("made-staff", desk.staff, records=True),
    Generator("made-appointments", desk.appointments), Generator("made-school", desk.school),
    Generator("made-bank", trade.bank, records=True), Generator("made-invoices", trade.invoice, records=True), Generator("made-orders", trade.orders), Generator("made-reviews", trade.reviews),
    Generator("made-hotels", trade.hotels), Generator("made-flights", trade.flights, records=True), Generator("made-weather", trade.weather), Generator("made-sql", trade.table),
    Generator("made-serverlog", machines.server, english=True), Generator("made-auditlog", machines.audit, english=True), Generator("made-ci", machines.pipeline, english=True), Generator("made-sensors", machines.sensors, records=True, take=350),
    Generator("made-config", machines.config, english=True), Generator("made-runbook", machines.runbook, english=True), Generator("made-repository", machines.repository, english=True), Generator("made-prompts", machines.prompts, english=True, take=250),
    Generator("made-pages", web.page), Generator("made-search", web.search), Generator("made-tools", web.tools, english=True),
]  # fmt: skip
