package checkpoint

import (
	"strings"
	"unicode"
)

// anchor is a concrete thing that an instruction names, and that whoever follows it has to say again. Its value is normalised:
// lower case, addresses without what varies in them, accounts as digits.
type anchor struct{ kind, value string }

// The kinds of anchor.
const (
	anchorHost    = "host"    // evil.example
	anchorURL     = "url"     // evil.example/collect: without scheme, query and fragment
	anchorEmail   = "email"   // a@evil.example
	anchorAccount = "account" // digits of a number that groups may divide, or a long token such as a wallet's address
	anchorPath    = "path"    // ~/.ssh/id_rsa
	anchorTool    = "tool"    // the name of a tool
	anchorPhrase  = "phrase"  // a quoted text that shall be said
)

// sighting is an anchor in a text, with byte offsets.
type sighting struct {
	anchor
	start, end int
	// wide says that this is not the thing itself but what it belongs to: the domain of a host, the folder of an address.
	wide bool
}

// sightings finds all addresses, accounts and paths in a text. It takes one pass and no expressions: answers go through it.
func sightings(text string) []sighting {
	var out []sighting
	digits := 0
	for from := 0; from < len(text); {
		var all, b byte
		to := from
		for ; to < len(text); to++ {
			if b = classes[text[to]]; b == delimiter {
				break
			}
			if all |= b; b == number {
				digits++
			}
		}
		if all&sign != 0 || all&number != 0 && to-from >= minToken {
			start, end := trimmed(text, from, to)
			if word := text[start:end]; len(word) >= minToken || strings.ContainsAny(word, `./\@:~`) { // more than the end of a sentence
				out = append(out, token(lowered(word), start)...)
			}
		}
		from = max(to, from) + 1
	}
	if digits >= minDigits {
		out = append(out, accounts(text)...)
	}
	return out
}

// The classes of bytes.
const (
	delimiter = 0         // ends an address or a path
	letter    = 1 << iota // and what else says nothing
	number
	sign // what makes more than a word of a word
)

var classes = func() (c [256]byte) {
	for b := range c {
		switch {
		case b <= ' ' || b >= 0x80 || strings.IndexByte("\"'<>()[]{},;|`*=", byte(b)) >= 0:
			c[b] = delimiter
		case b >= '0' && b <= '9':
			c[b] = number
		case strings.IndexByte("./\\@:~", byte(b)) >= 0:
			c[b] = sign
		default:
			c[b] = letter
		}
	}
	return c
}()

// lowered lowers ASCII letters alone, so that offsets stay.
func lowered(text string) string {
	upper := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' })
	if upper < 0 {
		return text
	}
	out := []byte(text)
	for i := upper; i < len(out); i++ {
		if out[i] >= 'A' && out[i] <= 'Z' {
			out[i] += 'a' - 'A'
		}
	}
	return string(out)
}

// trimmed leaves out the punctuation of the sentence around a token.
func trimmed(text string, from, to int) (start, end int) {
	for from < to && strings.IndexByte(":!?", text[from]) >= 0 {
		from++
	}
	for from < to && strings.IndexByte(".:!?_", text[to-1]) >= 0 {
		to--
	}
	return from, to
}

