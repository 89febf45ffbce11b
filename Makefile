# make run: the bundled example, start to finish. make test: every test that is quick. Both set up .venv first.
PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export DO_NOT_TRACK = 1
READY := .venv/.ready
READY_DEV := .venv/.ready-dev
# Below this line of requirements.lock is what only developers need.
GROUP_DEV := ^\# Group dev
CPU := https://download.pytorch.org/whl/cpu
QUIET := --quiet --disable-pip-version-check --no-compile
INSTALL := $(if $(shell command -v uv),uv pip install --quiet --python .venv,pip install $(QUIET))
# What DVC advises after each run: this clone has a dvc.lock, and docs/how-to/dvc-remote.md says when to push.
ADVICE := ^To track the changes with git|^\tgit add |^To enable auto staging|^\tdvc config core.autostage|^Use .dvc push
# The suites compile each module once, not in every worker and in every process that a test starts.
unexport PYTHONDONTWRITEBYTECODE
# The tests of a file run in one process, in their order, on every core; the ten slowest are named.
SPREAD := --numprocesses auto --dist loadfile --no-loadscope-reorder --durations 10
GENERATED := docs/reference/*.md docs/explanation/reliability.md docs/explanation/architecture.md docs/how-to/choose-a-metric.md docs/explanation/other-tools.md

.PHONY: run example setup setup-dev test doctest test-long test-all bench coverage torture check check-docs docs pictures lock clean

run: setup  # the bundled example, start to finish: the numbers, and where the report is
	@bash -o pipefail -c 'dvc repro | awk "NF && !/$(ADVICE)/ { print; fflush() }"'
	@python -m tasks summary

example: setup  # renews dvc.lock, the run of the bundled example, from what is committed: its page names the commit
	dvc repro
	dvc repro --quiet --force --single-item report

setup: $(READY)  # makes .venv, with what a run needs of requirements.lock

# While torch arrives, the kernels are compiled, once. pip takes torch from PyTorch's index if that can be reached.
$(READY): requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed (make PYTHON=…)")'
	$(PYTHON) -m venv .venv
	printf '#!/bin/sh\nexec "$${0%%/*}/python" -m goldmeter "$$@"\n' > .venv/bin/goldmeter && chmod +x .venv/bin/goldmeter
	sed '/$(GROUP_DEV)/,$$d' requirements.lock | $(INSTALL) --no-deps --require-hashes --requirement /dev/stdin
	pip install $(QUIET) --extra-index-url $(CPU) $$(grep -o 'torch==[0-9.]*' pyproject.toml) & torch=$$!; \
	  for part in metrics models.offline; do python -m goldmeter.$$part.warm_up & done; \
	  wait $$torch && wait
	touch $(READY)

setup-dev: $(READY_DEV)  # adds to .venv what tests, checks and docs need

$(READY_DEV): $(READY)
	$(INSTALL) --no-deps --require-hashes --requirement requirements.lock
	touch $(READY_DEV)

# Tests run on every core: more threads in a process would only wait for each other.
test test-long test-all: export OMP_NUM_THREADS = 1

test: doctest  # every test that is quick, and the examples in docstrings
	pytest -m "not long and not exhaustive" $(SPREAD)

doctest: setup-dev  # the examples in docstrings
	pytest --quiet --doctest-modules $$(grep -rl --include='*.py' '>>> ' goldmeter tasks flows)

test-long: setup-dev  # whole runs, schedules, browsers
	pytest -m "long and not exhaustive" --verbose $(SPREAD) $$(grep -rl --include='*.py' 'mark\.long' tests)

test-all: test  # and all else, also what is too slow for CI: kills, torture, clusters, S3, wheels, 200 random examples a property
	pytest -m "long or exhaustive or property" --verbose --hypothesis-profile exhaustive $(SPREAD)

bench: setup-dev  # speed beside the reference stack: reports/benchmarks.json
	python -m benchmarks

coverage: setup-dev  # how often intervals contain the truth: reports/coverage.json
	python -m benchmarks.coverage

torture: setup-dev  # kills, damage, hostile servers and files: reports/torture.json
	python -m benchmarks.torture

check: setup-dev  # style and types
	ruff check
	ruff format --check
	mypy

check-docs: setup-dev  # that the reference, dvc.lock and the tests' settings are of the code and params.yaml as shipped; yours may differ
	cog --check -I . $(GENERATED)
	diff -I '^#' params.yaml tests/params.yaml
	dvc repro --dry --allow-missing | grep 'up to date' || { echo 'dvc.lock is behind: make example, then commit it'; exit 1; }

docs: setup-dev  # the reference in README and docs/, made again from the code and params.yaml, and the site site/index.html
	cog -r -I . $(GENERATED)
	python -m scripts.reference.json_output
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict --quiet

pictures: setup-dev  # makes docs/pictures from a run of the bundled example, by Chromium
	python -m scripts.pictures

COMPILE := uv pip compile --quiet --upgrade --no-sources --universal --python-version 3.11 --generate-hashes --no-header \
  --no-annotate --no-emit-package torch pyproject.toml
lock: setup-dev  # renews requirements.lock from pyproject.toml, for every Python and system
	$(COMPILE) --extra cluster --extra s3 --output-file .venv/run.txt > /dev/null
	$(COMPILE) --group dev --constraint .venv/run.txt --output-file .venv/dev.txt > /dev/null \
	  $$(sed -nE 's/^([a-z0-9-]+)==.*/--no-emit-package \1/p' .venv/run.txt)
	(sed -n 1p requirements.lock; cat .venv/run.txt; sed -n '/$(GROUP_DEV)/p' requirements.lock; cat .venv/dev.txt) > .venv/lock.txt
	mv .venv/lock.txt requirements.lock

clean:  # removes .venv, caches and the site
	rm -rf site .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .grimp_cache
