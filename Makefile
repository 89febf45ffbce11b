# make run: the bundled example, start to finish. make test: every test that is quick. Both set up .venv first.
PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export DO_NOT_TRACK = 1
READY := .venv/.ready
# The suites compile each module once, not in every worker and in every process that a test starts.
unexport PYTHONDONTWRITEBYTECODE
GENERATED := README.md docs/reference/*.md docs/explanation/reliability.md

.PHONY: run setup test doctest test-long test-properties bench coverage torture check check-docs docs pictures lock clean

run: setup  # the bundled example, start to finish: the numbers, and where the report is
	dvc repro
	python -m tasks summary

setup: $(READY)  # makes .venv, with what requirements.lock names

$(READY): requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed (make PYTHON=…)")'
	$(PYTHON) -m venv .venv
	pip install --quiet --disable-pip-version-check -r requirements.lock
	for part in metrics models.offline dataset.columnar statistics; do python -m tasks.$$part.warm_up & done; wait  # compiles the kernels, once
	touch $(READY)

test: doctest  # every test that is quick, and the examples in docstrings
	pytest -m "not long" --numprocesses auto --dist loadfile --no-loadscope-reorder

doctest: setup  # the examples in docstrings
	pytest --quiet --doctest-modules $$(grep -rl --include='*.py' '>>> ' tasks flows)

test-long: setup  # kills, schedules, browsers, whole runs
	pytest -m long --hypothesis-profile long --numprocesses auto --dist loadfile --no-loadscope-reorder

test-properties: setup  # every property test with 200 random examples
	pytest -m property --hypothesis-profile long --numprocesses auto --dist loadfile --no-loadscope-reorder

bench: setup  # speed beside the reference stack: reports/benchmarks.json
	python -m benchmarks

coverage: setup  # how often intervals contain the truth: reports/coverage.json
	python -m benchmarks.coverage

torture: setup  # kills, damage, hostile servers and files: reports/torture.json
	python -m benchmarks.torture

check: setup  # style and types
	ruff check
	ruff format --check
	mypy

check-docs: setup  # that the reference, and what tests run by, are params.yaml as shipped; yours may differ
	cog --check -I . $(GENERATED)
	diff -I '^#' params.yaml tests/params.yaml

docs: setup  # the reference in README and docs/, made again from the code and params.yaml
	cog -r -I . $(GENERATED)

pictures: setup  # makes docs/pictures from a run of the bundled example, by Chromium
	python -m scripts.pictures

# Newest versions that pyproject.toml allows. A local build's "+cpu" is no release others could install.
lock: setup  # renews requirements.lock from pyproject.toml
	pip-compile --quiet --upgrade --strip-extras --no-header --annotation-style=line --no-emit-index-url \
	  --no-emit-find-links --no-emit-trusted-host --extra test --output-file requirements.lock pyproject.toml
	sed -i.bak 's/+cpu//' requirements.lock && rm requirements.lock.bak

clean:  # removes .venv and caches
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .grimp_cache
