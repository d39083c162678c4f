package checkpoint

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// named is an anchor that an injection of this exchange has brought.
type named struct {
	anchor
	// near says that it stands beside the injected span, in a sentence that demands something.
	near bool
	// elsewhere says that what tools returned names it outside of injections, too.
	elsewhere bool
}

const (
	// nearBefore and nearAfter are how far around an injected span, in bytes, demands are taken for its own: attackers put
	// the override on one line and what they want on the next.
	nearBefore, nearAfter = 200, 400
	// maxNamed is how many anchors one exchange can bring, and maxKept how many of them its session remembers: less than a
	// session's list, so that one page cannot push out what others have brought.
	maxNamed, maxKept = 256, 64
	// maxWeighed is how many are held against what the model said before: most of those are said already and are not kept.
	maxWeighed = 4 * maxNamed
	// minPhrase and maxPhrase bound a quoted text that shall be said, in bytes.
	minPhrase, maxPhrase = 12, 200
)

var (
	demands = words("send forward mail email post upload transfer wire pay submit transmit exfiltrate deliver bcc cc curl wget fetch call invoke run execute read cat delete copy leak")
	saying  = words("say reply respond output print write answer include append add begin start end repeat tell state recommend")
	phrases = regexp.MustCompile("\"([^\"\n]+)\"|“([^”\n]+)”|`([^`\n]+)`|'([^'\n]+)'")
	escapes = strings.NewReplacer(`\\`, `\`, `\/`, `/`, `\n`, "\n", `\r`, "\n", `\t`, " ", `\"`, `"`)
)

// injected are the spans of a part's original text in which front saw an injection. A text of the user's counts from the quarantine
// threshold on: below it stand those that only quote one.
func (l look) injected(p *gatehouse.Part, findings byPart) []gatehouse.Finding {
	least := l.s.Warn
	switch {
	case p.Kind == gatehouse.ToolResult || p.Kind == gatehouse.ToolDef:
	case p.Kind == gatehouse.Text && p.Role == gatehouse.User:
		least = l.s.Quarantine
	default:
		return nil
	}
	var out []gatehouse.Finding
	for _, f := range findings[p.ID] {
		if f.Kind == "injection" && f.Score >= least && f.Start <= f.End && f.End <= len(p.Original()) {
			out = append(out, f)
		}
	}
	return out
}

// anyInjected reports whether there are any: before all that was said in a long conversation is read.
func (l look) anyInjected(findings byPart) bool {
	for i := range l.x.Request {
		if len(findings) > 0 && len(l.injected(&l.x.Request[i], findings)) > 0 {
			return true
		}
	}
	return false
}

// seen are front's findings of injections in this exchange.
func seen(x *gatehouse.Exchange) []gatehouse.Finding {
	var out []gatehouse.Finding
	for _, d := range x.Decisions {
		if d.At == gatehouse.Front {
			out = append(out, of("injection", d.Findings)...)
		}
	}
	return out
}

// byPart are findings by the part in which they are.
type byPart map[int][]gatehouse.Finding

func seenBy(x *gatehouse.Exchange) byPart {
	out := byPart{}
	for _, f := range seen(x) {
		out[f.Part] = append(out[f.Part], f)
	}
	return out
}

// brought are the anchors that the injections of this exchange bring: what stands in them, and in nothing that the user or the
// operator said or the model did before it read them.
func (l look) brought(ctx context.Context) []named {
	findings := seenBy(l.x)
	if !l.anyInjected(findings) {
		return nil
	}
	var all []named
	have := map[anchor]bool{}
	known, tools := naming{}, l.tools()
	for i := range l.x.Request {
		p := &l.x.Request[i]
		if p.Role == gatehouse.Assistant {
			known.add(p)
		}
		for _, f := range l.injected(p, findings) {
			if len(all) == maxNamed || len(have) == maxWeighed {
				break
			}
			for _, n := range l.demanded(p, f, tools) {
				if have[n.anchor] || len(all) == maxNamed || len(have) == maxWeighed {
					continue
				}
				if have[n.anchor] = true; !known.holds(n.anchor) {
					all = append(all, n)
				}
			}
		}
	}
	all = l.unsaid(ctx, all, findings)
	var returned []string
	for i := range all {
		if all[i].kind != anchorHost {
			continue
		}
		if returned == nil {
			returned = l.returned(findings)
		}
		all[i].elsewhere = slices.ContainsFunc(returned, func(text string) bool { return strings.Contains(text, all[i].value) })
	}
	return all
}

// demanded are the anchors of one injected span and of the demands beside it.
func (l look) demanded(p *gatehouse.Part, f gatehouse.Finding, tools *toolNames) []named {
	text := p.Original()
	out := anchors(readable(text, text[f.Start:f.End]), false, tools)
	if p.Role == gatehouse.User && p.Kind == gatehouse.Text || f.Score < l.s.Quarantine {
		return out // what the user says beside it is the user's, and a text may quote an injection as an example
	}
	before := readable(text, text[max(0, f.Start-nearBefore):f.Start])
	after := readable(text, text[f.End:min(len(text), f.End+nearAfter)])
	for _, beside := range [2]string{after, before} {
		for from := 0; from < len(beside); {
			_, to := sentenceAround(beside, from, from+1)
			if s := beside[from:to]; demands.in(s) {
				out = append(out, anchors(s, true, tools)...)
			}
			from = to
		}
	}
	return out
}

// readable is a piece of a text as a reader of it has it: of JSON, without escapes.
func readable(text, piece string) string {
	if begin := strings.TrimLeft(text, " \t\r\n"); begin == "" || strings.IndexByte("{[\"", begin[0]) < 0 {
		return piece
	}
	return escapes.Replace(piece)
}

// anchors are the anchors of an injected text. A tool that it names counts only where it names nothing else: who obeys
// "mail it to a@evil.example" says the address again.
func anchors(text string, near bool, tools *toolNames) []named {
	var out []named
	for _, s := range sightings(text) {
		if !s.wide {
			out = append(out, named{anchor: s.anchor, near: near})
		}
	}
	if saying.in(text) && !near {
		for _, m := range phrases.FindAllStringSubmatch(text, -1) {
			phrase := strings.TrimSpace(m[1] + m[2] + m[3] + m[4])
			if len(phrase) >= minPhrase && len(phrase) <= maxPhrase && strings.Contains(phrase, " ") {
				out = append(out, named{anchor: anchor{anchorPhrase, lowered(phrase)}})
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, name := range tools.in(lowered(text)) {
		out = append(out, named{anchor: anchor{anchorTool, name}, near: near})
	}
	return out
}

// wordIn reports whether a word stands in a text, and not inside of another.
func wordIn(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(word)
		if apart(text, start, end) {
			return true
		}
		from = start + 1
	}
}

// apart reports whether what stands at start..end of a text is not inside of a longer word.
func apart[T string | []byte](text T, start, end int) bool {
	return (start == 0 || !wordByte(text[start-1])) && (end == len(text) || !wordByte(text[end]))
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// returned is what tools have returned, lower-case, less what is injected and what stands beside it.
func (l look) returned(findings byPart) []string {
	out := []string{}
	for i := range l.x.Request {
		p := &l.x.Request[i]
		if p.Kind != gatehouse.ToolResult {
			continue
		}
		spans := l.injected(p, findings)
		for j := range spans {
			spans[j].Start, spans[j].End = max(0, spans[j].Start-nearBefore), min(len(p.Original()), spans[j].End+nearAfter)
		}
		out = append(out, lowered(without(p.Original(), spans)))
	}
	return out
}

// without is a text less some spans, whose ends stay apart.
func without(text string, spans []gatehouse.Finding) string {
	var cuts []gatehouse.Edit
	for _, f := range spans {
		if n := len(cuts) - 1; n >= 0 && f.Start < cuts[n].End {
			cuts[n].End = max(cuts[n].End, f.End)
			continue
		}
		cuts = append(cuts, gatehouse.Edit{Op: gatehouse.Replace, Start: f.Start, End: f.End, Text: "\n"})
	}
	return gatehouse.Splice(text, cuts)
}
