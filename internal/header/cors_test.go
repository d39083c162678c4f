package header_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

const page = "https://app.example.com"

func TestCORS(t *testing.T) {
	tests := []struct {
		name      string
		origin    string
		allowed   []string
		preflight bool
		origins   string // Access-Control-Allow-Origin
		vary      string
	}{
		{"no origins configured", page, nil, false, "", ""},
		{"allowed", page, []string{"https://other.example", page}, false, page, "Origin"},
		{"allowed, preflight", page, []string{page}, true, page, "Origin"},
		{"any", page, []string{"*"}, true, page, "Origin"},
		{"not allowed", "https://evil.example", []string{page}, true, "", "Origin"},
		{"a suffix is another origin", page + ".evil.example", []string{page}, true, "", "Origin"},
		{"a prefix is another origin", "https://app.example.co", []string{page}, true, "", "Origin"},
		{"another scheme", "http://app.example.com", []string{page}, true, "", "Origin"},
		{"null", "null", []string{page}, true, "", "Origin"},
		{"no page", "", []string{"*"}, false, "", "Origin"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{"Access-Control-Allow-Origin": {"*"}, "access-control-allow-credentials": {"true"}}
			header.CORS(h, c.origin, c.allowed, c.preflight)
			if got := h.Get("Access-Control-Allow-Origin"); got != c.origins {
				t.Errorf("origin %q, want %q", got, c.origins)
			}
			if got := h.Get("Vary"); got != c.vary {
				t.Errorf("Vary %q, want %q", got, c.vary)
			}
			if len(h["access-control-allow-credentials"])+len(h["Access-Control-Allow-Credentials"]) > 0 {
				t.Error("credentials are allowed")
			}
			if exposes := h.Get("Access-Control-Expose-Headers") != ""; exposes != (c.origins != "") {
				t.Errorf("exposes: %v", exposes)
			}
			answers := c.preflight && c.origins != ""
			for _, name := range []string{"Access-Control-Allow-Methods", "Access-Control-Allow-Headers", "Access-Control-Max-Age"} {
				if (h.Get(name) != "") != answers {
					t.Errorf("%s: %q", name, h.Get(name))
				}
			}
		})
	}
}

func TestCORSExposesEveryHeader(t *testing.T) {
	h := http.Header{}
	header.CORS(h, page, []string{page}, false)
	exposed := ", " + h.Get("Access-Control-Expose-Headers") + ", "
	for _, name := range []string{
		"X-Mnemom-Request-Id", "X-Mnemom-Verdict", "X-Mnemom-Advisory", "X-Mnemom-Schema", "X-Mnemom-Version", "X-Mnemom-Agent",
		"X-Mnemom-Session", "X-AIP-Verdict", "X-AIP-Checkpoint-Id", "Idempotent-Replay", "Retry-After",
	} {
		if !strings.Contains(exposed, ", "+name+", ") {
			t.Errorf("%s is not exposed", name)
		}
	}
}

func TestCORSKeepsVary(t *testing.T) {
	for before, want := range map[string]string{"Accept-Encoding": "Accept-Encoding, Origin", "accept, origin": "accept, origin", "*": "*"} {
		h := http.Header{"Vary": {before}}
		header.CORS(h, page, []string{page}, false)
		if got := strings.Join(h.Values("Vary"), ", "); got != want {
			t.Errorf("Vary %q became %q, want %q", before, got, want)
		}
	}
}

func TestAllowRequested(t *testing.T) {
	h := http.Header{}
	header.CORS(h, page, []string{page}, true)
	header.AllowRequested(h, "x-stainless-lang, X-Stainless-OS,content-type , x-mnemom-agent, X-Mnemom-Verdict, x_aip_verdict, bad name, bad\r\nname, ü, "+
		strings.Repeat("a", 100)+", openai-beta")
	got := h.Get("Access-Control-Allow-Headers")
	const want = "Content-Type, Authorization, x-api-key, anthropic-version, anthropic-beta, x-goog-api-key, X-Mnemom-Api-Key, " +
		"X-Mnemom-Agent, X-Mnemom-Session, X-Mnemom-Version, Idempotency-Key, If-Match, x-stainless-lang, X-Stainless-OS, openai-beta"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAllowRequestedIsBounded(t *testing.T) {
	h := http.Header{}
	header.CORS(h, page, []string{page}, true)
	var names []string
	for i := range 5000 {
		names = append(names, "x-"+strings.Repeat("a", i%50+1))
	}
	header.AllowRequested(h, strings.Join(names, ","))
	if n := len(h.Get("Access-Control-Allow-Headers")); n > 8192 {
		t.Errorf("%d bytes", n)
	}
}

func TestAllowRequestedNeedsAnAllowedPage(t *testing.T) {
	h := http.Header{}
	header.CORS(h, "https://evil.example", []string{page}, true)
	header.AllowRequested(h, "x-stainless-lang")
	if got := h.Get("Access-Control-Allow-Headers"); got != "" {
		t.Errorf("got %q", got)
	}
}
