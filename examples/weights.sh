#!/bin/sh
# Which weights should a least-squares fit have? Known from the noise and from how smooth the truth is:
# examples/weights.sh
. "$(dirname "$0")/recipe.sh"
law="--grid 64 --modes 256 --gamma 0.8 --noise 0.1"

say "64 points, up to 256 Fourier modes of a function whose modes fall off like (1+k)^-0.8." \
    "The best weights (1+k)^-beta of the modes:"
run wls $law --learn 96,128,256 --best-weights
run wls $law --learn 256 --best-weights --json -o weights.json
beta=$(value value weights.json)
say "Without weights, more modes than points do harm; with beta = $beta they help:"
run wls $law --learn 16-256:16 $(plot unweighted.svg)
run wls $law --learn 16-256:16 --beta "$beta" --empirical 200 $(plot weighted.svg)

say "Data of unequal quality: 40 measurements, half of them with ten times the noise, and any 10 features." \
    "Weights 1/noise:"
run generate rff --rows 40 --cols 10 --dim 3 --quiet -o features.npy
awk 'BEGIN { for (j = 0; j < 40; j++) print j % 2 ? 1 : 0.01 }' >variance.txt
awk 'BEGIN { for (j = 0; j < 40; j++) print j % 2 ? 1 : 10 }' >data_weights.txt
noise="--noise-covariance variance.txt"
weights="--data-weights data_weights.txt"
run wls --features features.npy $noise
run wls --features features.npy $noise $weights
run wls --features features.npy $noise --json -o plain.json
run wls --features features.npy $noise $weights --json -o weighted.json
plain=$(value error_noise plain.json)
say "error from noise: $plain without weights, $(value error_noise weighted.json) with them"
