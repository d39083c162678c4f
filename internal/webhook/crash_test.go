package webhook_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/seal"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
	"github.com/gatehouse-gateway/gatehouse/internal/webhook"
)

// childURL is set in a child process: the database that it delivers from until it is killed.
const childURL = "WEBHOOKTEST_DELIVER_FROM"

func child() bool {
	url := os.Getenv(childURL)
	if url == "" {
		return false
	}
	s, err := store.Open(context.Background(), url)
	if err != nil {
		panic(err)
	}
	b, err := seal.New(bytes.Repeat([]byte{9}, seal.KeySize))
	if err != nil {
		panic(err)
	}
	d := webhook.Dispatcher{Chain: s, Outbox: s, Queue: s, Box: b, Targets: loopback(), Log: slog.New(slog.DiscardHandler)}
	d.Run(context.Background())
	return true
}

// A process is killed while it delivers. Whoever is next delivers everything, however far that one was.
func TestKilledWhileDelivering(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	b.clock.at = time.Now()
	e, _ := b.endpoint("acme", to.URL, "*")
	killed := 0
	for round := range 3 {
		hold, seen := make(chan struct{}), make(chan struct{}, 100)
		to.answers(func(w http.ResponseWriter, _ *http.Request) {
			seen <- struct{}{}
			if round == 0 || len(to.all())%3 == 0 { // some are answered, some never
				<-hold
			}
		})
		for range 20 {
			b.happen("acme", "agent.paused")
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childURL+"=sqlite:"+b.path)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-seen:
			time.Sleep(time.Duration(round) * 30 * time.Millisecond)
		case <-time.After(20 * time.Second):
			t.Error("the child delivers nothing")
		}
		cmd.Process.Kill()
		if cmd.Wait() != nil {
			killed++
		}
		close(hold)
	}
	to.status(200)
	b.clock.forward(5 * time.Minute) // the claims of the dead have run out
	b.open()
	b.step(b.round())
	list := b.deliveries(e)
	if len(list) != 60 || len(to.events()) != 60 || killed != 3 {
		t.Errorf("%d deliveries, %d events have come, %d children were killed", len(list), len(to.events()), killed)
	}
	for _, d := range list {
		if d.State != webhook.Delivered {
			t.Errorf("%+v", d)
		}
	}
}

// Between the commit of events and their delivery nothing is lost, nor between a claim and its end.
func TestEndsBetweenSteps(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	e, _ := b.endpoint("acme", to.URL, "*")
	b.happen("acme", "agent.paused")
	b.open() // before anything was told
	if err := b.round().Tell(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.open() // after the events were committed
	if n := len(b.deliveries(e)); n != 1 {
		t.Fatalf("%d deliveries", n)
	}
	claim := webhook.Claim{Holder: "dead", Now: b.clock.now(), Until: b.clock.now().Add(time.Minute), Most: 10, Each: 10}
	list, err := b.store.Claim(t.Context(), claim)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d claimed, %v", len(list), err)
	}
	b.open() // after it was claimed
	b.step(b.round())
	if len(to.all()) != 0 {
		t.Error("a delivery that another holds was made")
	}
	b.clock.forward(time.Minute)
	b.step(b.round())
	if len(to.all()) != 1 || b.deliveries(e)[0].State != webhook.Delivered {
		t.Errorf("%d attempts, %+v", len(to.all()), b.deliveries(e))
	}

	// The one whose claim has run out comes back late: what it says does not count.
	late := webhook.Result{Attempt: list[0], End: webhook.Failed}
	late.Delivery.State = webhook.Dead
	if _, err := b.store.Settle(t.Context(), []webhook.Result{late}); err != nil {
		t.Fatal(err)
	}
	if b.deliveries(e)[0].State != webhook.Delivered || b.get(e).Failures != 0 {
		t.Errorf("%+v", b.deliveries(e))
	}
}

// Several on one store tell each event once.
func TestManyDispatchers(t *testing.T) {
	b, to := newBench(t), newReceiver(t)
	e, _ := b.endpoint("acme", to.URL, "*")
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for n := range 3 {
		s := b.store
		if n > 0 {
			var err error
			if s, err = store.Open(t.Context(), "sqlite:"+b.path); err != nil {
				t.Fatal(err)
			}
			defer s.Close()
		}
		d := webhook.Dispatcher{Chain: s, Outbox: s, Queue: s, Box: box(t), Targets: loopback(), Log: slog.New(slog.DiscardHandler)}
		all.Go(func() { d.Run(ctx) })
	}
	b.clock.at = time.Now()
	for range 300 {
		b.happen("acme", "agent.paused", "key.created")
	}
	eventually(t, "600 events", func() bool { return len(to.events()) == 600 })
	eventually(t, "all delivered", func() bool {
		return !slices.ContainsFunc(b.deliveries(e), func(d webhook.Delivery) bool { return d.State != webhook.Delivered })
	})
	stop()
	all.Wait()
	if n := len(b.deliveries(e)); n != 600 || len(to.all()) != 600 {
		t.Errorf("%d deliveries, %d attempts", n, len(to.all()))
	}
}

// One that hangs holds up nobody else.
func TestSlowEndpoint(t *testing.T) {
	b, slow, quick := newBench(t), newReceiver(t), newReceiver(t)
	b.clock.at = time.Now()
	free := make(chan struct{})
	slow.answers(func(http.ResponseWriter, *http.Request) { <-free })
	var hanging []webhook.Endpoint
	for range 5 {
		e, _ := b.endpoint("acme", slow.URL, "*")
		hanging = append(hanging, e)
	}
	b.endpoint("acme", quick.URL, "*")
	for i := range 100 {
		b.happen("acme", fmt.Sprintf("agent.n%d", i))
	}
	d := b.dispatcher()
	d.Now = nil
	stop := run(t, d)
	eventually(t, "100 events at the quick one", func() bool { return len(quick.events()) == 100 })
	if n := len(slow.all()); n != 4*len(hanging) {
		t.Errorf("%d attempts hang, want 4 of each", n)
	}
	stop()
	close(free)
	// What was broken off does not count as an attempt, and waits for nobody's claim.
	b.clock.at = time.Now()
	list, err := b.store.Claim(t.Context(), webhook.Claim{Holder: "x", Now: b.clock.now(), Until: b.clock.now(), Most: 1000, Each: 1000})
	if err != nil || len(list) != 100*len(hanging) {
		t.Errorf("%d can be claimed, %v", len(list), err)
	}
	for _, a := range list {
		if a.Delivery.Attempts != 0 {
			t.Errorf("%+v", a.Delivery)
		}
	}
}
