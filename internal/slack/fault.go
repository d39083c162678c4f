package slack

import (
	"context"
	"errors"
	"net"
	"regexp"
	"slices"
	"strconv"
	"time"

	api "github.com/slack-go/slack"
)

// hopeless are Slack's answers to a message that no second attempt would mend. All others are waited out: a token or a channel
// can be put right, and then nothing has been missed.
var hopeless = [...]string{"message_not_found", "cant_update_message", "edit_window_closed", "invalid_blocks", "invalid_blocks_format",
	"msg_too_long", "msg_blocks_too_long", "no_text", "is_inactive"}

var faultWord = regexp.MustCompile(`^[a-z_]{1,64}$`)

// fault is what was wrong in a word, without anything that Slack or a network between has put into its text.
func fault(err error) string {
	var said api.SlackErrorResponse
	var limited *api.RateLimitedError
	var status api.StatusCodeError
	var timeout net.Error
	switch {
	case errors.Is(err, errStore):
		return "store"
	case errors.As(err, &said) && faultWord.MatchString(said.Err):
		return said.Err
	case errors.As(err, &limited):
		return "ratelimited"
	case errors.As(err, &status):
		return "status " + strconv.Itoa(status.Code)
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	}
	return "connection"
}

// mendable reports whether another attempt may succeed.
func mendable(err error) bool {
	var said api.SlackErrorResponse
	return !errors.As(err, &said) || !slices.Contains(hopeless[:], said.Err)
}

const (
	firstPause = time.Second
	longPause  = time.Minute
	mostPause  = time.Hour // that Slack may ask for
)

// pause is how long to wait after an attempt, counted from 1, that failed.
func pause(err error, attempt int) time.Duration {
	var limited *api.RateLimitedError
	if errors.As(err, &limited) {
		return min(max(limited.RetryAfter, firstPause), mostPause)
	}
	return min(firstPause<<min(attempt-1, 10), longPause)
}
