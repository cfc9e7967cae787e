#!/bin/sh
# The spectrum of the kernel behind the activations of a layer: examples/eigenvalues.sh [ACTIVATIONS
# [OPTIONS...]]
#
# ACTIVATIONS has a row for each input and a column for each unit. Without it, a layer of 100 linear units on
# normal inputs in 20 dimensions is made; with infinitely many units and inputs its spectrum would be 20
# eigenvalues of 0.3.
. "$(dirname "$0")/recipe.sh"

if [ $# -eq 0 ]; then
    run generate linear --rows 100 --cols 100 --dim 20 --eigenvalue 0.3 --quiet -o activations.npy
    set -- activations.npy
fi
run spectrum "$@" --quiet $(plot eigenvalues.svg)
run spectrum "$@" --quiet --json -o eigenvalues.json
largest=$(value operator_norm eigenvalues.json)
say "largest eigenvalue: $largest; $(value resolved eigenvalues.json) are resolved"
