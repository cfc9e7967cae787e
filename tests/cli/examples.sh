#!/bin/bash
# Every program and recipe of examples/ runs without arguments, on its own data, and its main number is the
# truth or what another computation says. The recipes are run as copies, from where no data set is found;
# where there is data, also with it.
. "$(dirname "$0")/lib.sh"
programs=$(dirname "$KSPEC")/examples
export KSPEC
cp -r "$KSPEC_SOURCE/examples" "$work/examples"

program() { # name, arguments...
    expect_status 0 "$programs/$1" "${@:2}"
}
recipe() { # name: without data sets
    fresh
    expect "$1.sh fails" env -u KSPEC_DATA sh "$work/examples/$1.sh" >"$out" 2>"$err"
    expect "$1.sh says $(head -c 300 "$err")" [ ! -s "$err" ]
}
expect "a recipe draws without gnuplot" \
    [ -z "$(KSPEC_GNUPLOT=/nowhere/gnuplot sh -c '. "$0/recipe.sh" && plot a.svg' "$work/examples")" ]
recipe_with() { # name, data set...: where it is there
    find_data "${@:2}" || return
    fresh
    expect "$1.sh fails with $2" env KSPEC_DATA="$data" sh "$KSPEC_SOURCE/examples/$1.sh" >"$out" 2>"$err"
}
# Python conditions; printed(pattern) is the list of the numbers that its groups match in what was printed,
# load(file) a JSON file
holds() {
    checks=$((checks + $#))
    "$python" - "$out" "$@" <<'END' || fail "an example is wrong"
import json, re, sys
import numpy as np
text = open(sys.argv[1]).read()
def printed(pattern):
    return [float(g) for g in re.search(pattern, text, re.M).groups()]
def load(file):
    return json.load(open(file))
def point(file):
    return load(file)["points"][0]
def as_measured(p):  # 10 draws, 4 standard errors: a false alarm in 0.3% of seeds
    return abs(p["test_mse"] - p["empirical_test_mse"]) < 4 * p["empirical_test_sd"] / 10**0.5
def error(p):
    return p["error_noise_free"] + p["error_noise"]
def gram_norm(x, sigma):
    return np.linalg.norm(np.exp(-((x[:, None] - x[None]) ** 2).sum(2) / (2 * sigma**2)), 2)
def minmax(x):
    return (x - x.min(0)) / np.ptp(x, 0)
wrong = [condition for condition in sys.argv[2:] if not eval(condition)]
if wrong:
    sys.exit("not %s: %.600s" % (wrong[0], text))
END
}

# the dimension is 10, and not what PCA says; on V4, with each half of the repeats less its own mean, it is
# known to be 24
kspec generate linear --rows 120 --cols 60 --dim 10 --noise 1 --noise-correlation both --trials 4 --seed 1 \
    --quiet -o x.npy
program dimension x.npy
holds 'printed(r"\((\S+) \.\.\.")[0] < 10 < printed(r"\.\.\. (\S+)\)")[0] < 14'
recipe dimension
holds '(lambda d: abs(d["participation_ratio"] - 10) < 3 * d["participation_ratio_stderr"] < 4)(
    load("dimension.json"))' \
    'load("dimension.json")["participation_ratio_naive"] < 9'
if recipe_with dimension v4/responses_210325.npy; then
    holds 'abs(load("dimension.json")["participation_ratio"] - 23.4) < 0.1'
fi

# layers of a wide random network, whose alignment with the first falls; one kernel has alignment 1
program layers
holds 'printed(r"^layer 2 with.*alignment (\S+)")[0] > printed(r"^layer 4 with.*alignment (\S+)")[0] > 0.5' \
    'all(p[1] < p[0] for p in [printed(rf"^layer {k}: (\S+) .*PCA (\S+)") for k in (1, 2, 3, 4)])'
recipe layers
holds 'load("layers.json")["labels"] == ["first", "second", "rectified", "squared"]' \
    '(lambda r: r["alignment_ci_low"] < 1 < r["alignment_ci_high"])(load("layers.json")["results"][0])' \
    'load("layers.json")["alignments"][0][3] < 0.95' \
    'len(load("dimensions.json")["results"]) == 4'
program layers first.csv second.csv
holds 'abs(printed(r"alignment (\S+)")[0] - load("layers.json")["alignments"][0][1]) < 0.001'

# two areas: 10 dimensions each and one kernel; or 10 and 5 and nothing in common
program recording
holds '(lambda p: p[0] < 10 < p[1] < p[2])(
    printed(r"^first : \S+ dimensions .(\S+) to (\S+)\).*noise: (\S+)"))' \
    'printed(r"p = (\S+)")[0] > 0.01' \
    '(lambda p: p[0] < 1 < p[1])(printed(r"alignment \S+ .(\S+) to (\S+)\)"))'
