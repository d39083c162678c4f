package webhook_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

// hmacByOpenSSL is HMAC-SHA-256, in hex, by an implementation that is not ours.
func hmacByOpenSSL(t *testing.T, key string, message []byte) string {
	t.Helper()
	cmd := exec.Command("openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:"+hex.EncodeToString([]byte(key)))
	cmd.Stdin = bytes.NewReader(message)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, sum, _ := strings.Cut(strings.TrimSpace(string(out)), "= ")
	return sum
}

func TestSignature(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("needs openssl")
	}
	b, to := newBench(t), newReceiver(t)
	e, first := b.endpoint("acme", to.URL, "*")
	r := b.round()
	check := func(got received, secret string, want bool) {
		t.Helper()
		signed := append([]byte(got.header.Get("X-Webhook-Timestamp")+"."), got.body...)
		if ok := got.header.Get("X-Webhook-Signature") == "v1="+hmacByOpenSSL(t, secret, signed); ok != want {
			t.Errorf("signature holds: %v, want %v", ok, want)
		}
	}
	b.happen("acme", "agent.paused")
	to.status(500)
	b.step(r)
	check(to.all()[0], first, true)

	rotated, second, err := b.Rotate(t.Context(), "acme", e.ID)
	if err != nil || second == first || !strings.HasPrefix(second, webhook.SecretPrefix) || len(second) != len(webhook.SecretPrefix)+43 {
		t.Fatalf("%v, secret of %d bytes", err, len(second))
	}
	if rotated.URL != e.URL || rotated.ID != e.ID {
		t.Errorf("%+v", rotated)
	}
	// What was waiting is signed with the new one too, and for the time of its attempt.
	b.clock.forward(10 * time.Second)
	b.step(r)
	got := to.all()[1]
	check(got, second, true)
	check(got, first, false)
	if got.header.Get("X-Webhook-Timestamp") == to.all()[0].header.Get("X-Webhook-Timestamp") {
		t.Error("the timestamp is that of the first attempt")
	}
}

func TestSecretIsSealed(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	e, secret := b.endpoint("acme", to.URL, "*")
	b.happen("acme", "agent.paused")
	b.step(b.round())
	_, second, err := b.Rotate(t.Context(), "acme", e.ID)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(b.path + suffix)
		if err != nil {
			continue
		}
		if bytes.Contains(raw, []byte(e.ID)) {
			found++
		}
		for _, s := range []string{secret, second} {
			if bytes.Contains(raw, []byte(strings.TrimPrefix(s, webhook.SecretPrefix))) {
				t.Errorf("a secret stands in gatehouse.db%s", suffix)
			}
		}
	}
	if found == 0 {
		t.Error("the endpoint is not there either, so the test shows nothing")
	}

	// Under another key nothing is sent, and it can be seen why.
	n := len(to.all())
	other, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	d := b.dispatcher()
	d.Box = other
	b.happen("acme", "agent.paused")
	b.step(d.Begin(time.Second))
	if got := b.deliveries(e)[0]; len(to.all()) != n || got.LastError != webhook.FaultSecret && b.deliveries(e)[1].LastError != webhook.FaultSecret {
		t.Errorf("%+v", b.deliveries(e))
	}
	if strings.Contains(b.log.String(), "whsec_") {
		t.Error("a secret is in the log")
	}
}
