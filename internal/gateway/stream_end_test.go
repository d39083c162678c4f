package gateway_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/leaktest"
)

// ours begins the names of the functions of this module.
const ours = "github.com/gatehouse-gateway/gatehouse/"

// Nothing works for a stream any more when it has ended, also when its client has left in the middle. Open connections wait for the next
// request meanwhile, and are closed with the gateway, which leaktest.Run sees.
func TestStreamsLeaveNothing(t *testing.T) {
	const streams = 60
	_, through := streaming(t, slow{tongues["openai"], 40, 10 * time.Millisecond})
	if err := hear(t.Context(), through, "sk-test", func(int) {}); err != nil {
		t.Fatal(err)
	}
	before := leaktest.Count(ours)
	var all sync.WaitGroup
	for i := range streams {
		all.Go(func() {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			err := hear(ctx, through, "sk-test", func(n int) {
				if n == 3 && i%3 == 0 {
					leave()
				}
			})
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if left := leaktest.Left(ours, before); left != "" {
		t.Errorf("the streams have ended, and this still runs:\n%s", left)
	}
}
