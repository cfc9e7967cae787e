#!/bin/sh
# make bench: the speed of everything, each beside DGEMM in the same run.
set -eu
build=${1:-build}
"$build/kspec" config
for what in moments exact; do
    echo
    "$build/kspec" bench "$what"
done
