// Command fakeprovider serves the fake model providers, so that clients in other languages can be tested against them. It
// prints the providers' base URLs as one line of JSON and serves until it is interrupted. GET /_requests on either address
// answers every request that reached that provider, as a JSON list.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "fakeprovider:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	flags := flag.NewFlagSet("fakeprovider", flag.ExitOnError)
	openAIAddr := flags.String("openai", "127.0.0.1:0", "address of the OpenAI provider")
	anthropicAddr := flags.String("anthropic", "127.0.0.1:0", "address of the Anthropic provider")
	geminiAddr := flags.String("gemini", "127.0.0.1:0", "address of the Gemini provider")
	if err := flags.Parse(args); err != nil {
		return err
	}
	m := &model{}
	openAI, anthropic, gemini := &fake.OpenAI{Script: m.answer}, &fake.Anthropic{Script: m.answer}, &fake.Gemini{Script: m.answer}
	failed := make(chan error, 3)
	openAIURL, err := serve(ctx, *openAIAddr, recorded(openAI), failed)
	if err != nil {
		return err
	}
	anthropicURL, err := serve(ctx, *anthropicAddr, recorded(anthropic), failed)
	if err != nil {
		return err
	}
	geminiURL, err := serve(ctx, *geminiAddr, recorded(gemini), failed)
	if err != nil {
		return err
	}
	urls := map[string]string{"openai": openAIURL, "anthropic": anthropicURL, "gemini": geminiURL}
	if err := json.NewEncoder(os.Stdout).Encode(urls); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return nil
	}
}

// serve starts a server and returns its base URL.
func serve(ctx context.Context, addr string, h http.Handler, failed chan<- error) (string, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen: %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() { failed <- server.Serve(listener) }()
	return "http://" + listener.Addr().String(), nil
}

// provider is a fake that remembers what it was asked.
type provider interface {
	http.Handler
	Requests() []fake.Recorded
}

// seen is a recorded request on the wire.
type seen struct {
	Method  string      `json:"method"`
	URL     string      `json:"url"`
	Headers http.Header `json:"headers"`
	Body    string      `json:"body"`
}

func recorded(p provider) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", p)
	mux.HandleFunc("GET /_requests", func(w http.ResponseWriter, _ *http.Request) {
		list := []seen{} // never null
		for _, r := range p.Requests() {
			list = append(list, seen{r.Method, r.URL, r.Header, string(r.Body)})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list) // a client that has gone is the client's affair
	})
	return mux
}
