"""A made-up corner of the world in one locale: people, firms, dates and hand-written sentences about them."""

import functools
import random
import re
from datetime import datetime, timedelta
from pathlib import Path

from faker import Faker

_SENTENCES = Path(__file__).with_name("sentences")

# Locale and language. English and the languages with sentences of their own come more often.
WRITTEN = {
    "en_US": "en", "en_GB": "en", "en_IN": "en", "de_DE": "de", "fr_FR": "fr", "es_ES": "es", "es_MX": "es", "it_IT": "it", "pt_BR": "pt", "pt_PT": "pt",
    "nl_NL": "nl", "pl_PL": "pl", "ru_RU": "ru", "tr_TR": "tr", "ja_JP": "ja", "zh_CN": "zh", "zh_TW": "zh", "ar_EG": "ar", "ar_SA": "ar",
}  # fmt: skip
NAMED = {
    "az_AZ": "az", "bg_BG": "bg", "bn_BD": "bn", "cs_CZ": "cs", "da_DK": "da", "el_GR": "el", "et_EE": "et", "fa_IR": "fa", "fi_FI": "fi", "he_IL": "he", "hi_IN": "hi",
    "hr_HR": "hr", "hu_HU": "hu", "hy_AM": "hy", "id_ID": "id", "ka_GE": "ka", "ko_KR": "ko", "lt_LT": "lt", "lv_LV": "lv", "ne_NP": "ne", "no_NO": "nb", "ro_RO": "ro",
    "sk_SK": "sk", "sl_SI": "sl", "sv_SE": "sv", "ta_IN": "ta", "th_TH": "th", "uk_UA": "uk", "vi_VN": "vi", "ga_IE": "ga",
}  # fmt: skip
# The languages other than English have fewer families.
_SHELVES = {"office": "any", "people": "any", "ops": "any", "dev": "any", "prompts": "any", "commerce": "market", "travel": "market"}
_CURRENCIES = ["€", "$", "£", "EUR", "USD", "CHF", "PLN", "JPY", "TRY", "kr"]
_WORDS = "billing ingest worker gateway catalog search mailer report sync archive frontend session export import cache queue ledger scheduler metrics profile uploader resolver audit".split()
_ITALIAN_TOWNS = "Alba Asti Bari Bergamo Bra Carpi Como Cuneo Empoli Fano Gaeta Imola Lecce Lodi Lucca Mantova Matera Nuoro Ostuni Pavia Pisa Rieti Siena Terni Trani Udine Varese Viterbo".split()
_HOSTS = "db web app cache mail build proxy node backup git vpn".split()
_CHOICE = re.compile(r"\[([^\[\]|]*(?:\|[^\[\]|]*)+)\]")
_SLOT = re.compile(r"\{(\w+)\}")


@functools.cache
def _faker(locale: str) -> Faker:
    return Faker(locale)


@functools.cache
def _lines(name: str) -> tuple[str, ...]:
    return tuple((_SENTENCES / f"{name}.txt").read_text(encoding="utf-8").splitlines())


