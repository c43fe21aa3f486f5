# Two commands: `make run` starts the product, `make test` proves it. Both do their own set-up.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Running needs less than developing; what a model or an engine needs beyond it is named when it is chosen.
RUN := $(VENV)/.run
DEV := $(VENV)/.dev
# Compiled once, the program and its tests start sooner in each of the many processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run demo browser test lint unit bench mutants frameworks requirements docs clean

run: $(RUN)
	@$(BIN)/suyuan serve

# Everything on invented pages inside the process, without a network.
demo: $(RUN)
	@$(BIN)/suyuan demo

# For Google, and for pages that only a browser can show.
browser: $(RUN)
	@$(PYTHON) tools/install.py $(VENV) browser
	@tools/chromium.sh

test: lint unit

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(DEV)
	@tools/chromium.sh
	@tools/servers.sh
	$(BIN)/python tools/unit.py

bench: $(DEV)
	@$(PYTHON) tools/install.py $(VENV) bench
	$(BIN)/python -m benchmarks

# Seeds faults into copies of the source: a test must notice each of them. Takes some minutes.
mutants: $(DEV)
	$(BIN)/python tools/mutants.py

# The examples for LlamaIndex, smolagents, Haystack and CrewAI, in environments of their own: they bring half of PyPI.
frameworks:
	@$(PYTHON) tools/frameworks.py build/frameworks

requirements: $(DEV)
	$(BIN)/python tools/requirements.py

docs: $(DEV)
	$(BIN)/python tools/docs.py
	$(BIN)/python tools/cli_reference.py
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(RUN): pyproject.toml constraints.txt
	@$(PYTHON) tools/install.py $(VENV) web,mcp,pages
	@touch $(RUN)

$(DEV): pyproject.toml constraints.txt
	@$(PYTHON) tools/install.py $(VENV) all,dev
	@touch $(RUN) $(DEV)
