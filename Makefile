# Everything a change needs before it is pushed: make check.

PACKAGES      ?= ./...
FUZZRUNS      ?= 200000
PYTHON        ?= python3
VENV          ?= venv
GOLANGCI_LINT ?= go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: build test conformance race lint fuzz sdk-test sdk-parsers check demo clean

build:
	CGO_ENABLED=0 go build -o bin/gatehouse ./cmd/gatehouse

test:
	go test $(PACKAGES)

# The behaviour that every surface must show: conformance/README.md.
conformance:
	go test -count=1 ./conformance

# The race detector is the one thing here that needs cgo and a C compiler.
race:
	CGO_ENABLED=1 go test -race $(PACKAGES)

lint:
	$(GOLANGCI_LINT) run

# Every fuzz target for FUZZRUNS inputs each.
fuzz:
	FUZZRUNS=$(FUZZRUNS) bash .ci/fuzz

# The official Python SDKs and curl, against fake providers.
sdk-test: $(VENV)/.installed
	$(VENV)/bin/python -m pytest conformance/sdk/python
	bash conformance/curl_test.sh

# The parsers of the header surface in TypeScript (Node 20 or later) and Python, over the vectors of verdict/testdata.
sdk-parsers: $(VENV)/.installed
	cd sdk/typescript && npm ci && npm test
	$(VENV)/bin/python -m pytest sdk/python

$(VENV)/.installed: conformance/sdk/python/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet -r $<
	touch $@

check: lint test race sdk-test sdk-parsers

demo:
	go run ./cmd/gatehouse demo

clean:
	rm -rf bin $(VENV)
