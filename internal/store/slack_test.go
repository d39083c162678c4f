package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/slack"
	"github.com/gatehouse-gateway/gatehouse/internal/store"
)

// One process at a time tells Slack, and only that one moves what was told.
func TestSlackLease(t *testing.T) {
	ctx := t.Context()
	s, err := store.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "gatehouse.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now := time.Now()
	lead := func(holder string, at time.Duration, want bool, version int64) {
		t.Helper()
		got, ok, err := s.LeadSlack(ctx, holder, now.Add(at), now.Add(at+10*time.Second))
		if err != nil || ok != want || ok && got != version {
			t.Errorf("%s leads after %s: %v at %d, %v; want %v at %d", holder, at, ok, got, err, want, version)
		}
	}
	keep := func(holder string, version int64, m *slack.Message, want bool) {
		t.Helper()
		if ok, err := s.KeepSlack(ctx, holder, version, m); err != nil || ok != want {
			t.Errorf("%s keeps %d: %v, %v", holder, version, ok, err)
		}
	}
	lead("a", 0, true, 0)
	lead("b", 9*time.Second, false, 0)
	keep("a", 7, &slack.Message{Approval: "apr-1", Channel: "C1", TS: "1.2", State: approval.Pending}, true)
	keep("a", 5, nil, true)
	keep("b", 9, &slack.Message{Approval: "apr-2", Channel: "C1", TS: "1.3", State: approval.Pending}, false)
	lead("a", 9*time.Second, true, 7)
	lead("b", 18*time.Second, false, 0)
	lead("b", 19*time.Second, true, 7)
	keep("a", 9, nil, false)
	if err := s.LeaveSlack(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	lead("c", 20*time.Second, false, 0)
	if err := s.LeaveSlack(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	lead("c", 20*time.Second, true, 7)
	if m, ok, err := s.SlackMessage(ctx, "apr-1"); err != nil || !ok || m != (slack.Message{Approval: "apr-1", Channel: "C1", TS: "1.2", State: approval.Pending}) {
		t.Errorf("%+v, %v, %v", m, ok, err)
	}
	if _, ok, err := s.SlackMessage(ctx, "apr-2"); err != nil || ok {
		t.Errorf("%v, %v", ok, err)
	}
}
