package detect

import (
	"context"
	"encoding/base64"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"
)

const (
	jsonText = `{"id":48213,"created_at":"2026-03-11T10:22:01Z","customer":{"name":"Dana Weiss","tier":"gold","access":"read"},"items":[{"sku":"A-1192",` +
		`"title":"Steel kettle","price":39.9,"qty":2,"tags":["kitchen","steel"]},{"sku":"B-0031","title":"Key ring","price":4.5,"qty":10,"tags":[]}],` +
		`"trace_id":"7ac7c586-3f41-4439-9f78-49b94fd11295","etag":"28eaaf57289110da","author":"catalog","next_page":null,"token_type":"bearer"},`
	htmlText = `<div class="card" id="p-1192"><h2><a href="/shop/kettle?page=2&amp;sort=price">Steel kettle</a></h2><p class="price">39.90 EUR</p>` +
		`<ul><li>Two litres</li><li data-key="capacity">Keeps warm for 3 hours</li></ul><img src="/img/1192.png" alt="A kettle" width="320"></div>` + "\n"
	codeText = "func (s *Store) Get(ctx context.Context, key string) (*Item, error) {\n\tif key == \"\" {\n\t\treturn nil, errEmptyKey\n\t}\n" +
		"\trow := s.db.QueryRowContext(ctx, `SELECT id, token, created FROM items WHERE key = ?`, key)\n\tvar item Item\n" +
		"\tif err := row.Scan(&item.ID, &item.Token, &item.Created); err != nil {\n\t\treturn nil, fmt.Errorf(\"get %s: %w\", key, err)\n\t}\n\treturn &item, nil\n}\n\n"
	logText = "2026-03-11T10:22:01.113Z INFO  api request done method=GET path=/v1/items/48213 status=200 ms=12 bytes=4821\n" +
		"2026-03-11T10:22:01.240Z WARN  auth token for user 1192 expires in 300 s, remote=10.20.1.17:51234\n" +
		"2026-03-11T10:22:02.001Z DEBUG cache miss key=items:48213 shard=7 attempt=1\n"
)

// ordinaryTexts and nastyTexts are what the detectors' time is measured with.
var ordinaryTexts = map[string]string{"prose": prose, "JSON": jsonText, "HTML": htmlText, "code": codeText, "log": logText}

var nastyTexts = map[string]string{
	"key=":        "key=",
	"key1=":       "key1=",
	"token: x9":   "token: x9k2m4p6q8r0 ",
	"password is": "the password is a1b2c3d4e5f6g7h8 ",
	"key hex":     "key=9f86d081884c7d659a2feaa0c55ad015, ",
	"AKIA":        "AKIA",
	"sk-":         "sk-",
	"eyJ":         "eyJ",
	"ey.":         "eyJhbGciOiJIUzI1NiIs.",
	"curl":        "curl -H ",
	"curl lines":  "curl\n",
	"-----BEGIN":  "-----BEGIN ",
	"BEGIN KEY":   "-----BEGIN RSA " + "PRIVATE KEY-----\n",
	"digits":      "4111111111111111",
	"digits -":    "4-1-1-",
	"digit words": "12 34 56 ",
	"dots":        "1.2.3.4.",
	"at":          "@",
	"a@a.":        "a@a.",
	"colons":      "::",
	"hex:":        "ab:",
	"IBAN":        "DE89 ",
	"plus":        "+1 ",
	"quotes":      `":"`,
	"address":     `"address":"1 a`,
	"zip":         `{"zip":"12345"},`,
	"base64":      "",
	"percent":     "%41",
	"percents":    "a%2Fb ",
	"secret data": "kind: secret data: ",
	"discord":     "discord adafruit facebook linear ",
	"names=":      "discord=x adafruit:x facebook=x okta_key=",
	"tags":        "<td>key</td>",
	"phone":       "phone 555 ",
	"passport":    "passport DOB SSN ",
	"unicode":     `\u0041`,
}

func sized(text string, size int) string {
	if text == "" {
		b := make([]byte, size)
		rand.New(rand.NewSource(1)).Read(b) //nolint:gosec // repeatable on purpose
		return base64.StdEncoding.EncodeToString(b)[:size]
	}
	return strings.Repeat(text, size/len(text)+1)[:size]
}

func BenchmarkSecrets(b *testing.B)      { benchmarkTexts(b, "secrets", ordinaryTexts) }
func BenchmarkSecretsNasty(b *testing.B) { benchmarkTexts(b, "secrets", nastyTexts) }
func BenchmarkPII(b *testing.B)          { benchmarkTexts(b, "pii", ordinaryTexts) }
func BenchmarkPIINasty(b *testing.B)     { benchmarkTexts(b, "pii", nastyTexts) }

func benchmarkTexts(b *testing.B, detector string, texts map[string]string) {
	d := set(b, detector).detectors[0]
	for name, part := range texts {
		b.Run(name, func(b *testing.B) {
			const size = 16 << 10
			text := sized(part, size)
			n := normalise(text, looksLikeJSON(text))
			b.SetBytes(size)
			for b.Loop() {
				d.Detect(context.Background(), Text{Channel: ToolResult, Text: text}, n)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/(size>>10), "µs/KiB")
		})
	}
}

// TestNastyTexts holds repeats that detectors could choke on to a time that only more than linear work exceeds.
func TestNastyTexts(t *testing.T) {
	if testing.Short() || slowed {
		t.Skip("measures time")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const size, most = 64 << 10, 250 * time.Millisecond // ordinary is a millisecond
	for _, name := range []string{"secrets", "pii"} {
		d := set(t, name).detectors[0]
		for kind, part := range nastyTexts {
			text := sized(part, size)
			n := normalise(text, looksLikeJSON(text))
			start := processorTime()
			d.Detect(context.Background(), Text{Channel: ToolResult, Text: text}, n)
			if took := processorTime() - start; took > most {
				t.Errorf("%s takes %v for %d KiB of %s", name, took, size>>10, kind)
			}
		}
	}
}

// FuzzPrivate: findings lie within the text, whatever it is.
func FuzzPrivate(f *testing.F) {
	for _, part := range nastyTexts {
		f.Add(sized(part, 200))
	}
	for _, c := range nationalExamples {
		f.Add(c.before + c.number)
	}
	f.Add("kind: Secret\ndata:\n  a: " + strings.Repeat("QUJD", 5) + "\n  b: |\n   " + strings.Repeat("QUJD", 5))
	f.Add(`<td>key</td><td>` + strings.Repeat("a1b2", 6) + `</td> password is x%3Dy curl -u a:b born 1.1.1990 ZIP: 123`)
	s, err := Default()
	if err != nil {
		f.Fatal(err)
	}
	only, err := s.Only("secrets", "pii")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, found := range only.Scan(context.Background(), Text{Channel: ToolResult, Text: text}).Findings {
			if found.Start < 0 || found.Start >= found.End || found.End > len(text) {
				t.Errorf("%+v in %d bytes", found, len(text))
			}
		}
	})
}
