#!/bin/sh
# Checks the Python code: ruff everywhere, mypy on the package. Both come from PyPI, into BUILD/venv-lint.
#
#   sh scripts/python-lint.sh BUILD
set -eu
cd "$(dirname "$0")/.."
venv=$1/venv-lint
mkdir -p "$1"
[ -x "$venv/bin/pip" ] || python3 -m venv "$venv" || {
    echo "skip: no python3-venv; Python is not checked"
    exit 0
}
"$venv/bin/python" -m pip install -q --no-compile --disable-pip-version-check --retries 1 \
    ruff==0.17.5 mypy==2.4.1 numpy || {
    echo "skip: PyPI cannot be reached; Python is not checked"
    exit 0
}
"$venv/bin/ruff" check --quiet .
"$venv/bin/ruff" format --quiet --check python/kspec python/tests
# the package is whole only after the build, which makes two of its modules
package=$1/python
[ ! -e "$package/kspec/_functions.py" ] ||
    MYPYPATH=$package "$venv/bin/mypy" --no-error-summary --config-file pyproject.toml -p kspec
