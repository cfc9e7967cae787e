# The front door. Everything is built by CMake; these are the commands a person types.
#   make            build the library, the tool (build/kspec) and the Python package; installs nothing
#   make setup      install the packages that the build needs
#   make demo       set up, build, and estimate the moments of a built-in example
#   make pictures   draw the pictures of the documentation anew
#   make docs       build the site of the documentation, build/site/index.html
#   make test       set up, build, and run all tests
#   make bench      the speed of everything beside DGEMM
#   make python-test, make wheels   test the Python package; make its wheels (docs/python.md)
#   make faults     every allocation and system call of every command fails, in turn (minutes)
#   make mpi-full   every command of the tests with reference values under both MPIs, 1 to 7 ranks (an hour)
#   make data       fetch the public data sets that some of the tests and figures need
#   make repro      every figure of the four papers, in small; repro-full: at the papers' sizes
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
MAKEFLAGS += --no-print-directory
SETUP   = sh scripts/setup.sh
CTEST   = sh scripts/test.sh

# A relative folder of data holds in every directory that a test runs in.
ifneq ($(KSPEC_DATA),)
override KSPEC_DATA := $(shell realpath -m -- '$(KSPEC_DATA)')
export KSPEC_DATA
endif

.PHONY: all setup product everything demo pictures docs data test test-fast python-test python-test-full wheels nightly asan tsan faults faults-quick mpi-full fuzz coverage mutants bench repro repro-full repro-docs install \
        lint format clean

# Tests and benchmarks, once switched on in build/, stay on: they cost `make` nothing, since it builds the product alone.
CONFIGURE = cmake --preset release >/dev/null
BUILD     = cmake --build build -j $(JOBS)

all:
	@$(SETUP) --check build
	@$(CONFIGURE)
	@$(BUILD) --target product

setup:
	@$(SETUP) build

# what the targets below stand on: they install what is missing
product: setup
	@$(CONFIGURE)
	@$(BUILD) --target product

everything: setup
	@$(CONFIGURE) -DKSPEC_TESTS=ON -DKSPEC_BENCH=ON
	@$(BUILD)

demo: product
	@$(SETUP) pictures
	@sh examples/demo.sh build/kspec

pictures: product
	@$(SETUP) pictures
	@sh docs/pictures.sh build/kspec

docs: product
	@$(SETUP) pictures docs
	@sh scripts/docs.sh build

data:
	@$(SETUP) data
	@sh scripts/data.sh

test: everything
	@$(SETUP) test pictures
	@$(CTEST) build -j $(JOBS)

test-fast: everything
	@$(SETUP) test pictures
	@$(CTEST) build -j $(JOBS) -L fast

# (a program that a signal ends leaves its threads; ThreadSanitizer would sleep for a second at the end of each)
asan tsan: setup
	@$(SETUP) test pictures
	@cmake --preset $@ >/dev/null
	@cmake --build build-$@ -j $(JOBS)
	@TSAN_OPTIONS="report_thread_leaks=0 atexit_sleep_ms=0" $(CTEST) build-$@ -j $(JOBS) -L fast

# The Python package, from PyPI's parts; a part of `make test`. full: other NumPys, other libraries' arrays, mypy
python-test python-test-full: product
	@$(SETUP) test
	@sh scripts/python-test.sh build $(if $(filter %-full,$@),full)

# dist/*.whl: x86-64, ARM64 and, where nvcc is, kspec-cuda
wheels: setup
	@sh scripts/wheels.sh build/wheels

# what is too long for every commit: the other compiler, threads, ARM64, the wheels in other systems' roots
nightly:
	@sh scripts/nightly.sh build/nightly

# faults: every allocation and system call of every command fails, in turn; faults-quick: a sample of them
FAULTS = build/faults/faults.so
faults faults-quick: product
	@$(SETUP) test
	@mkdir -p build/faults
	@cc -O2 -Wall -Wextra -shared -fPIC -o $(FAULTS) tests/faults/*.c
	@python3 tests/faults/run.py build/kspec $(FAULTS) $(if $(filter %-quick,$@),--stride 197)

# Odd sizes, the tests with reference values, and kills, with Open MPI and MPICH at 1, 2, 3, 4 and 7 ranks
mpi-full: product
	@$(SETUP) test mpi
	@python3 tests/mpi/run.py $(CURDIR)/build/kspec $(CURDIR)

# the fuzzers are a part of the build for the address sanitizer
FUZZ_SECONDS ?= 20
fuzz: setup
	@$(SETUP) test
	@cmake --preset asan >/dev/null
	@cmake --build build-asan -j $(JOBS) --target fuzzers
	@sh fuzz/run.sh $(FUZZ_SECONDS) build-asan

# Line coverage of the tests and the fuzzers' corpora together, held above the bounds in scripts/coverage.py. Tests
# that limit the size of files cut profiles short: they come last, with profiles of their own. They, and those that
# count files, see the profiles and fail here; make test is their judge.
CUT = cli/(config|output|learn|limits)$$
PROFILE = LLVM_PROFILE_FILE=$(CURDIR)/build-coverage/profiles
coverage: setup
	@$(SETUP) test pictures
	@cmake --preset coverage >/dev/null
	@cmake --build build-coverage -j $(JOBS)
	@rm -rf build-coverage/profiles && mkdir build-coverage/profiles
	@$(PROFILE)/%8m.profraw $(CTEST) build-coverage -j $(JOBS) -L fast -E '$(CUT)' || \
	    touch build-coverage/profiles/failed
	@$(PROFILE)/cut-%8m.profraw $(CTEST) build-coverage -j $(JOBS) -R '$(CUT)' >/dev/null || true
	@$(PROFILE)/%8m.profraw FUZZ_RUNS=0 sh fuzz/run.sh 0 build-coverage
	@python3 scripts/coverage.py build-coverage
	@[ ! -e build-coverage/profiles/failed ] || { echo "coverage: some tests failed" >&2; exit 1; }

# operators of src/moments that a changed sign, bound or constant would get past the tests
mutants: everything
	@$(SETUP) test
	@python3 scripts/mutants.py

bench: setup
	@$(CONFIGURE) -DKSPEC_BENCH=ON
	@$(BUILD) --target product benches
	@sh bench/run.sh build

repro: product
	@$(SETUP) repro
	@python3 repro/run.py

repro-full: product
	@$(SETUP) repro
	@python3 repro/run.py --full

repro-docs:
	@python3 repro/report.py --docs docs

install: all
	@cmake --install build --prefix $(PREFIX)

SOURCES = $(shell git ls-files '*.c' '*.h' '*.cpp' '*.cu' '*.cuh')
lint:
	@$(SETUP) lint
	@! git grep -nE '^(<<<<<<<|>>>>>>>)' # a merge that nobody finished
	@echo $(SOURCES) | xargs -n 30 -P $(JOBS) clang-format --dry-run --Werror
	@cppcheck --quiet -j $(JOBS) --error-exitcode=1 --std=c11 --inline-suppr --enable=warning,portability,performance \
	    --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches -I include -I src -I cli \
	    src cli
	@sh scripts/python-lint.sh build

format:
	@clang-format -i $(SOURCES)

clean:
	@rm -rf build build-asan build-tsan build-volume build-coverage
