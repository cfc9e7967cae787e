#!/bin/sh
# Do two populations of neurons see the same stimuli alike? examples/recording.sh [AREA AREA]
#
# Each file holds repeats × stimuli × neurons. The dimension of each, the difference between them, and the
# alignment of their kernels, all without the noise of single repeats.
. "$(dirname "$0")/recipe.sh"

if [ $# -eq 0 ]; then
    say "No areas are given, so two are made: 200 stimuli, 40 neurons, 4 repeats, in 10 and in 5 dimensions."
    run generate linear --rows 200 --cols 40 --dim 10 --noise 1.5 --trials 4 --seed 3 --quiet -o ten.npy
    run generate linear --rows 200 --cols 40 --dim 5 --noise 1.5 --trials 4 --seed 4 --quiet -o five.npy
    set -- ten.npy five.npy
fi
run dimension --label first "$1" --label second "$2" $(plot dimension.svg)
run dimension --label first "$1" --label second "$2" --quiet --json -o dimension.json
run compare "$1" "$2" --quiet $(plot compare.svg)
run compare "$1" "$2" --quiet --json -o compare.json
say "alignment $(value alignment compare.json) ± $(value alignment_stderr compare.json);" \
    "of the matrices themselves $(value alignment_biased compare.json)"
