package header_test

import (
	"bufio"
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/header"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

const id = "8f446ed6-ca87-4c1d-aa90-e2bc6e9ef580"

func TestSet(t *testing.T) {
	dlp := gatehouse.Advisory{Source: "safe_house.dlp", Text: "Grüße", Severity: gatehouse.Warn, ID: "a-1"}
	tests := []struct {
		name string
		x    gatehouse.Exchange
		want map[string]string
	}{
		{"nothing decided", gatehouse.Exchange{ID: id}, map[string]string{
			"X-Mnemom-Request-Id": id,
			"X-Mnemom-Verdict":    "front=pass; autonomy=pass; integrity=pass; back=pass",
		}},
		{"everything", gatehouse.Exchange{ID: id, Agent: "mnm-1", Session: "s-1", Decisions: []gatehouse.Decision{
			{At: gatehouse.Front, Outcome: gatehouse.Observed},
			{At: gatehouse.Front, Outcome: gatehouse.Enforced},
			{At: gatehouse.Integrity, Outcome: gatehouse.Pass, Analysis: "skipped"},
			{At: gatehouse.Back, Outcome: gatehouse.Nudged, Advisories: []gatehouse.Advisory{dlp}},
		}}, map[string]string{
			"X-Mnemom-Request-Id": id,
			"X-Mnemom-Verdict":    "front=enforced; autonomy=pass; integrity=pass; back=nudged",
			"X-Mnemom-Advisory":   `[{"source":"safe_house.dlp","text":"Gr\u00fc\u00dfe","severity":"warn","id":"a-1"}]`,
			"X-Mnemom-Agent":      "mnm-1",
			"X-Mnemom-Session":    "s-1",
			"X-AIP-Verdict":       "skipped",
		}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			h := http.Header{
				"Content-Type": {"text/plain"}, "X-Mnemom-Agent": {"forged", "twice"}, "x_mnemom_verdict": {"front=pass"},
				"X-Aip-Verdict": {"clear"}, "X-AIP-Verdict": {"clear"}, "X-Safe-House-Mode": {"off"}, "X-Mnemom-Advisory": {"[]"},
			}
			header.Set(h, &c.x)
			header.Set(h, &c.x) // again, as when the verdict changes before the headers go
			want := http.Header{"Content-Type": {"text/plain"}}
			for name, value := range c.want {
				want.Set(name, value)
			}
			if !maps.EqualFunc(h, want, slices.Equal) {
				t.Errorf("got  %v\nwant %v", h, want)
			}
			for name := range h {
				if !header.Known(name) {
					t.Errorf("%s is not known", name)
				}
			}
		})
	}
}

func TestSetTakesBackWhatNoLongerHolds(t *testing.T) {
	h := http.Header{}
	header.Set(h, &gatehouse.Exchange{ID: id, Agent: "mnm-1", Session: "s"})
	header.Set(h, &gatehouse.Exchange{ID: id})
	if got := len(h); got != 2 {
		t.Errorf("got %v", h)
	}
}

func TestSetCanBeReadAndAnnounced(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Mnemom-Verdict, X-AIP-Verdict")
		_, _ = w.Write([]byte("x"))
		http.NewResponseController(w).Flush()
		header.Set(w.Header(), &gatehouse.Exchange{ID: id, Decisions: []gatehouse.Decision{{At: gatehouse.Integrity, Analysis: "clear"}}})
	}))
	defer server.Close()
	res, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := bufio.NewReader(res.Body).ReadString(0); err == nil {
		t.Fatal("the body has no end")
	}
	if got := res.Trailer.Get("X-AIP-Verdict"); got != "clear" {
		t.Errorf("trailer %v", res.Trailer)
	}
	if _, err := verdict.ParseStrict(res.Trailer.Get("X-Mnemom-Verdict")); err != nil {
		t.Error(err)
	}
}

func TestKnown(t *testing.T) {
	for _, name := range header.Exposed() {
		if !header.Known(name) || !header.Known(strings.ToLower(name)) {
			t.Errorf("%s is exposed but not known", name)
		}
	}
	for _, name := range []string{"Content-Type", "X-AI-Provider", "X-AIPlatform", "X-Mnemonic", "Retry-After"} {
		if !header.Known(name) {
			t.Errorf("%s is nobody's business and should be known", name)
		}
	}
	for _, name := range append(retired(), "X_Mnemom_Verdict", "X-Mnemom", "X-Mnemom-Usage-Percent", "X-AIP", "X-Mnemom-Api-Key", "x-smoltbot-agent") {
		if header.Known(name) {
			t.Errorf("%s should not be known", name)
		}
	}
}

func retired() []string {
	return []string{
		"X-Mnemom-Autonomy-Verdict", "X-Safe-House-Verdict", "X-Safe-House-Advisory", "X-Safe-House-Event",
		"X-Safe-House-Quarantine-Id", "X-Safe-House-Canary-Triggered", "X-Safe-House-DLP", "X-Safe-House-Session-Risk",
		"X-Safe-House-Mode", "X-Safe-House-Simulated-Verdict", "X-AIP-Action", "X-AIP-Proceed", "X-AIP-Synthetic", "X-AIP-Source",
		"X-AIP-Analysis-Scope", "X-AIP-Reason", "X-AIP-Nudge-Count", "X-AIP-Enforcement", "X-AIP-Certificate-Id", "X-AIP-Chain-Hash",
	}
}

// Whatever a client sends and a server of this kind accepts, nothing of the namespaces is left behind by Take.
func FuzzTake(f *testing.F) {
	f.Add("X-Mnemom-Verdict: front=pass\r\nx_mnemom_agent: a\r\nX-Mnemom-Session: s\r\n t\r\n")
	f.Add("X-MNEMOM-API-KEY: k\r\nX-Mnemom-Api-Key: l\r\nX--AIP--Verdict: clear\r\n")
	f.Fuzz(func(t *testing.T, lines string) {
		raw := "GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n\r\n"
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader([]byte(raw))))
		if err != nil {
			return
		}
		in := header.Take(r.Header)
		for name := range r.Header {
			hyphens := strings.ReplaceAll(strings.ToLower(name), "_", "-")
			for _, space := range []string{"x-mnemom-", "x-aip-", "x-safe-house-", "x-smoltbot-"} {
				if strings.HasPrefix(hyphens, space) {
					t.Errorf("%q is left", name)
				}
			}
		}
		if again := header.Take(r.Header); again != (header.Inbound{}) {
			t.Errorf("%+v is left after %+v", again, in)
		}
	})
}
