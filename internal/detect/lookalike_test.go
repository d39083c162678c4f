package detect

import (
	"encoding/base64"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"
)

// lookalike makes values that are no secrets, under the names that they go by.
type lookalike struct {
	name  string
	names []string
	value func(s sampler) string
}

const lower = "abcdefghijklmnopqrstuvwxyz"

func (s sampler) hex(size int) string { return s.of(hex, size) }

func (s sampler) uuid() string {
	return s.hex(8) + "-" + s.hex(4) + "-4" + s.hex(3) + "-a" + s.hex(3) + "-" + s.hex(12)
}

func (s sampler) bytes(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(s.Intn(256)) //nolint:gosec // below 256
	}
	return b
}

func (s sampler) base64(size int) string { return base64.StdEncoding.EncodeToString(s.bytes(size)) }

func (s sampler) words(n int) string {
	list := strings.Fields(prose)
	all := make([]string, n)
	for i := range all {
		all[i] = strings.Trim(list[s.Intn(len(list))], ".,;:")
	}
	return strings.Join(all, " ")
}

var lookalikes = []lookalike{
	{"UUID", []string{"request_id", "order", "trace", "tenant_id", "Idempotency-Key", "clientRequestToken"}, sampler.uuid},
	{"commit", []string{"commit", "revision", "git_sha", "head"}, func(s sampler) string { return s.hex(40) }},
	{"short commit", []string{"commit", "build", "version"}, func(s sampler) string { return s.hex(7 + s.Intn(6)) }},
	{"SHA-256", []string{"sha256", "cache-key", "digest"}, func(s sampler) string { return s.hex(64) }},
	{"MD5", []string{"md5", "checksum", "fingerprint"}, func(s sampler) string { return s.hex(32) }},
	{"SHA-512", []string{"sha512", "checksum", "hash"}, func(s sampler) string { return s.hex(128) }},
	{"integrity", []string{"integrity"}, func(s sampler) string { return "sha512-" + s.base64(64) }},
	{"Go module sum", []string{"golang.org/x/net v0.34.0", "sum"}, func(s sampler) string { return "h1:" + s.base64(32) }},
	{"image", []string{"src", "icon", "thumbnail"}, func(s sampler) string {
		return "data:image/png;base64,iVBORw0KGgoAAAANSUhEUg" + s.base64(120+s.Intn(200))
	}},
	{"text in base64", []string{"content", "body", "data"}, func(s sampler) string {
		return base64.StdEncoding.EncodeToString([]byte(s.words(6 + s.Intn(30))))
	}},
	{"minified name", []string{"class", "chunk", "module"}, func(s sampler) string { return s.pick("css-", "sc-", "_", "jss") + s.of(alnum, 6+s.Intn(6)) }},
	{"script", []string{"script", "src"}, func(s sampler) string { return "/static/js/main." + s.hex(8+4*s.Intn(4)) + ".chunk.js" }},
	{"placeholder", []string{"api_key", "password", "token", "SECRET_KEY", "access_token"}, func(s sampler) string {
		return s.pick("your-api-key-here", "YOUR_API_KEY", "<your token>", "${API_TOKEN}", "changeme", "xxxxxxxxxxxxxxxxxxxx", "{{ secrets.TOKEN }}", "********",
			"REPLACE_ME", "$(vault read token)", "%API_KEY%", "process.env.API_KEY", "os.environ", "AKIA"+"IOSFODNN7EXAMPLE", "null", "<redacted>", "[REDACTED]",
			"********************************", "...", "example-secret", "not-a-real-key", "my-secret-token", "insert_your_key_here", "sk-...", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
	}},
	{"version", []string{"version", "release", "image"}, func(s sampler) string {
		return fmt.Sprintf("%d.%d.%d-%s.%d+build.%s", s.Intn(20), s.Intn(40), s.Intn(100), s.pick("alpha", "beta", "rc"), s.Intn(9), s.hex(8))
	}},
	{"book", []string{"isbn", "ean", "book"}, func(s sampler) string { return "978-3-16-" + s.of("0123456789", 6) + "-" + s.of("0123456789", 1) }},
	{"tracking number", []string{"tracking", "parcel", "shipment"}, func(s sampler) string {
		return s.pick("1Z"+s.of(alnum[26:], 16), "JD"+s.of("0123456789", 18), s.of("0123456789", 22), "RR"+s.of("0123456789", 9)+"DE")
	}},
	{"long number", []string{"order", "invoice", "timestamp", "count"}, func(s sampler) string { return "1" + s.of("0123456789", 11+s.Intn(14)) }},
	{"nonce", []string{"nonce", "csp-nonce", "continuation_token"}, func(s sampler) string { return s.base64(16) }},
	{"image digest", []string{"image", "digest"}, func(s sampler) string { return "registry.example.com/team/app@sha256:" + s.hex(64) }},
	{"ETag", []string{"ETag", "If-None-Match"}, func(s sampler) string { return s.pick("W/", "") + "\"" + s.hex(s.pick1(16, 32, 40)) + "\"" }},
	{"ARN", []string{"arn", "role", "resource"}, func(s sampler) string {
		return "arn:aws:" + s.pick("iam", "s3", "lambda", "dynamodb") + ":eu-west-1:" + s.of("0123456789", 12) + ":" + s.pick("role/", "function:", "table/") + s.of(lower, 6) + "-" + s.of(alnum, 12)
	}},
	{"dotted identifier", []string{"cursor", "nextPageToken", "session", "job"}, func(s sampler) string { return s.of(alnum, 20) + "." + s.of(alnum, 24) + "." + s.of(alnum, 30) }},
	{"public key", []string{"host", "ssh-key", "authorized"}, func(s sampler) string {
		return "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + s.of(alnum, 43) + " dana@laptop"
	}},
	{"certificate", []string{"certificate", "ca", "issuer"}, func(s sampler) string {
		return "-----BEGIN CERTIFICATE-----\nMIID" + s.of(alnum, 60) + "\n" + s.of(alnum, 64) + "\n" + s.of(alnum, 31) + "=\n-----END CERTIFICATE-----"
	}},
	{"words", []string{"note", "title", "the token", "access", "key point"}, func(s sampler) string { return s.words(4 + s.Intn(12)) }},
	{"object identifier", []string{"_id", "document", "parent"}, func(s sampler) string { return s.hex(24) }},
	{"instance", []string{"instance", "pod", "node"}, func(s sampler) string {
		return s.pick("i-0"+s.hex(16), "web-"+s.hex(10)+"-"+s.of(lower, 5), "vol-0"+s.hex(16), "pod/api-"+s.hex(9))
	}},
	{"ULID", []string{"event", "id", "message"}, func(s sampler) string { return "01H" + s.of("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 23) }},
	{"colour and size", []string{"theme", "style", "background"}, func(s sampler) string { return "#" + s.hex(6) + " " + s.of("123456789", 3) + "px" }},
	{"path", []string{"file", "path", "cache_key"}, func(s sampler) string {
		return "/var/lib/app/" + s.of(lower, 7) + "/" + s.hex(16) + "/" + s.of(lower, 5) + ".log"
	}},
}

func (s sampler) pick1(sizes ...int) int { return sizes[s.Intn(len(sizes))] }

// TestSecretLookAlikes: at most one of a hundred values that are no secrets is taken for one.
func TestSecretLookAlikes(t *testing.T) {
	each := 4
	if os.Getenv(everySecret) != "" {
		each = 120
	}
	s, g := set(t, "secrets"), sampler{rand.New(rand.NewSource(11))} //nolint:gosec // repeatable on purpose
	values, texts := share{}, share{}
	for _, l := range lookalikes {
		here, inTexts, first := share{}, share{}, ""
		for range each {
			name, value, hit := g.pick(l.names...), l.value(g), false
			for _, c := range carriers {
				text, _ := c.write(name, value, value)
				found := len(scan(t, s, text).Findings) > 0
				inTexts.count(found)
				texts.count(found)
				if found && first == "" {
					first = fmt.Sprintf("%s in %q", scan(t, s, text).Findings[0].Type, text)
				}
				hit = hit || found
			}
			here.count(hit)
			values.count(hit)
		}
		if here.part > 0 {
			t.Logf("%s: %d of %d values, %d of %d texts; %s", l.name, here.part, here.all, inTexts.part, inTexts.all, first)
		}
	}
	t.Logf("%d sorts, %d of %d values, %d of %d texts", len(lookalikes), values.part, values.all, texts.part, texts.all)
	if values.rate() > 0.01 || texts.rate() > 0.01 {
		t.Errorf("%d of %d values are reported, in %d of %d texts", values.part, values.all, texts.part, texts.all)
	}
}
