# The two commands of the README are `make grade` and `make test`. Each sets up .venv by itself, once.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"

.PHONY: grade test lab setup release outputs mutants lint

grade: $(READY) release
	$(RUN) python -m autograder sample

test: $(READY) lint
	$(RUN) python -m autograder release --check
	$(RUN) python -m autograder mutants
	$(RUN) pytest --nbval source --nbval-sanitize-with tests/nbval_sanitize.cfg -n 2 --dist loadfile
	$(RUN) pytest tests -n 2

lint: $(READY)
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

# Students work on copies in work/, which git ignores; what is there already is never overwritten.
lab: $(READY)
	mkdir -p work
	cp -Rn release/. work/ || true
	$(RUN) jupyter lab --notebook-dir=work

setup: $(READY)

release: $(READY)
	$(RUN) python -m autograder release

outputs: $(READY)
	$(RUN) python -m autograder outputs

mutants: $(READY)
	$(RUN) python -m autograder mutants

$(READY): constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[instructor,test]'
	mkdir -p $(VENV)/share/jupyter/lab/settings
	echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}' \
		> $(VENV)/share/jupyter/lab/settings/overrides.json
	touch $@
