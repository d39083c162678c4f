package completions

import (
	"slices"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
)

func TestUnread(t *testing.T) {
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"OpenAI", `{"id":"cmpl-uqkvlQyYK7bGYrRHQ0eXlWi7","object":"text_completion","created":1589478378,"model":"gpt-3.5-turbo-instruct","system_fingerprint":"fp_44709d6fcb","choices":[{"text":"\n\nThis is indeed a test","index":0,"logprobs":null,"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":7,"total_tokens":12}}`, nil},
		{"log probabilities", `{"choices":[{"text":" a b","index":0,"logprobs":{"tokens":[" a"," b"],"token_logprobs":[-0.1,null],"top_logprobs":[{" a":-0.1},null],"text_offset":[0,2]},"finish_reason":"stop"}]}`, nil},
		{"vLLM", `{"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"a","logprobs":null,"finish_reason":"stop","stop_reason":null,"prompt_logprobs":null,"token_ids":[1]}],"service_tier":null,"system_fingerprint":null,"kv_transfer_params":null}`, nil},
		{"llama.cpp", `{"choices":[{"text":"a","index":0,"logprobs":{"content":[{"id":1,"token":"a","bytes":[97],"logprob":-0.1,"top_logprobs":[]}]},"finish_reason":"stop"}],"system_fingerprint":"b6250-e92d53b29","timings":{"prompt_n":1}}`, nil},
		{"Azure", `{"choices":[{"text":"a","content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"violence":{"filtered":false,"severity":"safe"}}}]}`, nil},
		{"unknown members", `{"content":"a","choices":[{"text":"b","reasoning":"c","delta":{"content":"d"}}],"error":{"message":"e"}}`, []string{"content", "choices[].reasoning", "choices[].delta", "error.message"}},
		{"another text", `{"choices":[{"text":"a","logprobs":{"tokens":["b"]}}]}`, []string{"choices[].logprobs.tokens"}},
		{"other tokens", `{"choices":[{"text":"a","logprobs":{"tokens":["a"],"top_logprobs":[{"a":0,"b":-1}]}}]}`, []string{"choices[].logprobs.top_logprobs"}},
		{"texts for numbers", `{"choices":[{"text":"a","logprobs":{"tokens":["a"],"top_logprobs":[{"a":"b"}],"token_logprobs":["c"]}}]}`, []string{"choices[].logprobs.token_logprobs", "choices[].logprobs.top_logprobs"}},
		{"tokens that are no list", `{"choices":[{"text":"a","logprobs":{"tokens":{"x":"b"},"top_logprobs":"c"}}]}`, []string{"choices[].logprobs.tokens", "choices[].logprobs.top_logprobs"}},
		{"lists of tokens", `{"choices":[{"text":"a","logprobs":{"tokens":[["b"]]}}]}`, []string{"choices[].logprobs.tokens"}},
		{"as in chats", `{"choices":[{"text":"a","logprobs":{"content":[{"token":"b","top_logprobs":[{"token":"c"}]}]}}]}`, []string{"choices[].logprobs.content", "choices[].logprobs.content[].top_logprobs"}},
		{"no object", `{"choices":[{"text":"a","logprobs":[{"tokens":["b"]}]}]}`, []string{"choices[].logprobs"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var whole, streamed recorder
			if _, err := (Codec{}).Response([]byte(c.body), &whole); err != nil {
				t.Fatal(err)
			}
			if err := (Codec{}).Stream(&streamed).Event([]byte("data: "+c.body+"\n\n"), "", c.body); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(whole.unread, c.want) || !slices.Equal(streamed.unread, c.want) {
				t.Errorf("unread %q and %q, want %q", whole.unread, streamed.unread, c.want)
			}
		})
	}
}

// Log probabilities of an empty piece go with an edit of the text, too, and wait for it.
func TestLogprobsOfAnEmptyPiece(t *testing.T) {
	var to recorder
	s := Codec{}.Stream(&to).(*stream)
	for _, data := range []string{`{"choices":[{"index":0,"text":"","logprobs":{"tokens":["secret"]}}]}`, `{"choices":[{"index":0,"text":"secret"}]}`} {
		if err := s.Event([]byte("data: "+data+"\n\n"), "", data); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := s.Next(to.parts, func(int) int { return len("secret") }, false); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	to.parts[0].Was, to.parts[0].Text, to.parts[0].Edited = "secret", "s3cr3t", true
	const want = "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"logprobs\":null}]}\n\ndata: {\"choices\":[{\"index\":0,\"text\":\"s3cr3t\"}]}\n\n"
	if out, err := s.Bytes(to.parts); err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := s.Next(to.parts, func(int) int { return gatehouse.Everything }, true); err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}

// Log probabilities may leave while the text that they tell waits behind another choice: they go with an edit of it that is known.
func TestLogprobsAheadOfAnEditedText(t *testing.T) {
	var to recorder
	s := Codec{}.Stream(&to).(*stream)
	for _, data := range []string{`{"choices":[{"index":0,"text":"","logprobs":{"tokens":["secret"]}}]}`,
		`{"choices":[{"index":1,"text":"wait"}]}`, `{"choices":[{"index":0,"text":"secret"}]}`} {
		if err := s.Event([]byte("data: "+data+"\n\n"), "", data); err != nil {
			t.Fatal(err)
		}
	}
	to.parts[1].Was, to.parts[1].Text, to.parts[1].Edited = "secret", "s3cr3t", true
	out, err := s.Next(to.parts, func(part int) int { return part * gatehouse.Everything }, false)
	if want := "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"logprobs\":null}]}\n\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
}