class World:
    """Everything a generator fills its frames with. The same seed makes the same world."""

    def __init__(self, seed: str, english: bool = False) -> None:
        self.rng = random.Random(seed)
        draw = self.rng.random()
        if draw < 0.4:
            locale = self.rng.choice(["en_US", "en_GB", "en_IN"])
        else:
            locale = self.rng.choice(list(WRITTEN if draw < 0.75 else NAMED))
        self.lang = (WRITTEN | NAMED)[locale]
        self.prose = "en" if english else WRITTEN.get(locale, "en")  # the language of sentences
        self.fake = _faker(locale)
        self.fake.seed_instance(self.rng.getrandbits(40))
        self._latin = _faker("en_US")
        self._latin.seed_instance(self.rng.getrandbits(40))
        self.now = datetime(2024, 1, 1) + timedelta(minutes=self.rng.randrange(1_400_000))

    def count(self, least: int, most: int) -> int:
        """Return a number of items, small ones as likely as large ones in proportion."""
        return round(least * (most / least) ** self.rng.random())

    def pick(self, items: list) -> object:
        """Return one of the items."""
        return self.rng.choice(items)

    def number(self, most: int = 60, least: int = 2) -> int:
        """Return a number from least to most."""
        return self.rng.randint(least, most)

    def name(self) -> str:
        """Return a person's name."""
        return self.fake.name()

    def first(self) -> str:
        """Return a first name."""
        return self.fake.first_name()

    def company(self) -> str:
        """Return a firm's name."""
        try:
            return self.fake.company()
        except (AttributeError, IndexError):
            return self._latin.company()

    def city(self) -> str:
        """Return a town."""
        if self.lang == "it":  # Faker draws Italian towns from a set, in a different order in each process
            return self.pick(_ITALIAN_TOWNS)
        return self.fake.city()

    def street(self) -> str:
        """Return a street and number."""
        return self.fake.street_address().replace("\n", ", ")

    def phone(self) -> str:
        """Return a telephone number."""
        return self.fake.phone_number()

    def user(self) -> str:
        """Return a login name."""
        return self._latin.user_name()

    def email(self) -> str:
        """Return an address."""
        return self._latin.email()

    def host(self) -> str:
        """Return a machine's name."""
        return f"{self.pick(_HOSTS)}-{self.number(40, 1):02d}"

    def ip(self) -> str:
        """Return an address of a machine."""
        return self._latin.ipv4()

    def word(self) -> str:
        """Return the name of a service."""
        return self.pick(_WORDS)

    def url(self) -> str:
        """Return an address on the web."""
        return self._latin.url() + self.word()

    def file(self) -> str:
        """Return a file's name."""
        return f"{self.word()}_{self.number(12, 1)}.{self.pick(['pdf', 'xlsx', 'docx', 'csv', 'txt', 'png', 'zip'])}"

    def hex(self, digits: int = 8) -> str:
        """Return a hexadecimal number."""
        return f"{self.rng.getrandbits(4 * digits):0{digits}x}"

    def ref(self) -> str:
        """Return a number of a case, an order or an invoice."""
        return f"{self.pick(['INV', 'ORD', 'T', 'RQ', 'C', 'PO', 'SR'])}-{self.number(99999, 1000)}"

    def amount(self) -> str:
        """Return a sum of money in print."""
        value = round(self.rng.lognormvariate(4.5, 1.4), 2)
        return f"{self.pick(_CURRENCIES)} {value:,.2f}"

    def value(self) -> float:
        """Return a sum of money."""
        return round(self.rng.lognormvariate(4, 1.3), 2)

    def moment(self) -> datetime:
        """Return a time, each somewhat after the last."""
        self.now += timedelta(seconds=int(self.rng.expovariate(1 / 9000)))
        return self.now

    def tick(self, seconds: float) -> datetime:
        """Return a time shortly after the last."""
        self.now += timedelta(seconds=self.rng.expovariate(1 / seconds))
        return self.now

    def date(self) -> str:
        """Return a day in print."""
        day = self.now + timedelta(days=self.rng.randrange(1, 60))
        return day.strftime(self.pick(["%d.%m.%Y", "%Y-%m-%d", "%d/%m/%Y"] if self.prose != "en" else ["%d %B", "%B %d", "%Y-%m-%d", "%d/%m/%Y"]))

    def time(self) -> str:
        """Return a time of day."""
        return f"{self.rng.randrange(7, 20):02d}:{self.pick(['00', '15', '30', '45'])}"

    def say(self, family: str) -> str:
        """Return a sentence of a family, or of the language where that is not English."""
        line = self.pick(_lines(f"{family}.en" if self.prose == "en" else f"{_SHELVES[family]}.{self.prose}"))
        line = _CHOICE.sub(lambda m: self.pick(m[1].split("|")), line)
        return _SLOT.sub(lambda m: self._slot(m[1]), line)

    def tell(self, family: str, most: int = 6) -> str:
        """Return a paragraph."""
        joint = "" if self.prose in {"ja", "zh"} else " "
        return joint.join(dict.fromkeys(self.say(family) for _ in range(self.number(most, 1))))

    def _slot(self, name: str) -> str:
        if name == "person":
            return self.name()
        if name == "n":
            return str(self.number())
        if name in {"weekday", "month"}:
            day = self.now + timedelta(days=self.rng.randrange(1, 300))
            return day.strftime("%A" if name == "weekday" else "%B")
        return str(getattr(self, name)())
