#!/bin/sh
# How alike are the layers of a network? examples/layers.sh [LAYER...]
#
# Each file holds the activations of one layer: inputs by neurons. Without files, some are made: different
# neurons with one kernel, and neurons that respond in other ways.
. "$(dirname "$0")/recipe.sh"

if [ $# -eq 0 ]; then
    say "No layers are given, so neurons of one kernel are made: 300 inputs, 100 neurons a layer." \
        "The third layer's are rectified, the fourth's squared."
    run generate rff --rows 300 --cols 400 --dim 3 --quiet -o neurons.csv
    cut -d, -f1-100 neurons.csv >first.csv
    cut -d, -f101-200 neurons.csv >second.csv
    cut -d, -f201-300 neurons.csv |
        awk -F, -v OFS=, '{ for (i = 1; i <= NF; i++) $i = $i > 0 ? $i : 0; print }' >rectified.csv
    cut -d, -f301-400 neurons.csv |
        awk -F, -v OFS=, '{ for (i = 1; i <= NF; i++) $i = $i * $i; print }' >squared.csv
    set -- first.csv second.csv rectified.csv squared.csv
fi
for layer; do printf '%s\t%s\n' "$(basename "$layer" .csv)" "$layer"; done >layers.txt
run dimension @layers.txt $(plot dimensions.svg)
run dimension @layers.txt --quiet --json -o dimensions.json
say "The square of alignments: 1 where two layers have one kernel, although no neuron is the same."
run compare @layers.txt --quiet $(plot layers.svg)
run compare @layers.txt --quiet --json -o layers.json
