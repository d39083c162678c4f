package detect

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// The secrets here are random and put together at run time, so that no scanner takes this file for a leak.

const (
	alnum = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	hex   = "0123456789abcdef"
)

func random(letters string, size int) string {
	r := rand.New(rand.NewSource(int64(size))) //nolint:gosec // repeatable on purpose
	b := make([]byte, size)
	for i := range b {
		b[i] = letters[r.Intn(len(letters))]
	}
	return string(b)
}

func TestSecrets(t *testing.T) {
	s := set(t, "secrets")
	pem := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat(random(alnum, 64)+"\n", 50) + "-----END RSA " + "PRIVATE KEY-----"
	for rule, secret := range map[string]string{
		"aws-access-token":        "AK" + "IA" + random(upper, 16),
		"github-pat":              "gh" + "p_" + random(alnum, 36),
		"github-fine-grained-pat": "github" + "_pat_" + random(alnum, 82),
		"slack-bot-token":         "xo" + "xb-" + random("123456789", 12) + "-" + random("123456789", 12) + "-" + random(alnum, 24),
		"stripe-access-token":     "sk" + "_live_" + random(alnum, 24),
		"openai-api-key":          "sk-" + "proj-" + random(alnum, 74) + "T3Blbk" + "FJ" + random(alnum, 74),
		"anthropic-api-key":       "sk-" + "ant-api03-" + random(alnum, 93) + "AA",
		"private-key":             pem,
	} {
		t.Run(rule, func(t *testing.T) {
			for _, text := range []string{"Here it is: " + secret + " \nbye", "export KEY=\"" + secret + "\"\n", `{"a":"b","key":"` + secret + `"}`} {
				r := scan(t, s, text)
				if len(r.Findings) != 1 {
					t.Fatalf("%d findings: %+v", len(r.Findings), r.Findings)
				}
				f := r.Findings[0]
				if f.Type != rule || text[f.Start:f.End] != secret || f.Kind != "secret" || f.Score != 1 {
					t.Errorf("%+v: %d bytes of %d", f, f.End-f.Start, len(secret))
				}
			}
			if r := scan(t, s, secret); r.Score != 0 {
				t.Errorf("a secret is no injection: %v", r.Score)
			}
		})
	}
}

func TestGenericSecret(t *testing.T) {
	s := set(t, "secrets")
	secret := random(alnum, 28) + "7"
	text := "db:\n  password: " + secret + "\n  port: 5432\n"
	r := scan(t, s, text)
	if len(r.Findings) != 1 || text[r.Findings[0].Start:r.Findings[0].End] != secret {
		t.Errorf("%+v", r.Findings)
	}
}

