package gatehouse_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/gatehouse-gateway/gatehouse"
)

// A gateway that has stopped an answer before a card's number left. In earnest its address is that of gatehouse serve.
func ExampleClient_Output() {
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"verdict":"redact","would":"redact","result":"it is [CARD REDACTED]"}`)
	}))
	defer gateway.Close()

	client := &gatehouse.Client{URL: gateway.URL, Key: "mnm_of-this-agent"}
	a, err := client.Output(context.Background(), "", "it is 4111 1111 1111 1111")
	fmt.Println(a.Verdict, string(a.Result), err)
	// Output: redact "it is [CARD REDACTED]" <nil>
}

// Guard puts the checkpoints of a remote gateway around one call to a model. Here the gateway cannot be reached, and the model is
// not called.
func ExampleClient() {
	client := &gatehouse.Client{URL: "http://127.0.0.1:1", Key: "mnm_of-this-agent"}
	x := &gatehouse.Exchange{Session: "monday"}
	x.Ask(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.User, Text: "hello", Latest: true})
	err := gatehouse.Guard(context.Background(), client, x, func(_ context.Context, f *gatehouse.Flow) error {
		id := f.Open(gatehouse.Part{Kind: gatehouse.Text, Role: gatehouse.Assistant})
		f.Text(id, "hello yourself") // what the model says, as it comes
		f.Close(id)
		return nil
	})
	fmt.Println(gatehouse.AsFailure(err).Code, len(x.Response))
	// Output: checkpoint_unavailable 0
}
