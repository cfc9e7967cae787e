#!/bin/sh
# Usage: fuzz/run.sh [SECONDS (20)] [BUILD_DIR (build-asan)] [TARGET...]
# Runs every fuzz target of a build, or those named, for SECONDS each (FUZZ_RUNS=N: N executions each), from
# fuzz/corpus/NAME.tar.gz and the fixtures of its format, one per processor at a time, and prints a line for
# each. They are unpacked to BUILD_DIR/fuzz/corpus/NAME, where new finds go, too. The exit status is 1 if any
# of them crashed; the input that did it is left in BUILD_DIR/fuzz. FUZZ_KEEP=1 packs what was found into the
# archive, minimised: the smallest inputs that reach every edge.
set -u
seconds=${1:-20}
root=$(cd "$(dirname "$0")/.." && pwd)
build=${2:-$root/build-asan}
[ $# -lt 2 ] || shift
[ $# -lt 1 ] || shift
jobs=$(nproc 2>/dev/null || echo 1)
until="-max_total_time=$seconds"
[ -z "${FUZZ_RUNS:-}" ] || until="-runs=$FUZZ_RUNS"
failed=$(mktemp) || exit 1
found=0
trap 'rm -f "$failed"' EXIT

fuzz() { # target, name
    corpus=$build/fuzz/corpus/$2 archive=$root/fuzz/corpus/$2.tar.gz
    most=4096
    rm -rf "$corpus"
    mkdir -p "$corpus" || exit 1
    if [ -f "$archive" ] && ! tar -xzf "$archive" -C "$corpus"; then
        echo "fuzz $2: FAILED to unpack $archive"
        echo "$2" >>"$failed"
        return
    fi
    if [ "$2" = mat ]; then # HDF5 needs more bytes; an empty first line asks for the only array
        most=24576
        for seed in "$root/tests/fixtures/hdf5/"*; do
            { echo && cat "$seed"; } >"$corpus/${seed##*/}"
        done
    fi
    # small files with the format's name in theirs, and those in a directory of that name
    for seed in "$root/tests/fixtures/binary/"*"$2"* "$root/tests/fixtures/$2/"*; do
        [ -f "$seed" ] && [ "$(wc -c <"$seed")" -le "$most" ] && cp "$seed" "$corpus"
    done
    log=$build/fuzz/$2.log
    # messages of the code under test are closed off (close_fd_mask); one thread is enough
    if OPENBLAS_NUM_THREADS=1 "$1" "$until" -max_len="$most" -timeout=20 -print_final_stats=1 \
        -close_fd_mask=3 -artifact_prefix="$build/fuzz/$2-" "$corpus" >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        coverage=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
        echo "fuzz $2: ok, $runs runs, $coverage edges covered"
        if [ -n "${FUZZ_KEEP:-}" ]; then
            kept=$(mktemp -d)
            "$1" -merge=1 -close_fd_mask=3 -max_len="$most" "$kept" "$corpus" >>"$log" 2>&1
            sh "$root/fuzz/pack.sh" "$2" "$kept"
            rm -rf "$kept"
        fi
    else
        echo "fuzz $2: FAILED, see $log"
        echo "$2" >>"$failed"
    fi
}

for target in "$build"/fuzz/fuzz_*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=${target##*/fuzz_}
    case " $* " in
    "  " | *" $name "*) ;;
    *) continue ;;
    esac
    found=$((found + 1))
    fuzz "$target" "$name" &
    [ $((found % jobs)) -ne 0 ] || wait
done
wait
rm -rf /dev/shm/kspec-fuzz-*
status=0
[ ! -s "$failed" ] || status=1
if [ "$found" -eq 0 ]; then
    echo "no fuzz targets in $build/fuzz: make fuzz" >&2
    status=1
fi
exit $status
