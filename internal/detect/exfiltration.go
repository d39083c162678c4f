package detect

import (
	"context"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// exfiltration finds addresses that carry data away: pictures, which are fetched as soon as a text is shown, links, and names of
// hosts, which are told to somebody's name server. What it reports is not an injection; policy says what is done about it.
type exfiltration struct{}

func (exfiltration) Name() string { return "exfiltration" }

// channel says how an address in a text comes to be fetched.
type channel uint8

const (
	mentionedOnly channel = iota // it stands in the text
	clicked                      // a link
	fetched                      // shown or run together with the text, without anybody's doing
)

func (c channel) String() string { return [...]string{"address", "link", "picture"}[c] }

const (
	// addressMax bounds an address, in bytes: what browsers and proxies carry.
	addressMax = 8 << 10
	// contextMax is how far before an address is looked for what fetches it.
	contextMax = 300
	// reportMin is the lowest score that is reported. Signed addresses of stores and hosts with long names score about as much.
	reportMin = 0.3
)

func (exfiltration) Detect(ctx context.Context, t Text, n *Normalized) []gatehouse.Finding {
	if t.Channel == Input {
		return nil
	}
	var all []gatehouse.Finding
	plain := n.unescaped()
	text := plain.text
	for at := 0; ctx.Err() == nil; {
		i := strings.Index(text[at:], "//")
		if i < 0 {
			break
		}
		slashes := at + i
		start := schemeStart(text, slashes)
		way := fetchedBy(text, start)
		if start == slashes && way == mentionedOnly {
			at = slashes + 2 // a comment or a path
			continue
		}
		end := addressEnd(text, slashes+2)
		at = max(end, slashes+2)
		kind, score := carried(text[slashes+2:end], way)
		if score < reportMin {
			continue
		}
		all = append(all, gatehouse.Finding{
			Kind: "exfiltration", Type: kind, Detector: "exfiltration/" + way.String(),
			Score: score, Severity: severity(score), Start: start, End: end,
		})
	}
	return plain.back(all)
}

// schemeStart is where the scheme before two slashes begins; the slashes themselves where there is none.
func schemeStart(text string, slashes int) int {
	for _, scheme := range [...]string{"https:", "http:"} {
		if from := slashes - len(scheme); from >= 0 && strings.EqualFold(text[from:slashes], scheme) {
			return from
		}
	}
	return slashes
}

// addressEnd is where an address ends that goes on at byte i. Placeholders may hold what addresses cannot.
func addressEnd(text string, i int) int {
	limit := min(len(text), i+addressMax)
	for ; i < limit; i++ {
		switch c := text[i]; c {
		case '{', '[', '<':
			if end := placeholderEnd(text, i); end > 0 && strings.IndexByte("=/?&.", text[i-1]) >= 0 {
				i = end - 1
				continue
			}
			if c == '<' {
				return i
			}
		case '>', ')', '"', '\'', '`', '\\':
			return i
		default:
			if c <= ' ' || c == 0x7F {
				return i
			}
		}
	}
	return runeStart(text, i)
}

// placeholderMax bounds what stands between the brackets of a placeholder, in bytes.
const placeholderMax = 80

// placeholderEnd is where a placeholder ends that begins at byte i, 0 where there is none.
func placeholderEnd(text string, i int) int {
	closing := map[byte]string{'{': "}", '[': "]", '<': ">"}[text[i]]
	rest := text[i+1 : min(len(text), i+placeholderMax)]
	k := strings.IndexAny(rest, closing+"\n\"")
	if k <= 0 || rest[k] != closing[0] {
		return 0
	}
	end := i + 1 + k + 1
	for end < len(text) && text[end] == closing[0] {
		end++
	}
	return end
}

// fetchedBy says what fetches the address that begins at byte start.
func fetchedBy(text string, start int) channel {
	before := text[max(0, start-contextMax):start]
	before = strings.TrimRight(before, "\"'\\<( \t\u201c")
	switch {
	case strings.HasSuffix(before, "]"):
		return markdownChannel(before)
	case strings.HasSuffix(before, "]:"):
		if strings.Contains(text, "![") {
			return fetched
		}
		return clicked
	case strings.HasSuffix(before, "url"), strings.HasSuffix(before, "@import"):
		return fetched
	case strings.HasSuffix(before, "="):
		return attributeChannel(strings.ToLower(before[:len(before)-1]))
	}
	return mentionedOnly
}

// markdownChannel tells a picture from a link by what stands before the bracket that ends a text.
func markdownChannel(before string) channel {
	depth := 0
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				if i > 0 && before[i-1] == '!' {
					return fetched
				}
				return clicked
			}
		}
	}
	return clicked
}

// attributeChannel says what an attribute does with its value; before ends with its name.
func attributeChannel(before string) channel {
	tag := before[strings.LastIndexByte(before, '<')+1:]
	if len(tag) == len(before) {
		return mentionedOnly
	}
	before = strings.TrimRight(before, " ")
	switch name := before[strings.LastIndexAny(before, " \t\n\"'")+1:]; name {
	case "src", "srcset", "poster", "background", "data", "xlink:href":
		return fetched
	case "href":
		if strings.HasPrefix(tag, "link") || strings.HasPrefix(tag, "image") || strings.HasPrefix(tag, "use") {
			return fetched
		}
		return clicked
	case "action", "formaction":
		return clicked
	case "content":
		return fetched // <meta http-equiv=refresh>
	}
	return mentionedOnly
}