recipe recording
holds '(lambda r: r[0]["ci_low"] < 10 < r[0]["ci_high"] and r[1]["ci_low"] < 5 < r[1]["ci_high"])(
    load("dimension.json")["results"])' \
    'load("compare.json")["differences"][0]["p"] < 0.01 and abs(load("compare.json")["alignment"]) < 0.05'
program recording ten.npy five.npy
holds 'abs(printed(r"^second: (\S+)")[0] - load("compare.json")["other_dimension"]) < 0.01'

# twenty eigenvalues of 0.3, and not what the matrix has
program eigenvalues
holds 'printed(r"off by (\S+) in all")[0] < 0.6 and printed(r"matrix by (\S+)")[0] > 2.5'
recipe eigenvalues
holds 'sum(abs(e - 0.3) for e in load("eigenvalues.json")["eigenvalues"]) < 0.6' \
    'sum(abs(e - 0.3) for e in load("eigenvalues.json")["singular_values"][:20]) > 2.5'

# what is predicted is what is measured, and no other ridge is better
program regression
holds '(lambda p, m, sd: abs(p - m) < 4 * sd / 10**0.5)(
    *printed(r"^ 240 +\S+ +(\S+) +(\S+) .spread (\S+)\)"))'
recipe regression
lambdas=$("$python" -c 'import json
best = json.load(open("best.json"))["points"][0]["lambda"]
print(best * 0.8, best / 0.8, sep=",")')
kspec ridge train.csv --target train.csv --target-cols 0 --test test.csv --test-target test.csv \
    --select-cols 1-29 --center --scale --features 150 --lambda "$lambdas" --json -o others.json
holds 'as_measured(point("regression.json"))' \
    '(lambda best: all(best < p["test_mse"] < 1.01 * best for p in load("others.json")["points"]))(
    point("best.json")["test_mse"])'
if recipe_with regression mnist/{train15k,t10k}-{images-idx3,labels-idx1}-ubyte.gz; then
    holds 'as_measured(point("regression.json"))'
fi

# the norm is that of numpy, the wines' is known, and it divides steps that shrink from steps that grow
program gauss_newton
holds 'printed(r"plain ([\d.]+), weighted")[0] > 5 * printed(r", weighted ([\d.]+)")[0]' \
    'printed(r"equal noise: plain ([\d.]+)")[0] < printed(r"those weights ([\d.]+)")[0]'
program step_size
holds '(lambda below, above: below < 1 and above > 1e6)(
    *printed(r"0.95 times that: (\S+)$[^:]*1.05 times that: (\S+)"))'
kspec generate linear --rows 150 --cols 4 --dim 4 --quiet -o rows.npy
program step_size rows.npy
holds '(lambda norm, sigma: abs(norm / gram_norm(np.load("rows.npy"), sigma) - 1) < 1e-3)(
    printed(r"lanczos .* (\S+)$")[0], printed(r"sigma (\S+)")[0])'
recipe step_size
holds 'abs(printed(r"largest step: (\S+)")[0] * gram_norm(minmax(np.load("rows.npy")), 0.05) / 2 - 1) < 1e-3'
if recipe_with step_size wine/winequality-white.csv; then
    holds 'abs(printed(r"largest step: (\S+)")[0] * 90.95 / 2 - 1) < 1e-3'
fi

# the fit errs as expected, no other beta is better; weights 1/noise give the least error that Gauss and
# Markov allow
program weights
holds 'abs(printed(r"^beta 0 .*error (\S+),")[0] - 0.7525) < 1e-3' \
    '(lambda expected, fit: expected < 0.07 and abs(fit - expected) < 0.02)(
    *printed(r"^beta 0.7.*error (\S+), of this fit (\S+)"))'
recipe weights
for beta in 0.73 0.76; do
    kspec wls --grid 64 --modes 256 --gamma 0.8 --noise 0.1 --learn 256 --beta $beta --json -o $beta.json
done
holds 'all(error(point("weights.json")["best_weight"]) < error(point(f))
    for f in ("0.73.json", "0.76.json"))' \
    '(lambda f, v: abs(point("weighted.json")["error_noise"]
    / np.trace(np.linalg.inv(f.T @ (f / v[:, None]))) - 1) < 1e-9)(
    np.load("features.npy"), np.loadtxt("variance.txt"))'
done_testing
