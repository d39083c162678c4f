package verdict

import (
	"fmt"
	"strings"
)

// AIP is the raw word of X-AIP-Verdict: how far the analysis of the model's reasoning came and what it found.
type AIP string

// The words of X-AIP-Verdict.
const (
	AIPClear             AIP = "clear"              // analysed, within bounds
	AIPAmbiguous         AIP = "ambiguous"          // analysed, worth a look
	AIPBoundaryViolation AIP = "boundary_violation" // analysed, out of bounds
	AIPSkipped           AIP = "skipped"            // there was no reasoning to analyse
	AIPPending           AIP = "pending"            // a stream is still running; the last word comes in a trailer
	AIPDisabled          AIP = "disabled"           // the mode is off
	AIPError             AIP = "error"              // the analysis could not come to an end
	AIPPass              AIP = "pass"               // an older word for clear; accepted, never written
)

// ParseAIP reads an X-AIP-Verdict header. Spaces around the word are ignored; a word that is not in the list is an error,
// which does not quote it.
func ParseAIP(header string) (AIP, error) {
	word := AIP(strings.TrimSpace(header))
	switch word {
	case AIPClear, AIPAmbiguous, AIPBoundaryViolation, AIPSkipped, AIPPending, AIPDisabled, AIPError, AIPPass:
		return word, nil
	}
	return "", fmt.Errorf("parse %s: unknown word", AIPHeader)
}
