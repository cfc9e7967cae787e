#!/bin/sh
# Usage: fuzz/run.sh [SECONDS (20)] [BUILD_DIR (build-fuzz)] [TARGET...]
# Runs every fuzz target of the fuzz preset, or those named, for SECONDS each (FUZZ_RUNS=N: N executions
# each), from fuzz/corpus/NAME and the fixtures of its format, and prints a line for each. The exit status is
# 1 if any of them crashed; the input that did it is left in BUILD_DIR/fuzz. FUZZ_KEEP=1 adds what was found
# to fuzz/corpus/NAME, minimised: the smallest inputs that reach every edge.
set -u
seconds=${1:-20}
root=$(cd "$(dirname "$0")/.." && pwd)
build=${2:-$root/build-fuzz}
[ $# -lt 2 ] || shift
[ $# -lt 1 ] || shift
until="-max_total_time=$seconds"
[ -z "${FUZZ_RUNS:-}" ] || until="-runs=$FUZZ_RUNS"
status=0
found=0
for target in "$build"/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=${target##*/fuzz_}
    case " $* " in
    "  " | *" $name "*) ;;
    *) continue ;;
    esac
    found=1
    corpus=$(mktemp -d) || exit 1
    # small files with the format's name in theirs, those in a directory of that name, and those kept
    for seed in "$root/tests/fixtures/binary/"*"$name"* "$root/tests/fixtures/$name/"* \
        "$root/fuzz/corpus/$name/"*; do
        [ -f "$seed" ] && [ "$(wc -c <"$seed")" -le 4096 ] && cp "$seed" "$corpus"
    done
    log=$build/fuzz/$name.log
    # messages of the code under test are closed off (close_fd_mask); one thread is enough
    if OPENBLAS_NUM_THREADS=1 "$target" "$until" -max_len=4096 -timeout=20 -print_final_stats=1 \
        -close_fd_mask=3 -artifact_prefix="$build/fuzz/$name-" "$corpus" >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
        echo "fuzz $name: ok, $runs runs, $coverage edges covered"
        if [ -n "${FUZZ_KEEP:-}" ]; then
            kept=$(mktemp -d)
            "$target" -merge=1 -close_fd_mask=3 -max_len=4096 "$kept" "$corpus" >>"$log" 2>&1
            rm -rf "$root/fuzz/corpus/$name"
            mkdir -p "$root/fuzz/corpus"
            mv "$kept" "$root/fuzz/corpus/$name"
            chmod 755 "$root/fuzz/corpus/$name"
        fi
    else
        echo "fuzz $name: FAILED, see $log"
        status=1
    fi
    rm -rf "$corpus" /dev/shm/kspec-fuzz-*
done
if [ "$found" -eq 0 ]; then
    echo "no fuzz targets in $build/fuzz: cmake --preset fuzz && make -C build-fuzz" >&2
    status=1
fi
exit $status
