# make run: the bundled example, start to finish. make test: every test that is quick. Both set up .venv first.
PYTHON ?= python3
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export DO_NOT_TRACK = 1
READY := .venv/.ready

.PHONY: run setup test test-long bench coverage check lock clean

run: setup
	dvc repro
	python -m tasks summary

setup: $(READY)

$(READY): requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed (make PYTHON=…)")'
	$(PYTHON) -m venv .venv
	pip install --quiet --disable-pip-version-check -r requirements.lock
	python -m tasks.metrics.warm_up & python -m tasks.offline.warm_up; wait  # compiles the kernels, once
	touch $(READY)

test: setup
	pytest -m "not long" --numprocesses auto --dist loadgroup

test-long: setup
	pytest -m long --numprocesses auto --dist loadfile

bench: setup
	python -m benchmarks

coverage: setup
	python -m benchmarks.coverage

check: setup
	ruff check
	ruff format --check
	mypy

# Newest versions that pyproject.toml allows. A local build's "+cpu" is no release others could install.
lock: setup
	pip-compile --quiet --upgrade --strip-extras --no-header --annotation-style=line --no-emit-index-url \
	  --no-emit-find-links --no-emit-trusted-host --extra test --output-file requirements.lock pyproject.toml
	sed -i.bak 's/+cpu//' requirements.lock && rm requirements.lock.bak

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .grimp_cache
