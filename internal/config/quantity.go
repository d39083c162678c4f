package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units of sizes, largest first, binary before decimal.
var units = [...]struct {
	suffix string
	bytes  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1}}

// parseSize reads bytes: 32MiB, 500KB, 1024.
func parseSize(text string) (int64, error) {
	number, unit := text, int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit {
		return 0, errors.New("must be a size such as 32MiB, 500KB or a number of bytes")
	}
	return n * unit, nil
}

func formatSize(n int64) string {
	for _, u := range units[:3] {
		if n > 0 && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.suffix)
		}
	}
	return strconv.FormatInt(n, 10)
}

const day = 24 * time.Hour

// parseDuration reads what [time.ParseDuration] reads, and days in front of it: 2s, 10m, 365d, 1d12h.
func parseDuration(text string) (time.Duration, error) {
	wrong := errors.New("must be a duration such as 2s, 10m or 365d")
	var days int64
	if number, rest, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/int64(day)-1 {
			return 0, wrong
		}
		days, text = n, rest
		if text == "" {
			text = "0s"
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || days > 0 && d >= day {
		return 0, wrong
	}
	return time.Duration(days)*day + d, nil
}

func formatDuration(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
