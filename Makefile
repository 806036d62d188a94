# Two commands do everything: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --no-compile --disable-pip-version-check -c constraints.txt
unexport PYTHONDONTWRITEBYTECODE  # what is imported is compiled once, and not in every process

.PHONY: help demo test test-slow test-without check wheel format docs bench clean
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Assay needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/.run: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[train,probes]'
	@touch $@

.venv/.dev: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[dev,docs]'
	@touch $@ .venv/.run

demo: .venv/.run ## Install, make data, train three models, write the report (under 5 minutes on 2 cores)
	$(BIN)/assay demo -o demo

test: .venv/.dev ## Run the tests (under 10 minutes on 2 cores, no network)
	$(BIN)/python -m pytest -m "not slow" -n 2 --dist worksteal

test-slow: .venv/.dev ## Run the slow studies too
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-without: .venv/.dev ## Run the tests without one part: make test-without FAMILY=chess (or PART="model cem", "finding all")
	$(BIN)/python tests/delete_part.py $(or $(PART),family $(FAMILY)) -- -n 2 --dist worksteal

check: .venv/.dev docs ## Lint, types, layers, docs, the wheel
	$(BIN)/ruff format --check src tests benchmarks docs
	$(BIN)/ruff check --no-cache src tests benchmarks docs
	$(BIN)/mypy
	$(BIN)/python -m pytest tests/test_layers.py tests/test_wheel.py

wheel: .venv/.dev ## Build a wheel into dist/, and try it outside of this folder
	$(BIN)/python -m hatchling build -t wheel
	$(BIN)/python -m pytest tests/test_wheel.py

format: .venv/.dev ## Format the code
	$(BIN)/ruff format src tests benchmarks docs
	$(BIN)/ruff check --fix src tests benchmarks docs

docs: .venv/.dev ## Build the pages into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: .venv/.dev ## Measure speed against the alternatives, as ratios
	$(BIN)/python -m benchmarks

clean: ## Remove what was built, but not .venv
	rm -rf demo out site .mypy_cache .ruff_cache .pytest_cache .hypothesis
