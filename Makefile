# The two commands of the README are `make grade`, which grades a made-up class, and `make test`. Each sets up .venv by itself, once.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
# One more than there are cores: a test that waits for a kernel, a browser or a time limit leaves its core to another.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
RUN := PATH="$(CURDIR)/$(VENV)/bin:$$PATH"

# Each process would else compile what it imports of this checkout.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: grade test test-all costs exercises replay numbers hub lab kit site solutions setup release outputs mutants lint

grade: $(READY) release
	$(RUN) python -m autograder sample

# What was proved before and rests on nothing that has changed is not proved again, be it here or by the branch that was cloned
# (tests/proved.py). What is thorough is left to test-all, and hidden cases are drawn once, where they are drawn twice there.
test: $(READY)
	$(MAKE) --jobs 2 lint exercises SEEDS=1
	$(MAKE) replay
	$(RUN) pytest tests -n $(WORKERS) --changed

test-all: $(READY)
	rm -rf .proofs
	$(MAKE) --jobs 2 lint exercises SEEDS=2
	$(RUN) pytest tests -n $(WORKERS) --costs tell
	$(MAKE) numbers

# What each file of tests costs now, kept as what it may cost (tests/costs.py).
costs: $(READY)
	$(RUN) pytest tests -n $(WORKERS) --costs keep

# What is made of the exercises, and their known mistakes. No walls are needed for it.
exercises: $(READY)
	$(RUN) python -m autograder release --check
	$(RUN) python -m autograder mutants $(if $(SEEDS),--seeds $(SEEDS))

# The solutions as they run in a kernel (nbval).
replay: $(READY)
	$(RUN) python -m autograder replay

# What numbers reach, once more, with last digits that no processor of today gives by itself: matrix products by the oldest kernels, no
# vector units, one thread. Names that a processor or a library does not know change nothing. In test-all this is where kernels run the
# solutions; with the processor's own digits the engine runs them (tests/engine/test_outputs.py).
OTHER_DIGITS := NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR" \
	OPENBLAS_CORETYPE=$(if $(filter x86_64 amd64,$(shell uname -m)),Prescott,ARMV8) ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE \
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# What would be compiled is told in times alone.
numbers: $(READY)
	$(RUN) $(OTHER_DIGITS) python -m autograder release --check
	$(RUN) $(OTHER_DIGITS) python -m autograder mutants --seeds 1 --digits
	$(RUN) $(OTHER_DIGITS) CXX=no-such-compiler python -m autograder replay
	$(RUN) $(OTHER_DIGITS) pytest $(addprefix tests/judging/test_,first_notebooks.py fingerprint.py interview.py sketch.py) \
		tests/authoring/test_answers.py tests/course/trial/test_comparing.py tests/course/test_checking.py -n $(WORKERS)

lint: $(READY)
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(RUN) lint-imports --no-logo --no-cache

# Students work on copies in work/, which git ignores; what is there already is never overwritten.
lab: $(READY)
	$(RUN) python -m autograder notebooks
	$(RUN) python -m course --notebooks build/notebooks --work work

# What a hub needs that is no Python: its proxy, in .venv or the environment PREFIX. npm has to be there.
hub:
	npm install --silent --no-fund --no-audit --global --prefix $(or $(PREFIX),$(VENV)) configurable-http-proxy@5.3.0

# The zip that students start from; `make kit UPTO=03` has the notebooks up to 03 in it, and no answer to that one or to a later one.
kit: $(READY) release
	$(RUN) python -m autograder kit $(or $(UPTO),$(error name the last notebook: make kit UPTO=03))

# The course as pages to read, in build/site: `make site UPTO=03` has the notebooks up to 03 in it, `make site` all of them; with
# STUDENTS=1 it leaves out the pages on giving the course and on working on it.
site: $(READY) release
	$(RUN) python -m autograder site $(if $(UPTO),--upto $(UPTO)) $(if $(STUDENTS),--students)

# What an instructor hands out when a notebook is closed for everybody: it holds every answer.
solutions: $(READY)
	$(RUN) python -m autograder solutions $(or $(NOTEBOOK),$(error name the notebook: make solutions NOTEBOOK=03_causal_mask))

setup: $(READY)
	@echo "now: . $(VENV)/bin/activate"

release: $(READY)
	$(RUN) python -m autograder release $(NOTEBOOK)

outputs: $(READY)
	$(RUN) python -m autograder outputs

mutants: $(READY)
	$(RUN) python -m autograder mutants

# The package's version stands in course/__init__.py.
$(READY): constraints.txt pyproject.toml course/__init__.py .ci/autograder
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[hub,instructor,postgres,site,test]'
	mkdir -p $(VENV)/share/jupyter/lab/settings
	echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}' \
		> $(VENV)/share/jupyter/lab/settings/overrides.json
	cp .ci/autograder $(VENV)/bin
	touch $@
