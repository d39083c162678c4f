"""Documents of an office, a practice and a school."""

import csv
import io
import json
from datetime import timedelta

from world import World

_GREETINGS = {"en": ["Hi {},", "Dear {},", "Hello {},", "{} -", "Good morning {},"], "de": ["Hallo {},", "Guten Tag {},"], "fr": ["Bonjour {},"], "es": ["Hola, {}:"], "it": ["Buongiorno {},"], "pt": ["Olá {},"], "nl": ["Beste {},"], "pl": ["Dzień dobry, {},"], "ru": ["Здравствуйте, {}!"], "tr": ["Merhaba {},"], "ja": ["{}様"], "zh": ["{},您好:"], "ar": ["مرحبا {}،"]}  # fmt: skip
_CLOSINGS = {"en": ["Best,", "Kind regards,", "Thanks", "Cheers,", "Yours sincerely,"], "de": ["Viele Grüße"], "fr": ["Cordialement,"], "es": ["Saludos,"], "it": ["Cordiali saluti"], "pt": ["Cumprimentos,"], "nl": ["Met vriendelijke groet,"], "pl": ["Pozdrawiam"], "ru": ["С уважением,"], "tr": ["Saygılarımla"], "ja": ["よろしくお願いいたします。"], "zh": ["此致"], "ar": ["مع التحية"]}  # fmt: skip
_SUBJECTS = ["Meeting on {date}", "Invoice {ref}", "Question about {company}", "Reminder", "FYI", "Your request {ref}", "Minutes", "Change of plan", "Keys", "Travel to {city}", "Welcome", "Out of office", "Urgent: {ref}", "Contract with {company}", "Action required", "Please read: new rules", "IMPORTANT", "{file}"]
_STAGES = ["lead", "qualified", "proposal", "negotiation", "won", "lost", "dormant"]


def _subject(w: World) -> str:
    return w.pick(_SUBJECTS).format(date=w.date(), ref=w.ref(), company=w.company(), city=w.city(), file=w.file())


def letter(w: World, to: str, sender: str) -> str:
    """Return the body of a mail."""
    parts = [w.pick(_GREETINGS[w.prose]).format(to)]
    parts += [w.tell("office", 4) for _ in range(w.number(4, 1))]
    if w.rng.random() < 0.25:
        parts.append("\n".join(f"- {w.say('office')}" for _ in range(w.number(7))))
    parts.append(f"{w.pick(_CLOSINGS[w.prose])}\n{sender}")
    if w.rng.random() < 0.4:
        parts.append(f"--\n{sender} | {w.company()}\n{w.street()}, {w.city()}\n{w.phone()}")
    return "\n\n".join(parts)


def mail(w: World) -> tuple[str, str]:
    """A mail with the mails it answers."""
    people = [(w.name(), w.email()) for _ in range(w.number(4))]
    subject, text = _subject(w), ""
    for _ in range(w.count(1, 14)):
        (sender, address), (to, to_address) = w.rng.sample(people, 2)
        at = w.moment()
        body = letter(w, to.split()[0], sender)
        if text and w.rng.random() < 0.5:
            quoted = "\n".join("> " + line for line in text.split("\n"))
            text = f"{body}\n\nOn {at:%a, %d %b %Y at %H:%M}, {to} <{to_address}> wrote:\n{quoted}"
        elif text:
            text = f"{body}\n\n-----Original Message-----\nFrom: {to}\nSent: {at:%Y-%m-%d %H:%M}\nSubject: {subject}\n\n{text}"
        else:
            text = body
    head = f"From: {sender} <{address}>\nTo: {to} <{to_address}>\nDate: {at:%a, %d %b %Y %H:%M:%S} +0000\nSubject: Re: {subject}\nMessage-ID: <{w.hex(16)}@{address.split('@')[1]}>"
    if w.rng.random() < 0.4:
        head += "\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nX-Priority: 3"
    return "mail", f"{head}\n\n{text}"


