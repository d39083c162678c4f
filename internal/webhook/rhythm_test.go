package webhook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

func TestRhythm(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	to.status(http.StatusServiceUnavailable)
	e, _ := b.endpoint("acme", to.URL, "*")
	b.happen("acme", "agent.paused")
	r := b.round()
	b.step(r)
	for i, wait := range []time.Duration{10, 30, 120, 600, 3600} {
		wait *= time.Second
		if n := len(to.all()); n != i+1 {
			t.Fatalf("%d attempts, want %d", n, i+1)
		}
		d := b.deliveries(e)[0]
		if want := b.clock.now().Add(wait); !d.NextAt.Equal(want) || d.State != webhook.Pending || d.Attempts != i+1 || d.LastStatus != 503 ||
			d.LastError != webhook.FaultStatus {
			t.Errorf("after %d attempts: %+v, want the next at %v", i+1, d, want)
		}
		b.clock.forward(wait - 1)
		b.step(r)
		if n := len(to.all()); n != i+1 {
			t.Fatalf("attempt %d came too early", n)
		}
		b.clock.forward(1)
		b.step(r)
	}
	d := b.deliveries(e)[0]
	if d.State != webhook.Dead || d.Attempts != 6 || !d.NextAt.IsZero() {
		t.Errorf("%+v", d)
	}
	b.clock.forward(48 * time.Hour)
	b.step(r)
	if n := len(to.all()); n != 6 {
		t.Errorf("%d attempts of a dead letter", n)
	}
	first := to.all()[0]
	for i, got := range to.all() {
		if string(got.body) != string(first.body) || got.id() != first.id() {
			t.Errorf("attempt %d is another event", i+1)
		}
	}

	to.status(http.StatusNoContent)
	again, err := b.Redeliver(t.Context(), "acme", e.ID, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.step(r)
	list := b.deliveries(e)
	if len(list) != 2 || list[0].ID != again.ID || list[0].State != webhook.Delivered || list[0].Attempts != 1 || list[0].LastError != "" ||
		list[1].State != webhook.Dead {
		t.Errorf("%+v", list)
	}
	if got := b.get(e); got.Failures != 0 || got.Disabled {
		t.Errorf("%+v", got)
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		status   int
		state    webhook.State
		fault    webhook.Fault
		disabled webhook.Why
	}{
		{200, webhook.Delivered, "", ""},
		{204, webhook.Delivered, "", ""},
		{299, webhook.Delivered, "", ""},
		{301, webhook.Pending, webhook.FaultStatus, ""},
		{307, webhook.Pending, webhook.FaultStatus, ""},
		{400, webhook.Dead, webhook.FaultStatus, ""},
		{404, webhook.Dead, webhook.FaultStatus, ""},
		{408, webhook.Pending, webhook.FaultStatus, ""},
		{410, webhook.Dead, webhook.FaultStatus, webhook.Gone},
		{429, webhook.Pending, webhook.FaultStatus, ""},
		{500, webhook.Pending, webhook.FaultStatus, ""},
	} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			b, to, elsewhere := newBench(t), newReceiver(t), newReceiver(t)
			to.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", elsewhere.URL)
				w.WriteHeader(c.status)
			})
			e, _ := b.endpoint("acme", to.URL, "*")
			b.happen("acme", "agent.paused")
			b.step(b.round())
			d := b.deliveries(e)[0]
			if d.State != c.state || d.LastError != c.fault || d.LastStatus != c.status || d.Attempts != 1 {
				t.Errorf("%+v", d)
			}
			if got := b.get(e); got.Why != c.disabled || got.Disabled != (c.disabled != "") {
				t.Errorf("%+v", got)
			}
			if len(elsewhere.all()) != 0 {
				t.Error("a redirect was followed")
			}
		})
	}
}

