# What a contributor types. `make help` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

GO ?= go
export CGO_ENABLED ?= 0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X main.version=$(VERSION)

# Linters live in a module of their own; go's tool cache builds each version once.
tool = $$($(GO) -C hack/tools tool -n $(1))
# The race detector needs a C compiler.
unit = CGO_ENABLED=1 $(GO) test -race -count=1 -json ./...
# One package at a time: the engine is one. E2E_FLAGS narrows it: E2E_FLAGS='-run Port'.
e2e = PODSTEAD_BIN=$(CURDIR)/bin/podstead $(GO) test -tags e2e -count=1 -p 1 -timeout 20m -json $(E2E_FLAGS) $(e2e_packages)
e2e_packages = $$(grep -rlE --include='*_test.go' '^//go:build e2e' . | xargs -r -n1 dirname | sort -u)
# Reads `go test -json`: failures in full, skips with their reasons, totals.
report = $(GO) run ./hack/testreport -raw bin/test.log

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## bin/podstead, static
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/podstead ./cmd/podstead

.PHONY: install
install: build ## put podstead into $(DESTDIR)$(PREFIX)/bin
	install -D -m 0755 bin/podstead $(DESTDIR)$(PREFIX)/bin/podstead
PREFIX ?= /usr/local

.PHONY: release
release: ## dist/: static programs for four architectures, SBOMs, checksums
	hack/release.sh

.PHONY: release-check
release-check: engine servers ## every program run, under qemu-user where it must be; all built twice
	PODSTEAD_RELEASE_ARCHES='amd64 arm64 armv7 riscv64' $(GO) test -tags e2e -count=1 -timeout 60m -v ./test/release

.PHONY: test
test: lint engine servers shells compiler build ## everything that must pass before a change lands
	{ $(unit) && $(e2e); } | $(report)

.PHONY: unit
unit: compiler servers shells ## tests that need neither an engine nor a network, with the race detector
	$(unit) | $(report)

.PHONY: e2e
e2e: engine servers build ## tests against the real engine
	$(e2e) | $(report)

.PHONY: bench
bench: engine build ## measure against bare engine calls: ROWS=drop,edit PAIRS=30
	$(GO) run ./test/bench -podstead bin/podstead -rows '$(ROWS)' -pairs '$(PAIRS)' -window '$(WINDOW)' -json docs/benchmarks.json -doc docs/benchmarks.md
ROWS ?= all
PAIRS ?= 30
WINDOW ?= 1m

.PHONY: powercut
powercut: ## cut the power at 1,000 steps of each life that a disk matters to: CUTS=1000 SEED=1
	CUTS=$(CUTS) POWERCUT_SEED=$(SEED) $(GO) test -count=1 -timeout 2h -run PowerCut $$(grep -rl --include=powercut_test.go 'powercut.New' . | xargs -n1 dirname | sort -u)
CUTS ?= 1000
SEED ?= 1

.PHONY: chaos
chaos: engine build ## strike with every fault at every moment of every transition, on private engines
	PODSTEAD_BIN=$(CURDIR)/bin/podstead $(GO) test -tags e2e -count=1 -timeout 3h -run 'TestChaos$$' -v ./test/engine -chaos -chaos-json $(CURDIR)/docs/chaos.json -chaos-doc $(CURDIR)/docs/reliability.md

.PHONY: soak
soak: engine build ## wear one agent and look what grows: REPLACEMENTS=2000 STATUS=20000
	$(GO) run ./test/soak -podstead bin/podstead -replacements $(REPLACEMENTS) -status $(STATUS) -json docs/soak.json -doc docs/reliability.md
REPLACEMENTS ?= 2000
STATUS ?= 20000

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME (30s): FUZZ=Merger narrows them
	FUZZTIME='$(FUZZTIME)' hack/fuzz.sh '$(FUZZ)'
FUZZ ?= .
FUZZTIME ?= 30s

.PHONY: demo
demo: engine build ## see it work, in under a minute
	hack/demo.sh

.PHONY: pause
pause: ## rebuild the pause binaries (and compare them with the committed ones)
	hack/pause.sh

.PHONY: lint
lint: ## formatting, vet, staticcheck, golangci-lint, tidy modules
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt these (make fmt): $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags e2e ./...
	@echo staticcheck; $(call tool,staticcheck) -tags e2e ./...
	@echo golangci-lint; $(call tool,golangci-lint) run
	$(GO) mod tidy -diff
	$(GO) -C hack/tools mod tidy -diff
	$(GO) -C hack/tools/sbom mod tidy -diff

.PHONY: fmt
fmt: ## format the Go files
	gofmt -w $$(git ls-files -co --exclude-standard '*.go')

.PHONY: clean
clean: ## remove what was built
	rm -rf bin dist

# What the targets above need, brought when missing.

.PHONY: engine
engine:
	hack/engine.sh
	hack/images.sh

.PHONY: servers
servers:
	@hack/servers.sh

# For the tests of completion.
.PHONY: shells
shells:
	@command -v zsh >/dev/null && command -v fish >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends zsh fish; }

.PHONY: compiler
compiler:
	@command -v gcc >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends gcc libc6-dev; }
