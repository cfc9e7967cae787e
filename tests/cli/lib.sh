# What the tests of the tool share. A test is a list of expectations; the first argument of expect_status is
# the exit status, the rest the command, where `kspec` is the tool under test:
#
#     . "$(dirname "$0")/lib.sh"
#     expect_status 0 kspec theory rbf --eta 4
#     expect_stdout 'm\(n\)'                    # an extended regular expression, found in what it printed
#     expect_error 2 'is not a number' kspec theory rbf --eta x
#     done_testing
#
# After expect_status the files $out and $err hold what the command printed. A failing expectation is printed
# with its line, and the test goes on. Every command that fails must say so in one line that begins with
# "kspec: ", and every one that succeeds may say nothing on standard error but warnings; expect_status checks
# that, too.

: "${KSPEC:?the tool to test}" "${KSPEC_SOURCE:?the source directory}"
fixtures=$KSPEC_SOURCE/tests/fixtures
golden=$KSPEC_SOURCE/tests/golden
python=/usr/bin/python3
unset KSPEC_ISA KSPEC_THREADS KSPEC_GNUPLOT KSPEC_GNUPLOT_TIMEOUT KSPEC_LIBEXEC KSPEC_READER_TIMEOUT
failures=0 checks=0

work=$(mktemp -d)
trap 'chmod -R u+rwx "$work" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/cwd"
cd "$work/cwd" || exit 1
out=$work/out err=$work/err

kspec() { "$KSPEC" "$@"; }

fail() {
    echo "$0:${BASH_LINENO[-2]}: $*"
    failures=$((failures + 1))
}

expect() { # what it is, command...: the command succeeds
    checks=$((checks + 1))
    local what=$1
    shift
    "$@" || fail "$what"
}

expect_status() { # status, command...
    checks=$((checks + 1))
    local want=$1 status
    shift
    "$@" >"$out" 2>"$err" </dev/null
    status=$?
    [ "$status" -eq "$want" ] || fail "'$*' ends with $status, not $want: $(head -c 300 "$err")"
    check_stderr "$status" "$*"
}

check_stderr() { # status, command
    if [ "$1" -eq 0 ]; then
        ! grep -qvE '^kspec: warning: ' "$err" || fail "'$2' succeeds and says $(head -c 300 "$err")"
    elif [ "$1" -lt 128 ]; then
        { [ "$(wc -l <"$err")" -eq 1 ] && grep -qE '^kspec: .' "$err"; } ||
            fail "'$2' does not fail with one line: $(head -c 600 "$err")"
    fi
}

# Is the tool built with a sanitizer, shared or static?
sanitized() { case $(nm -D "$KSPEC" 2>/dev/null) in *__asan_* | *__tsan_*) true ;; *) false ;; esac; }

# Runs the tool with tests/help/preload.c in it. Builds with sanitizers have none: has_preload tells.
preload=$(dirname "$KSPEC")/tests/test_preload.so
has_preload() {
    [ -e "$preload" ] || { echo "skip: no $preload; run it in a build without sanitizers" && false; }
}
preloaded() { bash -c 'LD_PRELOAD=$0 exec "$@"' "$preload" "$KSPEC" "$@"; }

expect_stdout() {
    checks=$((checks + 1))
    grep -qE -- "$1" "$out" || fail "no '$1' in: $(head -c 400 "$out")"
}

expect_stderr() {
    checks=$((checks + 1))
    grep -qE -- "$1" "$err" || fail "no '$1' in: $(head -c 400 "$err")"
}

expect_error() { # status, pattern, command...: it fails so, with a message that matches, and prints nothing
    local want=$1 pattern=$2
    shift 2
    expect_status "$want" "$@"
    [ "$want" -ne 0 ] || fail "expect_error is for failures"
    expect_stderr "$pattern"
    [ ! -s "$out" ] || fail "'$*' fails and prints: $(head -c 100 "$out")"
}

# What the last command printed is one JSON object j of which the Python expression is true; m(estimator, n)
# is an estimate's value, entry(estimator, n) all of it; close(a, b, tol) compares relative to b.
expect_json() {
    checks=$((checks + 1))
    "$python" - "$out" "$1" <<'END' || fail "JSON: $1"
import json, math, sys
text = open(sys.argv[1]).read()
try:
    j = json.loads(text)
except ValueError as e:
    sys.exit("not JSON: %s: %.200s" % (e, text))
if not isinstance(j, dict):
    sys.exit("not an object: %.200s" % text)
def close(a, b, tol):
    return abs(a - b) <= tol * abs(b)
def entry(estimator, n):
    return next(e for e in j["estimates"] if e["estimator"] == estimator and e["n"] == n)
def m(estimator, n):
    return entry(estimator, n)["value"]
estimators = {e["estimator"] for e in j.get("estimates", [])}
if eval(sys.argv[2], globals()) is not True:
    sys.exit("false of %.300s" % text)
END
}

# A JSON result without what differs from run to run: the times taken, the command line and the files' names
result() {
    "$python" - "$1" <<'END'
import json, sys
def strip(x):
    if isinstance(x, dict):
        return {k: strip(v) for k, v in x.items() if k not in ("seconds", "command_line", "input")}
    return [strip(v) for v in x] if isinstance(x, list) else x
print(json.dumps(strip(json.load(open(sys.argv[1]))), indent=1))
END
}

same_result() { [ "$1" = "$2" ] || cmp -s "$1" "$2" || cmp -s <(result "$1") <(result "$2"); } # files

# Runs Python with numpy as np in the working directory.
py() { "$python" -c "import numpy as np; $1" || fail "python: $1"; }

# Nothing is in the working directory but these files.
expect_files() {
    checks=$((checks + 1))
    local have want
    have=$(ls -A | sort | tr '\n' ' ')
    want=$([ $# -eq 0 ] || printf '%s\n' "$@" | sort | tr '\n' ' ')
    [ "$have" = "$want" ] || fail "files are '$have', not '$want'"
}

# An empty working directory
fresh() {
    rm -rf "$work/cwd"
    mkdir "$work/cwd"
    cd "$work/cwd" || exit 1
}

# Real data are not part of the project. Sets $data to the first folder that has all of the files, or says
# what is missing and fails: `find_data FILE || exit 77` skips the test, `if find_data FILE; then` a part of
# it.
find_data() { # file...
    local file missing=
    for data in "${KSPEC_DATA:-}" "$KSPEC_SOURCE/data" "$KSPEC_SOURCE/../shared/data"; do
        [ -d "$data" ] || continue
        for file in "$@"; do
            [ -r "$data/$file" ] || { missing=${missing:-$file} && continue 2; }
        done
        return
    done
    missing=${missing:-$1}
    case $missing in
        v4/*) echo "skip: no $missing; put the V4 recording (Cowley et al. 2023) at data/$missing" ;;
        *) echo "skip: no $missing; run 'make data'" ;;
    esac
    return 1
}

skip() { # why; what to do
    echo "skip: $*"
    exit 77
}

done_testing() {
    echo "$checks checks, $failures failed"
    [ "$failures" -eq 0 ] && [ "$checks" -gt 0 ]
    exit
}