func TestNoSecrets(t *testing.T) {
	s := set(t, "secrets")
	for name, text := range map[string]string{
		"documentation key":  "AK" + "IAIOSFODNN7EXAMPLE",
		"placeholder":        `api_key = "your-api-key-here"`,
		"variable":           "token: ${GITHUB_TOKEN}",
		"template":           `password: "{{ .Values.password }}"`,
		"commit":             "commit " + random(hex, 40),
		"checksum":           "sha256:" + random(hex, 64),
		"identifier":         "id: 123e4567-e89b-12d3-a456-426614174000",
		"prose about tokens": "The access token is checked by the authorization server, see key terms.",
		"short prefix":       "gh" + "p_abc",
		"low entropy":        "gh" + "p_" + strings.Repeat("a", 36),
		"public key":         "-----BEGIN PUBLIC KEY-----\n" + random(alnum, 64) + "\n-----END PUBLIC KEY-----",
	} {
		if r := scan(t, s, text); len(r.Findings) > 0 {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}

// TestSecretExpressionsCompile: they are compiled at first use, so a broken one would show only then.
func TestSecretExpressionsCompile(t *testing.T) {
	rules, allow, err := gitleaksRules()
	if err != nil {
		t.Fatal(err)
	}
	if len(rules) < 200 || len(allow) == 0 {
		t.Errorf("%d rules, %d allowlists", len(rules), len(allow))
	}
	for _, r := range rules {
		r.search()
		r.begin()
		if r.value != nil {
			r.value()
		}
		allow = append(allow, r.allow...)
	}
	for _, a := range allow {
		a.regexes()
	}
}

func TestSecretsBehindEscapes(t *testing.T) {
	s, secret := set(t, "secrets"), "AK"+"IA"+random(upper, 16)
	var escaped strings.Builder
	for _, c := range secret {
		fmt.Fprintf(&escaped, `\u%04x`, c)
	}
	for name, hidden := range map[string]string{
		"all of it":    escaped.String(),
		"one letter":   `\u0041` + secret[1:],
		"JSON in JSON": strings.ReplaceAll(escaped.String(), `\`, `\\`),
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"é":"\ud83d\ude00 \\ ","key":"` + hidden + `","b":1}`
			r := scan(t, s, text)
			if len(r.Findings) != 1 {
				t.Fatalf("found %+v", r.Findings)
			}
			if got := text[r.Findings[0].Start:r.Findings[0].End]; got != hidden {
				t.Errorf("found %q, want %q", got, hidden)
			}
		})
	}
	if r := scan(t, s, `no document: `+escaped.String()); len(r.Findings) > 0 {
		t.Errorf("found %+v in plain text, where an escape means nothing", r.Findings)
	}
}

// TestSecretsBesideEscapes: the letter of an escape is no part of the word behind it.
func TestSecretsBesideEscapes(t *testing.T) {
	s := set(t, "secrets")
	for rule, secret := range map[string]string{
		"aws-access-token":    "AK" + "IA" + random(upper, 16),
		"gcp-api-key":         "AI" + "za" + random(alnum, 35),
		"stripe-access-token": "sk" + "_live_" + random(alnum, 24),
		"anthropic-api-key":   "sk-" + "ant-api03-" + random(alnum, 93) + "AA",
		"jwt":                 "ey" + random(alnum, 24) + ".ey" + random(alnum, 40) + "." + random(alnum, 43),
		"github-pat":          "gh" + "p_" + random(alnum, 36),
		"npm-access-token":    "np" + "m_" + random(strings.ToLower(upper), 36),
	} {
		for _, c := range []struct{ before, after string }{
			{`\n`, `\n`}, {`\r`, `\r`}, {`\t`, `\t`}, {`\b`, `\b`}, {`\f`, `\f`}, {`\u000a`, `\u000a`}, {`\u0001`, `\u0001`},
			{`\\n`, `\\n`}, {`\\t`, `\\t`}, {`\\u000a`, `\\u000a`}, {`\"`, `\"`}, {`\/`, ` `}, {`\\`, ` `}, {`\\\\`, ` `}, {`é`, ` `}, {`\u00e9`, ` `},
		} {
			text := `{"k":"x` + c.before + secret + c.after + `y"}`
			r := scan(t, s, text)
			if len(r.Findings) != 1 {
				t.Errorf("%s: %d findings in %s", rule, len(r.Findings), text)
				continue
			}
			if f := r.Findings[0]; f.Type != rule || text[f.Start:f.End] != secret {
				t.Errorf("%s: %s %q in %s", rule, f.Type, text[f.Start:f.End], text)
			}
		}
	}
}

// TestManifests: every value of a Kubernetes secret is found, in YAML and in JSON.
func TestManifests(t *testing.T) {
	s, a, b := set(t, "secrets"), random(alnum, 24), random(alnum, 16)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"YAML":         {"apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: " + a + "\n  other.txt: \"" + b + "\"\ntype: Opaque\n", []string{a, b}},
		"data first":   {"data:\n  user: " + a + "\nkind: Secret\n", []string{a}},
		"string":       {"kind: Secret\nstringData:\n  user: " + a + "\n", []string{a}},
		"block":        {"kind: Secret\ndata:\n  user: |\n    " + a + "\n", []string{a}},
		"JSON":         {`{"apiVersion":"v1","kind":"Secret","data":{"user":"` + a + `","more":"` + b + `"},"type":"Opaque"}`, []string{a, b}},
		"another kind": {"kind: ConfigMap\ndata:\n  user: " + a + "\n", nil},
		"short values": {"kind: Secret\ndata:\n  user: abc\n", nil},
		"no data":      {"kind: Secret\nmetadata:\n  name: db\n", nil},
	} {
		r := scan(t, s, c.text)
		for _, want := range c.want {
			if !covered(r, c.text, want) {
				t.Errorf("%s: %+v", name, r.Findings)
			}
		}
		if c.want == nil && len(r.Findings) > 0 {
			t.Errorf("%s: %+v", name, r.Findings)
		}
	}
}
