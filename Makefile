# make demo   build, install into .venv and explain some decisions
# make test   the whole test suite
# make coverage  which branches the quick tests do not take
# make check  lint, types, formatting
# make docs   the site, in docs/_build; warnings are errors
# make pictures  take the photographs of the docs anew, in a real browser and JupyterLab; PICTURES="serve page-tree" takes these
# make bench  the paper's table, quickly; BENCH="kernel" measures that instead, or circuits, batch, widths, worlds, additive, networks, audit, look, peers
# make dist   sdist and wheel, installed into an empty environment and tried there
# make sanitize, make fuzz  look for faults in the kernel
# make mutants  put faults into the core and print those that no test notices

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SOURCES := pyproject.toml $(wildcard CMakeLists.txt native/* native/python/*)
CPP := $(wildcard native/*.?pp native/python/*.?pp)

.PHONY: demo test coverage check docs pictures bench dist sanitize fuzz mutants format clean

demo: $(VENV)/.installed
	@QUIA="$(CURDIR)/$(BIN)/quia" examples/demo.sh

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The quick tests: without those of other things than quia's Python, those that go through thousands of graphs or megabytes
# of files, those that leave no room for a file, and those that need a browser or Spark.
NOT_QUICK := bench web load/test_costly_models.py test_against_oracle.py test_batch_spark.py test_costly_files.py \
  test_documents.py test_kernel.py test_kernel_fuzz.py test_mangled_circuits.py test_mutants.py test_oracle.py test_real_models.py
COVERAGE ?= tests src -k "not deep and not full_disk" $(foreach test,$(NOT_QUICK),--ignore tests/$(test))
coverage: $(VENV)/.installed-dev
	rm -rf build/coverage && mkdir -p build/coverage
	-$(BIN)/python -m coverage run -m pytest -n 2 --dist worksteal $(COVERAGE)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest quia._kernel --allowlist native/python/stubtest-allowlist.txt
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	@# Without the bindings, which need the headers of Python and nanobind.
	printf '%s\n' native/*.cpp | xargs -P 2 -I {} $(BIN)/clang-tidy --quiet {} -- -std=c++20

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q -d build/doctrees docs docs/_build
	@echo "the site is docs/_build/index.html"

pictures: $(VENV)/.installed-dev
	$(BIN)/python docs/photographs $(PICTURES)

BENCH ?= table --quick
bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks $(BENCH)

# What is released is what is built from the sdist, and it must work where nothing else is.
dist: $(VENV)/.installed-dev
	rm -rf dist .venv-dist
	$(BIN)/python -m build --quiet
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	.venv-dist/bin/python tests/smoke.py
	@ls -l dist

# The suite on a kernel built with AddressSanitizer and UBSan (slow). What a browser, Spark or a cap on memory is needed
# for cannot run so.
sanitize: $(VENV)/.installed-dev
	$(PYTHON) -m venv .venv-sanitize
	.venv-sanitize/bin/python -m pip install --quiet --disable-pip-version-check '.[test]' \
	  --config-settings=cmake.define.QUIA_SANITIZE=ON --config-settings=build-dir=build/sanitize
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 \
	  .venv-sanitize/bin/python -m pytest tests -n 2 --dist worksteal -p no:cacheprovider \
	  --ignore tests/web --ignore tests/test_batch_spark.py --ignore tests/bench

fuzz: $(VENV)/.installed-dev
	$(BIN)/python fuzz/kernel.py 60 $$(date +%s)

# MUTANTS="--count 500 --seed 2 families" tries more, others, or those of one module.
mutants: $(VENV)/.installed-dev
	$(BIN)/python tests/mutants.py $(MUTANTS)

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "quia needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) --version`. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[bench,web]'  # all that README shows
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps python-weka-wrapper3  # brings weka.jar
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps 'optbinning>=1.0'  # without its solvers
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) .venv-sanitize .venv-dist docs/_build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
