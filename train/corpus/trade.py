"""Documents of banks, shops, hotels, airlines and databases."""

import json
from datetime import timedelta

from world import World

_GOODS = "kettle,desk lamp,rain jacket,running shoes,notebook,headphones,bicycle pump,garden hose,frying pan,office chair,backpack,tea set,screwdriver set,blanket,water bottle,alarm clock,keyboard,picture frame,tent,socks,coffee grinder,umbrella,board game,printer paper,USB cable,yoga mat".split(",")
_PURPOSES = ["rent", "salary", "invoice", "card payment", "standing order", "refund", "fee", "transfer", "cash withdrawal", "insurance", "electricity"]


def bank(w: World) -> tuple[str, str]:
    """An account's transactions."""
    balance, rows = w.value() * 50, []
    for _ in range(w.count(3, 130)):
        sum_ = round(w.value() * (1 if w.rng.random() < 0.25 else -1), 2)
        balance = round(balance + sum_, 2)
        party = w.company() if w.rng.random() < 0.7 else w.name()
        subject = w.say("commerce") if w.rng.random() < 0.3 and w.prose == w.lang else f"{w.pick(_PURPOSES)} {w.ref()}"
        rows.append({"id": w.number(10**7, 1), "date": w.moment().date().isoformat(), "amount": sum_, "party": party, "iban": w.fake.iban(), "subject": subject, "balance": balance})
    shape = w.rng.random()
    if shape < 0.4:
        return "json", json.dumps({"account": w.fake.iban(), "currency": "EUR", "transactions": rows}, ensure_ascii=False, indent=w.pick([None, 2]))
    if shape < 0.7:
        return "csv", "date;party;subject;amount;balance\n" + "\n".join(f"{r['date']};{r['party']};{r['subject']};{r['amount']};{r['balance']}" for r in rows)
    return "text", f"Statement, account {w.fake.iban()}\n\n" + "\n".join(f"{r['date']}  {r['amount']:>12,.2f}  {r['party']}\n            {r['subject']}" for r in rows)


def _lines(w: World, most: int) -> list[dict]:
    return [{"sku": f"{w.hex(4).upper()}-{w.number(99)}", "title": w.pick(_GOODS), "quantity": w.number(9, 1), "price": w.value()} for _ in range(w.count(1, most))]


def invoice(w: World) -> tuple[str, str]:
    """An invoice, as text or as Markdown."""
    items = _lines(w, 60)
    total = sum(i["quantity"] * i["price"] for i in items)
    head = [w.company(), f"{w.street()}, {w.city()}", w.phone(), "", f"To: {w.name()}", w.street(), w.city(), "", f"Invoice {w.ref()}", f"Date: {w.date()}", ""]
    if w.rng.random() < 0.5:
        body = [f"{i['quantity']:>4} x {i['title']:<22}{i['sku']:<10}{i['price']:>10.2f}{i['quantity'] * i['price']:>12.2f}" for i in items]
    else:
        body = ["| item | no. | quantity | price |", "| --- | --- | ---: | ---: |", *(f"| {i['title']} | {i['sku']} | {i['quantity']} | {i['price']:.2f} |" for i in items)]
    tail = ["", f"Net {total:.2f}", f"VAT {w.pick([5, 7, 10, 19, 20, 21])} %", f"Total {total * 1.2:.2f}", "", f"IBAN {w.fake.iban()}"]
    if w.prose == w.lang:
        tail += ["", w.tell("commerce", 5)]
    return "invoice", "\n".join(head + body + tail)


def orders(w: World) -> tuple[str, str]:
    """Orders as a shop's API returns them."""
    made = []
    for _ in range(w.count(1, 22)):
        at = w.moment()
        made.append({"order": w.ref(), "placed": at.isoformat(), "customer": {"name": w.name(), "email": w.email(), "address": f"{w.street()}, {w.city()}", "phone": w.phone()}, "items": _lines(w, 6), "status": w.pick(["new", "paid", "packed", "shipped", "returned"]), "customer_note": w.tell("commerce", 3) if w.rng.random() < 0.6 else None, "internal_note": w.say("commerce") if w.rng.random() < 0.4 else None, "history": [{"at": (at + timedelta(hours=i * 5)).isoformat(), "text": w.say("commerce")} for i in range(w.number(4, 1))]})
    return "json", json.dumps({"orders": made, "page": 1}, ensure_ascii=False, indent=w.pick([None, 2]))


def reviews(w: World) -> tuple[str, str]:
    """Reviews of a product or a house."""
    family = w.pick(["commerce", "commerce", "travel"])
    rows = [(w.first(), w.number(5, 1), w.moment().date().isoformat(), w.say(family), w.tell(family, 6)) for _ in range(w.count(1, 70))]
    thing = w.pick(_GOODS) if family == "commerce" else f"{w.pick(['Hotel', 'Pension', 'Inn'])} {w.city()}"
    shape = w.rng.random()
    if shape < 0.35:
        return "json", json.dumps({"product": thing, "reviews": [{"author": a, "stars": s, "date": d, "title": t, "text": x, "helpful": w.number(40, 0)} for a, s, d, t, x in rows]}, ensure_ascii=False, indent=w.pick([None, 2]))
    if shape < 0.65:
        body = "\n".join(f'<article class="review" data-stars="{s}"><h3>{t}</h3><p class="by">{a}, <time>{d}</time></p><p>{x}</p><button>Helpful ({w.number(40, 0)})</button></article>' for a, s, d, t, x in rows)
        return "html", f"<!doctype html>\n<html><head><title>{thing}</title><style>.review{{margin:1em}}</style></head><body>\n<h1>{thing}</h1>\n{body}\n<footer>{w.company()}</footer></body></html>"
    return "page", f"{thing}\n\n" + "\n\n".join(f"{'★' * s}{'☆' * (5 - s)} {t}\n{a}, {d}\n{x}" for a, s, d, t, x in rows)


