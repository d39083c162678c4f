package embeddings

import (
	"slices"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

// recorder is a sink that keeps what is unread.
type recorder struct{ unread []string }

func (*recorder) Open(gatehouse.Part) int { return 0 }
func (*recorder) Text(int, string)        {}
func (*recorder) Close(int)               {}
func (r *recorder) Unread(path string)    { r.unread = append(r.unread, path) }

func TestUnread(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"OpenAI", `{"object":"list","data":[{"object":"embedding","embedding":[0.0023064255,-0.009327292,-0.0028842222],"index":0}],"model":"text-embedding-ada-002","usage":{"prompt_tokens":8,"total_tokens":8}}`, nil},
		{"in base64", `{"data":[{"object":"embedding","embedding":"AAAAP83MzL0AAAAA","index":0},{"object":"embedding","embedding":"AAAAPw==","index":1}]}`, nil}, // 0.5, -0.1, 0
		{"vLLM", `{"id":"embd-5fc8","object":"list","created":1,"model":"intfloat/e5-mistral-7b-instruct","data":[{"index":0,"object":"embedding","embedding":[0.5]}],"usage":{"prompt_tokens":8,"prompt_tokens_details":null}}`, nil},
		{"lists of lists", `{"data":[{"embedding":[[0.5],[1]]}]}`, nil},
		{"a key in base64", `{"data":[{"embedding":"AAAAPw=="},{"embedding":"AKIAX8Kf2mPq9Zr4"}]}`, []string{"data[].embedding"}},
		{"words", `{"data":[{"embedding":"it is so"}]}`, []string{"data[].embedding"}},
		{"words among numbers", `{"data":[{"embedding":[0.5,"it is so"]}]}`, []string{"data[].embedding[]"}},
		{"words elsewhere", `{"data":[{"embedding":[1],"text":"a"}],"note":"b"}`, []string{"data[].text", "note"}},
		{"an object", `{"data":{"embedding":"AAAAPw=="}}`, []string{"data.embedding"}},
		{"a list too many", `{"data":[[{"embedding":"AAAAPw=="}]]}`, []string{"data[][].embedding"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var to recorder
			if _, err := (Codec{}).Response([]byte(c.body), &to); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(to.unread, c.want) {
				t.Errorf("unread %q, want %q", to.unread, c.want)
			}
		})
	}
}
