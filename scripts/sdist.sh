#!/bin/sh
# Makes dist/kspec-VERSION.tar.gz, the source distribution, and builds the library and the command from it
# in FOLDER.
#
#   sh scripts/sdist.sh FOLDER
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(realpath "$1")
[ -x "$folder/venv/bin/pip" ] || "${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check build scikit-build-core
rm -f "$root"/dist/kspec-*.tar.gz
"$folder/venv/bin/python" -m build -q --sdist --no-isolation -o "$root/dist" "$root"
rm -rf "$folder/unpacked" "$folder/build"
mkdir "$folder/unpacked"
tar -xzf "$root"/dist/kspec-*.tar.gz -C "$folder/unpacked" --strip-components=1
cmake -S "$folder/unpacked" -B "$folder/build" -DKSPEC_CUDA=OFF -DKSPEC_MPI=OFF >/dev/null
cmake --build "$folder/build" -j "${JOBS:-$(nproc)}" --target product
"$folder/build/kspec" config
ls -l "$root"/dist/kspec-*.tar.gz
