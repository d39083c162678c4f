package detect

// Buckets is the number of places in a table of weights.
const (
	bucketBits = 17
	Buckets    = 1 << bucketBits
)

// Weights are the weights of features by their hashes. A bucket holds two weights of one byte, each with eight bits of its feature's hash,
// so that a feature that was never learnt finds a stranger's weight once in 128 times at most, and not always, as it would in a table
// without these tags.
type Weights [Buckets]uint32

// tagOf is what of a feature's hash does not choose its bucket.
func tagOf(feature uint32) byte { return byte(feature >> (32 - bucketBits - 8)) }

// of is the weight of a feature; 0 when it has none.
func (w *Weights) of(feature uint32) int8 {
	b, tag := w[feature>>(32-bucketBits)], tagOf(feature)
	switch {
	case byte(b) == tag:
		return int8(b >> 8) //nolint:gosec // the sign is in the byte
	case byte(b>>16) == tag:
		return int8(b >> 24) //nolint:gosec // the sign is in the byte
	}
	return 0
}

// look is what [Weights.of] says of a feature and its bucket, and whether one of the two tags is the feature's: 1 or 0. It has no branch.
func look(b, feature uint32) (weight int32, found uint) {
	tag := uint32(tagOf(feature))
	first, second := ((b^tag)&0xff-1)>>31, ((b>>16^tag)&0xff-1)>>31 // 1 where the tag is the feature's
	return int32(int8(b >> (24 - first<<4))), uint(first | second)  //nolint:gosec // the sign is in the byte
}

// Put gives a feature its weight and reports whether there was room.
func (w *Weights) Put(feature uint32, weight int8) bool {
	b := &w[feature>>(32-bucketBits)]
	entry := uint32(tagOf(feature)) | uint32(byte(weight))<<8
	for _, shift := range []int{0, 16} {
		held := *b >> shift & 0xffff
		if held>>8 != 0 && held&0xff == entry&0xff {
			return false // the other one's tag is the same
		}
		if held>>8 == 0 {
			*b = *b&^(0xffff<<shift) | entry<<shift
			return true
		}
	}
	return false
}
