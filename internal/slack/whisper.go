package slack

import (
	"context"

	api "github.com/slack-go/slack"
)

// maxWhispers is how many may wait. More are dropped: whoever presses sees that nothing has changed.
const maxWhispers = 64

// whisper is a message that one user sees.
type whisper struct{ channel, user, text string }

// whisper has a message sent, without waiting for it: the answer to Slack is due.
func (s *Slack) whisper(w whisper) {
	select {
	case s.whispering() <- w:
	default:
		s.Log.Warn("Slack is slow: a user was not told why nothing was decided")
	}
}

func (s *Slack) whispering() chan whisper {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whispers == nil {
		s.whispers = make(chan whisper, maxWhispers)
	}
	return s.whispers
}

// sendWhispers sends what waits until the context ends, each once.
func (s *Slack) sendWhispers(ctx context.Context) {
	waiting := s.whispering()
	for {
		select {
		case <-ctx.Done():
			return
		case w := <-waiting:
			settings, _ := s.now()
			if settings == nil {
				continue
			}
			if _, err := settings.client().PostEphemeralContext(ctx, w.channel, w.user, api.MsgOptionText(w.text, true)); err != nil && ctx.Err() == nil {
				s.Log.Warn("a user of Slack was not told why nothing was decided", "fault", fault(err))
			}
		}
	}
}
