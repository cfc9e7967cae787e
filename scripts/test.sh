#!/bin/sh
# Runs the tests of a build folder, then says what was skipped and what would make it run. A test that skips
# all or a part of itself prints a line "skip: WHY; WHAT TO DO".
#
#   sh scripts/test.sh BUILD [CTEST'S OPTIONS]
set -u
build=$1
shift
status=0
ctest --output-on-failure --no-tests=error --test-dir "$build" "$@" || status=$?

log=$build/Testing/Temporary/LastTest.log
[ ! -r "$log" ] || awk '
    / Testing: / { test = $3 }
    /^skip: / {
        why = substr($0, 7)
        if (!(why in tests)) { order[++count] = why }
        if (!seen[why, test]++) tests[why] = tests[why] (tests[why] == "" ? "" : ", ") test
    }
    END {
        for (k = 1; k <= count; k++) print "skipped: " order[k] " (" tests[order[k]] ")"
    }' "$log"
exit $status
