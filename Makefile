# The front door. Everything is built by CMake; these are the commands a person types.
#   make            build; the tool is build/kspec
#   make demo       set up, build, and estimate the moments of a built-in example
#   make pictures   draw the pictures of the documentation anew
#   make test       set up, build, and run all tests
#   make repro      every figure of the four papers, in small; repro-full: at the papers' sizes
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
MAKEFLAGS += --no-print-directory
CTEST   = ctest --output-on-failure --no-tests=error

.PHONY: all setup demo pictures test test-fast asan tsan fuzz bench repro repro-full repro-docs install lint format clean

all: setup
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS)

setup:
	@sh scripts/setup.sh

demo: all
	@sh examples/demo.sh build/kspec

pictures: all
	@sh docs/pictures.sh build/kspec

test: all
	@$(CTEST) --test-dir build -j $(JOBS)

test-fast: all
	@$(CTEST) --test-dir build -j $(JOBS) -L fast

asan tsan: setup
	@cmake --preset $@ >/dev/null
	@cmake --build build-$@ -j $(JOBS)
	@$(CTEST) --test-dir build-$@ -j $(JOBS) -L fast

FUZZ_SECONDS ?= 20
fuzz: setup
	@cmake --preset fuzz >/dev/null
	@cmake --build build-fuzz -j $(JOBS)
	@sh fuzz/run.sh $(FUZZ_SECONDS) build-fuzz

bench: all
	@sh bench/run.sh build

repro: all
	@python3 repro/run.py

repro-full: all
	@python3 repro/run.py --full

repro-docs:
	@python3 repro/report.py --docs docs

install: all
	@cmake --install build --prefix $(PREFIX)

SOURCES = $(shell git ls-files '*.c' '*.h')
lint: setup
	@clang-format --dry-run --Werror $(SOURCES)
	@cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,portability,performance \
	    --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches -I include -I src -I cli \
	    src cli

format:
	@clang-format -i $(SOURCES)

clean:
	@rm -rf build build-asan build-tsan build-fuzz
