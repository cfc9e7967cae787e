#!/bin/sh
# The main job on a built-in example: a random matrix whose kernel is known, its moments by each estimator,
# and the truth beside them.
set -eu
kspec=${1:-kspec}
case $kspec in */*) kspec=$(cd "$(dirname "$kspec")" && pwd)/${kspec##*/} ;; esac
case $kspec in */*) place=${kspec%/*} ;; *) place=$PWD ;; esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat <<'EOF'
Take 300 inputs in 5 dimensions and 600 random Fourier features of a Gaussian kernel, and look at the
300 x 600 matrix alone. What are the moments m(n) = sum of lambda^n of the kernel's spectrum? Here the truth
is known:

EOF
run() {
    echo "\$ kspec $*"
    "$kspec" "$@"
}
run generate rff --rows 300 --cols 600 --dim 5 --eta 4 --seed 1 -o features.npy
run theory rbf --dim 5 --eta 4 -n 6 --json -o truth.json
picture=$place/demo.svg
if command -v "${KSPEC_GNUPLOT:-gnuplot}" >/dev/null 2>&1 && [ -w "$place" ]; then
    run moments features.npy --truth truth.json --estimator all --plot "$picture"
else
    picture=
    run moments features.npy --truth truth.json --estimator all
fi
cat <<'EOF'

naive is what the matrix's own spectrum gives: several times too large, and the more so the higher the order.
kv-row and kv-col correct for one side of the matrix only. path and exact are unbiased; exact has the smaller
error bars. For a matrix of your own: kspec moments YOURS.npy --plot moments.svg
EOF
[ -z "$picture" ] || echo "A picture of this is in $picture"
[ -w "$place" ] || exit 0

cat <<'EOF'

Most people ask something simpler: how many dimensions do my data have? All that kspec knows of a matrix, on
one page that needs nothing else:

EOF
run generate linear --rows 200 --cols 150 --dim 20 --noise 0.5 --trials 3 --seed 2 -o recording.npy
run report recording.npy -o "$place/report.html"
case $(uname) in Darwin) open=open ;; *) open=xdg-open ;; esac
echo "Open it with: $open $place/report.html"
