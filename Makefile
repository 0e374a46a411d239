# All targets use a separate virtual environment. Requirements: Python 3.11 or newer with pip, a C++20 compiler, make.
# CMake and ninja are installed by pip.

PYTHON ?= python3
VENV ?= .venv
MINUTES ?= 30
SEED ?= 0

# Tests and lint start many processes; without stored bytecode every one would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

override VENV := $(abspath $(VENV))
RUN := $(VENV)/bin/python
# Two --quiet: errors only.
PIP := $(RUN) -m pip --quiet --quiet --disable-pip-version-check
CMAKE := $(VENV)/bin/cmake -G Ninja -DCMAKE_MAKE_PROGRAM=$(VENV)/bin/ninja

DEV_STAMP := $(VENV)/.labelsieve-dev
PACKAGE_STAMP := $(VENV)/.labelsieve-package

# Sources of the installed package. The list is stored, so that a removed file counts as a change.
SOURCES := $(sort $(shell find src native -type f -not -path '*/__pycache__/*' -not -name '*.pyi'))
SOURCE_LIST := build/sources.txt
NATIVE_SOURCES := $(sort $(shell find native tests/native -name '*.[ch]pp'))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test docs wheel oldest sanitize fuzz differential bench lint tidy format slow gpu native-test setup clean FORCE

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: setup  ## Build the package and run every criterion on synthetic data
	$(VENV)/bin/labelsieve demo

# One process per core; the tests of a file stay together, because they share expensive fixtures.
test: lint native-test  ## Build the package, then run every check and test
	$(RUN) -m pytest -n auto --dist loadfile

# Gallery examples run once, and again when they change; `make clean` removes their results.
docs: setup  ## Build the documentation into build/docs; a warning is an error
	$(RUN) -m sphinx --quiet --fail-on-warning --keep-going --doctree-dir build/doctrees docs build/docs
	@echo "Open build/docs/index.html"

slow: setup  ## Run the tests that are marked slow
	$(RUN) -m pytest -m slow || test $$? -eq 5  # 5: there are none

gpu: setup  ## Run the tests that need an NVIDIA GPU and CuPy
	$(RUN) -m pytest -m gpu

lint: setup  ## Check style, types and the direction of imports
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/clang-format --dry-run -Werror $(NATIVE_SOURCES)

format: $(DEV_STAMP)  ## Format the Python and C++ code
	$(RUN) -m ruff check --fix
	$(RUN) -m ruff format
	$(VENV)/bin/clang-format -i $(NATIVE_SOURCES)

# Without the bindings: nanobind's headers are not ours to fix. About three minutes on two cores.
tidy: $(DEV_STAMP)  ## Run clang-tidy over the C++ core and its tests
	@$(CMAKE) -S . -B build/native -DLABELSIEVE_TESTS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON > /dev/null
	$(RUN) $(VENV)/bin/run-clang-tidy.py -clang-tidy-binary $(VENV)/bin/clang-tidy -p build/native -quiet

native-test: $(DEV_STAMP)  ## Run the C++ tests
	@$(CMAKE) -S . -B build/native -DLABELSIEVE_TESTS=ON > /dev/null
	@$(VENV)/bin/cmake --build build/native --target native_tests -- --quiet
	@! nm build/native/CMakeFiles/labelsieve_kernels_x86_64_*.dir/native/simd/kernels.cpp.o 2> /dev/null | grep ' W ' || \
	    { echo "kernels.cpp: these inline functions may be used on processors that do not support them"; exit 1; }
	@for isa in baseline x86_64_v3 newest; do LABELSIEVE_ISA=$$isa build/native/native_tests || exit 1; done

sanitize: $(DEV_STAMP)  ## Run the C++ tests under the address, undefined and thread sanitizers
	@set -e; for sanitizer in address undefined thread; do \
	    echo "== $$sanitizer"; \
	    $(CMAKE) -S . -B build/sanitize-$$sanitizer -DCMAKE_BUILD_TYPE=Debug -DLABELSIEVE_TESTS=ON \
	        -DLABELSIEVE_SANITIZE=$$sanitizer > /dev/null; \
	    $(VENV)/bin/cmake --build build/sanitize-$$sanitizer --target native_tests -- --quiet; \
	    for isa in baseline x86_64_v3 newest; do LABELSIEVE_ISA=$$isa build/sanitize-$$sanitizer/native_tests; done; \
	done

# The wheel is built from the source archive and tested in an environment with only its requirements and pytest,
# on a copy of the test, independent of the source tree and its pytest settings.
wheel: $(DEV_STAMP)  ## Build a wheel into dist/ and test it in an empty environment
	rm -rf dist
	$(RUN) -m build --quiet --outdir dist .
	@set -e; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	    $(PYTHON) -m venv "$$scratch/venv"; \
	    "$$scratch/venv/bin/python" -m pip install --quiet --quiet --disable-pip-version-check dist/*.whl pytest; \
	    cp tests/test_minimal.py "$$scratch"; \
	    cd "$$scratch"; \
	    venv/bin/python -m pytest test_minimal.py
	@ls dist

# Outside the checkout, as above; the pytest settings and the files that tests read are copied.
oldest: wheel  ## Run the tests with the oldest supported versions of the dependencies
	@set -e; scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	    $(PYTHON) -m venv "$$scratch/venv"; \
	    $(RUN) tests/support/oldest_versions.py > "$$scratch/oldest.txt"; \
	    pip="$$scratch/venv/bin/python -m pip --quiet --quiet --disable-pip-version-check"; \
	    $$pip install --upgrade "pip>=25.1"; \
	    $$pip install --constraint "$$scratch/oldest.txt" --group test dist/*.whl; \
	    cp -r .ci .gitignore benchmarks docs examples fuzz leaderboard native replications tests *.md *.toml LICENSE Makefile CITATION.cff "$$scratch"; \
	    export LABELSIEVE_SHARED="$${LABELSIEVE_SHARED:-$(abspath ../shared)}"; \
	    cd "$$scratch"; \
	    venv/bin/python -m pytest -n auto --dist loadfile tests --ignore tests/docs/test_docs_build.py \
	        -W "ignore:The number of unique classes:UserWarning"  # scikit-learn 1.7 warns for few rows

fuzz: setup  ## Fuzz the readers of data files, MINUTES=30 in total
	@$(PIP) install --group fuzz
	$(RUN) -m fuzz --minutes $(MINUTES)

# The same seed gives the same cases; SEED=100000 tries others.
differential: setup  ## Compare all selectors with naive recomputation on random tables, MINUTES=30
	$(RUN) -m fuzz.differential --minutes $(MINUTES) --seed $(SEED)

bench: setup  ## Run the counting benchmark
	$(RUN) -m benchmarks.counting

setup: $(PACKAGE_STAMP)

$(DEV_STAMP): pyproject.toml
	@echo "Setting up $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --upgrade "pip>=25.1"  # the first with dependency groups
	@$(PIP) install --group dev
	@if java -version > /dev/null 2>&1; then $(PIP) install --group spark; fi
	@touch $@

$(PACKAGE_STAMP): $(DEV_STAMP) pyproject.toml CMakeLists.txt README.md LICENSE $(SOURCES) $(SOURCE_LIST)
	@echo "Building labelsieve"
	@$(PIP) install --no-build-isolation --config-settings=build-dir=build/editable --editable .
	@touch $@

$(SOURCE_LIST): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(SOURCES) | cmp --silent - $@ || printf '%s\n' $(SOURCES) > $@

clean:  ## Remove all generated files
	rm -rf $(VENV) build dist docs/gallery labelsieve-demo.html .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f src/labelsieve/core/_native.pyi
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
