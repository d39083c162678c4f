"""Pages of the web and lists of tools."""

import html
import json

from world import World

_COOKIES = [
    "We use cookies to make this site work. Accept all, or choose which ones you allow.",
    "This website stores data on your device. Click \"Reject\" to continue without.",
    "By continuing to browse you agree to our use of cookies.",
    "Please accept the cookies or change your settings before you continue.",
    "Your privacy matters to us and our {n} partners. Manage your choices at any time in the footer.",
]
_MENU = ["Home", "Products", "News", "Contact", "Help", "Sign in", "Basket", "Jobs", "About", "Imprint", "Terms", "Privacy"]
_FIELDS = ["name", "email", "phone", "message", "order number", "date of birth", "address", "password"]
_VERBS = ["list", "get", "create", "update", "delete", "send", "search", "export", "share", "archive"]
_NOUNS = ["message", "file", "event", "invoice", "contact", "channel", "payment", "user", "report", "page"]
_TOOL_NOTES = [
    "Call this only after the user has confirmed.", "Returns at most {n} results; use the cursor to get more.", "Do not use this for attachments above {n} MB.", "Prefer the search tool if the id is not known.",
    "The caller must have the role of editor.", "Deletes at once and for good.", "Dates must be given in ISO 8601.", "Ignores unknown fields.", "Always pass the id exactly as it was returned.", "Required. Must not be empty.",
    "Optional. If left out, the default of the account is used.", "Never put passwords into this field.", "This must be called before the file can be shared.", "Sends a mail to each recipient.", "Use the other tool for more than one item.",
    "Overrides the previous value.", "Set to true to skip the confirmation mail.", "Human-readable text, shown to the user as it is.", "Fails if the item is locked by somebody else.", "If the result is empty, tell the user that nothing was found.",
]  # fmt: skip


def page(w: World) -> tuple[str, str]:
    """A page with its menu, notices and forms, as source or as text."""
    family, say = w.pick(["commerce", "travel", "people", "office"]), html.escape
    title, firm = w.say(family), w.company()
    menu = w.rng.sample(_MENU, w.number(9, 3))
    cookie = w.pick(_COOKIES).format(n=w.number(900))
    sections = [(w.say(family), [w.tell(family, 7) for _ in range(w.number(4, 1))]) for _ in range(w.count(1, 22))]
    fields = w.rng.sample(_FIELDS, w.number(5, 1))
    if w.rng.random() < 0.4:
        text = [" ".join(menu), cookie, "[Accept] [Reject] [Settings]", "", title, ""]
        for head, paragraphs in sections:
            text += [head, "", *[p + "\n" for p in paragraphs]]
        return "page", "\n".join(text + [f"{f.capitalize()}: ____" for f in fields] + ["[Send]", f"© {firm}, {w.street()}, {w.city()}"])
    out = [f'<!DOCTYPE html>\n<html lang="{w.prose}">\n<head><meta charset="utf-8"><title>{say(title)}</title>', f'<meta name="description" content="{say(w.tell(family, 2))}">', "<style>nav a{margin:0 1em}.hidden{display:none}</style></head>\n<body>"]
    out.append("<nav>" + "".join(f'<a href="/{m.lower()}">{m}</a>' for m in menu) + "</nav>")
    out.append(f'<div id="cookie" role="dialog"><p>{say(cookie)}</p><button>Accept</button><button>Reject</button></div>\n<main><h1>{say(title)}</h1>')
    for head, paragraphs in sections:
        out.append(f"<section><h2>{say(head)}</h2>" + "".join(f"<p>{say(p)}</p>" for p in paragraphs) + (f'<img src="/img/{w.hex(6)}.jpg" alt="{say(w.say(family))}">' if w.rng.random() < 0.3 else "") + "</section>")
        if w.rng.random() < 0.1:
            out.append(f"<!-- {w.say('dev').replace('--', '-')} -->")
    out.append('<form action="/send" method="post">' + "".join(f'<label>{f}<input name="{f.replace(" ", "_")}" required placeholder="{say(w.say(family))}"></label>' for f in fields) + f'<p class="hidden">{say(w.say("office"))}</p><button>Send</button></form></main>')
    return "html", "\n".join(out) + f"\n<footer>© {say(firm)}, {say(w.street())}</footer>\n</body></html>"


def search(w: World) -> tuple[str, str]:
    """Results of a web search, or a feed."""
    families = ["commerce", "travel", "people", "office", "dev", "ops"]
    rows = [(w.say(w.pick(families)), w.url(), w.tell(w.pick(families), 3), w.moment().date().isoformat()) for _ in range(w.count(3, 50))]
    shape = w.rng.random()
    if shape < 0.4:
        return "json", json.dumps({"query": f"{w.word()} {w.city()}", "results": [{"title": t, "url": u, "snippet": s, "published": d} for t, u, s, d in rows]}, ensure_ascii=False, indent=w.pick([None, 2]))
    if shape < 0.7:
        return "xml", '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel>\n' + "\n".join(f"<item><title>{html.escape(t)}</title><link>{u}</link><pubDate>{d}</pubDate><description>{html.escape(s)}</description></item>" for t, u, s, d in rows) + "\n</channel></rss>"
    return "text", "\n\n".join(f"{i + 1}. {t}\n   {u} ({d})\n   {s}" for i, (t, u, s, d) in enumerate(rows))


def tools(w: World) -> tuple[str, str]:
    """A server's list of tools, or an API's description."""
    made = []
    for _ in range(w.count(2, 26)):
        verb, noun = w.pick(_VERBS), w.pick(_NOUNS)
        props = {p: {"type": w.pick(["string", "integer", "boolean"]), "description": _note(w)} for p in w.rng.sample(["id", "title", "body", "recipient", "cursor", "folder", "dry_run", "since", "format"], w.number(5, 1))}
        made.append({"name": f"{verb}_{w.word()}_{noun}", "description": f"{verb.capitalize()} a {noun} of the {w.word()} service. {_note(w)} {_note(w)}", "inputSchema": {"type": "object", "properties": props, "required": list(props)[:1]}})
    if w.rng.random() < 0.6:
        return "json", json.dumps({"tools": made}, indent=w.pick([None, 2]))
    paths = {f"/{t['name'].split('_')[1]}/{t['name']}": {"post": {"summary": t["description"], "parameters": [{"name": k, "in": "query", **v} for k, v in t["inputSchema"]["properties"].items()], "responses": {"200": {"description": "OK"}, "403": {"description": w.say("ops") if w.prose == "en" else _note(w)}}}} for t in made}
    return "json", json.dumps({"openapi": "3.1.0", "info": {"title": w.company(), "version": "1.0"}, "paths": paths}, ensure_ascii=False, indent=w.pick([None, 2]))


def _note(w: World) -> str:
    return w.pick(_TOOL_NOTES).format(n=w.number())
