#!/bin/sh
# Compiles the libraries behind a wheel with zig, which targets the glibc of manylinux_2_28: SLEEF, Clp with
# CoinUtils, jansson and zlib as static libraries, and Random123's headers. Their sources are Debian's,
# which apt checks. OpenBLAS comes from PyPI, compiled.
#
#   sh scripts/wheel_libraries.sh FOLDER x86_64|aarch64 VENV
#
# FOLDER/sources gets the sources, FOLDER/ARCH/prefix the libraries, FOLDER/ARCH/bin the compilers.
set -eu
folder=$(realpath -m "$1")
arch=$2
venv=$(realpath "$3")
sources=$folder/sources prefix=$folder/$arch/prefix bin=$folder/$arch/bin work=$folder/$arch/work
jobs=${JOBS:-$(nproc)}
mkdir -p "$sources" "$bin" "$work"

# ---- the compilers: zig's clang, for processors of the architecture's first generation and glibc 2.28
zig=$("$venv/bin/python" -c 'import os, ziglang; print(os.path.dirname(ziglang.__file__) + "/zig")')
compiler() { # name, zig's command, options
    printf '#!/bin/sh\nZIG_GLOBAL_CACHE_DIR="%s" ZIG_LOCAL_CACHE_DIR="%s" exec "%s" %s "$@"\n' \
        "$folder/zig" "$folder/zig" "$zig" "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}
# (the same code for every link, so that zig compiles its C++ library once)
target="-target $arch-linux-gnu.2.28 -fno-sanitize=undefined -O2 -fPIC"
compiler cc "cc $target"
compiler c++ "c++ $target"
compiler ar ar
compiler ranlib ranlib
export CC="$bin/cc" CXX="$bin/c++" AR="$bin/ar" RANLIB="$bin/ranlib"
export CFLAGS="-O2 -fPIC -fvisibility=hidden -Wno-deprecated-non-prototype"
export CXXFLAGS="-std=c++11 -O2 -DNDEBUG -fPIC -fvisibility=hidden"

# ---- the sources, by apt with lists of its own; mirrors lack SLEEF 3.5 of Debian 12, so it is unstable's
if [ ! -e "$sources/done" ]; then
    apt=$folder/apt
    mkdir -p "$apt/lists/partial" "$apt/parts" "$apt/cache/archives/partial"
    cat >"$apt/parts/sources.sources" <<EOF
Types: deb-src
URIs: ${KSPEC_DEBIAN:-http://deb.debian.org/debian}
Suites: bookworm sid
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
    get() {
        apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$apt/parts" \
            -o Dir::State::Lists="$apt/lists" -o Dir::Cache="$apt/cache" -o APT::Sandbox::User=root "$@"
    }
    get update
    (cd "$sources" && get source --tar-only sleef/sid clp/bookworm coinutils/bookworm jansson/bookworm \
        zlib/bookworm librandom123/bookworm)
    : >"$sources/done"
fi
mkdir -p "$prefix/licences" "$prefix/include" "$prefix/lib" "$prefix/done"
unpack() { # name: its folder in $work, and its licence; fails where the library is there already
    [ ! -e "$prefix/done/$1" ] || return 1
    rm -rf "${work:?}/$1"
    mkdir "$work/$1"
    tar -xf "$sources/$1"_*.orig.tar.* -C "$work/$1" --strip-components=1
    cd "$work/$1"
    licence=$(find . -maxdepth 2 -iname 'licen[cs]e*' | sort | head -1)
    [ -z "$licence" ] || cp "$licence" "$prefix/licences/$1.txt"
}
cross=
[ "$arch" = "$(uname -m)" ] || cross="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$arch"
configure() { # by CMake, options
    # shellcheck disable=SC2086
    cmake -S . -B kspec -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_INSTALL_LIBDIR=lib \
        -DBUILD_SHARED_LIBS=OFF -Wno-dev -DCMAKE_POLICY_VERSION_MINIMUM=3.5 $cross "$@" >/dev/null
}

if unpack librandom123; then
    cp -r include/Random123 "$prefix/include/"
    : >"$prefix/done/librandom123"
fi

if unpack zlib; then
    sed '/Copyright (C)/,/\*\//!d; /\*\//q' zlib.h >"$prefix/licences/zlib.txt"
    ./configure --static --prefix="$prefix" >/dev/null
    make -j "$jobs" libz.a >/dev/null
    cp libz.a "$prefix/lib/"
    cp zlib.h zconf.h "$prefix/include/"
    : >"$prefix/done/zlib"
fi

if unpack jansson; then
    configure -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF
    cmake --build kspec -j "$jobs" >/dev/null
    cmake --install kspec >/dev/null
    : >"$prefix/done/jansson"
fi

# SLEEF, for the instruction sets of src/simd/vec.h; programs that run here write some of its source
if unpack sleef; then
    options="-DSLEEF_BUILD_TESTS=OFF -DSLEEF_BUILD_DFT=OFF -DSLEEF_BUILD_GNUABI_LIBS=OFF"
    options="$options -DSLEEF_ENABLE_TLFLOAT=OFF"
    options="$options -DSLEEF_DISABLE_SSL=ON -DSLEEF_DISABLE_MPFR=ON -DSLEEF_DISABLE_SSE4=ON"
    options="$options -DSLEEF_DISABLE_FMA4=ON -DSLEEF_DISABLE_SVE=ON"
    native=$work/sleef-native
    if [ "$cross" ]; then
        # shellcheck disable=SC2086
        env -u CC -u CXX -u AR -u RANLIB -u CFLAGS -u CXXFLAGS \
            cmake -S . -B "$native" -Wno-dev $options >/dev/null
        cmake --build "$native" -j "$jobs" --target mkrename mkalias mkdisp >/dev/null
        options="$options -DNATIVE_BUILD_DIR=$native"
    fi
    # shellcheck disable=SC2086
    configure $options
    cmake --build kspec -j "$jobs" --target sleef >/dev/null
    cp kspec/lib/libsleef.a "$prefix/lib/"
    cp kspec/include/sleef.h "$prefix/include/"
    : >"$prefix/done/sleef"
fi

for name in coinutils clp; do
    unpack $name || continue
    cd "$(dirname "$(find . -mindepth 2 -maxdepth 2 -name configure)")" # CoinUtils/, Clp/
    cp /usr/share/misc/config.sub /usr/share/misc/config.guess .
    # (no Fortran: the compiler would be this machine's)
    F77=unavailable PKG_CONFIG_PATH=$prefix/lib/pkgconfig ./configure --host="$arch-linux-gnu" \
        --prefix="$prefix" --disable-shared \
        --enable-static --with-pic --without-blas --without-lapack --without-glpk --without-osi \
        --disable-bzlib --disable-zlib >configure.log 2>&1 || { tail -20 configure.log; exit 1; }
    # (of Clp the library alone)
    only=""
    [ $name = coinutils ] || only="bin_PROGRAMS= lib_LTLIBRARIES=libClp.la"
    # shellcheck disable=SC2086
    make -j "$jobs" -C src $only install >make.log 2>&1 || { tail -20 make.log; exit 1; }
    cp ./*.pc "$prefix/lib/pkgconfig/"
    : >"$prefix/done/$name"
done
