package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Conversation is one that a client sends again whole with each of its turns, as agents do: the user asks, the model calls a
// tool, the client brings the result, the model answers.
type Conversation struct {
	Turns int    `json:"turns"` // requests: every other one brings a question, the rest a result
	Size  int    `json:"size"`  // bytes of each question and result
	Key   string `json:"-"`     // sent as the provider key
}

// stretches is in how many parts of equal length the CPU time of a conversation is told.
const stretches = 4

// Stretch is a part of a conversation.
type Stretch struct {
	Requests int           `json:"requests"`
	Old      int           `json:"old_bytes"` // of texts that an earlier request had, in all requests together
	CPU      time.Duration `json:"cpu_ns"`    // user and system, in all requests together
}

// settled is how long a server needs, at the most, to do what it has put off.
const settled = 300 * time.Millisecond

// Play plays the conversation to its end.
func (c Conversation) Play(ctx context.Context, p *Process) ([]Stretch, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	s := &sender{load: Load{Key: c.Key}, url: p.URL + "/v1/chat/completions", client: client}
	body := completion{Model: conversing, Messages: []message{{Role: "system", Content: "You are a helpful assistant. " + prose(c.Size)}},
		Tools: []tool{{"function", function{Name: "lookup", Description: "Look a document up by its name and return its text."}}}}
	var out []Stretch
	before, err := p.Usage()
	if err != nil {
		return nil, err
	}
	old := 0
	for i := range stretches {
		now := Stretch{Requests: c.Turns*(i+1)/stretches - c.Turns*i/stretches}
		for range now.Requests {
			now.Old += old
			body.ask(c.Size)
			answer, err := s.complete(ctx, body)
			if err != nil {
				return nil, fmt.Errorf("turn %d: %w", len(body.Messages)/2, err)
			}
			body.Messages = append(body.Messages, answer)
			old = body.size()
		}
		time.Sleep(settled)
		after, err := p.Usage()
		if err != nil {
			return nil, err
		}
		now.CPU, before = after.CPU-before.CPU, after
		out = append(out, now)
	}
	return out, nil
}

// ask adds what the client says next.
func (c *completion) ask(size int) {
	if last := c.Messages[len(c.Messages)-1]; len(last.Calls) > 0 {
		c.Messages = append(c.Messages, message{Role: "tool", CallID: last.Calls[0].ID, Content: notes(size)})
		return
	}
	c.Messages = append(c.Messages, message{Role: "user", Content: prose(size)})
}

// size is the length of all texts.
func (c *completion) size() (n int) {
	for _, m := range c.Messages {
		n += len(m.Content)
		for _, call := range m.Calls {
			n += len(call.Function.Arguments)
		}
	}
	return n
}

// complete sends one request and returns the assistant's message.
func (s *sender) complete(ctx context.Context, c completion) (message, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return message{}, err
	}
	var whole bytes.Buffer
	if _, err := s.exchange(ctx, raw, &whole); err != nil {
		return message{}, err
	}
	var answer struct {
		Choices []struct {
			Message message `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(whole.Bytes(), &answer); err != nil {
		return message{}, fmt.Errorf("read the answer: %w", err)
	}
	if len(answer.Choices) != 1 {
		return message{}, errors.New("an answer without a choice")
	}
	return answer.Choices[0].Message, nil
}

// Retelling is what it costs that conversations are sent again: pairs of one through the floor and one through the gateway.
type Retelling struct {
	Conversation Conversation    `json:"conversation"`
	Pairs        []RetellingPair `json:"pairs"`
}

// RetellingPair is one conversation through each, one after the other.
type RetellingPair struct {
	Floor   []Stretch `json:"floor"`
	Gateway []Stretch `json:"gateway"`
}

// Retell plays the pairs. Which of the two goes first changes from pair to pair.
func Retell(ctx context.Context, r *Retelling, pairs int, floor, gateway *Process) error {
	short := r.Conversation
	short.Turns = min(short.Turns, 2*stretches)
	for _, p := range []*Process{floor, gateway} {
		if _, err := short.Play(ctx, p); err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
	}
	if err := gateway.Profile(); err != nil {
		return fmt.Errorf("begin profile: %w", err)
	}
	for i := range pairs {
		var pair RetellingPair
		sides := []struct {
			p  *Process
			to *[]Stretch
		}{{floor, &pair.Floor}, {gateway, &pair.Gateway}}
		if i%2 == 1 {
			slices.Reverse(sides)
		}
		for _, s := range sides {
			var err error
			if *s.to, err = r.Conversation.Play(ctx, s.p); err != nil {
				return err
			}
		}
		r.Pairs = append(r.Pairs, pair)
	}
	return nil
}

// Slope is what a KiB of old text costs the gateway beyond what it costs the floor: the difference between the last stretch
// and the first, in which requests differ by their old text alone. The median over all pairs.
func (r Retelling) Slope() time.Duration {
	return r.median(func(p RetellingPair) time.Duration {
		last := stretches - 1
		added := (p.Gateway[last].CPU - p.Floor[last].CPU) - (p.Gateway[0].CPU - p.Floor[0].CPU)
		return perKiB(added, p.Gateway[last].Old-p.Gateway[0].Old)
	})
}

// Whole is all that the gateway takes beyond the floor, new texts and fixed costs included, for a KiB of old text.
func (r Retelling) Whole() time.Duration {
	return r.median(func(p RetellingPair) time.Duration {
		var added time.Duration
		old := 0
		for i := range p.Gateway {
			added += p.Gateway[i].CPU - p.Floor[i].CPU
			old += p.Gateway[i].Old
		}
		return perKiB(added, old)
	})
}

func (r Retelling) median(of func(RetellingPair) time.Duration) time.Duration {
	all := make([]float64, 0, len(r.Pairs))
	for _, p := range r.Pairs {
		all = append(all, float64(of(p)))
	}
	return time.Duration(median(all))
}

func perKiB(d time.Duration, size int) time.Duration {
	return d * 1024 / time.Duration(max(size, 1))
}
