// Package encoding undoes Content-Encoding, so that what is inspected is what the other side will read.
package encoding

import (
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Unsupported is a coding that cannot be undone.
type Unsupported struct{}

func (Unsupported) Error() string { return "unsupported content encoding" }

// Of is the coding of a message, as its headers name it: all lines count, as one list.
func Of(h http.Header) string { return strings.Join(h.Values("Content-Encoding"), ",") }

// Decode reads through one coding: identity, gzip, deflate (zlib, RFC 9110), br or zstd. Several codings on top of each
// other are refused, as [Unsupported]. The caller limits how much it reads: a small body can unfold to a huge one.
func Decode(coding string, body io.ReadCloser) (io.ReadCloser, error) {
	var (
		r   io.Reader
		err error
	)
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip":
		r, err = gzip.NewReader(body)
	case "deflate":
		r, err = zlib.NewReader(body)
	case "br":
		r = brotli.NewReader(body)
	case "zstd":
		var d *zstd.Decoder
		// One goroutine, and a window of 8 MiB at most: RFC 9659 asks no more of a decoder on the web.
		if d, err = zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20)); err == nil {
			return &decoded{d, func() error { d.Close(); return body.Close() }}, nil
		}
	default:
		return nil, Unsupported{}
	}
	if err != nil {
		return nil, fmt.Errorf("decode body: %w", err)
	}
	return &decoded{r, body.Close}, nil
}

type decoded struct {
	io.Reader
	close func() error
}

func (d *decoded) Close() error { return d.close() }
