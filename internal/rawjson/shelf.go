package rawjson

// shelf holds the items of lists while they are read, the inner lists of a list above it, and then each list in room of its
// own. Lists are many and short: they share what is allocated, and have no room that they do not need.
type shelf[T any] struct {
	open []T // of all lists that have not ended
	room []T // for those that end
}

// mostRoom is for how many items there is room at once, at the most.
const mostRoom = 128

// begin begins a list.
func (s *shelf[T]) begin() int { return len(s.open) }

// since are the items of the innermost list, which has begun there. They move.
func (s *shelf[T]) since(from int) []T { return s.open[from:] }

// add adds an item to the innermost list.
func (s *shelf[T]) add(item T) { s.open = append(s.open, item) }

// end ends the innermost list, which has begun there, and returns it: nil when it is empty. The size of the document says how
// many lists may follow.
func (s *shelf[T]) end(from, size int) []T {
	list := s.open[from:]
	if from == 0 && len(list) >= mostRoom { // a long one, which takes the room that it has
		s.open = nil
		return list[:len(list):len(list)]
	}
	s.open = s.open[:from]
	if len(list) == 0 {
		return nil
	}
	if n := len(list); n > cap(s.room)-len(s.room) {
		const each = 64 // bytes of a document for an item, or more
		s.room = make([]T, 0, max(n, min(size/each, mostRoom)))
	}
	at := len(s.room)
	s.room = append(s.room, list...)
	return s.room[at:len(s.room):len(s.room)]
}
