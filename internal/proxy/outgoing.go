package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

// outgoing is the request as it goes to the upstream: the caller's method, path, query and headers, less what belongs to
// this hop or to the gateway, and the body as the checkpoints left it.
func (t *turn) outgoing(ctx context.Context) (*http.Request, error) {
	target := *t.door.up.URL
	// The escapes that the caller chose stay: org%2Fmodel is one segment to the upstream, too.
	target.RawPath = joinPath(target.EscapedPath(), afterPrefix(t.R.URL.EscapedPath(), t.door.path))
	target.Path = joinPath(target.Path, t.door.path)
	target.RawQuery = t.R.URL.RawQuery
	var (
		body   io.Reader = t.R.Body
		length           = t.R.ContentLength
	)
	if t.req != nil {
		edited, err := t.req.Bytes(t.X.Request)
		if err != nil {
			return nil, fmt.Errorf("write request: %w", err)
		}
		body, length = bytes.NewReader(edited), int64(len(edited))
	}
	if length == 0 || t.door.upgrade != "" {
		body, length = http.NoBody, 0
	}
	out, err := http.NewRequestWithContext(ctx, t.R.Method, target.String(), body)
	if err != nil {
		return nil, fmt.Errorf("make upstream request: %w", err)
	}
	out.ContentLength = length
	out.Header = t.R.Header.Clone()
	header.Clean(out.Header)
	if t.door.upgrade != "" {
		out.Header.Set("Connection", "Upgrade")
		out.Header.Set("Upgrade", t.door.upgrade)
	}
	out.Header.Del("Content-Length")
	out.Header.Del("Expect") // the client was told to go on when its body was read
	// What a browser must not lend to a provider, and codings that nothing here would undo.
	out.Header.Del("Origin")
	out.Header.Set("Accept-Encoding", "identity")
	if _, sent := out.Header["User-Agent"]; !sent {
		out.Header["User-Agent"] = nil // net/http would otherwise put its own
	}
	t.door.up.authorize(out)
	return out, nil
}

// afterPrefix is the escaped form of rest at the end of an escaped path: as many segments behind the door's prefix, which
// needs no escapes.
func afterPrefix(escaped, rest string) string {
	for i := range escaped {
		if escaped[i] != '/' {
			continue
		}
		if plain, err := url.PathUnescape(escaped[i:]); err == nil && plain == rest {
			return escaped[i:]
		}
	}
	return rest
}

func joinPath(base, rest string) string {
	for len(base) > 0 && base[len(base)-1] == '/' {
		base = base[:len(base)-1]
	}
	return base + rest
}