def mailbox(w: World) -> tuple[str, str]:
    """A list of messages as a mail API returns it."""
    own = w.email()
    messages = []
    for i in range(w.count(1, 30)):
        sender = w.name()
        messages.append({"id": w.hex(12) if i % 2 else i, "from": w.email(), "sender_name": sender, "to": [own], "subject": _subject(w), "date": w.moment().isoformat(), "unread": w.rng.random() < 0.3, "labels": w.rng.sample(["inbox", "work", "later", "finance"], 1), "body": letter(w, w.first(), sender)})
    shape = w.pick(["object", "list", "yaml"])
    if shape == "yaml":
        return "yaml", "\n".join(f"- id: {m['id']}\n  from: {m['from']}\n  subject: {json.dumps(m['subject'], ensure_ascii=False)}\n  body: |\n    " + m["body"].replace("\n", "\n    ") for m in messages)
    value = {"messages": messages, "next_page_token": None, "result_size": len(messages)} if shape == "object" else messages
    return "json", json.dumps(value, ensure_ascii=False, indent=w.pick([None, 2]))


def tickets(w: World) -> tuple[str, str]:
    """Tickets of a help desk with their comments."""
    made = []
    for _ in range(w.count(1, 14)):
        comments = [{"author": w.name(), "public": w.rng.random() < 0.7, "created_at": w.moment().isoformat(), "text": w.tell(w.pick(["office", "ops", "commerce"]))} for _ in range(w.count(1, 9))]
        made.append({"id": w.ref(), "subject": w.say(w.pick(["ops", "commerce"])), "status": w.pick(["open", "pending", "solved", "closed"]), "priority": w.pick(["low", "normal", "high"]), "requester": {"name": w.name(), "email": w.email()}, "tags": [w.word(), w.word()], "description": w.tell("commerce"), "comments": comments})
    if w.rng.random() < 0.5:
        return "json", json.dumps({"tickets": made, "count": len(made)}, ensure_ascii=False, indent=w.pick([None, 2]))
    blocks = []
    for t in made:
        lines = [f"#{t['id']} {t['subject']}", f"Status: {t['status']}   Priority: {t['priority']}   Requester: {t['requester']['name']} <{t['requester']['email']}>", "", t["description"]]
        lines += [f"\n[{c['created_at']}] {c['author']} ({'public' if c['public'] else 'internal note'}):\n{c['text']}" for c in t["comments"]]
        blocks.append("\n".join(lines))
    return "ticket", ("\n\n" + "=" * 60 + "\n\n").join(blocks)


def crm(w: World) -> tuple[str, str]:
    """Customers as a CRM returns them."""
    made = []
    for _ in range(w.count(1, 30)):
        contacts = [{"name": w.name(), "email": w.email(), "phone": w.phone(), "role": w.pick(["buyer", "CEO", "accounts", "IT"])} for _ in range(w.number(3, 1))]
        row = {"account_id": w.hex(8), "name": w.company(), "stage": w.pick(_STAGES), "owner": w.name(), "address": f"{w.street()}, {w.city()}", "contacts": contacts, "revenue": w.value() * 100, "last_contact": w.moment().date().isoformat()}
        if w.prose == w.lang or w.rng.random() < 0.2:
            row["notes"] = [{"by": w.first(), "text": w.tell("office", 4)} for _ in range(w.number(3, 1))]
        made.append(row)
    return "json", json.dumps({"records": made, "total": w.number(900, 50)}, ensure_ascii=False, indent=w.pick([None, 2]))


def calendar(w: World) -> tuple[str, str]:
    """Events, as iCalendar or as an API returns them."""
    events = []
    for _ in range(w.count(1, 30)):
        start = w.moment().replace(minute=w.pick([0, 30]), second=0)
        events.append((w.hex(10), start, start + timedelta(minutes=w.pick([30, 60, 90])), _subject(w), w.pick([w.city(), w.street(), "Room 2", "online"]), w.tell("office", 4), [w.email() for _ in range(w.number(4, 1))]))
    if w.rng.random() < 0.5:
        body = "\n".join(
            f"BEGIN:VEVENT\nUID:{u}@calendar\nDTSTART:{s:%Y%m%dT%H%M%SZ}\nDTEND:{e:%Y%m%dT%H%M%SZ}\nSUMMARY:{t}\nLOCATION:{p}\nDESCRIPTION:{d}\n" + "".join(f"ATTENDEE;ROLE=REQ-PARTICIPANT:mailto:{a}\n" for a in who) + "END:VEVENT"
            for u, s, e, t, p, d, who in events
        )
        return "ics", f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//{w.word()}//EN\n{body}\nEND:VCALENDAR"
    rows = [{"id": u, "start": s.isoformat(), "end": e.isoformat(), "title": t, "location": p, "description": d, "participants": who, "status": w.pick(["confirmed", "tentative", "cancelled"])} for u, s, e, t, p, d, who in events]
    return "json", json.dumps({"events": rows}, ensure_ascii=False, indent=w.pick([None, 2]))


