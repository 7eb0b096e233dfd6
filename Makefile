# Every target installs what it needs into .venv on first use; a change of requirements installs again.
PYTHON ?= python3.11
VENV := .venv
RUN := $(VENV)/bin/python
PACKAGES := pipelines transforms model
STAMP = $(VENV)/.installed-$(shell cat requirements.txt setup.py | cksum | cut -d' ' -f1)

.DEFAULT_GOAL := help
.PHONY: help install lock base-digest demo sample test docs test-slow test-browser test-mutants golden test-runners test-faults lint types bench clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

install: $(STAMP) ## install the project and its tools into .venv

$(STAMP):
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --editable '.[demo,report,docs,dev]'
	$(RUN) -m beam_topics.model.warm default
	rm -f $(VENV)/.installed-*
	touch $@

demo: $(STAMP) ## learn the State of the Union addresses, 1790 to today, and show the topics
	$(RUN) -m beam_topics.pipelines.demo

sample: $(STAMP) ## put the table and, with chromium, the page of a new demo into README.md and docs/images
	$(RUN) docs_site/sample.py

test: lint types ## lint, types and the tests (a few minutes)
	$(RUN) -m pytest -q -n auto --dist=worksteal

docs: $(STAMP) ## the site, into build/site, and tests of the site, its notebooks and its commands (some minutes)
	rm -rf build/gallery
	$(RUN) -m docs_site.build
	$(RUN) -m pytest -q -m docs tests/docs_site

test-slow: $(STAMP) ## the slow and the statistical tests; SHARD=1/4 runs the first of four parts
	$(RUN) -m pytest -q -m 'slow or statistical' $(if $(SHARD),--shard=$(SHARD))

$(STAMP)-browser: $(STAMP)
	$(RUN) -m pip install --quiet --editable '.[demo,report,browser,dev]'
	touch $@

test-browser: $(STAMP)-browser ## the page of a report in a headless Chromium, where there is one
	$(RUN) -m pytest -q -rs -m browser tests/pipelines/pages

test-mutants: $(STAMP) ## plant twenty drawn faults one at a time, and see the quick tests find them
	$(RUN) tests/mutants/run.py

golden: $(STAMP) ## make the golden folder of this release anew (docs/formats.md says when)
	$(RUN) tests/golden/make.py

$(STAMP)-runners: $(STAMP)
	$(RUN) -m pip install --quiet --editable '.[gcp,kafka,demo,dev]'
	touch $@

test-runners: $(STAMP)-runners ## Prism, Flink and other real servers; needs Java, Maven and Go, and fetches the rest into .tools
	$(RUN) -m pytest -q -rs tests/pipelines/test_dataflow.py
	$(RUN) -m pytest -q -rs -m 'runners and not faults' tests/runners

test-faults: $(STAMP)-runners ## twenty kills on a Flink cluster, and other long trials of real servers
	$(RUN) -m pytest -q -rs -m faults tests/runners

# setuptools builds the project in the image. The tool is named here only: no test and no pipeline needs it.
LOCK = uv pip compile --quiet --upgrade --generate-hashes --no-emit-index-url --custom-compile-command 'make lock' \
	--python-version 3.11 --python-platform x86_64-manylinux_2_28 --extra gcp --extra kafka -o requirements.lock

lock: $(STAMP) ## pin what the worker image installs, with hashes, in requirements.lock
	$(RUN) -m pip install --quiet 'uv>=0.5,<1'
	echo 'setuptools>=68' | $(RUN) -m $(LOCK) setup.py -

base-digest: ## print the digest of the worker image's base; needs Docker and its registry
	@docker buildx imagetools inspect "$$(sed -n 's/^FROM \(apache.*\)@.*/\1/p' docker/Dockerfile)" --format '{{.Manifest.Digest}}'

lint: $(STAMP) ## ruff
	$(RUN) -m ruff check .

types: $(STAMP) ## mypy, strict on model/ and transforms/
	$(RUN) -m mypy

bench: $(STAMP) ## the benchmarks (docs/results/benchmarks.md has figures)
	$(RUN) -m benchmarks

clean: ## remove .venv, caches and what the demo wrote
	rm -rf $(VENV) demo-run .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
	find $(PACKAGES) tests -name __pycache__ -type d -prune -exec rm -rf {} +
