#!/bin/sh
# make bench: the speed of everything, each beside DGEMM in the same run.
set -eu
build=${1:-build}
"$build/kspec" config
echo
"$build/bench/kspec-bench"
