# `make bench` and `make test` need Python 3.11 or newer and make, nothing else; both set up .venv on first use.
# Another interpreter: make test PYTHON=/path/to/python3.12

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
BIN := .venv/bin
PIP_INSTALL := $(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check
LOCKED := --constraint constraints.txt
unexport PYTHONDONTWRITEBYTECODE # containers set it; every process would compile the bench again

# Tests of one file stay in one worker: they share what they load.
TESTS := $(BIN)/python -m pytest -n 2 --dist loadfile

.PHONY: help bench test test-slow test-all kills fuzz mutants lint packages newest lock benchmark validity example accept-gold docs site record clean
.DEFAULT_GOAL := help

help: ## Say what each target does.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bench: .venv/.installed ## Replay the shipped traces through the shipped scenarios; write reports/bench.html.
	$(BIN)/bench run scenarios/*.toml -o reports/bench.html

test: .venv/.installed-dev ## Run the fast tests on two cores, the examples in docstrings included.
	$(TESTS) -m "not slow"

test-slow: .venv/.installed-dev ## Run the tests that take seconds each (slow references, kills, large inputs).
	$(TESTS) -m slow

test-all: .venv/.installed-dev ## Run every test.
	$(TESTS)

kills: .venv/.installed-dev ## Kill runs, imports and recordings 100 times at random moments, and look at what they leave behind.
	KILLS=100 $(BIN)/python -m pytest -s tests/house/test_kills.py

lint: .venv/.installed-dev ## Check style, format and types, and that the generated pages are not old.
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy --strict bench/
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

FUZZ ?= 300
SEED ?= 0
fuzz: .venv/.installed-dev ## Mutate shipped files FUZZ times each, from SEED on, and read them; print how many were tried.
	BENCH_FUZZ=$(FUZZ) BENCH_FUZZ_SEED=$(SEED) $(BIN)/python -m pytest tests/fuzz

SAMPLE ?= 40
mutants: mutants/mutmut-stats.json ## Change SAMPLE places of the code (or MUTANTS) one at a time; print the changes that no fast test notices.
	$(BIN)/mutmut run --max-children 2 $(or $(MUTANTS),$$(grep -rhoE 'bench\.[^"]+__mutmut_[0-9]+' mutants/bench --include='*.meta' | sort -u | \
		awk -v seed=$(SEED) 'BEGIN { srand(seed) } { print rand(), $$0 }' | sort | head -n $(SAMPLE) | cut -d ' ' -f 2))

packages: .venv/.installed-dev ## Build wheel and source distribution, and try both in bare environments.
	.ci/packages

newest: .venv/.installed-dev ## Try the newest versions that the bounds of pyproject.toml allow; `make clean` goes back.
	$(PIP_INSTALL) --upgrade --upgrade-strategy eager --editable '.[dev]'
	$(TESTS)
	$(BIN)/python -m mypy --strict bench/

lock: .venv/bin/python ## Write constraints.txt, the versions that tests and CI install, from the newest that the bounds allow.
	@rm -rf .venv-lock && $(BIN)/python -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,docs]'
	@{ echo "# written by make lock, with $$($(BIN)/python --version)"; \
		.venv-lock/bin/python -m pip freeze --exclude-editable | grep -v '^setuptools=='; } > constraints.txt
	@rm -rf .venv-lock
	@grep -c == constraints.txt | sed 's/$$/ versions are in constraints.txt/'

benchmark: .venv/.installed-dev ## Time the bench, as multiples of counting each distinct text once.
	$(BIN)/python -m pytest -o addopts= -q -s benchmarks

validity: .venv/.installed-dev ## Print the errors that docs/validity.md states, measured on the shipped recordings; five minutes.
	PYTHONPATH=.:tests $(BIN)/python benchmarks/validity.py

example: .venv/.installed ## Write reports/example.html, the report that the README shows.
	$(BIN)/bench run scenarios/do_five_rows_suffice.toml scenarios/can_old_results_be_masked.toml -o reports/example.html

accept-gold: .venv/.installed-dev ## Take reports and numbers as they are now as the gold files; read the diff before committing.
	$(BIN)/python -m tests.accept_gold

docs: .venv/.installed-dev ## Write the generated parts of the pages again.
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/draw_imports.py

site: .venv/.installed-docs ## Build the pages as a site in build/site; a dead link is an error.
	@rm -rf build/pages build/site && mkdir -p build/pages
	@tar cf - *.md docs traces/README.md tests/data/dependencies/README.md tests/data/adversarial/README.md tests/metrics/worked reports/example.html | tar xf - -C build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open build/site/index.html"

record: .venv/.installed-dev ## Record the shipped traces again; the commands and computations really run.
	@set -e; for recorder in traces/record_*.py; do echo "$(BIN)/python $$recorder"; $(BIN)/python $$recorder; done

clean: ## Remove .venv, the caches and the generated reports.
	rm -rf .venv .venv-lock build dist mutants *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks reports/bench.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: bench needs Python 3.11 or newer, found $$($(or $(PYTHON),python3) --version 2>&1) — install one, or name it: make PYTHON=/path/to/python3.11" >&2; \
		exit 2; }
	@echo "setting up .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "error: $(PYTHON) has no working venv module — on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 2; }

.venv/.pip: | .venv/bin/python # which `uv venv` leaves out
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null 2>&1 || { \
		echo "error: .venv has no pip — delete .venv, and make will set it up" >&2; exit 2; }
	@touch $@

.venv/.installed: pyproject.toml | .venv/.pip
	@echo "installing bench and what it needs into .venv"
	@$(PIP_INSTALL) --editable .
	@touch $@

.venv/.installed-dev: pyproject.toml constraints.txt | .venv/.pip
	@echo "installing bench, what it needs and the development tools into .venv"
	@$(PIP_INSTALL) $(LOCKED) --editable '.[dev]'
	@touch .venv/.installed $@

.venv/.installed-mutants: .venv/.installed-dev
	@echo "installing mutmut into .venv"
	@$(PIP_INSTALL) $(LOCKED) --editable '.[dev,mutants]'
	@touch $@

mutants/mutmut-stats.json: .venv/.installed-mutants # all mutants, and the tests that reach each; minutes
	$(BIN)/mutmut run --max-children 2 bench.comparison.certainty.x_ratio_of_totals__mutmut_1

.venv/.installed-docs: pyproject.toml constraints.txt | .venv/.pip
	@echo "installing what builds the site into .venv"
	@$(PIP_INSTALL) $(LOCKED) --editable '.[docs]'
	@touch $@
