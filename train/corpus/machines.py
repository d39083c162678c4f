"""Documents of those who run and write programs."""

import json

from world import World

_LEVELS = ["DEBUG", "INFO", "INFO", "INFO", "WARN", "ERROR"]
_AGENTS = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148", "curl/8.5.0", "python-requests/2.32", "Go-http-client/2.0", "kube-probe/1.30", "-",
]  # fmt: skip
_ACTIONS = ["login", "logout", "role.change", "export", "delete", "token.create", "policy.update", "file.read", "mail.send", "approve", "reject"]


def server(w: World) -> tuple[str, str]:
    """A server's log: of requests, of the system or of a program."""
    shape, rows = w.rng.random(), []
    host = w.host()
    for _ in range(w.count(4, 170)):
        at = w.tick(30)
        if shape < 0.3:
            rows.append(f'{w.ip()} - {w.pick(["-", w.user()])} [{at:%d/%b/%Y:%H:%M:%S} +0000] "{w.pick(["GET", "POST", "PUT", "DELETE"])} /{w.word()}/{w.number(999)}?q={w.hex(4)} HTTP/1.1" {w.pick([200, 200, 200, 301, 403, 404, 500])} {w.number(90000)} "{w.url()}" "{w.pick(_AGENTS)}"')
        elif shape < 0.6:
            rows.append(f"{at:%b %d %H:%M:%S} {host} {w.pick(['sshd', 'systemd', 'cron', 'kernel', w.word()])}[{w.number(32000)}]: {w.say('ops')}")
        elif shape < 0.8:
            rows.append(f"{at.isoformat(timespec='milliseconds')} {w.pick(_LEVELS):<5} [{w.word()}] {w.say('ops')} request={w.hex()} took={w.number(900)}ms")
        else:
            rows.append(json.dumps({"time": at.isoformat(), "level": w.pick(_LEVELS).lower(), "service": w.word(), "msg": w.say("ops"), "user": w.user(), "trace": w.hex(16)}, ensure_ascii=False))
    return "log", "\n".join(rows)


def audit(w: World) -> tuple[str, str]:
    """An audit log."""
    rows = [{"seq": i, "at": w.tick(500).isoformat(), "actor": w.email(), "ip": w.ip(), "action": w.pick(_ACTIONS), "target": f"{w.word()}/{w.hex(6)}", "outcome": w.pick(["ok", "ok", "denied"]), "reason": w.say("ops")} for i in range(w.count(3, 90))]
    if w.rng.random() < 0.5:
        return "jsonl", "\n".join(json.dumps(r, ensure_ascii=False) for r in rows)
    return "log", "\n".join(f"{r['at']} actor={r['actor']} ip={r['ip']} action={r['action']} target={r['target']} outcome={r['outcome']} reason=\"{r['reason']}\"" for r in rows)


def pipeline(w: World) -> tuple[str, str]:
    """A CI run's log."""
    lines = [f"Run #{w.number(9000)} on branch {w.word()}-{w.number(900)} ({w.hex()})", f"Runner {w.host()}, started by {w.user()}"]
    for step in w.rng.sample(["Checkout", "Set up toolchain", "Restore cache", "Install dependencies", "Lint", "Unit tests", "Integration tests", "Build image", "Scan image", "Publish", "Deploy to staging", "Notify"], w.number(12, 3)):
        lines.append(f"##[group]{step}")
        for _ in range(w.count(1, 40)):
            lines.append(w.pick([f"  {w.tick(2):%H:%M:%S} {w.say(w.pick(['ops', 'dev']))}", f"  ok   {w.word()}/{w.word()}_test {w.number(900) / 100:.2f}s", f"  {w.pick(['Downloading', 'Using', 'Compiling'])} {w.word()}-{w.word()} {w.number(9)}.{w.number(20)}.{w.number(9)}", f"  WARNING: {w.say('ops')}", f"  --- FAIL: {w.word()}: {w.say('dev')}"]))
        lines.append("##[endgroup]")
    lines += ["", w.pick(["Process completed with exit code 1.", "Job succeeded", "Job was cancelled"])]
    return "log", "\n".join(lines)


def sensors(w: World) -> tuple[str, str]:
    """Readings of sensors."""
    keys = ["time", "device", "temperature", "humidity", "pressure", "battery", "place", "remark"]
    place, rows = w.city(), []
    for _ in range(w.count(4, 220)):
        remark = w.say("ops") if w.rng.random() < 0.06 and w.prose == w.lang else ""
        rows.append([w.tick(300).isoformat(timespec="seconds"), f"dev-{w.hex(4)}", round(w.rng.gauss(19, 6), 2), round(w.rng.uniform(20, 90), 1), round(w.rng.gauss(1013, 8), 1), w.number(100, 3), place, remark])
    if w.rng.random() < 0.6:
        return "csv", "\n".join(",".join(str(c) for c in r) for r in [keys, *rows])
    return "json", json.dumps([dict(zip(keys, r, strict=True)) for r in rows], ensure_ascii=False, indent=w.pick([None, 2]))


