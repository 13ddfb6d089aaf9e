# make demo    install, compile, run the example campaign, show how it came out
# make test    lint, types, arrows, tests, tests on an emulated Slurm cluster: what CI runs
# make docs    the documentation as a site with search, in build/docs; without the network once its packages are there
# make man     man pages of every command, in build/man
# make quick   what changed against main, and the core; under two minutes: no substitute for make test
# make bench   benchmarks against the other tools, as ratios; never part of the tests

VENV := .venv
BIN := $(VENV)/bin
CODE := src tests benchmarks

.PHONY: demo test quick bench lint types arrows unit cluster packages docs man clean

demo: $(VENV)/.installed
	@scripts/demo

test: $(VENV)/.installed-dev packages
	$(BIN)/python scripts/run-tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

types: $(VENV)/.installed-dev
	$(BIN)/mypy

arrows: $(VENV)/.installed-dev
	$(BIN)/lint-imports

unit: $(VENV)/.installed-dev packages
	$(BIN)/python scripts/run-tests unit

quick: $(VENV)/.installed-dev
	$(BIN)/python scripts/run-tests quick $(BASE)

cluster: $(VENV)/.installed-dev packages
	$(BIN)/python scripts/run-tests slurm

packages:
	@scripts/slurm-packages

docs: $(VENV)/.installed-docs
	$(BIN)/python scripts/docs/build build/docs

man: $(VENV)/.installed
	$(BIN)/python scripts/man.py build/man

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/all.py

$(VENV)/.installed: pyproject.toml constraints.txt scripts/setup
	scripts/setup $(VENV) '.[mpi]'
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt scripts/setup
	scripts/setup $(VENV) '.[mpi,pdf,serve,watch,grafana,postgres,mariadb,dev,docs]'
	touch $@ $(VENV)/.installed $(VENV)/.installed-docs

$(VENV)/.installed-docs: pyproject.toml constraints.txt scripts/setup
	scripts/setup $(VENV) '.[mpi,docs]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis examples/laptop/campaigns examples/c5/campaigns
