# Everything a change needs before it is pushed: make check.

PACKAGES      ?= ./...
FUZZRUNS      ?= 200000
PYTHON        ?= python3
VENV          ?= venv
MODEL_VENV    ?= conformance/model/venv
SOAK          ?= 10000
# Labelled texts, the folder that train/corpus/fetch.py made, and rows to measure: train/README.md.
TRAIN_DATA    ?= ../shared/data/train train/authored train/hands
CORPUS        ?= ../corpus
ROWS          ?= $(wildcard train/authored/*.jsonl)
GOLANGCI_LINT ?= go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: build test conformance race soak bench gate-rate lint fuzz sdk-test api-test api-doc sdk-parsers model-test train detection-report detect-bench check demo clean

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

# SOAK exchanges of every kind, hostile ones too, and nothing of them may stay. About a minute.
soak:
	GATEHOUSE_SOAK=$(SOAK) CGO_ENABLED=1 go test -race -count=1 -timeout 1h -v -run '^TestSoak$$' ./conformance

# What an exchange costs, next to the plainest proxy. BENCH: options of gatehouse bench load.
bench: build
	bin/gatehouse bench load $(BENCH)

# The tool-call gate over HTTP, 1,000 questions a second, next to a bare handler that makes the same commit.
gate-rate:
	GATERATE=1 go test -count=1 -v -run '^TestGateRate$$' ./internal/gateway

lint:
	$(GOLANGCI_LINT) run

# Every fuzz target for FUZZRUNS inputs each.
fuzz:
	FUZZRUNS=$(FUZZRUNS) bash .ci/fuzz

# The official SDKs for Python, Node (20 or later) and Go, and curl, against fake providers.
sdk-test: $(VENV)/.installed
	$(VENV)/bin/python -m pytest conformance/sdk/python
	cd conformance/sdk/node && npm ci && npm test
	cd conformance/sdk/go && go vet ./... && go test -count=1 ./...
	bash conformance/curl_test.sh

# Schemathesis over openapi.yaml, against the running gateway: conformance/api/README.md.
api-test: $(VENV)/.installed
	$(VENV)/bin/python -m pip install --quiet -r conformance/api/requirements.txt
	$(VENV)/bin/python -m pytest conformance/api

# docs/api.md from openapi.yaml.
api-doc:
	go run ./internal/apidoc openapi.yaml > docs/api.md

# The parsers of the header surface in TypeScript (Node 20 or later) and Python, over the vectors of verdict/testdata.
sdk-parsers: $(VENV)/.installed
	cd sdk/typescript && npm ci && npm test
	$(VENV)/bin/python -m pytest sdk/python

$(VENV)/.installed: conformance/sdk/python/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet -r $<
	touch $@

# A story with a real, small model on llama.cpp: docs/real-model.md. TRANSCRIPT=docs/real-model.md writes it anew. No part of
# check or .ci/run: the first run compiles llama.cpp, which takes minutes, and needs CMake, Ninja and a C++ compiler.
model-test: $(MODEL_VENV)/.installed
	$(MODEL_VENV)/bin/python conformance/model/story.py $(if $(TRANSCRIPT),--transcript $(TRANSCRIPT))

$(MODEL_VENV)/.installed: conformance/model/requirements.txt
	$(PYTHON) -m venv $(MODEL_VENV)
	CMAKE_ARGS="-DLLAVA_BUILD=OFF -DGGML_OPENMP=OFF" $(MODEL_VENV)/bin/python -m pip install --quiet -r $<
	touch $@

# The weights of the linear detector, from all texts. The same texts give the same weights. TRAIN: options of train/linear.
train:
	go run ./train/linear -weights internal/detect/weights $(TRAIN) $(TRAIN_DATA) $(CORPUS)

# What the linear detector says of hands, attack families, carriers and languages that it has not seen.
detection-report:
	go run ./train/linear -report train/REPORT.md $(TRAIN) $(TRAIN_DATA) $(CORPUS)

# The scorecard of all detectors on ROWS. DETECT: options of gatehouse bench detect.
detect-bench: build
	bin/gatehouse bench detect $(DETECT) $(ROWS)

check: lint test race sdk-test sdk-parsers

demo:
	go run ./cmd/gatehouse demo

clean:
	rm -rf bin $(VENV) $(MODEL_VENV) conformance/sdk/node/node_modules sdk/typescript/node_modules
