package sdk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestTheProvidersOwnErrors(t *testing.T) {
	for _, status := range []int{400, 401, 429, 500} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			everywhere(t, func(t *testing.T, p place) {
				sent := record(t, p.provider)
				r := p.refuse(t, question{messages: []message{user("Hello")}, headers: map[string]string{
					"X-Fake-Status": strconv.Itoa(status), "X-Fake-Retry-After": "7",
				}})
				if r.status != status || !strings.Contains(r.body, fmt.Sprintf("the provider says %d", status)) {
					t.Errorf("status %d: %s", r.status, r.body)
				}
				if after := r.header.Get("Retry-After"); after != "7" {
					t.Errorf("Retry-After is %q, want the provider's", after)
				}
				passed(t, r.header)
				sent.only(t)
			})
		})
	}
}

func TestTheSDKsOwnRetries(t *testing.T) {
	for _, status := range []int{429, 500} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			everywhere(t, func(t *testing.T, p place) {
				sent := record(t, p.provider)
				a := p.ask(t, question{messages: []message{user("Hello")}, retries: 2, headers: map[string]string{
					"X-Fake-Status": strconv.Itoa(status), "X-Fake-Retry-After": "0", "X-Fake-Times": "2", "X-Fake-Case": rand.Text(),
				}})
				if a.text != "You said: Hello" {
					t.Errorf("text %q", a.text)
				}
				passed(t, a.header)
				var counts []string
				for _, r := range sent.requests(t) {
					counts = append(counts, r.Headers.Get("X-Stainless-Retry-Count"))
				}
				if !slices.Equal(counts, []string{"0", "1", "2"}) {
					t.Errorf("the provider saw the tries %q, want three", counts)
				}
			})
		})
	}
}

// An answer without a whole event, and an unstreamed one, is a failed request. Of a stream that has begun, what came before
// the end arrives, and then the connection ends as the provider's did.
func TestADroppedAnswerIsAnError(t *testing.T) {
	const long = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
	cases := []struct {
		desc  string
		after int // bytes
		begun bool
	}{
		{"before the first byte", -1, false},
		{"in the first event", 20, false},
		{"in the middle", 3000, true},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			everywhere(t, func(t *testing.T, p place) {
				if c.begun && !p.stream {
					t.Skip("an unstreamed answer is shorter")
				}
				sent := record(t, p.provider)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				a, err := p.turn(ctx, question{messages: []message{user(long)}, stream: p.stream,
					headers: map[string]string{"X-Fake-Drop-After": strconv.Itoa(c.after)}})
				if err == nil || ctx.Err() != nil {
					t.Fatalf("error %v, want one in time", err)
				}
				sent.only(t)
				r, refused := p.refused(err)
				switch {
				case c.begun && (refused || a.text == "" || !strings.HasPrefix("You said: "+long, a.text) || a.finish != ""):
					t.Errorf("after %v the answer is %+v", err, a.choice)
				case c.begun:
					passed(t, a.header)
				case !refused || r.status != 502:
					t.Errorf("error %v, want the SDK's own with status 502", err)
				default:
					surface(t, r.header)
				}
			})
		})
	}
}

func TestACancelledTurnEndsAtOnce(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		sent := record(t, p.provider)
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := p.turn(ctx, question{messages: []message{user("Hello")}, stream: p.stream,
				headers: map[string]string{"X-Fake-Delay": (3 * patience).String()}})
			ended <- err
		}()
		sent.wait(t)
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want %v", err, context.Canceled)
			}
		case <-time.After(patience):
			t.Fatal("the turn does not end")
		}
		if a := p.ask(t, question{messages: []message{user("Hello again")}}); a.text != "You said: Hello again" {
			t.Errorf("text %q", a.text)
		}
	})
}
