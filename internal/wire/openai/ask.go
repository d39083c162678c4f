package openai

import "github.com/gatehouse-gateway/gatehouse/internal/wire"

var _ wire.Asker = Codec{}

// Ask writes a request of the gateway's own. It says max_tokens, which every server that speaks the format reads.
func (Codec) Ask(q wire.Question) (path string, body []byte) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	return "/v1/chat/completions", encode(struct {
		Model       string    `json:"model"`
		Messages    []message `json:"messages"`
		MaxTokens   int       `json:"max_tokens"`
		Temperature float64   `json:"temperature"`
	}{q.Model, []message{{"system", q.System}, {"user", q.User}}, q.Most, 0})
}
