#!/bin/sh
# Cross-compiles kspec for ARM64 on Debian and runs its fast unit tests and the reference values under qemu.
#
#   sh scripts/arm64.sh [FOLDER] [CTEST'S OPTIONS]
#
# FOLDER (build-arm64) gets Debian's arm64 libraries and the build. CC=clang compiles with clang, in a build
# of its own.
# Built and not run: the filter for seccomp, which qemu does not emulate.
set -eu
cd "$(dirname "$0")/.."
folder=$(realpath -m "${1:-build-arm64}")
[ $# -eq 0 ] || shift
root=$folder/root apt=$folder/apt build=$folder/build
[ "${CC:-}" != clang ] || build=$folder/build-clang

packages="gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static"
# shellcheck disable=SC2086
if ! dpkg-query -W $packages >/dev/null 2>&1; then
    if [ -n "${KSPEC_NO_SETUP:-}" ]; then
        echo "kspec: packages are missing: apt-get install -y --no-install-recommends $packages" >&2
        exit 1
    fi
    apt-get update && apt-get install -y --no-install-recommends $packages
fi

# The libraries, with everything that they need, unpacked rather than installed
if [ ! -e "$root/done" ]; then
    mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$root/usr/lib"
    : >"$apt/status"
    get() {
        apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$apt/state" \
            -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache" "$@"
    }
    get -qq update
    get -qq -y --no-install-recommends -d install libc6-dev libstdc++-12-dev libgcc-12-dev libopenblas-dev \
        liblapacke-dev libsleef-dev librandom123-dev coinor-libclp-dev zlib1g-dev libjansson-dev libhdf5-dev \
        libmatio-dev
    ln -sfn usr/lib "$root/lib"
    for package in "$apt"/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -xC "$root" --keep-directory-symlink
    done
    # what update-alternatives would link
    libraries=$root/usr/lib/aarch64-linux-gnu
    for file in "$libraries"/openblas-pthread/*; do
        [ -d "$file" ] || ln -sfn "openblas-pthread/${file##*/}" "$libraries/${file##*/}"
    done
    for name in openblas blas=blas-openblas lapack=lapack-openblas; do
        ln -sfn "../openblas-pthread/pkgconfig/${name#*=}.pc" "$libraries/pkgconfig/${name%=*}.pc"
    done
    ln -sfn . "$libraries/hdf5/serial/lib"
    ln -sfn hdf5/serial/libhdf5.so "$libraries/libhdf5.so"
    find "$root" -type l -lname '/*' | while read -r link; do ln -sfn "$root$(readlink "$link")" "$link"; done
    : >"$root/done"
fi

cmake -S . -B "$build" -DCMAKE_TOOLCHAIN_FILE=cmake/arm64.cmake -DKSPEC_ARM64_ROOT="$root" \
    ${CC:+-DKSPEC_ARM64_CLANG=ON} -DCMAKE_BUILD_TYPE=Release -DKSPEC_TESTS=ON -DKSPEC_CUDA=OFF >/dev/null
cmake --build "$build" -j "${JOBS:-$(nproc)}"
# Each test is an ARM64 program, ten to thirty times slower under qemu than on a processor. What qemu lacks
# is skipped by the tests themselves: seccomp.
ctest --test-dir "$build" --output-on-failure -L fast -R '^unit/' -j "${JOBS:-$(nproc)}" "$@"
# The tool's own reference values, where the kernel starts ARM64 programs by qemu
if [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
    ctest --test-dir "$build" --output-on-failure -R '^cli/(golden|ridge_golden)$' "$@"
else
    echo "skip: cli/golden, cli/ridge_golden; install binfmt-support: the kernel then starts ARM64 programs"
fi
