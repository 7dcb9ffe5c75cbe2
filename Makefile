# Each target does its own set-up: nothing but Python 3.11 (or later) and pip is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check setup proofs bench bench-setup

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: setup
	$(BIN)/ctan demo

test: setup
	$(BIN)/pytest -n 2 -m "not slow"

proofs: setup
	$(BIN)/pytest -m slow

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench-setup: $(VENV)/.installed-bench

$(VENV)/.installed-bench: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	touch $@

# All rows beside their peers, one thread: `make bench ROWS="ctan1 tgn"` for some of them.
bench: bench-setup
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.speed $(ROWS)
