# Each target sets up what it needs in .venv by itself. Start with `make demo`.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test lint golden guard torture bench accuracy tables readme-table chromium axe-core biome toolkits clean

help:
	@echo "make demo      run the main job on the built-in clip and leave a folder to look at"
	@echo "make test      pass the tests"
	@echo "make lint      check style and types"
	@echo "make golden    see that no box, state, event or result file has changed (two minutes)"
	@echo "make guard     see that no preset has become less accurate (a minute)"
	@echo "make torture   kills, power cuts, damage, hostile input and load (minutes=30; stopped, it goes on where it was)"
	@echo "make bench     measure speed, beside OpenCV's trackers, and how it grows (a quarter of an hour)"
	@echo "make accuracy  measure accuracy on the sequences under METRACK_DATA"
	@echo "make tables    the paper's tables of metrics and of representations (hours; LENGTH=50 SEEDS=1 for minutes)"
	@echo "make readme-table  write the table of README.md anew (hours; stopped, it goes on where it was)"

demo: .venv/core
	$(BIN)/metrack demo

test: .venv/dev .venv-toolkits/ready chromium axe-core
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --ignore tests/golden

lint: .venv/dev biome
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@if test -x $(BIOME_PROGRAM); then $(BIOME_PROGRAM) lint --error-on-warnings; fi

golden: .venv/dev
	$(BIN)/python -m pytest tests/golden

guard: .venv/core
	$(BIN)/python benchmarks/guard.py

minutes ?= 30
torture: .venv/dev
	PYTHONPATH=benchmarks $(BIN)/python -m torture --minutes $(minutes) $(OPTIONS)

bench: .venv/peers
	$(BIN)/python benchmarks/speed.py

accuracy: .venv/core
	$(BIN)/python benchmarks/accuracy.py

SEEDS ?= 3
tables: .venv/core
	$(BIN)/python benchmarks/accuracy.py --table metrics --seeds $(SEEDS) $(if $(LENGTH),--length $(LENGTH))
	$(BIN)/python benchmarks/accuracy.py --table representations --seeds $(SEEDS) $(if $(LENGTH),--length $(LENGTH))

readme-table: .venv/peers
	$(BIN)/python benchmarks/readme.py $(OPTIONS)

clean:
	rm -rf .venv .venv-toolkits demo-out

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

# The public toolkits keep an environment of their own: one of them is GPL, and both need versions that ours does not.
.venv-toolkits/ready: pyproject.toml constraints-toolkits.txt
	@echo "setting up .venv-toolkits (once; about a minute)"
	@test -x .venv-toolkits/bin/python || $(PYTHON) -m venv .venv-toolkits
	@.venv-toolkits/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints-toolkits.txt --editable . got10k six vot-toolkit attributee vot-trax
	@touch $@

toolkits: .venv-toolkits/ready

# A real browser looks at the pages. Debian's package is installed where it is missing and can be.
chromium:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing chromium from Debian's packages"; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	else \
		echo "no chromium here and no way to install it: the tests of pages in a browser will be skipped"; \
	fi

# The studio's page is tested for accessibility with axe-core, from the npm registry.
AXE := 4.14.0
axe-core: .venv/dev
	@test -f .venv/axe-core/axe.min.js || \
	if command -v npm >/dev/null; then \
		mkdir -p .venv/axe-core && cd .venv/axe-core && npm pack --silent axe-core@$(AXE) >/dev/null && \
		tar -xzf axe-core-$(AXE).tgz --strip-components=1 package/axe.min.js package/LICENSE && rm axe-core-$(AXE).tgz; \
	else \
		echo "no npm here: the test of accessibility with axe-core will be skipped"; \
	fi

# JavaScript and CSS are linted with biome, from the npm registry; where everything has to be checked, it must be there.
BIOME := 2.6.7
BIOME_PROGRAM := .venv/biome-$(BIOME)/node_modules/.bin/biome
biome: .venv/dev
	@test -x $(BIOME_PROGRAM) || \
	if command -v npm >/dev/null; then \
		npm install --prefix .venv/biome-$(BIOME) --silent --no-save --no-package-lock @biomejs/biome@$(BIOME); \
	else \
		echo "no npm here: JavaScript and CSS are not linted"; \
		test -z "$$CI" && test "$$METRACK_NO_SKIP" != 1; \
	fi
