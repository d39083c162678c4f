package detect

import (
	"encoding/base32"
	"encoding/base64"
	hexadecimal "encoding/hex"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// valueMin is the length, in bytes, from which a value can hold more than a name or an id.
	valueMin = 24
	// blobMin is the length of a value that says nothing readable and is longer than the ids and hashes of ordinary addresses (SHA-256 in
	// hexadecimal has 64).
	blobMin = 72
	// labelMin is the length of a part of a host's name that people and stores seldom give.
	labelMin = 28
	// wordsMin is how many words make a sentence.
	wordsMin = 5
)

// placeholder is where a model is to write what it knows.
var placeholder = regexp.MustCompile(`(?i)(?:\$?\{|%7b|\[|%5b|<|%3c)+\s?(?:[\w.:%+-]+[ _.-]){0,4}` +
	`(?:conversations?|histor(?:y|ies)|chats?|summar(?:y|ies)|secrets?|passwords?|messages?|answers?|base64|encoded|urlencoded|data|` +
	`contents?|e-?mails?|credentials?|api[_ -]?keys?|prompts?|user[_ -]?(?:input|data|info|name|query)|context|leak\w*|exfil\w*|stolen)` +
	`(?:[ _.-][\w.:%+-]+){0,6}\s?(?:\}|%7d|\]|%5d|>|%3e)`)

// placeholders says of most texts that they hold none.
var placeholders = newDFA(placeholder.String(), &dfaMemory{limit: 1 << 20})

// holdsPlaceholder reports whether a part of an address is for a model to fill in.
func holdsPlaceholder(part string) bool {
	return placeholders.maybe(part) && placeholder.MatchString(part)
}

// carried says what an address, without its scheme, carries and how sure that is.
func carried(address string, way channel) (kind string, score float64) {
	host, rest, _ := strings.Cut(address, "/")
	if i := strings.IndexAny(host, "?#"); i >= 0 {
		host, rest = host[:i], host[i:]+"/"+rest
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	kind, score = "host_data", hostScore(host)
	add := func(name string, s float64) {
		if s > score {
			kind, score = name, s
		}
	}
	if holdsPlaceholder(rest) && (way == fetched || strings.Contains(rest, "?")) {
		add("url_placeholder", [...]float64{0.3, 0.6, 0.85}[way])
	}
	if holdsPlaceholder(host) {
		add("host_placeholder", [...]float64{0.5, 0.7, 0.85}[way])
	}
	path, query, _ := strings.Cut(rest, "?")
	for segment := range strings.SplitSeq(path, "/") {
		add("url_data", valueScore(segment, "", way))
	}
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' || r == '#' }) {
		name, value, named := strings.Cut(pair, "=")
		if !named {
			name, value = "", pair
		}
		add("url_data", valueScore(value, name, way))
	}
	return kind, score
}

// valueScore says how much a value in an address looks like data.
func valueScore(value, name string, way channel) float64 {
	if len(value) < valueMin || signature(name) {
		return 0
	}
	plain, err := url.QueryUnescape(value)
	if err != nil {
		plain = value
	}
	switch {
	case legible(unpacked(plain)):
		return [...]float64{0.4, 0.6, 0.85}[way]
	case spoken(plain):
		return [...]float64{0, 0.2, 0.62}[way]
	case len(plain) >= blobMin && jumbled(plain):
		return [...]float64{0, 0.3, 0.45}[way]
	}
	return 0
}

// signature reports whether a parameter is one that stores, content networks and trackers sign or count with.
func signature(name string) bool {
	name = strings.ToLower(name)
	for _, part := range [...]string{"sig", "hmac", "x-amz", "x-goog", "token", "policy", "expires", "key-pair", "hash",
		"credential", "utm_", "gclid", "fbclid", "jwt", "nonce", "state", "code_challenge"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// unpacked is what a value says when it is in base64 or hexadecimal; nothing where it is in neither.
func unpacked(value string) string {
	if plain, err := hexadecimal.DecodeString(value); err == nil {
		return string(plain)
	}
	bare := strings.TrimRight(standardDigits.Replace(value), "=")
	if plain, err := base64.RawStdEncoding.DecodeString(bare); err == nil {
		return string(plain)
	}
	return ""
}

// legible reports whether a decoded value is a text.
func legible(plain string) bool {
	if len(plain) < 12 || !utf8.ValidString(plain) {
		return false
	}
	letters, others := 0, 0
	for _, r := range plain {
		switch {
		case unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r', r == utf8.RuneError:
			return false
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == ' ':
			letters++
		default:
			others++
		}
	}
	return others*3 <= letters
}

// spoken reports whether a value is a sentence.
func spoken(plain string) bool {
	words := strings.FieldsFunc(plain, func(r rune) bool { return r == ' ' || r == '+' || r == '\n' })
	if len(words) < wordsMin || len(plain) < 2*valueMin {
		return false
	}
	letters := 0
	for _, r := range plain {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters*10 >= utf8.RuneCountInString(plain)*6
}

// jumbled reports whether a value is one long run of letters and digits in no order that words have.
func jumbled(value string) bool {
	if strings.Count(value, "-")*16 > len(value) {
		return false // words with hyphens between them
	}
	digits, capitals, small := 0, 0, 0
	for _, c := range []byte(value) {
		switch {
		case digit(c):
			digits++
		case capital(c):
			capitals++
		case letter(c):
			small++
		case strings.IndexByte("+/=-_.~", c) < 0:
			return false
		}
	}
	sorts := 0
	for _, n := range [...]int{digits, capitals, small} {
		if n*20 >= len(value) {
			sorts++
		}
	}
	return sorts >= 2 && entropy(value) > 3.2
}

// hostScore says how much the parts of a host's name look like data.
func hostScore(host string) float64 {
	labels := strings.Split(host, ".")
	if len(labels) < 3 {
		return 0
	}
	score, joined := 0.0, ""
	for _, label := range labels[:len(labels)-2] {
		joined += label
		switch {
		case len(label) < labelMin || strings.Count(label, "-") > 2:
		case legible(unpackedLabel(label)):
			score = max(score, 0.8)
		case jumbled(label):
			score = max(score, 0.35)
		}
	}
	if len(labels) > 3 && len(joined) >= 2*labelMin && legible(unpackedLabel(joined)) {
		score = max(score, 0.85)
	}
	return score
}

// unpackedLabel is what a part of a host's name says, which knows no capitals, in base32 or hexadecimal.
func unpackedLabel(label string) string {
	if plain, err := hexadecimal.DecodeString(label); err == nil {
		return string(plain)
	}
	if plain, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(label)); err == nil {
		return string(plain)
	}
	return ""
}
