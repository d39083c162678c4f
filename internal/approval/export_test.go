package approval

// MaxCard is how long a card may be.
const MaxCard = maxCard

// Waiting is how many wait for a change.
func (q *Queue) Waiting() int {
	q.lounge.mu.Lock()
	defer q.lounge.mu.Unlock()
	return q.lounge.waiting
}
