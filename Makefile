# Everything a change needs before it is pushed: make check.

PACKAGES      ?= ./...
FUZZRUNS      ?= 200000
FUZZTIME      ?= 20s
TIME          ?= 10m
PYTHON        ?= python3
VENV          ?= venv
CLIENT_VENVS   = $(patsubst %/requirements.txt,%/venv,$(wildcard conformance/clients/*/requirements.txt))
MODEL_VENV    ?= conformance/model/venv
SOAK          ?= 10000
# Labelled texts, the folder that train/corpus/fetch.py made, and rows to measure: train/README.md.
TRAIN_DATA    ?= ../shared/data/train train/authored train/hands
CORPUS        ?= ../corpus
ROWS          ?= $(wildcard train/authored/*.jsonl)
GOLANGCI_LINT ?= go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.PHONY: build test conformance race soak bench gate-rate lint fuzz fuzz-long sdk-test api-test api-doc clients sdk-parsers model-test train detection-report detect-bench check demo clean

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/gatehouse ./cmd/gatehouse

test:
	go test $(PACKAGES)

# The behaviour that every surface must show: conformance/README.md.
conformance:
	go test -count=1 ./conformance

# The race detector is the one thing here that needs cgo and a C compiler.
race:
	CGO_ENABLED=1 go test -race -timeout 45m $(PACKAGES)

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

# The fuzz targets of the codecs and of the stream filter for FUZZTIME each, the others for FUZZRUNS inputs each.
fuzz:
	FUZZTIME=$(FUZZTIME) FUZZRUNS=$(FUZZRUNS) bash .ci/fuzz

# The former alone, for TIME each.
fuzz-long:
	FUZZTIME=$(TIME) FUZZRUNS=0 bash .ci/fuzz

# The official SDKs for Python, Node (20 or later) and Go, and curl, against fake providers. Node and Go see both ways to stream.
sdk-test: $(VENV)/.installed
	$(VENV)/bin/python -m pytest conformance/sdk/python
	cd conformance/sdk/node && npm ci && npm test && GATEHOUSE_STREAMING=buffer npm test
	cd conformance/sdk/go && go vet ./... && go test -count=1 ./... && GATEHOUSE_STREAMING=buffer go test -count=1 ./...
	bash conformance/curl_test.sh

# Schemathesis over openapi.yaml, against the running gateway: conformance/api/README.md.
api-test: $(VENV)/.installed
	$(VENV)/bin/python -m pip install --quiet -r conformance/api/requirements.txt
	$(VENV)/bin/python -m pytest conformance/api

# docs/api.md from openapi.yaml.
api-doc:
	go run ./internal/apidoc openapi.yaml > docs/api.md

# Other people's agents, unchanged: frameworks and command lines, before fake providers. No part of check or .ci/run: what it
# installs, once, is 2 GB. CLIENTS: options of pytest, as in make clients CLIENTS='-k codex'.
clients: $(VENV)/.installed $(CLIENT_VENVS:%=%/.installed) conformance/clients/node/node_modules/.installed
	$(VENV)/bin/python -m pytest conformance/clients $(CLIENTS)

conformance/clients/%/venv/.installed: conformance/clients/%/requirements.txt
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet -r $<
	touch $@

# Programs of the command lines are in packages of their own: no script need run to install them. Not npm ci, which wants every
# platform's package of opencode in the lock file, and not all of them are in the registry.
conformance/clients/node/node_modules/.installed: conformance/clients/node/package-lock.json
	cd conformance/clients/node && npm install --no-save --ignore-scripts
	touch $@

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
	rm -rf bin $(VENV) $(MODEL_VENV) $(CLIENT_VENVS) conformance/clients/node/node_modules conformance/sdk/node/node_modules sdk/typescript/node_modules
