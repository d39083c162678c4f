package header_test

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

func TestStrip(t *testing.T) {
	for _, name := range append(retired(),
		"X-Mnemom-Verdict", "x-mnemom-verdict", "X-MNEMOM-VERDICT", "X_Mnemom_Verdict", "x-mnemom_verdict", "X_MNEMOM-Verdict",
		"X--Mnemom-Verdict", "X-Mnemom--Verdict", "X.Mnemom.Verdict", "X-Mnemom.Verdict", "X-Mnemom-Verdict ", " X-Mnemom-Verdict",
		"-X-Mnemom-Verdict", "X-Mnemom-Verdict_", "X-Mnemom", "X-Mnemom-", "X_Mnemom", "X-Mnemom-Api_Key", "X_Mnemom_Api_Key",
		"X-Mnemom-Agent_", "X-Mnemom--Agent", "X-Mnemom-Session ", "X-Mnemom-Sessions", "X-Mnemom-Request-Id", "X-Mnemom-Schema",
		"X-AIP-Verdict", "X-Aip-Verdict", "x_aip_verdict", "X-AIP", "X!AIP~Checkpoint'Id", "X-Safe-House-Verdict", "x_safe_house_mode", "X-SafeHouse-Mode",
		"x-smoltbot-agent", "X_Smoltbot_Agent",
	) {
		for what, f := range map[string]func(http.Header){
			"Strip": header.Strip, "Take": func(h http.Header) { header.Take(h) }, "Clean": header.Clean,
		} {
			h := http.Header{name: {"forged", "twice"}, "Content-Type": {"text/plain"}}
			f(h)
			if len(h) != 1 || h.Get("Content-Type") == "" {
				t.Errorf("%s leaves %q: %v", what, name, h)
			}
		}
	}
}

func TestStripKeeps(t *testing.T) {
	h := http.Header{
		"X-Mnemom-Api-Key": {"k"}, "x-mnemom-version": {"2026-04-13"}, "X-MNEMOM-AGENT": {"a"}, "X-Mnemom-Session": {"s"},
		"Authorization": {"Bearer x"}, "X-Api-Key": {"x"}, "X-AI-Provider": {"p"}, "X-AIPlatform": {"p"}, "X-Mnemonic": {"m"},
		"X-Safe-Housekeeping": {"h"}, "Mnemom-Verdict": {"no X"}, "Aip-Verdict": {"no X"},
	}
	want := maps.Clone(h)
	header.Strip(h)
	if !maps.EqualFunc(h, want, slices.Equal) {
		t.Errorf("got  %v\nwant %v", h, want)
	}
}

func TestTake(t *testing.T) {
	tests := []struct {
		name string
		h    http.Header
		want header.Inbound
	}{
		{"nothing", http.Header{}, header.Inbound{}},
		{"all four", http.Header{
			"X-Mnemom-Api-Key": {"k"}, "X-Mnemom-Version": {"v"}, "X-Mnemom-Agent": {"a"}, "X-Mnemom-Session": {"s"},
		}, header.Inbound{APIKey: "k", Version: "v", Agent: "a", Session: "s"}},
		{"a key that is not canonical", http.Header{"x-mnemom-agent": {"a"}}, header.Inbound{Agent: "a"}},
		{"an underscore names nobody", http.Header{"X_Mnemom_Agent": {"a"}}, header.Inbound{}},
		{"an underscore beside the real one", http.Header{"X_Mnemom_Agent": {"b"}, "X-Mnemom-Agent": {"a"}}, header.Inbound{Agent: "a"}},
		{"repeated, the same", http.Header{"X-Mnemom-Session": {"s", "s"}}, header.Inbound{Session: "s"}},
		{"repeated, another", http.Header{"X-Mnemom-Session": {"s", "t"}, "X-Mnemom-Agent": {"a"}}, header.Inbound{Agent: "a", Err: header.ErrAmbiguous}},
		{"repeated, then empty", http.Header{"X-Mnemom-Api-Key": {"k", ""}}, header.Inbound{Err: header.ErrAmbiguous}},
		{"repeated, first empty", http.Header{"X-Mnemom-Api-Key": {"", "k"}}, header.Inbound{Err: header.ErrAmbiguous}},
		{"repeated in two spellings", http.Header{"X-Mnemom-Agent": {"a"}, "x-mnemom-agent": {"b"}}, header.Inbound{Err: header.ErrAmbiguous}},
		{"a key without values", http.Header{"X-Mnemom-Agent": {}}, header.Inbound{}},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			got := header.Take(c.h)
			if !errors.Is(got.Err, c.want.Err) || got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if len(c.h) != 0 {
				t.Errorf("left: %v", c.h)
			}
		})
	}
}
