package checkpoint

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/redact"
)

// Redact takes secrets and personal data out of what an agent tells of itself, before it is kept: JSON in, JSON out. What is only
// reported where it leaves is taken out here, too. An empty document stays empty.
func (e *Engine) Redact(ctx context.Context, doc json.RawMessage) (json.RawMessage, error) {
	if len(doc) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, e.settings.Load().ScanTime)
	defer cancel()
	r := e.Scanner.Scan(ctx, detect.Text{Channel: detect.Output, Text: string(doc)})
	if !r.Complete {
		return nil, errors.New("time was up before the document was scanned")
	}
	var private []gatehouse.Finding
	for _, f := range r.Findings {
		if f.Kind == "secret" || f.Kind == "pii" {
			private = append(private, f)
		}
	}
	return json.RawMessage(gatehouse.Splice(string(doc), redact.Edits(string(doc), private, redact.Token))), nil
}
