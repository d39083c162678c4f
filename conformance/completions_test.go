package conformance_test

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// completions is OpenAI's legacy API: a prompt, and texts that go on. It has no conversation and no tools, so that only the cases
// that name it run there.
type completions struct{}

func (completions) name() string                          { return "completions" }
func (completions) format() string                        { return "openai" }
func (completions) path(bool) string                      { return "/openai/v1/completions" }
func (completions) model(script fake.Script) http.Handler { return &fake.OpenAI{Script: script} }

func (completions) request(c conversation, stream bool) any {
	body := object{"model": "m", "prompt": c.Messages[len(c.Messages)-1].Text}
	if stream {
		body["stream"], body["stream_options"] = true, object{"include_usage": true}
	}
	if c.N > 0 {
		body["n"] = c.N
	}
	return body
}

type textCompletion struct {
	Choices []struct {
		Index        int    `json:"index"`
		Text         string `json:"text"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	completion
}

func (completions) read(body []byte) ([]answer, usage, error) {
	var c textCompletion
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, usage{}, err
	}
	var answers []answer
	for i, choice := range c.Choices {
		if choice.Index != i {
			return nil, usage{}, errors.New("a choice is not at its index")
		}
		answers = append(answers, answer{text: choice.Text, finish: chatFinish(choice.FinishReason)})
	}
	return answers, c.usage(), nil
}

func (completions) readStream(body []byte) ([]answer, usage, error) {
	var (
		answers []answer
		used    usage
	)
	err := untilDone(body, func(data []byte) error {
		var c textCompletion
		if err := json.Unmarshal(data, &c); err != nil {
			return err
		}
		if c.Usage != nil {
			used = c.usage()
		}
		for _, choice := range c.Choices {
			a := alternative(&answers, choice.Index)
			a.text += choice.Text
			if choice.FinishReason != "" {
				a.finish = chatFinish(choice.FinishReason)
			}
		}
		return nil
	})
	return answers, used, err
}

func (completions) code(body []byte) string { return openAI{}.code(body) }