def hotels(w: World) -> tuple[str, str]:
    """Results of a search for rooms."""
    city = w.city()
    rows = [{"name": f"{w.pick(['Hotel', 'Pension', 'Hostel', 'Inn', 'Villa'])} {w.first()}", "address": w.street(), "stars": w.number(5, 1), "rating": round(w.rng.uniform(5, 9.9), 1), "price": w.amount(), "free_cancellation": w.rng.random() < 0.5, "description": w.tell("travel"), "house_rules": [w.say("travel") for _ in range(w.number(4, 1))], "last_review": {"by": w.first(), "text": w.tell("travel", 4)}} for _ in range(w.count(1, 24))]
    if w.rng.random() < 0.6:
        return "json", json.dumps({"city": city, "check_in": w.date(), "nights": w.number(14, 1), "results": rows}, ensure_ascii=False, indent=w.pick([None, 2]))
    return "page", f"{city}: {len(rows)} results\n\n" + "\n\n".join(f"{i + 1}. {r['name']} ({r['rating']})\n{r['address']}, {r['price']}\n{r['description']}\n* " + "\n* ".join(r["house_rules"]) + f"\n\"{r['last_review']['text']}\" - {r['last_review']['by']}" for i, r in enumerate(rows))


def flights(w: World) -> tuple[str, str]:
    """Results of a search for flights or trains."""
    a, b, rows = w.city(), w.city(), []
    for _ in range(w.count(2, 60)):
        start = w.moment()
        row = {"number": f"{w.pick(['LX', 'KL', 'AY', 'TP', 'OS', 'LO', 'IC', 'RJ'])}{w.number(999, 10)}", "from": a, "to": b, "departs": start.isoformat(timespec="minutes"), "arrives": (start + timedelta(minutes=w.number(600, 50))).isoformat(timespec="minutes"), "stops": w.number(2, 0), "fare": w.amount(), "seats_left": w.number(9, 1), "carrier": w.company()}
        if w.prose == w.lang and w.rng.random() < 0.4:
            row["notice"] = w.say("travel")
        rows.append(row)
    if w.rng.random() < 0.6:
        return "json", json.dumps({"connections": rows}, ensure_ascii=False, indent=w.pick([None, 2]))
    keys = ["number", "departs", "arrives", "stops", "fare", "carrier"]
    return "table", f"{a} - {b}\n\n| " + " | ".join(keys) + " |\n" + "\n".join("| " + " | ".join(str(r[k]) for k in keys) + " |" for r in rows)


def weather(w: World) -> tuple[str, str]:
    """Forecasts and warnings."""
    towns = []
    for _ in range(w.count(1, 9)):
        start = w.moment().date()
        days = [{"day": (start + timedelta(days=i)).isoformat(), "min": w.number(14, -12), "max": w.number(34, 15), "rain_mm": w.number(30, 0), "wind_kmh": w.number(90, 0), "text": w.tell("travel", 3)} for i in range(w.number(14, 2))]
        towns.append({"town": w.city(), "warnings": [w.say("travel") for _ in range(w.number(3, 0))], "days": days})
    if w.rng.random() < 0.5:
        return "json", json.dumps({"forecasts": towns}, ensure_ascii=False, indent=w.pick([None, 2]))
    return "text", "\n\n".join(f"{t['town'].upper()}\n" + "".join(f"! {x}\n" for x in t["warnings"]) + "\n".join(f"{d['day']}  {d['min']}..{d['max']} °C  {d['rain_mm']} mm  {d['text']}" for d in t["days"]) for t in towns)


def table(w: World) -> tuple[str, str]:
    """What a query prints: a table, rows as JSON, or INSERT statements."""
    prose = w.pick(["note", "comment", "description", "message"])
    rows = [[w.number(99999, 1), w.name(), w.email(), w.pick(["active", "closed", "blocked"]), f"{w.value():.2f}", w.moment().isoformat(" ", "seconds"), w.say(w.pick(["commerce", "ops", "office"]))] for _ in range(w.count(2, 110))]
    keys = ["id", "name", "email", "status", "amount", "created_at", prose]
    name, shape = w.word(), w.rng.random()
    if shape < 0.35:
        wide = [max(len(str(r[i])) for r in [keys, *rows]) for i in range(len(keys))]
        out = [" | ".join(str(c).ljust(n) for c, n in zip(r, wide, strict=True)).rstrip() for r in [keys, *rows]]
        return "sql", "\n".join([out[0], "-+-".join("-" * n for n in wide), *out[1:], f"({len(rows)} rows)"])
    if shape < 0.7:
        quoted = ("(" + ", ".join(str(c) if isinstance(c, int) else "'" + str(c).replace("'", "''") + "'" for c in r) + ")" for r in rows)
        return "sql", f"CREATE TABLE {name} ({', '.join(k + ' TEXT' for k in keys)});\nINSERT INTO {name} ({', '.join(keys)}) VALUES\n" + ",\n".join(quoted) + ";"
    return "json", json.dumps({"query": f"SELECT * FROM {name} WHERE status <> 'x' LIMIT {len(rows)}", "rows": [dict(zip(keys, r, strict=True)) for r in rows]}, ensure_ascii=False, indent=w.pick([None, 2]))
