package policy

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/provenance"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// inquiry looks through the arguments of a call for a destination that an injected tool result has brought.
type inquiry struct {
	scene  *scene
	effect effect
	left   int // values that may still be looked at
	found  Blame
}

// suspect says which argument of a call is not to be trusted, and why; empty when none is. The blame is empty where nobody can
// tell.
//
// Of a call that acts, that is one which identifies whom or what it acts on. A call that only reads can carry data to whoever
// answers it: there it is an address that nobody has said as a whole and of which an injected result said a part. An
// address that the result said itself carries nothing that its author did not know.
func (s *scene) suspect() (string, Blame) {
	if reason, b := s.tainted(); reason != "" {
		return reason, b
	}
	return s.urged()
}

func (s *scene) tainted() (string, Blame) {
	q := &inquiry{scene: s, effect: effectOf(s.call.Tool), left: maxTraced}
	if s.call.Freeform {
		return q.texts(provenance.Identifiers(s.call.Args), "args.input"), q.found
	}
	if q.effect == reads && q.sends() {
		q.effect = acts
	}
	return walk(s.root, "args", argument{}, q.value), q.found
}

// argument is what the names on the way to a value say of it.
type argument struct {
	destination bool
	prose       bool
}

// sends reports whether a call that reads by its name carries something with it: http_request with a body or a method.
func (q *inquiry) sends() bool {
	for _, m := range q.scene.root.Members {
		key := strings.ToLower(m.Key)
		switch {
		case payloads[key] && m.Value.Kind != rawjson.Null:
			return true
		case key == "method" && m.Value.Kind == rawjson.String:
			switch strings.ToUpper(m.Value.Text(q.scene.doc)) {
			case "GET", "HEAD", "OPTIONS":
			default:
				return true
			}
		}
	}
	return false
}

// walk shows each text and number of the arguments to see, with its path and what the names on the way to it say, until see has
// a reason.
func walk(v rawjson.Value, path string, a argument, see func(v rawjson.Value, path string, a argument) string) string {
	switch v.Kind {
	case rawjson.Object:
		for _, m := range v.Members {
			inner := argument{destination: true}
			if !destinations.name(m.Key) {
				inner = argument{a.destination, a.prose || prose.name(m.Key)}
			}
			if reason := walk(m.Value, path+"."+plainKey(m.Key), inner, see); reason != "" {
				return reason
			}
		}
	case rawjson.Array:
		for i, e := range v.Elems {
			if reason := walk(e, fmt.Sprintf("%s[%d]", path, i), a, see); reason != "" {
				return reason
			}
		}
	case rawjson.String, rawjson.Number:
		return see(v, path, a)
	}
	return ""
}

// value looks at a text or a number.
func (q *inquiry) value(v rawjson.Value, path string, a argument) string {
	if v.Kind == rawjson.String {
		return q.text(v.Text(q.scene.doc), path, a)
	}
	if number := string(v.Raw(q.scene.doc)); a.destination && !a.prose || provenance.ShapeOf(number) != provenance.Plain {
		return q.ask(json.Number(number), path)
	}
	return ""
}

// text looks at a text. What is there to be read by people is not looked into: a summary may hold the links of what it sums
// up. What is executed always is.
func (q *inquiry) text(text, path string, a argument) string {
	shaped := provenance.ShapeOf(text) != provenance.Plain
	switch {
	case shaped || a.destination && !a.prose:
		return q.ask(text, path)
	case a.prose && q.effect != executes:
		return ""
	}
	return q.texts(provenance.Identifiers(text), path)
}

func (q *inquiry) texts(list []string, path string) string {
	for _, one := range list {
		if reason := q.ask(one, path); reason != "" {
			return reason
		}
	}
	return ""
}

// ask asks where one value came from.
func (q *inquiry) ask(value any, path string) string {
	if text, ok := value.(string); q.effect == reads && (!ok || provenance.ShapeOf(text) != provenance.URL && provenance.ShapeOf(text) != provenance.Host) {
		return ""
	}
	if q.left--; q.left < 0 {
		return path + ": there are too many values to say where they came from"
	}
	if q.scene.call.Origin == nil {
		if q.effect == reads {
			return ""
		}
		return path + " cannot be traced: " + unknownConversation
	}
	switch o := q.scene.call.Origin(value); {
	case !o.Tainted || o.Source != ToolResult || q.effect == reads && !o.Partly:
		return ""
	default:
		q.found = Blame{Argument: path, Value: fmt.Sprint(value), Origin: o}
		return path + " first appeared in a result of " + plainTool(o.Tool) + " that held an injection"
	}
}

// plainKey keeps the name of an argument to what can stand in a reason: the model wrote it.
func plainKey(key string) string { return plainWord(key, "…") }

func plainTool(name string) string { return plainWord(name, "a tool") }

func plainWord(name, other string) string {
	const most = 64
	if name == "" || len(name) > most || strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./:", r)
	}) {
		return other
	}
	return name
}
