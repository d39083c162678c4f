package keep

// heavy is what a heap holds: it has a weight, and a field for its place.
type heavy interface {
	weight() int
	place() *int
}

// heap has its heaviest element first.
type heap[T heavy] struct{ all []T }

func (h *heap[T]) first() T { return h.all[0] }

func (h *heap[T]) add(x T) {
	*x.place() = len(h.all)
	h.all = append(h.all, x)
	h.settle(x)
}

func (h *heap[T]) remove(x T) {
	at, last := *x.place(), len(h.all)-1
	moved := h.all[last]
	var none T
	h.all[last] = none
	h.all = h.all[:last]
	if at < last {
		h.put(at, moved)
		h.settle(moved)
	}
}

// settle moves an element to where it belongs after its weight has changed.
func (h *heap[T]) settle(x T) {
	at := *x.place()
	for at > 0 && h.all[(at-1)/2].weight() < x.weight() {
		h.put(at, h.all[(at-1)/2])
		at = (at - 1) / 2
	}
	for {
		child := 2*at + 1
		if child+1 < len(h.all) && h.all[child+1].weight() > h.all[child].weight() {
			child++
		}
		if child >= len(h.all) || h.all[child].weight() <= x.weight() {
			break
		}
		h.put(at, h.all[child])
		at = child
	}
	h.put(at, x)
}

func (h *heap[T]) put(at int, x T) {
	h.all[at] = x
	*x.place() = at
}
