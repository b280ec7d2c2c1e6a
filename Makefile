# Every target makes its own environment in .venv: all that a machine needs is Python >= 3.11, make, and a package registry.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
# Tests run on two cores unless told otherwise; JOBS=0 runs them in one process.
JOBS ?= 2

.PHONY: demo test test-all check format docs bench lock clean

demo: $(READY)
	$(BIN)/python examples/demo.py --output demo-output

test: $(READY)
	$(BIN)/pytest -n $(JOBS) $(ARGS)

test-all: $(READY)
	$(BIN)/pytest -n $(JOBS) -m 'not gpu and not spark' $(ARGS)

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(MAKE) --no-print-directory docs

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "documentation: docs/_build/html/index.html"

# The peers are not in the lock: one of them has no wheel for every Python.
bench: $(READY)
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-build-isolation -e '.[bench]'
	$(BIN)/python -m pantograf bench $(ARGS)

# Exact versions of every dependency and tool but the peers of the benchmark, by name only.
lock: $(READY)
	$(BIN)/pip install -q 'pip-tools>=7.5'
	$(BIN)/pip-compile -q --upgrade --extra dev --no-strip-extras --no-emit-index-url --no-emit-find-links --no-emit-options \
		--no-emit-trusted-host --no-header --no-annotate -o $(VENV)/lock.txt pyproject.toml
	@{ echo "# Made by 'make lock' from pyproject.toml: every extra but bench, every tool."; grep -v '^pantograf' $(VENV)/lock.txt; } > requirements.lock

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Pantograf needs Python 3.11 or newer; set PYTHON=/path/to/python3" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build demo-output
