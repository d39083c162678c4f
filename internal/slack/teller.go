package slack

import (
	"context"
	"errors"
	"time"

	"sync"

	api "github.com/slack-go/slack"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
)

const (
	leaseTime  = 15 * time.Second // after a kill, the longest time until another process tells Slack
	againTime  = 2 * time.Second  // how often a process that does not tell asks whether it may
	lingerTime = 2 * time.Second  // how long a call of Slack may take when the gateway ends
	skipMost   = 256              // approvals that are looked at again after a restart although there was nothing to tell of them
)

var (
	errReplaced = errors.New("another process tells Slack") // whose lease it has
	errStore    = errors.New("the store does not answer")
)

// Run tells Slack until the context ends.
func (s *Slack) Run(ctx context.Context) {
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { s.sendWhispers(ctx) })
	holder := approval.NewID("sla")
	for ctx.Err() == nil {
		settings, changed := s.now()
		var again <-chan time.Time
		if settings != nil {
			s.lead(ctx, holder, settings, changed)
			again = time.After(againTime)
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-again:
		}
	}
}

// lead tells Slack by these settings, for as long as they hold and no other process does.
func (s *Slack) lead(ctx context.Context, holder string, settings *Settings, changed <-chan struct{}) {
	version, ok, err := s.lease(ctx, holder)
	if err != nil && ctx.Err() == nil {
		s.Log.Error("Slack is held up: the store does not answer", "error", err)
	}
	if err != nil || !ok {
		return
	}
	defer s.Store.LeaveSlack(context.WithoutCancel(ctx), holder) //nolint:errcheck // the lease runs out by itself
	leading, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	beside.Go(func() {
		defer stop()
		s.renew(leading, holder, changed)
	})
	t := teller{Slack: s, holder: holder, settings: settings, client: settings.client()}
	err = s.Queue.Watch(leading, version, func(a approval.Approval) error { return t.tell(leading, a) })
	if leading.Err() == nil && err != nil && !errors.Is(err, errReplaced) {
		s.Log.Error("Slack is held up", "error", err)
	}
}

func (s *Slack) lease(ctx context.Context, holder string) (version int64, ok bool, err error) {
	now := time.Now()
	return s.Store.LeadSlack(ctx, holder, now, now.Add(leaseTime))
}

// renew keeps the lease until the settings change, the context ends or it is lost.
func (s *Slack) renew(ctx context.Context, holder string, changed <-chan struct{}) {
	tick := time.NewTicker(leaseTime / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			return
		case <-tick.C:
			if _, ok, err := s.lease(ctx, holder); err != nil || !ok {
				return
			}
		}
	}
}

// teller is the process that tells Slack. One goroutine owns it.
type teller struct {
	*Slack
	holder   string
	settings *Settings
	client   *api.Client
	skipped  int // approvals in a row of which there was nothing to tell
}

// tell makes the message about an approval say how it stands. It tries for as long as it may help: those that come later wait,
// as what is in the way is in their way too.
func (t *teller) tell(ctx context.Context, seen approval.Approval) error {
	if seen.Account != t.Account {
		return t.skip(ctx, seen.Version)
	}
	for attempt := 1; ; attempt++ {
		m, err := t.show(ctx, seen.ID)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && m == nil {
			return t.skip(ctx, seen.Version)
		}
		if err != nil {
			t.Log.Warn("Slack was not told of an approval", "approval", seen.ID, "fault", fault(err), "attempt", attempt)
		}
		if err == nil || !mendable(err) {
			return t.keep(ctx, seen.Version, m)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause(err, attempt)):
		}
	}
}

// show posts or changes the message about an approval, and returns it as it is then; nil when there is nothing to say.
func (t *teller) show(ctx context.Context, id string) (*Message, error) {
	a, err := t.Queue.Get(ctx, id) // it may have been decided while Slack was away
	if errors.Is(err, approval.ErrUnknown) {
		return nil, nil //nolint:nilnil // as it says
	}
	if err != nil {
		return nil, errors.Join(errStore, err)
	}
	m, shown, err := t.Store.SlackMessage(ctx, id)
	if err != nil {
		return nil, errors.Join(errStore, err)
	}
	state := a.Standing(time.Now())
	if shown && m.State == state || !shown && state != approval.Pending {
		return nil, nil //nolint:nilnil // as it says
	}
	var card *approval.Card
	if state == approval.Pending {
		if card, err = t.Queue.Card(a); err != nil { // sealed under another key: it can be decided all the same
			t.Log.Warn("the card of an approval cannot be read", "approval", id)
		}
	}
	look := message(a, state, card, t.settings)
	ctx, end := lingering(ctx)
	defer end()
	if shown {
		m.State = state
		_, _, _, err = t.client.UpdateMessageContext(ctx, m.Channel, m.TS, look...)
		return &m, err
	}
	m = Message{Approval: id, State: state}
	if m.Channel, m.TS, err = t.client.PostMessageContext(ctx, t.settings.Channel, look...); err != nil {
		return nil, err
	}
	return &m, nil
}

// lingering is a context that outlasts another by a little, so that a message that is being posted when the gateway ends is
// known to have been.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lingerTime, end) })
	return longer, func() {
		stop()
		end()
	}
}

// skip notes that there was nothing to tell, once in a while: to look again costs little, and each note is a transaction.
func (t *teller) skip(ctx context.Context, version int64) error {
	if t.skipped++; t.skipped < skipMost {
		return nil
	}
	return t.keep(ctx, version, nil)
}

// keep notes what was told. It is tried again with the message in hand: to post it once more would be the second time.
func (t *teller) keep(ctx context.Context, version int64, m *Message) error {
	t.skipped = 0
	for attempt := 1; ; attempt++ {
		ok, err := t.Store.KeepSlack(context.WithoutCancel(ctx), t.holder, version, m)
		switch {
		case err == nil && !ok:
			return errReplaced
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return err
		}
		t.Log.Error("Slack was told, and the store does not keep it", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause(err, attempt)):
		}
	}
}
