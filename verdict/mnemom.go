package verdict

// CheckpointVerdicts is [Verdicts] under the name, and with the field types, of the published Go snippet for this header,
// so that code that copied the snippet can import it instead.
type CheckpointVerdicts struct {
	Front     string
	Autonomy  string
	Integrity string
	Back      string
}

// ParseMnemomVerdict is [Parse] under the name of the published Go snippet.
func ParseMnemomVerdict(headerValue string) CheckpointVerdicts {
	v := Parse(headerValue)
	return CheckpointVerdicts{string(v.Front), string(v.Autonomy), string(v.Integrity), string(v.Back)}
}
