package provenance

import (
	"strings"
	"unicode"
)

// Shape is what a value identifies.
type Shape string

// Shapes of values.
const (
	Plain   Shape = "" // nothing that could be told by its looks
	URL     Shape = "url"
	Host    Shape = "host"
	Email   Shape = "email"
	Path    Shape = "path" // of a file, from a root
	Account Shape = "account"
)

const (
	minDigits = 9    // of an account: shorter numbers are amounts and years
	minToken  = 20   // bytes from which letters and digits are nobody's word: wallets have 26 and more
	maxWhole  = 2048 // bytes of a value that is looked at for its shape; a longer one is a text
)

// ShapeOf says what a value identifies as a whole.
func ShapeOf(value string) Shape {
	value = strings.TrimSpace(value)
	switch {
	case value == "" || len(value) > maxWhole:
		return Plain
	case account(value):
		return Account
	case strings.ContainsFunc(value, unicode.IsSpace):
		return Plain
	case strings.Contains(value, "://") || strings.HasPrefix(value, "//"):
		return URL
	case strings.HasPrefix(lower(value), "mailto:"):
		return Email
	case rooted(value):
		return Path
	}
	authority, path, deep := strings.Cut(value, "/")
	switch i := strings.LastIndexByte(authority, '@'); {
	case i > 0 && strings.IndexByte(authority[i:], '.') > 0:
		return Email
	case i < 0 && hostname(authority) != "" && (topLevel(authority) || address(authority)):
		if deep && path != "" {
			return URL
		}
		return Host
	}
	return Plain
}

// Identifiers are the addresses and accounts within a text: URLs, hosts, mail addresses, rooted paths, long numbers.
func Identifiers(text string) []string {
	var out []string
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'`<>()[]{}|,;=", r)
	}) {
		if piece = strings.TrimRight(strings.TrimLeft(piece, ":!?*"), ".:!?*"); ShapeOf(piece) != Plain {
			out = append(out, piece)
		}
	}
	return out
}

// Links are the URLs within a text that have a query, as a whole.
func Links(text string) []string {
	var out []string
	for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`<>()|", r) }) {
		if strings.Contains(piece, "://") && strings.Contains(piece, "?") && ShapeOf(piece) == URL {
			out = append(out, piece)
		}
	}
	return out
}

// Accounts are the long numbers within a text, as they stand there, whether in groups or not.
func Accounts(text string) []string {
	var out []string
	var run []string
	flush := func() {
		if one := strings.Join(run, " "); account(one) {
			out = append(out, one)
		}
		run = run[:0]
	}
	for field := range strings.FieldsSeq(text) {
		piece := strings.Trim(field, ".,;:()\"'")
		if !strings.ContainsAny(piece, "0123456789") || len(run) == maxGroups {
			flush()
		}
		if strings.ContainsAny(piece, "0123456789") {
			run = append(run, piece)
		}
		if len(piece) < len(field) && !strings.HasPrefix(field, "(") {
			flush()
		}
	}
	flush()
	return out
}

func lower(s string) string { return strings.ToLower(s) }

func rooted(value string) bool {
	switch {
	case strings.HasPrefix(value, "~/"), strings.HasPrefix(value, `\\`):
		return true
	case value[0] == '/':
		return len(value) > 1 && value[1] != '/'
	case len(value) > 3 && value[1] == ':' && (value[2] == '\\' || value[2] == '/'):
		return true
	}
	return false
}

// account reports whether a value is a long number, groups and country included, or a token such as a wallet's address.
func account(value string) bool {
	digits, letters := 0, 0
	for _, r := range value {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			letters++
		case r != ' ' && r != '-':
			return false
		}
	}
	dense := !strings.ContainsAny(value, " -")
	return digits >= minDigits && (letters <= 6 || dense) && digits+letters <= maxAccount ||
		dense && digits > 1 && letters > 0 && len(value) >= minToken
}

// hostname is the host of an authority in lower case, without user and port; empty when it is none.
func hostname(authority string) string {
	host := lower(authority[strings.LastIndexByte(authority, '@')+1:])
	host, _, _ = strings.Cut(host, ":")
	host = strings.TrimRight(host, ".")
	if strings.ContainsFunc(host, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		return ""
	}
	return host
}

// topLevel reports whether a name without a scheme is a host, by its end: file names have ends too.
func topLevel(authority string) bool {
	host := hostname(authority)
	dot := strings.LastIndexByte(host, '.')
	if dot <= 0 {
		return host == "localhost"
	}
	switch host[dot+1:] {
	case "com", "net", "org", "io", "ai", "dev", "app", "co", "example", "test", "invalid", "xyz", "ru", "cn", "info", "site", "online",
		"top", "biz", "us", "uk", "de", "fr", "eu", "tv", "cc", "link", "click", "page", "cloud", "gg", "ly", "tk", "pw", "su", "onion",
		"local", "internal", "ch", "at", "nl", "it", "es", "in", "jp", "br", "au", "ca", "me", "tech", "store", "live", "shop", "world":
		return true
	}
	return false
}

// address reports whether a host is an IPv4 address.
func address(authority string) bool {
	host := hostname(authority)
	return strings.Count(host, ".") == 3 && strings.Trim(host, "0123456789.") == ""
}

// maxParts bounds how many parts of an address are looked for.
const maxParts = 16

// parts are what an address belongs to, the nearest first: of a URL the folders and then the host, of a mail address the host,
// of a path what it ends in.
func parts(value string) []string {
	value = strings.TrimSpace(value)
	switch ShapeOf(value) {
	case URL:
		return urlParts(value)
	case Host:
		return domains(hostname(value))
	case Email:
		host := hostname(strings.TrimPrefix(lower(value), "mailto:"))
		if host == "" {
			return nil
		}
		return append([]string{host}, domains(host)...)
	case Path:
		return endings(value)
	}
	return nil
}

func urlParts(value string) []string {
	_, rest, ok := strings.Cut(value, "//")
	if !ok {
		rest = value
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	authority, path, _ := strings.Cut(strings.ReplaceAll(rest, `\`, "/"), "/")
	host := hostname(authority)
	if host == "" {
		return nil
	}
	out := []string{}
	for path = strings.Trim(path, "/"); path != "" && len(out) < maxParts; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
		out = append(out, host+"/"+path)
	}
	return append(append(out, host), domains(host)...)
}

// domains are those that a host stands under, the top level left out.
func domains(host string) []string {
	var out []string
	if address(host) {
		return nil // a number's parts are no domains
	}
	for len(out) < maxParts {
		_, parent, ok := strings.Cut(host, ".")
		if !ok || !strings.Contains(parent, ".") {
			break
		}
		out, host = append(out, parent), parent
	}
	return out
}

func endings(path string) []string {
	path = strings.ReplaceAll(path, `\`, "/")
	var out []string
	for len(out) < maxParts {
		_, rest, ok := strings.Cut(path, "/")
		if !ok {
			break
		}
		if path = rest; rest != "" {
			out = append(out, rest)
		}
	}
	return out
}
