package webhook_test

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

func TestTargets(t *testing.T) {
	for _, text := range []string{
		"https://example.com/hook", "http://example.com:8080/hook?token=a%20b", "https://93.184.216.34/", "https://[2606:2800:220:1::1]:8443/x",
		"https://EXAMPLE.com.", "https://xn--mnchen-3ya.example/", "https://1.example.com/", "https://[64:ff9b::5db8:d822]/",
	} {
		if err := (webhook.Targets{}).Check(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{
		"", "example.com", "//example.com/", "/hook", "ftp://example.com/", "file:///etc/passwd", "mailto:a@example.com", "https:example.com",
		"https://", "https:///x", "https://user@example.com/", "https://user:password@example.com/", "https://@example.com/x#", "https://example.com/#x",
		"https://example.com:0/", "https://example.com:65536/", "https://exa mple.com/", "https://example.com\\@127.0.0.1/",
		"https://" + strings.Repeat("a", 2048) + ".com/",
		// Loopback and what resolvers take for it.
		"http://127.0.0.1/", "http://127.8.9.10/", "http://localhost/", "http://LOCALHOST./", "http://a.localhost/", "http://[::1]/",
		"http://[::ffff:127.0.0.1]/", "http://[::127.0.0.1]/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.1/",
		"http://0177.0.0.1/", "http://0/", "http://0.0.0.0/", "http://[::]/", "http://127.0.0.1./", "http://[64:ff9b::7f00:1]/",
		"http://[2002:7f00:1::]/", "http://[64:ff9b:1::7f00:1]/",
		// Private, link-local, shared, multicast, documentation, reserved.
		"http://10.0.0.1/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/", "http://169.254.169.254/latest/meta-data/",
		"http://100.64.0.1/", "http://100.127.255.255/", "http://198.18.0.1/", "http://192.0.2.1/", "http://224.0.0.1/", "http://240.0.0.1/",
		"http://255.255.255.255/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fd00::1]/", "http://[fc00::1]/", "http://[ff02::1]/",
		"http://[fec0::1]/", "http://[2001:db8::1]/", "http://[2001::1]/", "http://[::ffff:10.0.0.1]/", "http://[64:ff9b::a00:1]/", "http://[64:ff9b::a9fe:a9fe]/",
		// Names of inner networks.
		"http://router/", "http://metadata.google.internal/", "http://printer.local/", "http://nas.home.arpa/",
	} {
		if err := (webhook.Targets{}).Check(text); err == nil {
			t.Errorf("%q is let through", text)
		}
	}
}

func TestAllowedTargets(t *testing.T) {
	allow := webhook.Targets{Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	for text, want := range map[string]bool{
		"http://10.1.2.3/": true, "http://10.2.0.1/": false, "http://127.0.0.1/": false, "http://localhost/": false,
		"http://[::ffff:10.1.2.3]/": true, "http://hooks.internal/": true, "http://hooks/": true,
	} {
		if err := allow.Check(text); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A name that was public when it was registered means an inner address when something is sent.
func TestRebinding(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	u, err := url.Parse(to.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost"} {
		e, _ := b.endpoint("acme", "http://"+host+":"+u.Port(), "*")
		d := b.dispatcher()
		d.Targets = webhook.Targets{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
		b.happen("acme", "agent.paused")
		b.step(d.Begin(5e9))
		if got := b.deliveries(e)[0]; got.LastError != webhook.FaultTarget || got.State != webhook.Pending {
			t.Errorf("%s: %+v", host, got)
		}
	}
	if len(to.all()) != 0 {
		t.Error("it was sent")
	}
}
