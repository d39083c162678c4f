package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	maxURL    = 2048 // bytes; more than any receiver needs, and no row becomes large by it
	dialTime  = 10 * time.Second
	idleTime  = 30 * time.Second
	maxAnswer = 64 << 10 // bytes of an answer's header; the body is not looked at
)

// errTarget is the error of an address that the gateway does not send to.
var errTarget = errors.New("must lead to a public address")

// Targets says where webhooks may be sent: to public addresses over http or https, and to what the operator has allowed besides.
type Targets struct {
	Allow []netip.Prefix // networks that are not public and may be sent to all the same
}

// Check refuses a URL that nothing could be sent to. A name is looked up when something is sent, so that what Check lets through
// may still be refused then. The error completes a sentence that begins with the name of a field, and does not quote the URL.
func (t Targets) Check(text string) error {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return fmt.Errorf("is longer than %d bytes", maxURL)
	case err != nil || !u.IsAbs() || u.Opaque != "":
		return errors.New("must be an absolute URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("must begin with https or http")
	case u.User != nil:
		return errors.New("must not hold a user or password")
	case u.Fragment != "":
		return errors.New("must not have a fragment")
	case u.Hostname() == "":
		return errors.New("has no host")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return errors.New("must have a port between 1 and 65535")
		}
	}
	return t.checkHost(strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")))
}

func (t Targets) checkHost(host string) error {
	if addr, err := netip.ParseAddr(host); err == nil {
		return t.checkAddr(addr)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case strings.ContainsAny(host, " :%\\"):
		return errors.New("has a host that is none")
	case numeric(last):
		// Some resolvers read 127.1, 2130706433 and 0x7f.1 as addresses.
		return errors.New("must have its address written in full")
	case last == "localhost":
		return t.checkAddr(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	case len(t.Allow) > 0: // inner names are of use where inner networks are
		return nil
	case last == host, last == "local", last == "internal", strings.HasSuffix(host, ".home.arpa"):
		return fmt.Errorf("%w, and this is a name of inner networks", errTarget)
	}
	return nil
}

// numeric reports whether a label is a number as the WHATWG URL standard has it ("ends in a number").
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// checkAddr refuses an address that is not public and not allowed.
func (t Targets) checkAddr(addr netip.Addr) error {
	if addr.Zone() != "" {
		return errTarget
	}
	addr = addr.Unmap()
	// What a translator of the network would make of it is what counts (RFC 6052).
	if b := addr.As16(); addr.Is6() && netip.MustParsePrefix("64:ff9b::/96").Contains(addr) {
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	for _, p := range t.Allow {
		if p.Contains(addr) {
			return nil
		}
	}
	if addr.Is6() && !netip.MustParsePrefix("2000::/3").Contains(addr) {
		return errTarget
	}
	for _, p := range inner() {
		if p.Contains(addr) {
			return errTarget
		}
	}
	return nil
}

// inner are the networks that no public address is in, of the IANA special-purpose registries (RFC 6890). Of IPv6, those within
// 2000::/3: outside of it nothing is public.
func inner() []netip.Prefix {
	texts := [...]string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
		"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
		"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
	}
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// client sends to these targets alone. It checks the address that it is about to connect to: a name may mean another one than
// when it was registered. It follows no redirect and uses no proxy, which would connect for it.
func (t Targets) client() *http.Client {
	dialer := &net.Dialer{Timeout: dialTime, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return errTarget
		}
		return t.checkAddr(to.Addr())
	}}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, address)
			},
			TLSHandshakeTimeout:    dialTime,
			IdleConnTimeout:        idleTime,
			MaxIdleConnsPerHost:    atOnce,
			MaxResponseHeaderBytes: maxAnswer,
			DisableCompression:     true,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
