#!/bin/sh
# Tests the Python package: makes a virtual environment, installs the package and what its tests need from
# PyPI, and runs them. The package is the one in the build folder: nothing is compiled again.
#
#   sh scripts/python-test.sh BUILD [full]
#
# full: also the oldest NumPy, the type checker, and the libraries whose arrays the package takes.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
what=${2:-}
python=${PYTHON:-python3}
skip() {
    echo "skip: $1"
    exit 77
}

# Python may have come after the build
[ -e "$build/python/stamp" ] ||
    { cmake "$build" >/dev/null && cmake --build "$build" --target python_package >/dev/null; } ||
    skip "the Python package cannot be built; install python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' ||
    skip "Python is older than 3.9; set PYTHON to a newer one"

# what the tests need, in an environment that is kept for the next time
environment() { # folder, requirements
    folder=$1
    shift
    [ -x "$folder/bin/pip" ] || "$python" -m venv "$folder" || return 1
    "$folder/bin/python" -m pip install -q --no-compile --disable-pip-version-check --retries 1 "$@"
}
install() { # environment
    CMAKE_GENERATOR="Unix Makefiles" "$1/bin/python" -m pip install -q --disable-pip-version-check \
        --no-build-isolation --no-deps --force-reinstall \
        --config-settings=cmake.define.KSPEC_PREBUILT="$build" \
        --config-settings=build-dir="$1/build" "$root"
}
tests() { # environment
    cd "$root"
    env -u PYTHONPATH OPENBLAS_NUM_THREADS=1 MPLBACKEND=Agg \
        "$1/bin/python" -m pytest -q -p no:cacheprovider python/tests
}

venv=$build/venv
environment "$venv" numpy pandas scikit-learn matplotlib pytest scikit-build-core ||
    skip "PyPI cannot be reached, or lacks a package; 'make python-test' tests the Python package"
install "$venv"
tests "$venv"
[ "$what" = full ] || exit 0

echo "the oldest NumPy"
environment "$build/venv-oldest" "numpy==1.26.*" pytest scikit-build-core
install "$build/venv-oldest"
tests "$build/venv-oldest"

echo "arrays of other libraries"
environment "$venv" xarray jax h5py tqdm dask zarr anndata
{ environment "$venv" torch --index-url https://download.pytorch.org/whl/cpu &&
    environment "$venv" torchmetrics; } ||
    echo "skip: torch cannot be installed; its tests are skipped"
tests "$venv"

echo "types"
environment "$venv" mypy
cd "$build/python"
"$venv/bin/mypy" --config-file "$root/pyproject.toml" -p kspec
"$venv/bin/mypy" --config-file "$root/pyproject.toml" "$root"/examples/*.py "$root/bench/python.py"
