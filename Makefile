# Each target sets up what it needs in .venv by itself. Start with `make demo`.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test lint bench accuracy tables clean

help:
	@echo "make demo      run the main job on the built-in clip and leave a folder to look at"
	@echo "make test      pass the tests"
	@echo "make lint      check style and types"
	@echo "make bench     measure speed, beside OpenCV's trackers, and how it grows"
	@echo "make accuracy  measure accuracy on the sequences under METRACK_DATA"
	@echo "make tables    the paper's tables of metrics and of representations (hours; LENGTH=50 SEEDS=1 for minutes)"

demo: .venv/core
	$(BIN)/metrack demo

test: .venv/dev
	$(BIN)/python -m pytest

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/peers
	$(BIN)/python benchmarks/speed.py

accuracy: .venv/core
	$(BIN)/python benchmarks/accuracy.py

SEEDS ?= 3
tables: .venv/core
	$(BIN)/python benchmarks/accuracy.py --table metrics --seeds $(SEEDS) $(if $(LENGTH),--length $(LENGTH))
	$(BIN)/python benchmarks/accuracy.py --table representations --seeds $(SEEDS) $(if $(LENGTH),--length $(LENGTH))

clean:
	rm -rf .venv demo-out

.venv/core: pyproject.toml constraints.txt
	@echo "setting up .venv (once; about a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(INSTALL) --editable .
	@touch $@

.venv/dev: .venv/core
	@$(INSTALL) --editable '.[dev]'
	@touch $@

.venv/peers: .venv/core
	@$(INSTALL) --editable '.[peers]'
	@touch $@
