package api

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/canonical"
)

// settled is what of an exchange stands once the gateway has answered. The response counts from the first question about it.
type settled struct {
	ID        string               `json:"id"`
	Time      time.Time            `json:"time"`
	Agent     string               `json:"agent"`
	Session   string               `json:"session"`
	Fresh     bool                 `json:"fresh"`
	Answered  bool                 `json:"answered"`
	Request   []gatehouse.Part     `json:"request"`
	Response  []gatehouse.Part     `json:"response"`
	Decisions []gatehouse.Decision `json:"decisions"`
	Reminded  *gatehouse.Reminded  `json:"reminded"`
}

// The words that a proof begins with: what it speaks for.
const (
	provesRequest  = "request."
	provesResponse = "response." // and the request
)

// proof shows that the gateway has left an exchange as it is.
func (a *API) proof(x *gatehouse.Exchange) (string, error) {
	word := provesRequest
	if x.Answered {
		word = provesResponse
	}
	sum, err := a.seal(x)
	return word + hex.EncodeToString(sum), err
}

// proved holds an exchange against the proof that its client has. What has been added since is the client's own, and fresh.
func (a *API) proved(x *gatehouse.Exchange, proof string) error {
	was := *x
	switch {
	case strings.HasPrefix(proof, provesResponse) && x.Answered:
	case strings.HasPrefix(proof, provesRequest):
		was.Answered = false
		for _, p := range x.Response {
			if touched(p) {
				return errProof()
			}
		}
	default:
		return errProof()
	}
	sum, err := a.seal(&was)
	if err != nil {
		return err
	}
	_, mac, _ := strings.Cut(proof, ".")
	shown, err := hex.DecodeString(mac)
	if err != nil || !hmac.Equal(sum, shown) {
		return errProof()
	}
	if !was.Answered {
		freshen(x.Response)
	}
	return nil
}

// seal is a keyed hash of what is settled in an exchange.
func (a *API) seal(x *gatehouse.Exchange) ([]byte, error) {
	s := settled{x.ID, x.Time.UTC(), x.Agent, x.Session, x.Fresh, x.Answered, list(x.Request), nil, list(x.Decisions), x.Reminded}
	if x.Answered {
		s.Response = list(x.Response)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	form, err := canonical.JSON(raw, bodyDepth)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, a.Desk.Sessions.Key, nil, "gatehouse exchange proof", sha256.Size)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(form) //nolint:errcheck // a hash does not fail
	return mac.Sum(nil), nil
}

// touched reports whether a part bears what only a checkpoint puts there.
func touched(p gatehouse.Part) bool {
	return p.Replayed || p.Removed || p.Edited || p.Inserted || p.Was != "" || p.Notice != ""
}

// fresh settles what clients may not say of the parts of an exchange that begins.
func fresh(x *gatehouse.Exchange) {
	last := -1
	for i, p := range x.Request {
		if p.Role == gatehouse.Assistant {
			last = i
		}
	}
	for i := range x.Request {
		x.Request[i].Latest = i > last && x.Request[i].Role != gatehouse.System
	}
	freshen(x.Request)
	freshen(x.Response)
}

func freshen(list []gatehouse.Part) {
	for i := range list {
		p := &list[i]
		// The operator says what is read and what may pass; an agent's own code can only be stricter.
		p.Skip = false
		if p.Policy == gatehouse.Allow || p.Kind != gatehouse.ToolDef {
			p.Policy = ""
		}
		p.Signed = p.Signed && p.Kind == gatehouse.Reasoning
	}
}

const (
	maxParts  = 10_000 // of an exchange
	maxChoice = 127
	maxPath   = 1024 // bytes
	maxTokens = 1e12
)

var (
	wordPattern = regexp.MustCompile(`^[A-Za-z0-9 ._:/@+-]{0,128}$`)
	codeWord    = regexp.MustCompile(`^[a-z0-9_]{0,64}$`)
)

// checkWords looks at what a client says of its exchange and the record will repeat.
func checkWords(x *gatehouse.Exchange) error {
	for name, word := range map[string]string{"upstream": x.Upstream, "model": x.Model, "format": x.Format} {
		if !wordPattern.MatchString(word) {
			return invalid("exchange."+name, "must be up to 128 letters, digits, spaces and . _ : / @ + -")
		}
	}
	u := x.Usage
	switch {
	case !requestPattern.MatchString(x.ID):
		return invalid("exchange.id", "must be a UUID of version 4 in lower case")
	case !codeWord.MatchString(x.Error):
		return invalid("exchange.error", "must be up to 64 lower-case letters, digits and underscores")
	case x.Cut != "" && x.Cut != "upstream_interrupted" && x.Cut != "stream_buffer":
		return invalid("exchange.cut", "must be upstream_interrupted or stream_buffer")
	case x.Status != 0 && (x.Status < 100 || x.Status > 599):
		return invalid("exchange.status", "must be a status of HTTP")
	case min(u.Input, u.Output) < 0 || max(u.Input, u.Output) > maxTokens:
		return invalid("exchange.usage", "is no count of tokens")
	}
	return nil
}

// checkParts looks at the form of the parts; it changes none.
func checkParts(x *gatehouse.Exchange, at gatehouse.Checkpoint) error {
	switch {
	case len(x.Request)+len(x.Response) > maxParts:
		return invalid("exchange", "has more than 10000 parts")
	case len(x.Response) > 0 && !x.Answered && at != finish:
		return invalid("exchange.response", "has parts, but the exchange is not answered")
	}
	for i, p := range x.Request {
		if p.ID != i || !speaks(p) || !bounded(p) {
			return invalid("exchange.request", "has a part that none of this kind, role, id or length can be")
		}
	}
	for i, p := range x.Response {
		if p.ID != len(x.Request)+i || p.Role != gatehouse.Assistant && p.Role != "" || p.Kind == gatehouse.ToolDef || p.Latest || !bounded(p) {
			return invalid("exchange.response", "has a part that none of this kind, role, id or length can be")
		}
	}
	return nil
}

// speaks reports whether a part of a request has a role that its kind has.
func speaks(p gatehouse.Part) bool {
	switch p.Kind {
	case gatehouse.Text, gatehouse.Opaque:
		return p.Role == gatehouse.System || p.Role == gatehouse.User || p.Role == gatehouse.Assistant || p.Role == gatehouse.Tool
	case gatehouse.Reasoning, gatehouse.ToolCall:
		return p.Role == gatehouse.Assistant
	case gatehouse.ToolResult:
		return p.Role == gatehouse.Tool
	case gatehouse.ToolDef:
		return p.Role == gatehouse.System
	}
	return false
}

func bounded(p gatehouse.Part) bool {
	switch p.Kind {
	case gatehouse.Text, gatehouse.Reasoning, gatehouse.ToolCall, gatehouse.ToolResult, gatehouse.ToolDef, gatehouse.Opaque:
	default:
		return false
	}
	switch p.Policy {
	case "", gatehouse.Allow, gatehouse.Flag, gatehouse.Block:
	default:
		return false
	}
	return p.Choice >= 0 && p.Choice <= maxChoice && max(len(p.Tool), len(p.CallID), len(p.Media)) <= maxToolName && len(p.Path) <= maxPath
}
