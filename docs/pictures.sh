#!/bin/sh
# Makes the pictures of the documentation: make pictures, or docs/pictures.sh [KSPEC]. Needs gnuplot.
set -eu
cd "$(dirname "$0")/.."
kspec=${1:-build/kspec}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p docs/images

# docs/reproduction.md: from the numbers that repro/report.py put beside each picture
for figure in docs/images/repro/*.figure.json; do
    [ ! -e "$figure" ] || "$kspec" plot "$figure" -o "${figure%.figure.json}.svg"
done

# README: the example of make demo
"$kspec" generate rff --rows 300 --cols 600 --dim 5 --eta 4 --seed 1 -o "$dir/x.npy"
"$kspec" theory rbf --dim 5 --eta 4 --eigenvalues 1 --json -o "$dir/truth.json"
"$kspec" moments "$dir/x.npy" --estimator naive,path,exact --json -o "$dir/moments.json"
"$kspec" plot "$dir/moments.json" "$dir/truth.json" -o docs/images/moments.svg \
    --title 'a kernel’s spectral moments from one 300 × 600 matrix'

# docs/plot.md: curves
curve="--grid 64 --learn 4-256:4 --modes 256 --gamma 0.3 --noise 0.2"
"$kspec" wls $curve --json -o "$dir/equal weights.json"
"$kspec" wls $curve --beta 0.5 --json -o "$dir/beta = 0.5.json"
"$kspec" plot "$dir/equal weights.json" "$dir/beta = 0.5.json" -o docs/images/wls.svg --size 640x360

# docs/explanation/dimension.md: one dimension climbs, the other does not
"$kspec" generate linear --rows 300 --cols 600 --dim 20 --seed 1 -o "$dir/x.npy"
"$kspec" dimension "$dir/x.npy" --curve --plot docs/images/dimension.svg >/dev/null
