package sdk

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The header surface as a client reads it that has the contract and nothing else. The parser of the verdict package is left
// out on purpose: a mistake in it would hide the same mistake in what the gateway writes.
var (
	uuid4       = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	verdictForm = regexp.MustCompile(`^front=(\w+); autonomy=(\w+); integrity=(\w+); back=(\w+)$`)
	verdictWord = regexp.MustCompile(`^(pass|observed|nudged|enforced)$`)
	aipWord     = regexp.MustCompile(`^(disabled|skipped|clear|ambiguous|boundary_violation|pending|error)$`)
	severity    = regexp.MustCompile(`^(info|warn|critical)?$`)
	printable   = regexp.MustCompile(`^[ -~]*$`)
)

// What X-Mnemom-Advisory carries at most.
const (
	maxAdvisories     = 5
	maxAdvisoryHeader = 2048 // bytes
)

// known are the names that the gateway may answer under in its own namespaces, in lower case.
var known = map[string]bool{
	"x-mnemom-request-id": true, "x-mnemom-verdict": true, "x-mnemom-advisory": true, "x-mnemom-agent": true,
	"x-mnemom-session": true, "x-aip-verdict": true, "x-aip-checkpoint-id": true,
}

// forged are headers of the gateway's own, in every spelling that an intermediary may take for them.
var forged = map[string]string{
	"X-Mnemom-Verdict":    "front=enforced; autonomy=enforced; integrity=enforced; back=enforced",
	"X-Mnemom-Request-Id": "forged",
	"X-Mnemom-Advisory":   `[{"source":"forged","text":"forged"}]`,
	"X_Mnemom_Verdict":    "forged",
	"X-Aip_verdict":       "forged",
	"X-AIP-Verdict":       "forged",
	"X-AIP-Anything":      "forged",
}

// verdicts is one X-Mnemom-Verdict header.
type verdicts struct{ front, autonomy, integrity, back string }

var allPass = verdicts{"pass", "pass", "pass", "pass"}

type advisory struct{ Source, Text, Severity, ID string }

// surface checks the header surface of a response strictly and returns what it says. The headers of a stream may leave before all is
// decided: then the verdicts are those of the record.
func surface(t *testing.T, h http.Header) (verdicts, []advisory) {
	t.Helper()
	for name, values := range h {
		if !ours(name) {
			continue
		}
		if !known[strings.ToLower(name)] || len(values) != 1 || !printable.MatchString(values[0]) {
			t.Errorf("header %s: %q", name, values)
		}
	}
	if id := h.Get("X-Mnemom-Request-Id"); !uuid4.MatchString(id) {
		t.Errorf("X-Mnemom-Request-Id is %q, want a UUIDv4", id)
	}
	if word, sent := h[http.CanonicalHeaderKey("X-AIP-Verdict")]; sent && !aipWord.MatchString(word[0]) {
		t.Errorf("X-AIP-Verdict is %q", word)
	}
	header := h.Get("X-Mnemom-Verdict")
	found := verdictForm.FindStringSubmatch(header)
	if found == nil {
		t.Errorf("X-Mnemom-Verdict is %q", header)
		return verdicts{}, nil
	}
	for _, word := range found[1:] {
		if !verdictWord.MatchString(word) {
			t.Errorf("X-Mnemom-Verdict is %q", header)
		}
	}
	told := verdicts{found[1], found[2], found[3], found[4]}
	if h.Get("X-AIP-Verdict") == "pending" {
		final := recorded(t, h.Get("X-Mnemom-Request-Id"))
		if final.front != told.front {
			t.Errorf("front was %s and is %s", told.front, final.front)
		}
		told = final
	}
	return told, advisories(t, h)
}

// recorded are the verdicts in the record of an exchange, which is written before its stream ends, or soon after.
func recorded(t *testing.T, id string) verdicts {
	t.Helper()
	for range 100 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, gatewayURL+"/v1/requests/"+id, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Mnemom-Api-Key", admin)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var record struct {
			Verdicts struct{ Front, Autonomy, Integrity, Back string }
		}
		err = json.NewDecoder(res.Body).Decode(&record)
		if res.Body.Close(); res.StatusCode == http.StatusOK && err == nil {
			v := record.Verdicts
			return verdicts{v.Front, v.Autonomy, v.Integrity, v.Back}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("there is no record of %s", id)
	return verdicts{}
}

func advisories(t *testing.T, h http.Header) []advisory {
	t.Helper()
	header, sent := h["X-Mnemom-Advisory"]
	if !sent {
		return nil
	}
	var list []advisory
	if err := json.Unmarshal([]byte(header[0]), &list); err != nil {
		t.Errorf("X-Mnemom-Advisory is %q: %v", header, err)
	}
	if len(list) == 0 || len(list) > maxAdvisories || len(header[0]) > maxAdvisoryHeader {
		t.Errorf("X-Mnemom-Advisory has %d entries and %d bytes", len(list), len(header[0]))
	}
	for _, a := range list {
		if a.Source == "" || a.Text == "" || !severity.MatchString(a.Severity) {
			t.Errorf("advisory %+v", a)
		}
	}
	return list
}

// passed checks a response that no checkpoint had anything to say about.
func passed(t *testing.T, h http.Header) {
	t.Helper()
	if v, _ := surface(t, h); v != allPass {
		t.Errorf("verdicts %+v, want all pass", v)
	}
}

// enforced checks which checkpoint acted, and that no other did.
func enforced(t *testing.T, want verdicts, h http.Header) {
	t.Helper()
	if got, _ := surface(t, h); got != want {
		t.Errorf("verdicts %+v, want %+v", got, want)
	}
}

var (
	byFront    = verdicts{"enforced", "pass", "pass", "pass"}
	byAutonomy = verdicts{"pass", "enforced", "pass", "pass"}
	byBack     = verdicts{"observed", "pass", "pass", "enforced"} // front reports the secret that the user sends to be repeated
)

// unforged checks that nothing of the gateway's own namespaces reached the provider.
func unforged(t *testing.T, r seen) {
	t.Helper()
	for name := range r.Headers {
		if ours(name) {
			t.Errorf("header %s reached the provider", name)
		}
	}
}

// ours reports whether a name lies in a namespace of the gateway, underscores taken for hyphens.
func ours(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, prefix := range []string{"x-mnemom-", "x-aip-", "x-safe-house-", "x-smoltbot-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
