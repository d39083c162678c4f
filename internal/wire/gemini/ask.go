package gemini

import (
	"encoding/json"
	"net/url"

	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

var _ wire.Asker = Codec{}

// Ask writes a request of the gateway's own.
func (Codec) Ask(q wire.Question) (path string, body []byte) {
	type text struct {
		Text string `json:"text"`
	}
	type content struct {
		Role  string `json:"role,omitempty"`
		Parts []text `json:"parts"`
	}
	type limits struct {
		MaxOutputTokens int     `json:"maxOutputTokens"`
		Temperature     float64 `json:"temperature"`
	}
	body, err := json.Marshal(struct {
		System   content   `json:"systemInstruction"`
		Contents []content `json:"contents"`
		Limits   limits    `json:"generationConfig"`
	}{content{Parts: []text{{q.System}}}, []content{{"user", []text{{q.User}}}}, limits{q.Most, 0}})
	if err != nil {
		panic(err) // only strings and numbers come here
	}
	return "/v1beta/models/" + url.PathEscape(q.Model) + ":generateContent", body
}
