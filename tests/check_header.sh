#!/bin/bash
# The public headers compile alone as C11 and as C++17; a program of a few lines finds the installed library
# by pkg-config and by find_package, links with the shared and with the static one, and runs.
#
# usage: check_header.sh BUILD_DIR SOURCE_DIR [SANITIZERS]
set -eu
build=$(realpath "$1") source=$(realpath "$2")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
failed() { echo "FAIL $*"; exit 1; }

strict="-pedantic -Wall -Wextra -Werror -fsyntax-only -I$source/include"
for header in kspec/host.h kspec.h; do
    echo "#include <$header>" >alone.c
    cp alone.c alone.cpp
    gcc -std=c11 $strict alone.c
    g++ -std=c++17 $strict alone.cpp
done
# the flags do refuse what is not C11
echo 'int x = ({ 1; });' >>alone.c
! gcc -std=c11 $strict alone.c 2>/dev/null || failed "the strict flags accept anything"

# the fallbacks of what only Linux has compile
for file in $(grep -rl --include='*.c' KSPEC_PORTABLE "$source/src" "$source/cli"); do
    case $file in */cli/*) system=_GNU_SOURCE ;; *) system=_POSIX_C_SOURCE=200809L ;; esac
    gcc -std=c11 -Wall -Wextra -Wno-missing-field-initializers -Werror -fsyntax-only -D$system \
        -DKSPEC_PORTABLE '-DKSPEC_LIBEXECDIR="/x"' \
        -I"$source/include" -I"$source/src" -I"$source/cli" "$file" ||
        failed "$file does not compile without Linux"
done

cmake --install "$build" --prefix "$dir/usr" >/dev/null
libdir=$(dirname "$(find "$dir/usr" -name libkspec.a)")
for f in bin/kspec include/kspec.h include/kspec/host.h libexec/kspec/kspec-hdf5 share/man/man1/kspec.1 \
    share/man/man1/kspec-moments.1 share/bash-completion/completions/kspec share/zsh/site-functions/_kspec \
    share/fish/vendor_completions.d/kspec.fish; do
    [ -s "$dir/usr/$f" ] || failed "$f is not installed"
done
# the installed tool finds its reader of HDF5 files
"$dir/usr/bin/kspec" moments "$source/tests/fixtures/hdf5/single.h5" -n 1 >/dev/null

mkdir use
cat >use/main.c <<'END'
#include <kspec.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    const double x[] = {2, 2, 2, 2, 2, 2};
    kspec_matrix phi = {x, 2, 3, 3, 1};
    kspec_moments_opts opts = {.size = sizeof opts, .nmax = 2};
    kspec_moments_result *r;
    kspec_error err;
    if (kspec_moments(&phi, 1, &opts, &r, &err)) return puts(err.msg), 1;
    printf("%g %g %d\n", r->estimates[0]->value, r->estimates[1]->value,
           strcmp(kspec_version(), KSPEC_VERSION));
    kspec_free(r);
    return 0;
}
END
answers() { # program
    [ "$(LD_LIBRARY_PATH=$libdir "$1")" = "4 16 0" ] || failed "$1 answers '$(LD_LIBRARY_PATH=$libdir "$1")'"
}

export PKG_CONFIG_PATH=$libdir/pkgconfig
flags="-std=c11 $(pkg-config --cflags kspec)"
gcc $flags use/main.c $(pkg-config --libs kspec) -o shared
readelf -d shared | grep -q 'NEEDED.*libkspec.so' || failed "the program does not use the shared library"
answers ./shared
gcc $flags use/main.c $(pkg-config --static --libs kspec | sed "s,-lkspec,$libdir/libkspec.a,") -o static
! readelf -d static | grep -q libkspec || failed "the program is not linked statically"
answers ./static
[ "kspec $(pkg-config --modversion kspec)" = "$("$dir/usr/bin/kspec" --version)" ] || failed "versions differ"

# the examples compile by the line at their head
cp "$source"/examples/*.c .
for f in dimension eigenvalues regression step_size weights; do
    line=$(sed -n 's/^ \* *\(cc .* -o [a-z_]*\).*/\1/p' $f.c)
    eval "$line" && [ -x $f ] || failed "'$line' does not make examples/$f.c a program"
done
[ "$(wc -l <dimension.c)" -le 25 ] || failed "examples/dimension.c has more than 25 lines"
awk 'BEGIN { for (i = 0; i < 8; i++) print sin(i), cos(3 * i), sin(7 * i), i }' >recording.txt
LD_LIBRARY_PATH=$libdir ./dimension recording.txt | grep -q '^dimension' ||
    failed "examples/dimension.c does not run"

cat >use/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(use LANGUAGES C)
find_package(kspec REQUIRED)
add_executable(use_shared main.c)
target_link_libraries(use_shared kspec::kspec)
add_executable(use_static main.c)
target_link_libraries(use_static kspec::static)
END
cmake -S use -B use/build -DCMAKE_PREFIX_PATH="$dir/usr" >/dev/null
cmake --build use/build >/dev/null
answers use/build/use_shared
answers use/build/use_static
echo "the header and the installed library are usable from C, C++, pkg-config and CMake"
