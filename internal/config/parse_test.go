package config

import (
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func parse(t *testing.T, yaml string) *Config {
	t.Helper()
	c, err := Parse("test.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNothingWrittenIsTheDefault(t *testing.T) {
	for _, yaml := range []string{"", "# nothing\n", "---\n", "{}", "protection:\ntools: {}\nlimits:\n"} {
		if got := parse(t, yaml); !reflect.DeepEqual(got, Default()) {
			t.Errorf("%q: got %+v", yaml, got)
		}
	}
}

func TestWrittenDefaultsAreTheDefault(t *testing.T) {
	got := parse(t, `
listen: 127.0.0.1:8787
store: sqlite:gatehouse.db
upstreams:
  openai:    {format: openai,    url: https://api.openai.com}       # key: ${OPENAI_API_KEY} when the gateway holds it
  anthropic: {format: anthropic, url: https://api.anthropic.com/}
  gemini:    {format: gemini,    url: https://generativelanguage.googleapis.com}
protection:
  mode: enforce
  thresholds: {warn: 0.60, quarantine: 0.80, block: 0.95}
  screen: {incoming: true, outgoing: true, tool_calls: true, tool_responses: true}
  pii: {card: redact, ssn: redact, iban: report, email: report, phone: report, ip: report, address: report}   # or ${NOT_SET}
  secrets: redact
  canary: report
  quarantine_key: ""
alignment: {autonomy_mode: enforce, integrity_mode: observe}
tools: {}
on_block: replace
on_error: closed
uninspected: forward
streaming: auto
approvals: {wait: 0s, expire: 24h, resume: replay}
limits: {body: 32MiB, depth: 128, scan: 2s, header_timeout: 10s, upstream_idle: 10m, stream_buffer: 8MiB, rate: 0}
audit: {durability: decisions, retention: 365d, content: hash}
judge: null
integrity: {request_reasoning: false}
auth: {mode: auto, admin_token: ${GATEHOUSE_ADMIN_TOKEN}}  # section 8
tls: {cert: "", key: ""}
trusted_sources: {ip_ranges: []}
notify: {webhooks: [], slack: {}}
telemetry: {otlp: "", prometheus: true, content: false}
agents: {auto_create: true}
`)
	if !reflect.DeepEqual(got, Default()) {
		t.Errorf("got %+v\nwant %+v", got, Default())
	}
}

func TestPartialMapsMerge(t *testing.T) {
	t.Setenv("VLLM_KEY", "s3cret")
	t.Setenv("HOOK_SECRET", "whsec_0123456789abcdef")
	t.Setenv("SLACK_TOKEN", "xoxb-1")
	got := parse(t, `
upstreams:
  openai: {key: "${VLLM_KEY}", allow_uninspected: [/v1/realtime]}
  vllm: {format: openai, url: "http://localhost:8000///", auth: none}
protection: {mode: observe, thresholds: {warn: 0.5}, screen: {outgoing: false}}
tools:
  allow: []
  flag: []
  provenance: off
  rules: [{tool: "read_*", verdict: allow}]
on_error: {front: open}
limits: {body: 500KB, scan: 1d12h, rate: 60}
cors: {origins: ["https://example.com"]}
approvals: {wait: 10m, expire: 2d, resume: match, url: "https://gatehouse.example/"}
notify:
  private_targets: ["10.0.0.0/8"]
  webhooks:
    - {url: "https://example.com/hook?a=b", secret: "${HOOK_SECRET}"}
    - {url: "http://10.1.2.3/hook", secret: "${HOOK_SECRET}", events: [approval.requested, "agent.*"]}
  slack: {token: "${SLACK_TOKEN}", channel: C0123, signing_secret: "${SLACK_TOKEN}", approvers: [U0ABC, W1], arguments: true, api: "https://slack.example/api"}
telemetry: {otlp: "http://localhost:4318", content: true}
agents: {auto_create: false}
`)
	want := Default()
	want.Upstreams["openai"] = Upstream{Format: "openai", URL: "https://api.openai.com", Key: "s3cret", AllowUninspected: []string{"/v1/realtime"}}
	want.Upstreams["vllm"] = Upstream{Format: "openai", URL: "http://localhost:8000", Auth: "none"}
	want.Protection.Mode, want.Protection.Thresholds.Warn, want.Protection.Screen.Outgoing = gatehouse.Observe, 0.5, false
	want.Tools = policy.Tools{Allow: []string{}, Flag: []string{}, FlagSet: true, Rules: []policy.Rule{{Tool: "read_*", Verdict: gatehouse.Allow, Line: 10}}}
	want.OnError[gatehouse.Front] = "open"
	want.Limits.Body, want.Limits.Scan, want.Limits.Rate = 500_000, 36*time.Hour, 60
	want.CORS.Origins = []string{"https://example.com"}
	want.Approvals = Approvals{Wait: 10 * time.Minute, Expire: 48 * time.Hour, Resume: "match", URL: "https://gatehouse.example"}
	want.Notify = Notify{
		Webhooks: []Webhook{
			{URL: "https://example.com/hook?a=b", Secret: "whsec_0123456789abcdef", Events: []string{"approval.*"}},
			{URL: "http://10.1.2.3/hook", Secret: "whsec_0123456789abcdef", Events: []string{"approval.requested", "agent.*"}},
		},
		Slack: Slack{Token: "xoxb-1", Channel: "C0123", SigningSecret: "xoxb-1", Approvers: []string{"U0ABC", "W1"}, Arguments: true,
			API: "https://slack.example/api"},
		PrivateTargets: []string{"10.0.0.0/8"},
	}
	want.Telemetry = Telemetry{OTLP: "http://localhost:4318", Prometheus: true, Content: true}
	want.Agents.AutoCreate = false
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestOneWordForAllCheckpoints(t *testing.T) {
	if got := parse(t, "on_error: open").OnError; !reflect.DeepEqual(got, sameForAll("open")) {
		t.Errorf("got %v", got)
	}
}

func TestEveryProblemIsNamed(t *testing.T) {
	t.Setenv("SECRET_WORD", "hunter2")
	tests := []struct{ name, yaml, want string }{
		{"not YAML", "a: [", "line:1"},
		{"not a mapping", "- a", "1: : must be a mapping of keys to values"},
		{"two documents", "{}\n---\n{}", "2: : a second document: a configuration is one"},
		{"unknown key", "listne: x", "1: listne: unknown key"},
		{"unknown key with a near one", "limits: {bodys: 1}", "1: limits.bodys: unknown key; did you mean body?"},
		{"a key twice", "on_block: error\non_block: replace", "2: on_block: written twice, first on line 1"},
		{"a nested key twice", "limits:\n  rate: 1\n  rate: 2", "3: limits.rate: written twice, first on line 2"},
		{"a merge key", "limits: {<<: {rate: 1}}", "1: limits.<<: unknown key"},
		{"no value", "listen:", "1: listen: has no value; remove the key to get the default"},
		{"no fence is not an empty fence", "tools:\n  allow:", "2: tools.allow: must be a list"},
		{"a mode of another name", "protection:\n  mode: enforced", "2: protection.mode: must be off, observe, nudge or enforce"},
		{"thresholds out of order", "protection:\n  thresholds: {warn: 0.99}", "2: protection.thresholds: must rise: warn, quarantine, block"},
		{"a threshold that is no number", "protection: {thresholds: {warn: NaN}}", "1: protection.thresholds.warn: must be a number from 0 to 1"},
		{"a threshold above one", "protection: {thresholds: {block: 1.1}}", "1: protection.thresholds.block: must be a number from 0 to 1"},
		{"a boolean of another language", "protection: {screen: {incoming: yes}}", "1: protection.screen.incoming: must be true or false"},
		{"a size", "limits: {body: 32XB}", "1: limits.body: must be a size such as 32MiB, 500KB or a number of bytes"},
		{"a size that overflows", "limits: {body: 9223372036854775807GiB}", "1: limits.body: must be a size such as 32MiB, 500KB or a number of bytes"},
		{"an empty size", "limits: {body: 0}", "1: limits.body: must be more than nothing"},
		{"a duration", "limits: {scan: 2}", "1: limits.scan: must be a duration such as 2s, 10m or 365d"},
		{"a negative duration", "limits: {scan: -2s}", "1: limits.scan: must be a duration such as 2s, 10m or 365d"},
		{"an address", "listen: localhost", "1: listen: must be host:port"},
		{"a store to come", "store: postgres://u:p@h/d", "1: store: PostgreSQL is not available in this version; use sqlite:PATH"},
		{"an incomplete upstream", "upstreams:\n  x: {format: openai}", "2: upstreams.x: needs a format and a url"},
		{"an upstream's name", "upstreams: {a/b: {}}", "1: upstreams.a/b: a name is letters, digits, dots, underscores and hyphens, 64 at most"},
		{"a format that does not exist", "upstreams: {x: {format: bard, url: https://x}}", "1: upstreams.x.format: must be openai, anthropic or gemini"},
		{"a password in a URL", "upstreams: {openai: {url: https://u:p@x}}", "1: upstreams.openai.url: must not hold a user name or password; use key"},
		{"an origin with a path", "cors: {origins: [https://a/b]}", "1: cors.origins[0]: must be an origin such as https://example.com, without a path, or *"},
		{"an unset variable", "listen: ${GATEHOUSE_NO_SUCH}", "1: listen: the environment variable GATEHOUSE_NO_SUCH is not set; ${GATEHOUSE_NO_SUCH:-default} gives one"},
		{"a secret in the wrong place", "on_block: ${SECRET_WORD}", "1: on_block: must be replace or error"},
		{"a checkpoint that does not exist", "on_error: {side: open}", "1: on_error.side: unknown key"},
		{"a word for on_error", "on_error: maybe", "1: on_error: must be closed or open"},
		{"no way of streaming", "streaming: windows", "1: streaming: must be auto, buffer or window"},
		{"an unknown class", "protection:\n  pii: {card: off, shoe_size: redact}", "2: protection.pii.shoe_size: unknown key"},
		{"a word for a class", "protection: {pii: {ssn: mask}}", "1: protection.pii.ssn: must be redact, report or off"},
		{"a preset", "protection: {pii: {preset: lax}}", "1: protection.pii.preset: must be strict, or left out"},
		{"a line after references", "listen: ${A:-127.0.0.1:1}\ncors: {origins: [${B:-http://x}]} # ${C}\non_block: x", "3: on_block: must be replace or error"},
		{"content to come", "audit: {content: full}", "1: audit.content: is not available in this version; only hash can be written"},
		{"a judge without an upstream", "judge: {model: x}", "1: judge: needs an upstream and a model"},
		{"a judge of an upstream that is none", "judge: {model: x, upstream: y}", "1: judge: names an upstream that does not exist"},
		{"a judge without a key", "judge: {model: x, upstream: openai}", "1: judge: upstreams.openai needs a key, or auth: none: the judge has no caller's"},
		{"a judge of many words", "judge: {model: a b}", "1: judge.model: must be printable ASCII without blanks"},
		{"a judge that takes its time", "judge: {timeout: 2m}", "1: judge.timeout: must be 100ms to 1m"},
		{"a short admin token", "auth: {admin_token: abc}", "1: auth.admin_token: must have 20 bytes or more"},
		{"an address for a network", "notify: {private_targets: [10.0.0.1]}", "1: notify.private_targets[0]: must be a network such as 10.0.0.0/8"},
		{"a wait that clients do not sit out", "approvals: {wait: 11m}", "1: approvals.wait: must be 0s to 10m"},
		{"an expiry of nothing", "approvals: {expire: 0s}", "1: approvals.expire: must be 1m to 30d"},
		{"an expiry without end", "approvals: {expire: 31d}", "1: approvals.expire: must be 1m to 30d"},
		{"a way to resume", "approvals: {resume: never}", "1: approvals.resume: must be replay or match"},
		{"a path for the approvals' URL", "approvals: {url: /console}", "1: approvals.url: must be an http or https URL"},
		{"a webhook without a URL", "notify:\n  webhooks:\n    - {secret: whsec_0123456789abcdef}", "3: notify.webhooks[0]: url must be an absolute URL"},
		{"a webhook into a private network", "notify: {webhooks: [{url: 'http://10.0.0.1', secret: whsec_0123456789abcdef}]}", "1: notify.webhooks[0]: url must lead to a public address"},
		{"a webhook without a secret", "notify: {webhooks: [{url: 'https://example.com'}]}", "1: notify.webhooks[0]: secret must have 20 bytes or more"},
		{"a webhook's short secret", "notify: {webhooks: [{url: 'https://example.com', secret: '${SECRET_WORD}'}]}", "1: notify.webhooks[0]: secret must have 20 bytes or more"},
		{"a webhook's events", "notify: {webhooks: [{url: 'https://example.com', secret: whsec_0123456789abcdef, events: [a*]}]}", "1: notify.webhooks[0]: event_types[0] must be the name of a type, one that ends in .*, or *"},
		{"a webhook twice", "notify:\n  webhooks:\n    - {url: 'https://example.com', secret: whsec_0123456789abcdef}\n    - {url: 'https://example.com', secret: whsec_0123456789abcdee}", "4: notify.webhooks[1]: the url was written before"},
		{"a key of webhooks", "notify: {webhooks: [{uri: x}]}", "1: notify.webhooks[0].uri: unknown key\n1: notify.webhooks[0]: url must be an absolute URL"},
		{"half of Slack", "notify:\n  slack: {token: xoxb-1, channel: C1}", "2: notify.slack: needs channel, signing_secret and approvers beside the token"},
		{"Slack without approvers", "notify: {slack: {token: xoxb-1, channel: C1, signing_secret: x, approvers: []}}", "1: notify.slack: needs channel, signing_secret and approvers beside the token"},
		{"Slack without a token", "notify: {slack: {channel: C1}}", "1: notify.slack: needs a token"},
		{"an approver by name", "notify: {slack: {approvers: [alice]}}", "1: notify.slack.approvers[0]: must be the id of a user, such as U012AB3CD\n1: notify.slack: needs a token"},
		{"a key of Slack", "notify: {slack: {chanel: x}}", "1: notify.slack.chanel: unknown key"},
		{"half a certificate", "tls: {cert: a.pem}", "1: tls: needs both cert and key"},
		{"a collector without a scheme", "telemetry: {otlp: localhost:4318}", "1: telemetry.otlp: must be an http or https URL"},
		{"a collector's password", "telemetry: {otlp: 'http://u:p@x:4318'}", "1: telemetry.otlp: must not hold a user name or password; set OTEL_EXPORTER_OTLP_HEADERS in the environment"},
		{"an agent's own settings", "agents: {bot: {tools: {}}}", "1: agents.bot: settings of one agent are not available in this version"},
		{"provenance with a word of its own", "tools:\n  provenance: allow", "2: tools.provenance: must be off, flag or block"},
		{"a condition that is no expression", "tools:\n  rules:\n    - tool: x\n      verdict: flag\n      unless: 'args.a =='", "5:25: tools.rules[0].unless: Syntax error: mismatched input '<EOF>'"},
		{"a condition that is no answer", "tools: {rules: [{tool: x, verdict: flag, when: args.a}]}", "1:48: tools.rules[0].when: must be true or false, and is of type dyn; write … == true"},
		{"an empty condition", "tools: {rules: [{tool: x, verdict: flag, when: ' '}]}", "1: tools.rules[0].when: must not be empty; remove the key for a rule without a condition"},
		{"a name in a plain condition", "tools:\n  rules:\n    - {tool: x, verdict: flag, when: args.a == 1 && nope}", "3:53: tools.rules[0].when: undeclared reference to 'nope'"},
		{"a name behind doubled quotes", "tools:\n  rules:\n    - {tool: x, verdict: flag, when: 'args.a == ''é'' || nope'}", "3:58: tools.rules[0].when: undeclared reference to 'nope'"},
		{"a name behind escaped quotes", `tools: {rules: [{tool: x, verdict: flag, when: "args.a == \"b\" || nope"}]}`, "1:68: tools.rules[0].when: undeclared reference to 'nope'"},
		{"a name in a block", "tools:\n  rules:\n    - tool: x\n      verdict: flag\n      when: |\n        args.a == 1 ||\n        nope\n", "7: tools.rules[0].when: undeclared reference to 'nope'"},
		{"two conditions", "tools:\n  rules:\n    - {tool: x, verdict: flag, when: session.tained, unless: agent.mail == tool}", "3:45: tools.rules[0].when: undeclared reference to 'session.tained' (did you mean 'session.tainted'?)\n3:67: tools.rules[0].unless: undeclared reference to 'agent.mail' (did you mean 'agent.id' or 'agent.name'?)"},
		{"a secret in a condition", "tools: {rules: [{tool: x, verdict: flag, when: '${SECRET_WORD}'}]}", "1: tools.rules[0].when: is not a condition when its variables are filled in"},
		{"half a rule", "tools: {rules: [{tool: x}]}", "1: tools.rules[0]: needs a tool and a verdict"},
		{"a rule's verdict", "tools: {rules: [{tool: x, verdict: redact}]}", "1: tools.rules[0].verdict: must be allow, flag or block"},
		{"an empty pattern", "tools:\n  allow:\n    - a\n    - ''", "4: tools.allow[1]: the name of a tool is missing"},
		{"several", "on_block: x\nnope: 1\nlimits: {rate: -1}", "1: on_block: must be replace or error\n2: nope: unknown key\n3: limits.rate: must be a whole number from 0 to 1000000"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("test.yaml", []byte(test.yaml))
			var problems Problems
			if !errors.As(err, &problems) {
				t.Fatalf("got %v, want problems", err)
			}
			if test.want == "line:1" {
				if len(problems) != 1 || !strings.HasPrefix(problems[0].Message, "not valid YAML: ") {
					t.Errorf("got %v", problems)
				}
				return
			}
			var got []string
			for _, p := range problems {
				got = append(got, strings.TrimPrefix(p.String(), "test.yaml:"))
				if p.Path == "" {
					got[len(got)-1] = strings.Replace(got[len(got)-1], ": ", ": : ", 1)
				}
			}
			if all := strings.Join(got, "\n"); all != test.want {
				t.Errorf("got\n%s\nwant\n%s", all, test.want)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Error("the error quotes the environment")
			}
		})
	}
}

func TestPersonalDataByClass(t *testing.T) {
	for yaml, want := range map[string]map[string]string{
		"{}":                                 {"card": "redact", "ssn": "redact", "iban": "report"},
		"{email: redact, card: report}":      {"card": "report", "email": "redact"},
		"{ip: off, preset: strict}":          {"card": "redact", "ip": "off", "address": "redact", "email": "redact"},
		"{preset: strict, phone: report}":    {"ssn": "redact", "phone": "report", "iban": "redact"},
		"{ssn: ${NO_SUCH_VARIABLE:-report}}": {"ssn": "report"},
	} {
		got := parse(t, "protection: {pii: "+yaml+"}").Protection.PII
		if len(got) != 10 {
			t.Errorf("%s: got %v", yaml, got)
		}
		for class, word := range want {
			if got[class] != word {
				t.Errorf("%s: %s is %s, want %s", yaml, class, got[class], word)
			}
		}
	}
	if !maps.Equal(Default().Protection.PII, parse(t, "").Protection.PII) {
		t.Error("a file has changed the defaults")
	}
}

func TestVariablesInsideOfMaps(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk: {1} # ,x")
	for _, yaml := range []string{
		"upstreams: {openai: {key: ${OPENAI_API_KEY}}}",
		"upstreams: {openai: {key: \"${OPENAI_API_KEY}\"}} # ${NOT_SET} ${",
		"upstreams:\n  openai: {key: ${NOT_SET:-${OPENAI_API_KEY}}",
		"upstreams:\n  openai:\n    key: ${OPENAI_API_KEY}",
	} {
		want := "sk: {1} # ,x"
		if strings.Contains(yaml, ":-") {
			want = "${OPENAI_API_KEY"
		}
		if got := parse(t, yaml).Upstreams["openai"].Key; got != want {
			t.Errorf("%s: got %q", yaml, got)
		}
	}
	if c := parse(t, "agents: {auto_create: ${NOT_SET:-false}}"); c.Agents.AutoCreate {
		t.Error("the default of a variable was not taken")
	}
	if c := parse(t, "store: \"sqlite:\uE0000\uE001${NOT_SET:-x}\""); c.Store != "sqlite:\uE0000\uE001x" {
		t.Errorf("got %q", c.Store)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("upstreams: {x: &a {format: openai, url: http://x}, y: *a}\ntools: {rules: [{tool: x, verdict: flag}]}")
	f.Add("a: &a {b: *a}")
	f.Add("on_error: {front: open}\nlimits: {body: 1B}")
	f.Add("tools: {allow: ['*', 'null', ' a', '${X:-y}']}")
	f.Fuzz(func(t *testing.T, yaml string) {
		c, err := Parse("fuzz.yaml", []byte(yaml))
		if err != nil {
			return
		}
		for name, u := range c.Upstreams {
			u.Key = "" // masked, so it does not come back
			c.Upstreams[name] = u
		}
		if c.Auth.AdminToken != "" || len(c.Notify.Webhooks) > 0 || c.Notify.Slack.Token != "" {
			return // what is masked is too short for some of these, or comes back as it is
		}
		again, err := Parse("printed.yaml", c.Masked())
		if err != nil {
			t.Fatalf("what is printed does not parse: %v\n%s", err, c.Masked())
		}
		forgetLines(c)
		forgetLines(again)
		if !reflect.DeepEqual(c, again) {
			t.Errorf("printed and read again: got %+v, want %+v", again, c)
		}
	})
}

func forgetLines(c *Config) {
	if len(c.Tools.Rules) == 0 {
		c.Tools.Rules = nil
	}
	for i := range c.Tools.Rules {
		c.Tools.Rules[i].Line = 0
	}
}