// token says what one token is. Most are words, and nothing.
func token(word string, at int) []sighting {
	one := func(kind, value string) []sighting {
		return []sighting{{anchor: anchor{kind, value}, start: at, end: at + len(word)}}
	}
	_, address, hasScheme := strings.Cut(word, "://")
	switch {
	case len(word) < 4:
		return nil
	case hasScheme:
		return location(address, at, at+len(word))
	case strings.HasPrefix(word, "//"):
		return location(word[2:], at, at+len(word))
	case strings.IndexByte(word, '@') > 0:
		return mailbox(word, at)
	case rooted(word):
		return one(anchorPath, strings.ReplaceAll(word[:min(len(word), maxPath)], `\`, "/"))
	}
	host, rest, _ := strings.Cut(word, "/")
	switch dot := strings.LastIndexByte(host, '.'); {
	case dot > 0 && topLevel(hostname(host)):
		return location(word, at, at+len(word))
	case rest != "" && strings.IndexByte(rest, '.') > 0:
		return one(anchorPath, word)
	case len(word) >= minToken && opaqueToken(word):
		return one(anchorAccount, word)
	}
	return nil
}

// rooted reports whether a word is a path from a root: /etc/passwd, ~/.ssh, c:\users\x, .env.
func rooted(word string) bool {
	switch {
	case strings.HasPrefix(word, "~/"):
		return true
	case word[0] == '/':
		return strings.IndexByte(word[1:], '/') > 0
	case len(word) > 3 && word[1] == ':' && (word[2] == '\\' || word[2] == '/'):
		return true
	}
	return word[0] == '.' && strings.IndexFunc(word[1:], func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// minToken is the length, in bytes, from which a word of letters and digits is nobody's word: wallets have 26 and more.
const minToken = 20

func opaqueToken(word string) bool {
	digits := 0
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r < 'a' || r > 'z':
			return false
		}
	}
	return digits > 1 && digits < len(word)
}

// location is what stands behind a scheme: the host, the address, and what they belong to.
func location(address string, start, end int) []sighting {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	address, _, _ = strings.Cut(address, `\`) // of an escape; addresses have none
	authority, path, _ := strings.Cut(address, "/")
	host := hostname(authority)
	if host == "" {
		return nil
	}
	see := func(kind, value string, wide bool) sighting { return sighting{anchor{kind, value}, start, end, wide} }
	out := []sighting{see(anchorHost, host, false)}
	for _, parent := range domains(host) {
		out = append(out, see(anchorHost, parent, true))
	}
	path = strings.TrimRight(path[:min(len(path), maxPath)], "/")
	for n := 0; path != "" && n <= maxFolders; n++ {
		out = append(out, see(anchorURL, host+"/"+path, n > 0))
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	return out
}

const (
	maxHost    = 253 // bytes (RFC 1035)
	maxPath    = 512 // bytes of a path that are looked at
	maxFolders = 8   // of those that an address belongs to
)

// hostname is the host of an authority, without user, port and www; empty when it is none.
func hostname(authority string) string {
	host := authority[strings.LastIndexByte(authority, '@')+1:]
	host, _, _ = strings.Cut(host, ":")
	host = strings.TrimPrefix(strings.TrimRight(host, "."), "www.")
	if len(host) > maxHost || strings.IndexFunc(host, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) >= 0 {
		return ""
	}
	return host
}

// domains are those that a host stands under, the top level left out.
func domains(host string) []string {
	var out []string
	if host[len(host)-1] >= '0' && host[len(host)-1] <= '9' {
		return nil // a number's parts are no domains
	}
	for {
		dot := strings.IndexByte(host, '.')
		if dot < 0 || strings.IndexByte(host[dot+1:], '.') < 0 {
			return out
		}
		host = host[dot+1:]
		out = append(out, host)
	}
}

func mailbox(word string, at int) []sighting {
	i := strings.LastIndexByte(word, '@')
	name := word[:i]
	name = name[strings.LastIndexAny(name, ":/")+1:]
	domain := word[i+1:]
	if n := strings.IndexAny(domain, `?/:&\`); n >= 0 {
		domain = domain[:n]
	}
	host := hostname(domain)
	if name == "" || strings.IndexByte(host, '.') <= 0 {
		return nil
	}
	start, end := at, at+len(word)
	out := []sighting{{anchor{anchorEmail, name + "@" + host}, start, end, false}, {anchor{anchorHost, host}, start, end, true}}
	for _, parent := range domains(host) {
		out = append(out, sighting{anchor{anchorHost, parent}, start, end, true})
	}
	return out
}

// topLevel reports whether a name without a scheme is a host, by its end: file names have ends too.
func topLevel(host string) bool {
	switch host[strings.LastIndexByte(host, '.')+1:] {
	case "com", "net", "org", "io", "ai", "dev", "app", "co", "example", "test", "invalid", "xyz", "ru", "cn", "info", "site", "online",
		"top", "biz", "us", "uk", "de", "fr", "eu", "tv", "cc", "link", "click", "page", "cloud", "gg", "ly", "tk", "pw", "su", "onion":
		return true
	}
	return false
}

// minDigits is the length from which a number identifies somebody: shorter ones are amounts and years.
const minDigits = 9

// accounts are the long numbers of a text. Single spaces and hyphens may divide them: 89 3704 0044 0532 0130 00.
func accounts(text string) []sighting {
	var out []sighting
	for i := 0; i < len(text); {
		if !digit(text, i) {
			i++
			continue
		}
		start, groups := i, []string(nil)
		for digit(text, i) {
			from := i
			for digit(text, i) {
				i++
			}
			groups = append(groups, text[from:i])
			if i-from >= minDigits {
				out = append(out, sighting{anchor{anchorAccount, text[from:i]}, from, i, false})
			}
			if i < len(text) && (text[i] == ' ' || text[i] == '-') && digit(text, i+1) {
				i++
			}
		}
		if number := strings.Join(groups, ""); len(groups) > 1 && len(number) >= minDigits && !date(groups) {
			out = append(out, sighting{anchor{anchorAccount, number}, start, i, false})
		}
	}
	return out
}

func digit(text string, i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }

// date reports whether groups of digits begin as 2026-11-21 does.
func date(groups []string) bool {
	return len(groups) > 2 && len(groups[0]) == 4 && len(groups[1]) == 2 && len(groups[2]) == 2
}
