#!/bin/sh
# Installs what kspec needs on Debian 12 and 13 and on Ubuntu 24.04; does nothing when all of it is there.
#
#   sh scripts/setup.sh [--check] [build] [test] [pictures] [repro] [data] [lint] [browser] [mpi] [docs]
#
# Without a group: build.
#
# --check: installs nothing; where a package is missing it prints the command that installs it, and fails.
# On any other system it prints the list and stops. KSPEC_NO_SETUP=1 skips it.
set -eu
check=
if [ "${1:-}" = --check ]; then
    check=1
    shift
fi

system=$(. /etc/os-release 2>/dev/null && echo "${ID:-}${VERSION_ID:-}") || true

# compiler and build; python3 makes the Python package
BUILD="gcc g++ libc6-dev make cmake pkg-config python3"
# the libraries behind libkspec and the tool (licences: BSD-3, BSD-3, Boost, BSD-3, EPL-1.0, zlib, MIT)
LIBS="libopenblas-dev liblapacke-dev libsleef-dev librandom123-dev coinor-libclp-dev zlib1g-dev
    libjansson-dev"
# readers of HDF5 (BSD-3) and MATLAB files (BSD-2), in a program of their own
READERS="libhdf5-dev libmatio-dev"
# files made by the real programs, sanitizers and fuzzers, man page check; what a static link of OpenBLAS
# names; curl for the test of make data; a locale with a decimal comma
TESTS="python3 python3-venv python3-numpy python3-scipy python3-h5py python3-jsonschema binutils clang
    libclang-rt-14-dev mandoc libgfortran-12-dev curl locales"
[ "$system" = debian12 ] || # the versions differ
    TESTS=$(echo "$TESTS" | sed 's/libclang-rt-14-dev/libclang-rt-dev/; s/libgfortran-12-dev/gfortran/')
# gnuplot (its own licence; run as a separate program, never linked), which the tool finds at run time
PICTURES="gnuplot-nox"
# looks at the pages of kspec report as a reader does
BROWSER="chromium"
# plugins for MPI (BSD-3, MPICH's own), built where these are, and their tests
MPI="openmpi-bin libopenmpi-dev mpich libmpich-dev"
# the site: the parts of scripts/docs.sh come from PyPI, man pages through mandoc
DOCS="python3-venv mandoc"

packages=""
for group in "${@:-build}"; do
    case $group in
        build) packages="$packages $BUILD $LIBS $READERS" ;;
        test) packages="$packages $TESTS" ;;
        pictures) packages="$packages $PICTURES" ;;
        repro) packages="$packages python3 $PICTURES" ;;
        data) packages="$packages curl ca-certificates" ;;
        lint) packages="$packages clang-format cppcheck python3-venv" ;;
        browser) packages="$packages $BROWSER" ;;
        mpi) packages="$packages $MPI" ;;
        docs) packages="$packages $DOCS" ;;
        *)
            echo "kspec: unknown group '$group'; must be one of build, test, pictures, repro, data, lint," \
                "browser, mpi, docs" >&2
            exit 2
            ;;
    esac
done
[ -z "${KSPEC_NO_SETUP:-}" ] || exit 0

missing=$packages
if command -v dpkg-query >/dev/null 2>&1; then
    missing=""
    # shellcheck disable=SC2086
    have=$(dpkg-query -W -f='${Package} ${Status}\n' $packages 2>/dev/null |
        sed -n 's/ install ok installed$//p') || true
    for p in $packages; do
        printf '%s\n' "$have" | grep -qx "$p" || missing="$missing $p"
    done
else # another system: a program in the path is not missing, and curl has certificates
    missing=""
    for p in $packages; do
        [ "$p" = ca-certificates ] || command -v "$p" >/dev/null || missing="$missing $p"
    done
fi
[ -n "$missing" ] || exit 0

case $system in
    debian12 | debian13 | debian | ubuntu24.04) ;; # (debian: testing)
    *)
        echo "kspec: not Debian 12 or 13, nor Ubuntu 24.04; install these packages or their equivalents," >&2
        echo "       then run make again with KSPEC_NO_SETUP=1, or cmake -B build && cmake --build build:" >&2
        for p in $missing; do echo "         $p" >&2; done
        exit 1
        ;;
esac

sudo=""
[ "$(id -u)" -eq 0 ] || sudo="sudo "
install="${sudo}apt-get install -y --no-install-recommends$missing"
if [ -n "$check" ]; then
    echo "kspec: packages are missing; make setup installs them, or:" >&2
    echo "    ${sudo}apt-get update && $install" >&2
    exit 1
fi
if [ -n "$sudo" ] && ! command -v sudo >/dev/null 2>&1; then
    echo "kspec: not root and no sudo; as root run: ${install#sudo }" >&2
    exit 1
fi
echo "kspec: packages are missing: $install"
export DEBIAN_FRONTEND=noninteractive
${sudo}apt-get update -qq
# shellcheck disable=SC2086
${sudo}apt-get install -y -qq --no-install-recommends $missing >/dev/null