def config(w: World) -> tuple[str, str]:
    """A configuration with comments."""
    shape, lines = w.rng.random(), []
    mark = "//" if shape > 0.9 else "#"
    for _ in range(w.count(2, 30)):
        name = w.word()
        lines.append("")
        lines += [f"{mark} {w.say('ops')}" for _ in range(w.number(3, 0))]
        if shape < 0.45:
            lines += [f"{name}:", f"  image: registry.example/{name}:{w.number(9)}.{w.number(20)}", f"  replicas: {w.number(9, 1)}", f"  owner: {w.email()}", "  env:", f"    {name.upper()}_URL: {w.url()}", f"    DEBUG: {w.pick(['true', 'false'])}  # {w.say('ops')}"]
        elif shape < 0.7:
            lines += [f"[{name}]", f"host = {w.host()}", f"port = {w.number(9000, 80)}", f"; {w.say('ops')}", f"contact = {w.email()}", f"retries = {w.number(9)}"]
        elif shape < 0.9:
            lines += [f"{name.upper()}_HOST={w.host()}", f"{name.upper()}_TIMEOUT={w.number()}", f'{name.upper()}_MESSAGE="{w.say("ops")}"']
        else:
            lines += [f"location /{name} {{", f"    proxy_pass http://{w.ip()}:{w.number(9000, 80)};", f"    add_header X-Info \"{w.say('ops')}\";", "}"]
    return "config" if shape >= 0.45 else "yaml", "\n".join(lines).strip()


def runbook(w: World) -> tuple[str, str]:
    """Instructions for those on call, or the story of an outage."""
    lines = [f"# {w.pick(['Runbook', 'How to', 'Incident', 'Checklist', 'Onboarding'])}: {w.word()} {w.pick(['restore', 'outage', 'upgrade', 'migration', 'rotation of keys'])}", "", f"Owner: {w.name()} <{w.email()}>", ""]
    for _ in range(w.count(2, 24)):
        lines += [f"## {w.say('ops')}", "", w.tell("ops", 5), ""]
        lines += [f"{i + 1}. {w.say(w.pick(['ops', 'dev']))}" for i in range(w.number(8, 1))] + [""]
        if w.rng.random() < 0.4:
            lines += ["```sh", f"ssh {w.user()}@{w.host()} sudo systemctl restart {w.word()}", f"curl -s {w.url()} | jq .status", f"rm -f /var/cache/{w.word()}/{w.hex()}.lock", "```", ""]
    return "markdown", "\n".join(lines)


def repository(w: World) -> tuple[str, str]:
    """Issues, pull requests and reviews as a forge returns them."""
    made = []
    for _ in range(w.count(1, 14)):
        comments = [{"id": w.number(10**8), "user": {"login": w.user()}, "created_at": w.moment().isoformat() + "Z", "body": w.tell("dev", 4)} for _ in range(w.count(1, 12))]
        made.append({"number": w.number(9999), "title": w.say("dev"), "state": w.pick(["open", "closed"]), "user": {"login": w.user(), "id": w.number(10**7), "site_admin": False}, "labels": [{"name": w.pick(["bug", "docs", "security", "help wanted", "good first issue"])}], "body": "\n\n".join(w.tell("dev", 4) for _ in range(w.number(3, 1))), "comments": comments})
    if w.rng.random() < 0.5:
        return "json", json.dumps(made, ensure_ascii=False, indent=w.pick([None, 2]))
    return "markdown", "\n\n---\n\n".join(f"# {m['title']} #{m['number']} ({m['state']})\n\n@{m['user']['login']}\n\n{m['body']}\n\n" + "\n\n".join(f"**@{c['user']['login']}** on {c['created_at'][:10]}\n\n{c['body']}" for c in m["comments"]) for m in made)


def prompts(w: World) -> tuple[str, str]:
    """A team's library of prompts for its own models, as a developer's agent reads it from a file."""
    made = [(f"{w.word()}_{w.word()}", [w.say("prompts") for _ in range(w.count(2, 16))]) for _ in range(w.count(1, 14))]
    shape = w.rng.random()
    if shape < 0.35:
        return "yaml", "\n".join(f"- name: {n}\n  model: default\n  system: |\n    " + "\n    ".join(dict.fromkeys(p)) for n, p in made)
    if shape < 0.65:
        return "markdown", "\n\n".join(f"## Prompt `{n}`\n\n" + "\n".join(f"- {s}" for s in dict.fromkeys(p)) for n, p in made)
    if shape < 0.85:
        return "code", "\n\n".join(f'{n.upper()}_PROMPT = """\\\n' + "\n".join(dict.fromkeys(p)) + '\n"""' for n, p in made)
    return "json", json.dumps([{"id": n, "messages": [{"role": "system", "content": " ".join(dict.fromkeys(p))}, {"role": "user", "content": "{input}"}]} for n, p in made], ensure_ascii=False, indent=2)
