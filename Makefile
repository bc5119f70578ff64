PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help install quickstart test check fix realdata clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/'

$(BIN)/platobridge: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev,rivals]'
	@touch $@

install: $(BIN)/platobridge  ## make .venv and install platobridge into it

quickstart: install  ## the whole path on the drawn world, into runs/quickstart
	$(BIN)/platobridge quickstart

test: install  ## the fast tests, offline
	$(BIN)/python -m pytest

check: install  ## lint and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

fix: install  ## mend what lint and format can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

realdata: install  ## slow tests, and those on the data folder that PLATOBRIDGE_DATA names
	$(BIN)/python -m pytest -m 'slow or realdata'

clean:  ## remove what can be made again, but no run
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache
