#!/bin/sh
# The largest step of gradient descent on a kernel regression is 2/|K|: examples/step_size.sh [ROWS
# [OPTIONS...]]
#
# lanczos is exact. Random features answer in time linear in the number of rows, but a plain power iteration
# on them (rff-power) is too large where |K| is small beside n; rff-debiased is not, and has an interval.
. "$(dirname "$0")/recipe.sh"

if [ $# -eq 0 ] && wine=$(data wine/winequality-white.csv); then
    say "4898 wines, 11 properties each, scaled to the range 0 to 1:"
    set -- "$wine" --select-cols 0-10 --minmax --sigma 0.1
elif [ $# -eq 0 ]; then
    say "The wine data is not here; 1000 points in 5 dimensions are made instead."
    run generate linear --rows 1000 --cols 5 --dim 5 --quiet -o rows.npy
    set -- rows.npy --minmax --sigma 0.05
fi
run norm "$@" --features 150 --method lanczos,rff-power,rff-debiased --quiet $(plot step_size.svg)
run norm "$@" --method lanczos --quiet --json -o step_size.json
norm=$(value value step_size.json)
say "largest step: $(awk "BEGIN { print 2 / $norm }")"
