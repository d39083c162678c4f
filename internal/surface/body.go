package surface

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/encoding"
)

// Body reads the request body whole, decoded, before anything is forwarded; limit is the most bytes that it may have, before and
// after decoding. A body that is too large is drained up to twice the limit, so that a client that writes before it reads
// still sees the answer.
func (c *Call) Body(limit int64) ([]byte, error) {
	w, r := c.W, c.R
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(c.settings.BodyTime)) //nolint:errcheck // a writer without deadlines, as in tests, waits
	limited := &io.LimitedReader{R: r.Body, N: limit + 1}
	decoded, err := encoding.Decode(r.Header.Get("Content-Encoding"), io.NopCloser(limited))
	if errors.As(err, &encoding.Unsupported{}) {
		return nil, Failure(http.StatusUnsupportedMediaType, "unsupported_encoding", "Content-Encoding must be gzip, deflate, br or zstd")
	}
	var body []byte
	if err == nil {
		defer decoded.Close()
		body, err = io.ReadAll(io.LimitReader(decoded, limit+1))
	}
	switch {
	case limited.N <= 0 || int64(len(body)) > limit:
		io.CopyN(io.Discard, r.Body, limit) //nolint:errcheck // whatever is left, the answer is the same
		return nil, Failure(http.StatusRequestEntityTooLarge, "request_too_large", "the body is larger than "+strconv.FormatInt(limit, 10)+" bytes")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, Failure(http.StatusRequestTimeout, "request_timeout", "the body did not arrive in time")
	case err != nil:
		return nil, Failure(http.StatusBadRequest, "invalid_body", "the body could not be read")
	}
	http.NewResponseController(w).SetReadDeadline(time.Time{}) //nolint:errcheck // as above
	r.Header.Del("Content-Encoding")
	return body, nil
}
