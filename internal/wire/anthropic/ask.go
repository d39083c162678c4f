package anthropic

import (
	"encoding/json"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

var _ wire.Asker = Codec{}

// Ask writes a request of the gateway's own.
func (Codec) Ask(q wire.Question) (path string, body []byte) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	body, err := json.Marshal(struct {
		Model       string    `json:"model"`
		System      string    `json:"system"`
		Messages    []message `json:"messages"`
		MaxTokens   int       `json:"max_tokens"`
		Temperature float64   `json:"temperature"`
	}{q.Model, q.System, []message{{"user", q.User}}, q.Most, 0})
	if err != nil {
		panic(err) // only strings and numbers come here
	}
	return "/v1/messages", body
}
