# Everything a newcomer needs: `make quickstart`, then `make test`. Both install into .venv first.
# 3.11 first: constraints.txt and every Record were made with it. A name may be there and not run (pyenv's shims).
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13; do $$p -c "import venv" 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Data for the tests and benchmarks: a folder given by ADGCL_DATA, else ../shared/data when it is there.
export ADGCL_DATA ?= $(wildcard $(CURDIR)/../shared/data)

.PHONY: install quickstart test wheel-test check results docs bench fuzz crash soak clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 was found: install one, or say make PYTHON=/path/to/python"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt torch
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch $(STAMP)

quickstart: install
	@$(BIN)/adgcl quickstart

# Tests that wait for real clusters, kills and time limits may fail because another one keeps both cores busy: what fails
# beside others has to pass by itself.
test: check
	$(BIN)/python -m pytest -n 2 || $(BIN)/python -m pytest --last-failed --last-failed-no-failures none

# A wheel in an empty environment outside the repository, without data.
wheel-test: install
	scripts/check_wheel $(CURDIR)/$(BIN)/python

check: install
	$(BIN)/ruff check src tests benchmarks examples scripts
	$(BIN)/ruff format --check src tests benchmarks examples scripts
	$(BIN)/mypy
	$(BIN)/lint-imports

# The tables and the figure in README.md, results/ and docs/results.md, from the Records.
results: install
	$(BIN)/adgcl report results --out results/README.md
	$(BIN)/adgcl report results --out results/figure.svg
	$(BIN)/adgcl report results --out README.md
	$(BIN)/adgcl report results --out docs/results.md
	$(BIN)/adgcl report docs/tune --out docs/tune.md
	$(BIN)/python scripts/regulariser.py
	for page in src/adgcl/pretrained/*.md; do $(BIN)/adgcl report results --out $$page; done

# The site, in build/docs; a warning is an error.
docs: install
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/docs

bench: install
	$(BIN)/python -m benchmarks

# Campaigns: damaged inputs, crashes and full disks. Each prints what it found; docs/reliability.md has the last ones.
fuzz: install
	$(BIN)/python -m tests.fuzz --count $(or $(N),20000)

crash: install
	$(BIN)/python -m tests.crash --count $(or $(N),200)

# Two hours of pre-training, watched: memory, file handles and throughput, drawn in docs/soak.svg.
soak: install
	$(BIN)/python -m benchmarks.soak --hours $(or $(HOURS),2) --write

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache
