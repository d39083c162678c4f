package webhook

import "time"

// State is how far a delivery is.
type State string

// The states there are.
const (
	Pending   State = "pending"   // an attempt is due, or will be
	Delivered State = "delivered" // the endpoint answered 2xx
	Dead      State = "dead"      // no attempt will be made any more, unless somebody asks for it
)

// Known reports whether there is such a state.
func (s State) Known() bool { return s == Pending || s == Delivered || s == Dead }

// MaxFailures is how many attempts in a row may fail before the endpoint is disabled.
const MaxFailures = 100

// attemptTime is the longest time for one attempt, the connection included.
const attemptTime = 30 * time.Second

// Delivery is one event on its way to one endpoint. When it is asked for again, that is another delivery.
type Delivery struct {
	ID         string // whd-<32 hex>
	Webhook    string // id of the endpoint
	Event      string // id of the event
	Type       string // of the event
	State      State
	Attempts   int       // that have ended
	NextAt     time.Time // when the next attempt is due; zero unless pending
	LastStatus int       // HTTP status of the last attempt; 0: there was no answer
	LastError  Fault     // why the last attempt failed; empty: it did not
	Created    time.Time
	Updated    time.Time
}

// Fault says why an attempt failed. It is a word, never a text from outside.
type Fault string

// The faults there are.
const (
	FaultStatus  Fault = "status"  // an answer other than 2xx
	FaultTimeout Fault = "timeout" // no answer within 30 s
	FaultDNS     Fault = "dns"     // the host's name has no address
	FaultConnect Fault = "connect" // no connection, or one that broke
	FaultTLS     Fault = "tls"     // no certificate that holds
	FaultTarget  Fault = "target"  // an address that the gateway does not send to
	FaultSecret  Fault = "secret"  // the signing secret cannot be opened: the key is another one
)

// retryAfter is how long to wait after the first, second, … attempt that failed. After the last one the delivery is dead.
func retryAfter(attempts int) (wait time.Duration, ok bool) {
	waits := [...]time.Duration{10 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour}
	if attempts < 1 || attempts > len(waits) {
		return 0, false
	}
	return waits[attempts-1], true
}

// permanent reports whether an answer says that trying again is in vain.
func permanent(status int) bool {
	return status >= 400 && status < 500 && status != 408 && status != 429
}

// newDelivery is an event that is due at an endpoint at once.
func newDelivery(e Endpoint, ev Event, now time.Time) Delivery {
	return Delivery{ID: newID("whd-"), Webhook: e.ID, Event: ev.ID, Type: ev.Type, State: Pending, NextAt: now, Created: now, Updated: now}
}
