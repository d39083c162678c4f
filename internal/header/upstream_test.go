package header_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/header"
)

func TestClean(t *testing.T) {
	h := http.Header{
		"Content-Type": {"application/json"}, "X-Request-Id": {"r"}, "Retry-After": {"1"}, "Set-Cookie": {"a", "b"}, "X-Proxy-Free": {"kept"},
		"Connection": {"close, X-Hop", "x-other"}, "X-Hop": {"1"}, "X-Other": {"1"}, "Keep-Alive": {"timeout=5"},
		"Proxy-Authenticate": {"Basic"}, "Proxy-Authorization": {"x"}, "Proxy-Connection": {"close"}, "Te": {"trailers"}, "te": {"gzip"},
		"Trailer": {"X-AIP-Verdict"}, "Transfer-Encoding": {"chunked"}, "Upgrade": {"h2c"},
		"X-Mnemom-Request-Id": {"forged"}, "X-Mnemom-Api-Key": {"k"}, "x_aip_verdict": {"clear"},
		"Access-Control-Allow-Origin": {"*"}, "access-control-expose-headers": {"X-Request-Id"},
	}
	want := http.Header{
		"Content-Type": {"application/json"}, "X-Request-Id": {"r"}, "Retry-After": {"1"}, "Set-Cookie": {"a", "b"}, "X-Proxy-Free": {"kept"},
	}
	header.Clean(h)
	if !maps.EqualFunc(h, want, slices.Equal) {
		t.Errorf("got  %v\nwant %v", h, want)
	}
	header.Clean(nil) // a response without trailers has none to clean
}
