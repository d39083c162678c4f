// Package slack shows pending approvals in a channel and takes the answers of those who may give them. It promises that only
// a request that Slack has signed lately, by a user who is named in the configuration, decides anything, that each decision is
// recorded with who made it, and that nothing waits for Slack: without it approvals are decided elsewhere. What a decision does
// is left to package approval.
package slack

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	api "github.com/slack-go/slack"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

// Slack is both directions: a [surface.Surface] for what Slack sends, and [Slack.Run] for what it is told. Its fields are set
// before its first use; without [Settings] it does nothing.
type Slack struct {
	Queue    Queue
	Store    Store
	Transact func(ctx context.Context, do func(context.Context) error) error // one transaction of the store
	Checker  gatehouse.Checker                                               // writes the records
	Account  string                                                          // whose approvals are shown
	Log      *slog.Logger

	mu       sync.Mutex
	settings *Settings
	changed  chan struct{} // closed when the settings change
	whispers chan whisper  // made by the first who needs it
}

// Queue is where the calls wait; *approval.Queue is one.
type Queue interface {
	Get(ctx context.Context, id string) (approval.Approval, error)
	Card(a approval.Approval) (*approval.Card, error)
	Approve(ctx context.Context, id string, d approval.Decision) (approval.Approval, error)
	Deny(ctx context.Context, id string, d approval.Decision) (approval.Approval, error)
	Wake() // those who wait look at what was changed in a transaction
	Watch(ctx context.Context, after int64, see func(approval.Approval) error) error
}

// Store keeps what Slack was told. Of many processes on one store one tells Slack at a time.
type Store interface {
	// LeadSlack lets a process tell Slack until a time, if no other does; version is that of the last approval that was told.
	LeadSlack(ctx context.Context, holder string, now, until time.Time) (version int64, ok bool, err error)
	// LeaveSlack lets the next one in at once.
	LeaveSlack(ctx context.Context, holder string) error
	// KeepSlack stores that an approval was told, up to its version, and what its message is now; nil: there is none. It
	// reports whether the process still tells Slack: otherwise nothing is stored.
	KeepSlack(ctx context.Context, holder string, version int64, m *Message) (ok bool, err error)
	// SlackMessage finds the message about an approval; ok is false when there is none.
	SlackMessage(ctx context.Context, approval string) (m Message, ok bool, err error)
}

// Message is where an approval is shown.
type Message struct {
	Approval string
	Channel  string // id, as Slack gave it
	TS       string // the message's id within the channel
	State    approval.State
}

// Settings are what the operator decides.
type Settings struct {
	Token         string // of the bot
	Channel       string // id or name
	SigningSecret string // of the app
	Approvers     []string
	Arguments     bool   // messages show the arguments of calls
	API           string // base URL of the Web API; empty: Slack's own
	Link          string // what the id of an approval is appended to for a link; empty: no links
}

// Use makes these settings effective; nil: no Slack.
func (s *Slack) Use(settings *Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil && reflect.DeepEqual(settings, s.settings) {
		return // what is being told goes on
	}
	if s.changed != nil {
		close(s.changed)
	}
	s.settings, s.changed = settings, make(chan struct{})
}

// now returns the settings, nil when there are none, and a channel that is closed when they change.
func (s *Slack) now() (*Settings, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.settings, s.changed
}

// callTime is the longest time for one call of Slack's Web API.
const callTime = 10 * time.Second

// client calls Slack. It follows no redirect: that would hand the token on.
func (s *Settings) client() *api.Client {
	options := []api.Option{api.OptionHTTPClient(&http.Client{Timeout: callTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }})}
	if s.API != "" {
		options = append(options, api.OptionAPIURL(strings.TrimRight(s.API, "/")+"/"))
	}
	return api.New(s.Token, options...)
}

func (s *Settings) mayDecide(user string) bool { return slices.Contains(s.Approvers, user) }
