# Two commands: `make run` starts the product, `make test` proves it. Both do their own set-up.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Compiled once, the program and its tests start sooner in each of the many processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test lint unit bench mutants requirements docs clean

run: $(READY)
	@$(BIN)/suyuan serve

test: lint unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(READY)
	@tools/chromium.sh
	$(BIN)/python -m pytest -n 3 --dist loadgroup

bench: $(READY)
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[bench]'
	$(BIN)/python -m benchmarks

# Seeds faults into copies of the source: a test must notice each of them. Takes some minutes.
mutants: $(READY)
	$(BIN)/python tools/mutants.py

requirements: $(READY)
	$(BIN)/python tools/requirements.py

docs: $(READY)
	$(BIN)/python tools/docs.py
	$(BIN)/python tools/cli_reference.py
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "suyuan needs Python 3.11 or newer, this is " + sys.version'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[all,dev]'
	@touch $(READY)
