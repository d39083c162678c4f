package telemetry_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// A Gemini exchange has the conventions' words for it, and a key in the address is told nobody, also where the upstream cannot
// be reached.
func TestGeminiExchange(t *testing.T) {
	const key = "AIza-a-key-in-the-query"
	cases := []struct{ path, body, name, operation string }{
		{"/gemini/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"hello"}]}]}`, "generate_content m", "generate_content"},
		{"/gemini/v1beta/models/m:embedContent", `{"content":{"parts":[{"text":"hello"}]}}`, "embeddings m", "embeddings"},
		{"/gemini/v1beta/models/m:countTokens", `{"contents":[{"parts":[{"text":"hello"}]}]}`, "", ""},
	}
	for _, c := range cases {
		for _, gone := range []bool{false, true} {
			w := open(t, nil, func(cfg *config.Config, otlp string) {
				cfg.Telemetry.OTLP = otlp
				cfg.Upstreams["gemini"] = config.Upstream{Format: "gemini", URL: listen(t, &fake.Gemini{})}
				if gone {
					cfg.Upstreams["gemini"] = config.Upstream{Format: "gemini", URL: "http://127.0.0.1:1"}
				}
			})
			a := w.send("POST", c.path+"?key="+key, c.body)
			if want := map[bool]int{false: 200, true: 502}[gone]; a.status != want {
				t.Errorf("%s: %d %s", c.path, a.status, a.body)
			}
			x, _ := w.delivered(a)
			if c.name != "" && x.Name != c.name || text(x.Attributes, "gen_ai.provider.name") != "gcp.gemini" || text(x.Attributes, "gen_ai.operation.name") != c.operation {
				t.Errorf("%s: span %s, %v", c.path, x.Name, x.Attributes)
			}
			for where, told := range map[string]string{"spans": w.spans.raw.String(), "log": w.log.String(), "answer": a.body} {
				if strings.Contains(told, key) {
					t.Errorf("the %s quote the key", where)
				}
			}
		}
	}
}
