#!/bin/sh
# Builds the site of the documentation in BUILD/site: sh scripts/docs.sh BUILD.
# The first run fetches Sphinx from PyPI.
set -eu
cd "$(dirname "$0")/.."
build=$1 site=$1/site venv=$1/venv-docs wanted=docs/site/requirements.txt
if ! cmp -s "$wanted" "$venv/installed.txt"; then
    python3 -m venv "$venv"
    "$venv/bin/python" -m pip install -q --no-compile --disable-pip-version-check -r "$wanted"
    cp "$wanted" "$venv/installed.txt"
fi
# the pages are staged beside the reference, the gallery and the notebook, which are made from their sources
PYTHONPATH=$build/python "$venv/bin/python" docs/site/stage.py "$build"
rm -rf "$site"
"$venv/bin/python" -m sphinx -q -W --keep-going -n -b html -d "$build/site-cache" -c docs/site \
    "$build/site-pages" "$site"
echo "open $site/index.html"
