# The commands of the project. Each one sets up .venv first when it is missing or stale.

PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11 python3.14,$(shell \
	command -v $(p) >/dev/null 2>&1 && $(p) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	>/dev/null 2>&1 && echo $(p))))
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST_ARGS ?=
# processes that run tests; a file stays in one of them
JOBS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1); [ $$n -gt 4 ] && n=4; echo $$n)
FUZZ_START ?= 0
FUZZ_COUNT ?= 2000

.DEFAULT_GOAL := help
.PHONY: help setup demo check test test-widgets test-versions test-oldest test-pythons fuzz lab lint format warm clean

help:
	@echo 'make demo    generate an object for a nested schema with the real model; writes demo.html'
	@echo 'make lab     open the tutorial notebooks in JupyterLab'
	@echo 'make check   lint, and a cut through every layer: under two minutes'
	@echo 'make test    run the tests        make lint    ruff and mypy'
	@echo 'make fuzz    hold 2,000 random grammars against slow parsers (FUZZ_START=0 FUZZ_COUNT=2000)'
	@echo 'make test-widgets   the tests of the notebook front end alone (needs Node)'
	@echo 'make test-versions  some tests with the oldest packages (test-oldest), and on other Pythons (test-pythons)'
	@echo 'make warm    compile the kernels and fetch the model now, for later runs'
	@echo 'make format  format the code      make clean   remove .venv and caches'

setup: $(STAMP)

# Only a finished installation touches the stamp: an interrupted one is taken up again.
$(STAMP): pyproject.toml constraints.txt
	@test -n '$(PYTHON)' || { echo 'Python 3.11 or later is needed: install it, or run make PYTHON=/path/to/python3'; exit 1; }
	@echo '[1/3] Python environment in $(VENV) ($(PYTHON))'
	@$(BIN)/python -c 'import pip' >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo '[2/3] torch, pinned (several hundred MB the first time)'
	@$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt torch
	@echo '[3/3] everything else'
	@$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(STAMP)
	@$(BIN)/python -m workbench demo --out demo.html

lab: $(STAMP)
	@$(BIN)/jupyter lab --ServerApp.root_dir=notebooks \
		--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate

warm: $(STAMP)
	@$(BIN)/python -m workbench warm --model

# A cut through every layer, for the time between two edits.
CHECKED := tests/test_project.py tests/test_wording.py tests/grammar tests/automaton/test_serial.py \
	tests/vocabulary/test_trie.py tests/engine/test_digests.py tests/engine/test_matcher.py tests/engine/test_oracle.py \
	tests/frontends/json_schema/test_front.py tests/frontends/test_regex.py tests/device tests/decoding/test_decoder.py \
	tests/diagnostics/explain/test_explain.py tests/export/test_targets.py tests/notebook/test_session.py

check: lint
	@$(BIN)/python -m workbench warm
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile $(PYTEST_ARGS) $(CHECKED)

test: $(STAMP) test-widgets
	@$(BIN)/python -m workbench warm --model
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(PYTEST_ARGS)

# The front end's own tests need Node; its bundle is committed, so nothing else does.
test-widgets:
	@if ! command -v npm >/dev/null 2>&1; then \
		echo 'front-end tests skipped: there is no Node (npm) on this machine'; \
	elif cd widgets && { [ -d node_modules ] || npm ci --silent --no-audit --no-fund; }; then \
		npm run --silent check && npm test --silent; \
	else \
		echo 'front-end tests skipped: their packages cannot be installed here (npm ci failed)'; \
	fi

# Environments of their own, in .venv-versions; a Python that is not on this machine is skipped.
test-versions:
	@$(PYTHON) .ci/versions.py oldest pythons

test-oldest:
	@$(PYTHON) .ci/versions.py oldest

test-pythons:
	@$(PYTHON) .ci/versions.py pythons

fuzz: $(STAMP)
	@$(BIN)/python -m workbench warm
	@$(BIN)/python -m tests.engine.fuzz $(FUZZ_START) $(FUZZ_COUNT)

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(if $(wildcard notebooks/*.ipynb),$(BIN)/python -m nbstripout --verify notebooks/*.ipynb,true)

format: $(STAMP)
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .venv-versions .mypy_cache .pytest_cache .ruff_cache .hypothesis demo.html