def chat(w: World) -> tuple[str, str]:
    """A channel's messages."""
    people = [w.first() for _ in range(w.number(6))]
    families = w.rng.sample(["office", "ops", "dev", "travel"], 2)
    rows = [(w.tick(400), w.pick(people), w.tell(w.pick(families), 2)) for _ in range(w.count(4, 130))]
    shape = w.rng.random()
    if shape < 0.35:
        return "chat", "\n".join(f"[{t:%H:%M}] {p}: {s}" for t, p, s in rows)
    if shape < 0.6:
        return "chat", "\n\n".join(f"{p}  {t:%d %b %H:%M}\n{s}" for t, p, s in rows)
    return "json", json.dumps({"channel": w.word(), "messages": [{"ts": f"{t.timestamp():.6f}", "user": p, "text": s, "reactions": w.number(3, 0)} for t, p, s in rows]}, ensure_ascii=False, indent=w.pick([None, 2]))


def minutes(w: World) -> tuple[str, str]:
    """Minutes of a meeting or a page of a wiki."""
    lines = [f"# {_subject(w)}", "", f"{w.date()}, {w.time()}, {w.city()}. Present: {', '.join(w.name() for _ in range(w.number(6)))}", ""]
    for i in range(w.count(2, 22)):
        lines += [f"## {i + 1}. {w.say(w.pick(['office', 'commerce', 'ops']))}", "", w.tell("office"), ""]
        if w.rng.random() < 0.5:
            lines += [f"- [{w.pick([' ', 'x'])}] {w.first()}: {w.say(w.pick(['office', 'people']))}" for _ in range(w.number(5, 1))] + [""]
    return "markdown", "\n".join(lines)


def staff(w: World) -> tuple[str, str]:
    """Records of a personnel department."""
    rows = []
    for _ in range(w.count(2, 70)):
        note = w.tell("people", 3) if w.prose == w.lang or w.rng.random() < 0.2 else ""
        rows.append({"employee_id": w.number(9999, 100), "name": w.name(), "email": w.email(), "city": w.city(), "job": w.pick(["clerk", "engineer", "buyer", "driver", "nurse", "analyst", "cook", "manager"]), "since": (w.now - timedelta(days=w.number(6000))).date().isoformat(), "salary": int(w.value() * 40 + 22_000), "leave_days": w.number(30), "note": note})
    if w.rng.random() < 0.5:
        return "csv", _csv(rows)
    return "json", json.dumps(rows, ensure_ascii=False, indent=w.pick([None, 2]))


def appointments(w: World) -> tuple[str, str]:
    """A practice's appointments with their notes."""
    rows = [{"at": w.moment().strftime("%Y-%m-%d %H:%M"), "patient": w.name(), "born": str(w.number(2015, 1935)), "phone": w.phone(), "reason": w.pick(["check-up", "vaccination", "back pain", "results", "cough", "referral", "skin", "blood pressure"]), "note": w.tell("people", 5)} for _ in range(w.count(1, 60))]
    shape = w.rng.random()
    if shape < 0.3:
        return "csv", _csv(rows)
    if shape < 0.6:
        return "json", json.dumps({"practice": w.company(), "appointments": rows}, ensure_ascii=False, indent=2)
    return "text", "\n\n".join(f"{r['at']}  {r['patient']} (b. {r['born']}), {r['phone']}\nReason: {r['reason']}\n{r['note']}" for r in rows)


def school(w: World) -> tuple[str, str]:
    """A school's letters and reports."""
    if w.rng.random() < 0.5:
        parts = [w.company(), w.date(), w.pick(_GREETINGS[w.prose]).format(w.name())]
        parts += [w.tell("people", 8) for _ in range(w.count(1, 18))]
        return "letter", "\n\n".join([*parts, w.pick(_CLOSINGS[w.prose]), w.name()])
    rows = [{"pupil": w.name(), "class": f"{w.number(12, 1)}{w.pick('abc')}", "marks": {s: w.number(6, 1) for s in ("maths", "languages", "science", "sport")}, "remarks": w.tell("people", 4), "guardian": w.email()} for _ in range(w.count(1, 40))]
    return "json", json.dumps({"term": w.number(3, 1), "reports": rows}, ensure_ascii=False, indent=w.pick([None, 2]))


def _csv(rows: list[dict]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
