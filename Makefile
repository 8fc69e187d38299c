# `make` lists the targets. Needs Python 3.11 or later and the machine's package index for the first run.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The stamp names what it stands for, so that a stopped installation is taken up again and a finished one is not.
READY := $(VENV)/ready-to-test
# Hosts for `make hosts`: all, or versions with commas between them.
HOSTS ?= all
# Tests that share a host's session stand in one file, and a file stays on one worker.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadfile --benchmark-disable
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help test hosts lint demo selftest bench dist

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

test: $(READY) ## the whole suite, against the simulation and one real Hermes (ARGS="-k name" to choose)
	@$(PYTEST) $(ARGS)

hosts: $(READY) ## the real-host tests on every supported Hermes (HOSTS=0.19.0,0.22.2.post1 to choose)
	@LEDGER_HOSTS=$(HOSTS) $(PYTEST) -m hosts tests/hosts $(ARGS)

lint: $(READY) ## the linter and the type checker
	@status=0; $(BIN)/ruff check . || status=1; $(BIN)/mypy || status=1; exit $$status

demo: ## a real Hermes is killed in the middle of a call, and the agent is told
	@$(PYTHON) demo.py $(ARGS)

selftest: ## check the plugin, or a Hermes: make selftest ARGS="--hermes /path/to/hermes"
	@$(PYTHON) selftest.py $(ARGS)

bench: $(READY) ## what the hooks cost, against raw SQLite in the same run (LEDGER_BENCH_MILLION=1 for 1,000,000 rows)
	@$(BIN)/python -m pytest -q -p no:xdist --benchmark-only --benchmark-columns=min,median,max,rounds \
		--benchmark-sort=name tests/bench $(ARGS)

dist: $(READY) ## build the wheel and the source archive into dist/
	@$(BIN)/python -m build --no-isolation --outdir dist .

$(READY): tests/requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "$(PYTHON) is older than Python 3.11; name another: make PYTHON=python3.12 ..." >&2; exit 2; }
	@# An environment that a stopped run left half made has no working pip: it is made anew.
	@$(BIN)/python -m pip --version >/dev/null 2>&1 \
		|| { echo "making $(VENV)"; $(PYTHON) -m venv --clear $(VENV); }
	@echo "installing what the tests need into $(VENV)"
	@$(BIN)/python -m pip install -qq --no-input --disable-pip-version-check -r tests/requirements.txt
	@touch $@
