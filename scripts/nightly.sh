#!/bin/sh
# What takes too long for every commit. Each step goes on where another failed; the last lines say how each
# ended.
#
#   sh scripts/nightly.sh FOLDER [clang] [tsan] [arm64] [sdist] [wheels] [roots]
#
# clang: the fast tests of a build by clang. tsan: ThreadSanitizer on the tests with threads. arm64: the
# fast tests under qemu, by gcc and clang. sdist: a source distribution, and a build from it. wheels: made,
# and run in bare roots. roots: make demo, make test in bare Debian 12, 13 and testing, and a build in
# Debian 11. The last two need root.
set -u
cd "$(dirname "$0")/.." || exit 1
mkdir -p "$1"
folder=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- clang tsan arm64 sdist wheels roots
jobs=${JOBS:-$(nproc)}
unset CC CXX
threads='unit/(accumulator|alloc|backend|borrow|contract|device|host|learn_runs|moments|norm_api|path)'

step_clang() {
    sh scripts/setup.sh build test pictures &&
        cmake -S . -B "$folder/clang" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DKSPEC_TESTS=ON \
            -DKSPEC_CUDA=OFF >/dev/null &&
        cmake --build "$folder/clang" -j "$jobs" && sh scripts/test.sh "$folder/clang" -j "$jobs" -L fast
}
step_tsan() {
    sh scripts/setup.sh build test &&
        cmake --preset tsan -B "$folder/tsan" >/dev/null && cmake --build "$folder/tsan" -j "$jobs" &&
        TSAN_OPTIONS="report_thread_leaks=0 atexit_sleep_ms=0" \
            sh scripts/test.sh "$folder/tsan" -j "$jobs" -L fast -R "^$threads\$"
}
step_arm64() {
    sh scripts/arm64.sh "$folder/arm64" && CC=clang sh scripts/arm64.sh "$folder/arm64"
}
step_sdist() { sh scripts/sdist.sh "$folder/sdist"; }
step_wheels() {
    sh scripts/wheels.sh "$folder/wheels" && sh scripts/wheel-test.sh "$folder/roots" dist/kspec-*.whl
}
step_roots() {
    for suite in bookworm trixie testing; do sh scripts/root.sh "$folder/roots" $suite || return 1; done
    sh scripts/root.sh "$folder/roots" bullseye product
}

failed=0 report=""
for step in "$@"; do
    case $step in
        clang | tsan | arm64 | sdist | wheels | roots) ;;
        *)
            echo "kspec: no nightly step '$step': must be one of clang, tsan, arm64, sdist, wheels, roots" >&2
            exit 2
            ;;
    esac
    begun=$(date +%s)
    if "step_$step" >"$folder/$step.log" 2>&1; then how=passed; else
        how=FAILED failed=1
        tail -n 30 "$folder/$step.log"
    fi
    tests=$(grep -E '[0-9]+% tests passed' "$folder/$step.log" | tail -n 1)
    line="$step: $how after $(($(date +%s) - begun)) s, $tests"
    echo "$line"
    report="$report$line\n"
done
printf "nightly:\n%b" "$report"
exit $failed
