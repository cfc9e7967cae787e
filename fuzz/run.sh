#!/bin/sh
# Usage: fuzz/run.sh [SECONDS (20)] [BUILD_DIR (build-fuzz)]
# Runs every fuzz target of the fuzz preset for SECONDS, from the fixtures of its format, and prints a line
# for each. The exit status is 1 if any of them crashed; the input that did it is left in BUILD_DIR/fuzz.
set -u
seconds=${1:-20}
root=$(cd "$(dirname "$0")/.." && pwd)
build=${2:-$root/build-fuzz}
status=0
found=0
for target in "$build"/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    found=1
    name=${target##*/fuzz_}
    corpus=$(mktemp -d) || exit 1
    # small files with the format's name in theirs, and those in a directory of that name
    for seed in "$root/tests/fixtures/binary/"*"$name"* "$root/tests/fixtures/$name/"*; do
        [ -f "$seed" ] && [ "$(wc -c <"$seed")" -le 4096 ] && cp "$seed" "$corpus"
    done
    log=$build/fuzz/$name.log
    if "$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$build/fuzz/$name-" "$corpus" >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
        echo "fuzz $name: ok, $runs runs in $seconds s, $coverage edges covered"
    else
        echo "fuzz $name: FAILED, see $log"
        status=1
    fi
    rm -r "$corpus"
done
if [ "$found" -eq 0 ]; then
    echo "no fuzz targets in $build/fuzz: cmake --preset fuzz && make -C build-fuzz" >&2
    status=1
fi
exit $status