func TestNoAnswer(t *testing.T) {
	closed := newReceiver(t)
	closed.Close()
	reset := newReceiver(t)
	reset.answers(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	hang, free := newReceiver(t), make(chan struct{})
	hang.answers(func(http.ResponseWriter, *http.Request) { <-free })
	defer close(free)
	lookup := "http://nowhere.invalid/"
	for _, c := range []struct {
		name, url string
		fault     webhook.Fault
	}{
		{"nobody listens", closed.URL, webhook.FaultConnect},
		{"the connection breaks", reset.URL, webhook.FaultConnect},
		{"it hangs", hang.URL, webhook.FaultTimeout},
		{"a plain server under https", "https" + reset.URL[len("http"):], webhook.FaultTLS},
		{"no such host", lookup, webhook.FaultDNS},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			e, _ := b.endpoint("acme", c.url, "*")
			b.happen("acme", "agent.paused")
			b.step(b.dispatcher().Begin(500 * time.Millisecond))
			d := b.deliveries(e)[0]
			if d.LastError != c.fault && !(c.url == lookup && d.LastError == webhook.FaultTimeout) || d.LastStatus != 0 ||
				d.State != webhook.Pending || !d.NextAt.Equal(began.Add(10*time.Second)) {
				t.Errorf("%+v, want %s", d, c.fault)
			}
		})
	}
}

func TestDisabledAfterManyFailures(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	to.status(500)
	e, _ := b.endpoint("acme", to.URL, "*")
	r := b.round()
	for range webhook.MaxFailures - 1 {
		b.happen("acme", "agent.paused")
	}
	b.step(r)
	if got := b.get(e); got.Failures != webhook.MaxFailures-1 || got.Disabled {
		t.Fatalf("%d failures, disabled: %v", got.Failures, got.Disabled)
	}
	b.happen("acme", "agent.paused")
	b.step(r)
	if got := b.get(e); !got.Disabled || got.Why != webhook.Failing {
		t.Fatalf("%+v", got)
	}
	n := len(to.all())
	b.clock.forward(time.Minute)
	b.step(r)
	if len(to.all()) != n {
		t.Error("a disabled endpoint was sent to")
	}
	if _, err := b.Redeliver(t.Context(), "acme", e.ID, b.deliveries(e)[0].ID); err != webhook.ErrDisabled {
		t.Errorf("redelivery to a disabled endpoint: %v", err)
	}

	// It comes back: what waited arrives, and it counts from the beginning.
	to.status(200)
	enabled := false
	if got, err := b.Change(t.Context(), "acme", e.ID, webhook.Spec{Disabled: &enabled}); err != nil || got.Failures != 0 || got.Why != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	b.step(r)
	if got := len(to.events()); got != webhook.MaxFailures {
		t.Errorf("%d events have come", got)
	}
	for _, d := range b.deliveries(e) {
		if d.State != webhook.Delivered {
			t.Fatalf("%+v", d)
		}
	}
}

// One success between failures, and the count begins anew.
func TestFailuresInARow(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	e, _ := b.endpoint("acme", to.URL, "*")
	r := b.round()
	for i, c := range []struct{ status, want int }{{500, 1}, {404, 2}, {200, 0}, {500, 1}} {
		to.status(c.status)
		b.happen("acme", "agent.paused")
		b.step(r)
		if got := b.get(e).Failures; got != c.want {
			t.Errorf("after %d: %d failures, want %d", i+1, got, c.want)
		}
	}
}

func TestOldDeliveriesGo(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	e, _ := b.endpoint("acme", to.URL, "*")
	b.happen("acme", "agent.paused")
	b.step(b.round())
	b.clock.forward(20 * 24 * time.Hour)
	b.happen("acme", "agent.paused")
	b.step(b.round())
	if n := len(b.deliveries(e)); n != 2 {
		t.Fatalf("%d deliveries", n)
	}
	b.clock.forward(11 * 24 * time.Hour)
	b.step(b.round())
	if n := len(b.deliveries(e)); n != 1 {
		t.Errorf("%d deliveries", n)
	}
}
