package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"
)

// Reminder is a warning about an answer that waits for the next turn of its session: what a checkpoint in nudge tells the model.
type Reminder struct {
	ID      string // pa-<12 hex>
	Source  string // runtime.inside.integrity.nudge
	Text    string // the gateway's own words
	Session string
	Request string // id of the exchange that it is about
	Created time.Time
}

const (
	// MaxReminders is how many are told at once, the oldest first.
	MaxReminders = 5
	// ReminderAge is how long one waits.
	ReminderAge = 24 * time.Hour
)

// Reminders keeps them.
type Reminders interface {
	// Reminders are those of an agent, made since a time, that wait: of one session, or of all when it is empty. Oldest first.
	Reminders(ctx context.Context, agentID, session string, since time.Time, limit, offset int) (list []Reminder, total int, err error)
}

// NewReminderID is a fresh identifier.
func NewReminderID() string {
	b := make([]byte, 6)
	rand.Read(b) // never fails: crypto/rand ends the program instead
	return "pa-" + hex.EncodeToString(b)
}
