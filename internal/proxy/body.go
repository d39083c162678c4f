package proxy

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/encoding"
)

// readBody reads a request body whole, decoded, before anything is forwarded. A body that is too large is drained up to
// twice the limit, so that a client that writes before it reads still sees the answer.
func readBody(w http.ResponseWriter, r *http.Request, s *Settings) ([]byte, error) {
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.BodyTime)) //nolint:errcheck // a writer without deadlines, as in tests, waits
	limited := &io.LimitedReader{R: r.Body, N: s.Body + 1}
	decoded, err := encoding.Decode(r.Header.Get("Content-Encoding"), io.NopCloser(limited))
	if errors.As(err, &encoding.Unsupported{}) {
		return nil, failure(http.StatusUnsupportedMediaType, "unsupported_encoding", "Content-Encoding must be gzip, deflate, br or zstd")
	}
	var body []byte
	if err == nil {
		defer decoded.Close()
		body, err = io.ReadAll(io.LimitReader(decoded, s.Body+1))
	}
	switch {
	case limited.N <= 0 || int64(len(body)) > s.Body:
		io.CopyN(io.Discard, r.Body, s.Body) //nolint:errcheck // whatever is left, the answer is the same
		return nil, failure(http.StatusRequestEntityTooLarge, "request_too_large", "the body is larger than limits.body")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, failure(http.StatusRequestTimeout, "request_timeout", "the body did not arrive in time")
	case err != nil:
		return nil, failure(http.StatusBadRequest, "invalid_body", "the body could not be read")
	}
	http.NewResponseController(w).SetReadDeadline(time.Time{}) //nolint:errcheck // as above
	r.Header.Del("Content-Encoding")
	return body, nil
}
