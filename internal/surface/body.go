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
	decoded, err := encoding.Decode(encoding.Of(r.Header), io.NopCloser(limited))
	if errors.As(err, &encoding.Unsupported{}) {
		return nil, Failure(http.StatusUnsupportedMediaType, "unsupported_encoding", "Content-Encoding must be gzip, deflate, br or zstd")
	}
	var body []byte
	if err == nil {
		defer decoded.Close()
		body, err = readAll(io.LimitReader(decoded, limit+1), min(r.ContentLength, limit))
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

// readAll reads to the end. The client says how much that is, which may not be true: room is made for so much, but for no more
// than many times what has come.
func readAll(r io.Reader, size int64) ([]byte, error) {
	const least, times = 16 << 10, 64
	body := make([]byte, 0, least)
	for {
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return body, err
		case len(body) == cap(body):
			room := min(int(size)+1, times*len(body)) // one more, so that the end is seen
			if room <= len(body) {
				room = 2 * len(body)
			}
			body = append(make([]byte, 0, room), body...)
		}
	}
}
