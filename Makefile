# Everything a developer types. `make` alone lists the targets.

LINT_VERSION    := v2.15.0
VULN_VERSION    := v1.9.0
INDEXDB_VERSION := v0.0.0-20261105234957-e22db6528018
FUZZ_TIME       ?= 20s
BENCH_TIME      ?= 1s

# Tools are built here, never into the developer's own GOPATH.
TOOLS := $(CURDIR)/.tools/bin
# A linter built by an older Go refuses newer code, so the stamp names both.
LINT_STAMP := $(TOOLS)/golangci-lint-$(LINT_VERSION)-$(shell go env GOVERSION).stamp
VULN_STAMP := $(TOOLS)/govulncheck-$(VULN_VERSION)-$(INDEXDB_VERSION)-$(shell go env GOVERSION).stamp

.DEFAULT_GOAL := help
.PHONY: help run build test lint vuln fmt bench fuzz screenshots tools vulntools

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## start the server with its embedded Redis and a SQLite file
	go run ./server

build: ## compile the server to bin/server
	go build -trimpath -o bin/server ./server

test: ## install what is missing, then run every test with the race detector
	.ci/install
	.ci/test

lint: $(LINT_STAMP) ## check style, import rules and formatting
	$(TOOLS)/golangci-lint run --allow-parallel-runners ./...

vuln: ## look for known vulnerabilities in what the server uses
	.ci/vuln

fmt: $(LINT_STAMP) ## format the Go code
	$(TOOLS)/golangci-lint fmt ./...

bench: ## run the benchmarks; BENCH_TIME=1s each
	.ci/each Benchmark | cut -d ' ' -f 1 | sort -u | \
		xargs --no-run-if-empty go test -run '^$$' -bench . -benchmem -benchtime $(BENCH_TIME) -timeout 1h

fuzz: ## run each fuzz target; FUZZ_TIME=20s each
	.ci/each Fuzz | while read -r package target; do \
		go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ_TIME) "$$package" || exit 1; \
	done

screenshots: ## write pictures of the pages to screenshots/; the README's is round.jpg there, copied to .github/
	mkdir -p screenshots
	REDRAIN_SCREENSHOTS=$(CURDIR)/screenshots go test ./server -count=1 -run 'TestThreeRoundsByClickingOnEveryScreen'

tools: $(LINT_STAMP) ## build the pinned linter (takes minutes, once)

$(LINT_STAMP):
	GOBIN=$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@rm -f $(TOOLS)/golangci-lint-*.stamp
	@touch $@

vulntools: $(VULN_STAMP)

$(VULN_STAMP):
	GOBIN=$(TOOLS) go install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)
	GOBIN=$(TOOLS) go install golang.org/x/vulndb/cmd/indexdb@$(INDEXDB_VERSION)
	@rm -f $(TOOLS)/govulncheck-*.stamp
	@touch $@
