package sdk

import (
	"context"
	"slices"
	"strings"
	"testing"
)

func TestANamedUpstream(t *testing.T) {
	named(t, "lab", func(t *testing.T, base string, p place) {
		own := key()
		p.client = p.connect(base, own)
		sent := record(t, p.provider)
		a := p.ask(t, question{messages: []message{user("Hello")}})
		if a.text != "You said: Hello" {
			t.Errorf("text %q", a.text)
		}
		passed(t, a.header)
		if got := p.credential(sent.only(t).Headers); !strings.HasSuffix(got, own) {
			t.Error("the caller's own key did not reach the provider")
		}

		sent = record(t, p.provider)
		a = p.ask(t, question{messages: []message{user(injection)}})
		enforced(t, byFront, a.header)
		sent.none(t)
	})
}

// The gateway's key stands in for the caller's, whether the caller has one or not.
func TestAKeyOfTheGateway(t *testing.T) {
	for desc, own := range map[string]string{"without a key": "", "with a key": key()} {
		t.Run(desc, func(t *testing.T) {
			named(t, "held", func(t *testing.T, base string, p place) {
				p.client = p.connect(base, own)
				sent := record(t, p.provider)
				a := p.ask(t, question{messages: []message{user("Hello")}})
				passed(t, a.header)
				got := sent.only(t)
				if !strings.HasSuffix(p.credential(got.Headers), heldKey) {
					t.Error("the gateway's key did not reach the provider")
				}
				for name, values := range got.Headers {
					if own != "" && strings.Contains(strings.Join(values, " "), own) {
						t.Errorf("the caller's key reached the provider in %s", name)
					}
				}
				for name, values := range a.header {
					if strings.Contains(strings.Join(values, " "), heldKey) {
						t.Errorf("the gateway's key reached the caller in %s", name)
					}
				}
			})
		})
	}
}

func TestWithoutAnyKey(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for _, base := range p.bases {
			p.client = p.connect(gatewayURL+base, "")
			sent := record(t, p.provider)
			r := p.refuse(t, question{messages: []message{user("Hello")}})
			if r.status != 401 {
				t.Errorf("status %d, want 401", r.status)
			}
			surface(t, r.header)
			sent.none(t)
		}
	})
}

// named runs a test with both SDKs, streamed and not, at the upstream PREFIX-VENDOR of the configuration.
func named(t *testing.T, prefix string, test func(t *testing.T, base string, p place)) {
	t.Helper()
	for _, v := range vendors() {
		base := gatewayURL + "/u/" + prefix + "-" + v.name
		if v.name == "openai" {
			base += "/v1" // this SDK does not add it by itself
		}
		for _, stream := range []bool{false, true} {
			t.Run(v.name+"/"+mode(stream), func(t *testing.T) { test(t, base, place{vendor: v, stream: stream}) })
		}
	}
}

func TestModels(t *testing.T) {
	for _, v := range vendors() {
		for _, base := range v.bases {
			t.Run(v.name+" at "+base, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				ids, header, err := v.connect(gatewayURL+base, key()).models(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(ids, []string{v.model}) {
					t.Errorf("models %q", ids)
				}
				surface(t, header)
			})
		}
	}
}
