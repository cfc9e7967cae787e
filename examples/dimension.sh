#!/bin/sh
# How many dimensions does a population of neurons use? examples/dimension.sh [RECORDING [OPTIONS...]]
#
# The dimension is the participation ratio (sum of eigenvalues)² / sum of squares, which PCA gets wrong twice:
# with few neurons and images large eigenvalues come out too large, and noise adds dimensions. Repeats of the
# images take care of the noise.
. "$(dirname "$0")/recipe.sh"

if [ $# -eq 0 ] && recording=$(data v4/responses_210325.npy); then
    say "50 neurons × 640 images × up to 10 repeats; a repeat that was not made is NaN." \
        "The mean response is not a dimension: --center."
    set -- "$recording" --axes cols,rows,trials --nan ragged-trials --center
elif [ $# -eq 0 ]; then
    say "No recording is here, so one is made: 10 dimensions, 640 images, 50 neurons, 6 repeats," \
        "with noise that whole rows and columns share."
    run generate linear --rows 640 --cols 50 --dim 10 --noise 1 --noise-correlation both --trials 6 --quiet \
        -o recording.npy
    set -- recording.npy
fi
run moments "$@" -n 3 --estimator naive,exact --quiet $(plot dimension.svg)
run moments "$@" -n 2 --quiet --json -o dimension.json
ratio=$(value participation_ratio dimension.json)
error=$(value participation_ratio_stderr dimension.json)
naive=$(value participation_ratio_naive dimension.json)
say "dimension: $ratio ± $error; by the matrix itself, which does not correct for the neurons and images" \
    "that were not recorded, $naive"
