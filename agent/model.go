package agent

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
)

// Model answers one turn of a conversation. The packages openai and anthropic beside this one have models; a [ModelFunc] is one.
type Model interface {
	// Answer reads the whole request and writes the next message of the assistant. Its error ends the run's attempt, which can
	// be resumed.
	Answer(ctx context.Context, r Request) (Answer, error)
}

// ModelFunc is a function as a [Model].
type ModelFunc func(ctx context.Context, r Request) (Answer, error)

// Answer implements [Model].
func (f ModelFunc) Answer(ctx context.Context, r Request) (Answer, error) { return f(ctx, r) }

// Request is what a model reads.
type Request struct {
	System   string
	Messages []Message
	Tools    []Declaration // by name
}

// Declaration is what a model knows of a tool.
type Declaration struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments; never nil
}

// Message is one of the conversation: a user's, the assistant's, or the result of one call.
type Message struct {
	Role     gatehouse.Role `json:"role"` // user, assistant, tool
	Text     string         `json:"text,omitempty"`
	Thoughts []Thought      `json:"thoughts,omitempty"` // of the assistant, before its text
	Calls    []Call         `json:"calls,omitempty"`    // of the assistant, after its text

	CallID string `json:"call_id,omitempty"` // of a result: the call that it answers
	Tool   string `json:"tool,omitempty"`    // of a result: the tool
	Failed bool   `json:"failed,omitempty"`  // of a result: the tool failed, or did not run
}

// Thought is a model's reasoning. What is signed or sealed by the provider goes back to it untouched; other thoughts are checked
// and dropped.
type Thought struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Sealed    string `json:"sealed,omitempty"` // reasoning that only the provider can read
}

func (t Thought) kept() bool { return t.Signature != "" || t.Sealed != "" }

// Answer is what a model says.
type Answer struct {
	Text     string
	Thoughts []Thought
	Calls    []Call
	Usage    gatehouse.Usage
	Model    string // as the provider names it
	// Cut says that the answer is not whole: the provider has met a limit of tokens or refused. Calls that it holds do not run.
	Cut string
}

func (c *Config) declarations() []Declaration {
	var list []Declaration
	for name, t := range c.Tools {
		d := Declaration{name, t.Description, t.Schema}
		if d.Schema == nil {
			d.Schema = json.RawMessage(`{"type":"object"}`)
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b Declaration) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return list
}
