package fake

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Slack is as much of Slack as approvals need: its Web API as an http.Handler, and a user's finger. It refuses a wrong token,
// and signs what it sends.
type Slack struct {
	Token         string // that the API asks for
	SigningSecret string
	Channel       string // the one channel there is
	// Garble, if it is set, changes a body between its signature and the network.
	Garble func(body []byte) []byte
	// Trouble, if it is set, answers a call of the API in place of Slack when it returns true.
	Trouble func(w http.ResponseWriter, method string) bool

	mu       sync.Mutex
	messages []SlackMessage
	whispers []SlackMessage
	calls    map[string]int
}

// SlackMessage is a message as Slack has it now.
type SlackMessage struct {
	TS      string
	User    string // who alone sees it; empty: all
	Text    string
	Blocks  string // JSON
	Updates int
}

// ServeHTTP is the Web API: chat.postMessage, chat.update and chat.postEphemeral.
func (s *Slack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	method := r.URL.Path[1:]
	s.mu.Lock()
	if s.calls == nil {
		s.calls = map[string]int{}
	}
	s.calls[method]++
	s.mu.Unlock()
	if s.Trouble != nil && s.Trouble(w, method) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(s.answer(method, r)); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (s *Slack) answer(method string, r *http.Request) map[string]any {
	wrong := func(word string) map[string]any { return map[string]any{"ok": false, "error": word} }
	if err := r.ParseForm(); err != nil || r.Method != http.MethodPost {
		return wrong("invalid_form_data")
	}
	f := r.PostForm
	m := SlackMessage{TS: f.Get("ts"), User: f.Get("user"), Text: f.Get("text"), Blocks: f.Get("blocks")}
	switch {
	case f.Get("token") != s.Token && r.Header.Get("Authorization") != "Bearer "+s.Token:
		return wrong("invalid_auth")
	case f.Get("channel") != s.Channel:
		return wrong("channel_not_found")
	case m.Text == "":
		return wrong("no_text")
	case m.Blocks != "" && !json.Valid([]byte(m.Blocks)):
		return wrong("invalid_blocks")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case "chat.postMessage":
		m.TS = fmt.Sprintf("1700000000.%06d", len(s.messages)+1)
		s.messages = append(s.messages, m)
	case "chat.postEphemeral":
		s.whispers = append(s.whispers, m)
	case "chat.update":
		i := slices.IndexFunc(s.messages, func(old SlackMessage) bool { return old.TS == m.TS })
		if i < 0 {
			return wrong("message_not_found")
		}
		m.Updates = s.messages[i].Updates + 1
		s.messages[i] = m
	default:
		return wrong("unknown_method")
	}
	return map[string]any{"ok": true, "channel": s.Channel, "ts": m.TS, "message_ts": m.TS}
}

// Messages are what everybody sees, in the order in which they were posted.
func (s *Slack) Messages() []SlackMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.messages)
}

// Whispers are what single users were told.
func (s *Slack) Whispers() []SlackMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.whispers)
}

// Calls is how often a method of the API was called, refused calls included.
func (s *Slack) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Interaction is the body that Slack sends when a user presses a button.
func (s *Slack) Interaction(user, action, value string) []byte {
	payload, err := json.Marshal(map[string]any{
		"type": "block_actions", "user": map[string]string{"id": user}, "channel": map[string]string{"id": s.Channel},
		"response_url": "https://hooks.slack.com/actions/not-used",
		"actions":      []map[string]string{{"type": "button", "action_id": action, "value": value}},
	})
	if err != nil {
		panic(err) // strings always marshal
	}
	return []byte(url.Values{"payload": {string(payload)}}.Encode())
}

// Send sends a body to an interaction endpoint, signed as of a time, and returns the status and body of the answer.
func (s *Slack) Send(ctx context.Context, to string, body []byte, at time.Time) (status int, answer string, err error) {
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", timestamp, body)
	if s.Garble != nil {
		body = s.Garble(body)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Slack-Request-Timestamp", timestamp)
	req.Header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}
