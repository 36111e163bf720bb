# `make figures`, `make supplement`, `make test`: each sets itself up, in .venv, from the lock.
PYTHON ?= python3
CORES ?= all
BIN := .venv/bin
READY := .venv/.ready
PYTEST := $(BIN)/pytest -n logical --dist worksteal

.PHONY: site figures redraw paper supplement gallery test test-all test-long test-slow test-kill test-slurm test-explore test-versions screenshot \
  pictures claims lint benchmark benchmark-steps docs schemas lock clean help

figures: $(READY)
	$(BIN)/snakemake --cores $(CORES)

paper: $(READY)
	$(BIN)/snakemake --cores $(CORES) --configfile config/paper.yaml

supplement: $(READY)
	$(BIN)/snakemake --cores $(CORES) --configfile config/supplement.yaml

# The drawings that README and the site show, and summaries of their data, from those of the last
# runs.
gallery: $(READY)
	cp figures/*.png docs/gallery/
	$(BIN)/giantstep redraw --keep fig1 fig2 fig3 fig4 fig5 fig6 fig7 fig8

# The paper's figures without a simulation, from summaries of the last runs that were kept.
redraw: $(READY)
	$(BIN)/giantstep redraw

# A small version of every property, in minutes; test-all holds the full ones (docs/testing.md).
test: lint
	$(PYTEST)

test-all: test
	$(MAKE) test-long

# What `make test` leaves out. Programs are installed one after the other; tests on Slurm mostly wait.
test-long: $(READY)
	tests/workflow/slurm/cluster.sh run true
	tests/explore/browser/chromium.sh run true
	$(MAKE) --jobs=2 --output-sync test-slow test-slurm
	$(MAKE) test-explore
	$(MAKE) test-versions

# The slow tests, and more examples where Hypothesis draws them.
test-slow: $(READY)
	KILLS=2 $(PYTEST) -m "slow or hypothesis" --hypothesis-profile=thorough --durations=10

# Kills a small run at 30 moments; KILLS_SEED=N repeats one such series.
test-kill: $(READY)
	KILLS=30 $(PYTEST) -m "" -rP tests/workflow/test_kills.py -k killed

# The workflow on a Slurm cluster that is started for it, on this machine, and always stopped.
test-slurm: $(READY)
	tests/workflow/slurm/cluster.sh run $(BIN)/pytest tests/workflow/slurm

# The explorer in Chromium, which is installed if it is missing.
test-explore: $(READY)
	tests/explore/browser/chromium.sh run $(PYTEST) tests/explore/browser

# Quick tests with every Python of this machine that is supported, and with the newest and the lowest
# versions of libraries.
test-versions: $(READY)
	tests/versions.sh

# The picture of the explorer in the documentation.
screenshot: $(READY)
	PYTHONPATH=tests tests/explore/browser/chromium.sh run \
	  $(BIN)/python tests/explore/browser/screenshot.py

# The pictures in which the tutorials end, by running them.
pictures: $(READY)
	$(BIN)/python docs/pictures.py

benchmark: $(READY)
	$(BIN)/python benchmarks/theory.py
	$(BIN)/python benchmarks/answers.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/growth.py
	PYTHONPATH=tests tests/explore/browser/chromium.sh run $(BIN)/python benchmarks/explore.py

# Random settings of several steps, simulated beside each level of the theory: half an hour.
benchmark-steps: $(READY)
	nice $(BIN)/python benchmarks/several_steps.py
	nice $(BIN)/python benchmarks/beyond_fresh_batches.py
	nice $(BIN)/python benchmarks/random_settings.py

# Measures what README and docs claim, and fails if a number is out of its bounds: CLAIMS="speed trust" for
# some, CLAIMS=--all to include those that simulate or time whole runs.
claims: $(READY)
	$(BIN)/python benchmarks/claims.py $(CLAIMS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow

# The site, for any browser, without network.
docs: $(READY)
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/build
	@echo docs/build/index.html

# The same with the page of precomputed curves: one folder, for any web server.
site: $(READY)
	$(BIN)/python -m sphinx -W --keep-going -q -E -t site docs docs/build
	@echo docs/build/index.html and docs/build/curves/index.html

# The schemas that editors read, from the models that check the configs.
schemas: $(READY)
	$(BIN)/python packaging/schemas.py workflow/schemas

# The environment: pinned and hashed requirements, then the package itself. Byte-compiling once,
# on all cores, saves every start of a job from doing it again.
# Scripts hold the path of their folder: an environment that was moved is made anew.
ifneq ($(filter-out $(CURDIR),$(shell cat $(READY) 2>/dev/null)),)
.PHONY: $(READY)
CLEAR := --clear
endif
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "giantstep needs Python 3.11 or later, this is " + sys.version.split()[0] + \
	  ": run make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $(CLEAR) .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	  --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	-$(BIN)/python -m compileall -q -j 0 .venv/lib src
	echo $(CURDIR) > $@

# Pins what pyproject.toml requires, and keeps the pins that there are. The lock carries hashes, and
# no address.
lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 --extra workflow --extra test --extra slurm \
	  --extra explore --extra data --extra docs --generate-hashes --no-header --no-annotate -o requirements.lock pyproject.toml

clean:
	rm -rf .venv .versions .snakemake docs/build docs/generated results logs report.html figures/*.png figures/*.pdf figures/*.svg .pytest_cache .mypy_cache .ruff_cache

help:
	@echo "make figures   the eight figures of the paper into figures/   (CORES=2 to use two cores)"
	@echo "make paper     the same at the paper's size"
	@echo "make supplement figures S1 to S27, beyond the paper"
	@echo "make gallery   copy the drawings into docs/gallery, which README shows"
	@echo "make test      style, types, and a small version of every test"
	@echo "make test-all  the same and the full versions, kills, Slurm, Chromium and other versions"
	@echo "make test-kill kill runs at 30 moments, and see that the same command completes them"
	@echo "make test-slurm the workflow on a Slurm cluster of its own (installs Slurm, as root)"
	@echo "make test-explore the explorer in Chromium (installs it, as root)"
	@echo "make test-versions quick tests on every supported Python here, with the newest and the lowest libraries"
	@echo "make benchmark theory and simulation beside the usual ways of computing the same"
	@echo "make claims    measure what README and docs claim; CLAIMS=trust for some, CLAIMS=--all for slow ones"
	@echo "make pictures  run the tutorials, and keep the pictures in which they end"
	@echo "make docs      the documentation as a site, docs/build/index.html"
	@echo "make site      the documentation and a page of precomputed curves: one folder for any web server"
	@echo "make benchmark-steps the theory of several steps beside networks at random settings"
	@echo "make schemas   the schemas by which editors check the files in config/"
	@echo "make lock      pin what pyproject.toml requires"
	@echo "make clean     remove the environment and all results"
