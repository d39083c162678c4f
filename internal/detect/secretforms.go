package detect

import "strings"

// The expressions of gitleaks are about files of source code. Between the name of a secret and its value, and behind the value, other
// things stand in what tools return: tags, the marks of Markdown, the next parameter of an address, the end of a sentence.
const (
	operators  = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
	nameEnd    = `[\s'"]{0,3}`
	valueStart = `[\x60'"\s=]{0,5}`
	tail       = `(?:[\x60'"\s;]|\\[nr]|$)`
	azureTail  = `(?:$|[\\'"\x60\s<),])`
	azureHead  = `(?:^|[\\'"\x60\s>=:(,)])`
	wordEnd    = `(?:\s|\z)`
	hostEnd    = `(?:[\/|\#|\?|:]|$)`
)

const (
	tags           = `(?:\s{0,4}</?\w[^<>\n]*>)`
	wideOperators  = `(?:(?:=|>|:{1,3}=|\|\||:|=>|\?=|,|\||\bis\b|->|%3[aAdD])` + tags + `*|` + tags + `+)`
	wideNameEnd    = `[\s'"\x60*_\\\])]{0,4}`
	wideValueStart = `[\x60'"\s=*(\[\\]{0,5}`
	wideWordEnd    = `(?:[\s'"\x60;<)]|\\[nrt]|\z)`
	wideHostEnd    = `(?:[/#?:|\s'"\x60<>)\],]|$)`
	wideTail       = `(?:[\x60'"\s;<>)\]},&|#*]|[.!?:](?:[\s<"']|$)|\\["'nrt]|%2[0267]|$)`
)

// widened is an expression of gitleaks that matches in these places, too.
func widened(expression string) string {
	return strings.NewReplacer(operators, wideOperators, nameEnd, wideNameEnd, valueStart, wideValueStart, tail, wideTail, azureTail, wideTail, wordEnd, wideWordEnd, hostEnd, wideHostEnd).
		Replace(expression)
}
