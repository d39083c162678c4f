package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// makePair makes a self-signed certificate for 127.0.0.1 and its key, PEM.
func makePair(t *testing.T, serial int64) (chain, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

// secured is a gateway that speaks TLS, and its files.
type secured struct {
	*running
	chain, key string
}

func startSecured(t *testing.T) secured {
	t.Helper()
	dir := t.TempDir()
	s := secured{chain: filepath.Join(dir, "chain.pem"), key: filepath.Join(dir, "key.pem")}
	chain, key := makePair(t, 1)
	writeFile(t, s.chain, chain)
	writeFile(t, s.key, key)
	s.running = startServe(t, gatewayFile(t, newStoreURL(t), fmt.Sprintf("tls: {cert: %q, key: %q}\n", s.chain, s.key)), "")
	return s
}

// get asks as a client that trusts a chain. It opens a connection of its own.
func (s secured) get(t *testing.T, chain string) (*http.Response, error) {
	t.Helper()
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM([]byte(chain)) {
		t.Fatal("no certificate")
	}
	tr := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr, Timeout: 10 * time.Second}).Get("https://" + s.address + "/health/ready")
	if err == nil {
		res.Body.Close()
	}
	return res, err
}

func (s secured) wantChain(t *testing.T, when, chain string) {
	t.Helper()
	res, err := s.get(t, chain)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%s: %v", when, err)
	}
}

func (s secured) current(t *testing.T) string {
	t.Helper()
	chain, err := os.ReadFile(s.chain)
	if err != nil {
		t.Fatal(err)
	}
	return string(chain)
}

func TestServeSpeaksTLS(t *testing.T) {
	s := startSecured(t)
	chain := s.current(t)
	res, err := s.get(t, chain)
	if err != nil {
		t.Fatal(err)
	}
	if res.ProtoMajor != 2 || res.TLS.Version != tls.VersionTLS13 || res.Header.Get("X-Mnemom-Request-Id") == "" {
		t.Errorf("got %s over %s", res.Proto, tls.VersionName(res.TLS.Version))
	}
	for version, spoken := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		trusted := x509.NewCertPool()
		trusted.AppendCertsFromPEM([]byte(chain))
		c, err := tls.Dial("tcp", s.address, &tls.Config{RootCAs: trusted, MinVersion: version, MaxVersion: version})
		if (err == nil) != spoken {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			c.Close()
		}
	}
	other, _ := makePair(t, 2)
	if _, err := s.get(t, other); err == nil {
		t.Error("a client that trusts another certificate was served")
	}
	if got := ask(t, http.MethodGet, "http://"+s.address+"/health/ready", ""); got.status != http.StatusBadRequest {
		t.Errorf("plain HTTP: got %d", got.status)
	}
}

func TestAReplacedCertificateIsTakenOver(t *testing.T) {
	s := startSecured(t)
	first := s.current(t)
	second, key := makePair(t, 2)

	writeFile(t, s.chain, second) // its key is not there yet
	s.wantChain(t, "half a pair", first)
	s.awaitLog(t, "certificate refused", 1)
	s.wantChain(t, "half a pair, asked again", first)
	if n := strings.Count(s.logged(), "certificate refused"); n != 1 {
		t.Errorf("one bad pair was logged %d times", n)
	}
	writeFile(t, s.key, key)
	s.wantChain(t, "the whole pair", second)
	s.awaitLog(t, "certificate taken over", 1)
	if _, err := s.get(t, first); err == nil {
		t.Error("the old certificate is still shown")
	}

	writeFile(t, s.chain, "nonsense")
	s.wantChain(t, "a chain that is none", second)
	if err := os.Remove(s.key); err != nil {
		t.Fatal(err)
	}
	s.wantChain(t, "a key that is gone", second)
	s.awaitLog(t, "certificate refused", 3)

	// As certificates are renewed: a new file in place of the old one.
	third, key := makePair(t, 3)
	for name, text := range map[string]string{s.chain: third, s.key: key} {
		writeFile(t, name+".new", text)
		if err := os.Rename(name+".new", name); err != nil {
			t.Fatal(err)
		}
	}
	s.wantChain(t, "renewed", third)
	if strings.Contains(s.logged(), "PRIVATE KEY") || strings.Contains(s.logged(), "nonsense") {
		t.Error("the log quotes the files")
	}
}

func TestServeRefusesABadCertificate(t *testing.T) {
	chain, _ := makePair(t, 1)
	_, otherKey := makePair(t, 2)
	for name, pair := range map[string][2]string{
		"not a pair":      {file(t, chain), file(t, otherKey)},
		"not there":       {"no-such-file", file(t, otherKey)},
		"no certificates": {file(t, ""), file(t, otherKey)},
	} {
		got := command(t, "", "serve", "--config", gatewayFile(t, newStoreURL(t), fmt.Sprintf("tls: {cert: %q, key: %q}\n", pair[0], pair[1])))
		if got.code != 1 || !strings.Contains(got.stderr, "tls") {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}
